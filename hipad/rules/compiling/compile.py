"""Rules to sparse (B, d, sign): the premise B x <= d in the user's units, and the outcome.

Conditions joined by `and` are rows of one B; each rule keeps a B of its own, since stacking two
rules in one B would turn "or" into "and".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.errors import RuleError
from hipad.rules.compiling.names import Blocks, FeatureIndex, as_index, resolve_blocks
from hipad.rules.compiling.outcomes import class_sign
from hipad.rules.compiling.resolving import Resolver
from hipad.rules.compiling.rows import Row, columns_of, needed_rows, on_columns, rows_met
from hipad.rules.language.bounds import MOST_WEIGHTS, too_many_weights
from hipad.rules.language.model import Condition, Rule, RuleSet
from hipad.rules.language.parsing import parse_rules
from hipad.rules.language.spelling import on_line

_BATCH = 4_000_000  # numbers held at once while a rule is tried on data
_HELPED = 20  # errors that say which names are near


@dataclass(frozen=True, eq=False)
class ScaledRule:
    """A rule in the design's units, as solvers take it; a type of its own, so that none is mixed up
    with rules in the user's units.
    """

    rule: Rule
    B: sparse.csr_array
    d: FloatArray
    sign: float
    label: str = ""

    @property
    def columns(self) -> IntArray:
        """The columns that the rule names, in order."""
        return columns_of(self.B)


@dataclass(frozen=True, eq=False)
class CompiledRule:
    """A rule as B x <= d => sign * (w'x + b) >= 1.

    `remarks` say what was left out and why, `origins` from which condition each row comes.
    """

    rule: Rule
    B: sparse.csr_array
    d: FloatArray
    sign: float
    remarks: tuple[str, ...] = ()
    label: str = ""
    origins: tuple[Condition | str, ...] = ()
    features: FeatureIndex | None = field(default=None, repr=False)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The condition that each row comes from, in words."""
        return tuple(map(str, self.origins))

    @property
    def columns(self) -> IntArray:
        """The columns that the rule names, in order."""
        return columns_of(self.B)

    def fires(self, X: Any) -> npt.NDArray[np.bool_]:
        """For each row of X whether it meets the premise; a missing value never does."""
        X = X if sparse.issparse(X) else np.asarray(X)
        if sparse.issparse(X) and X.format not in ("csr", "csc"):
            X = X.tocsr()
        columns = self.columns
        B = on_columns(self.B, columns)
        step = max(1, _BATCH // max(1, len(columns)))
        starts = range(0, X.shape[0], step)
        batches = (X[i : i + step] if step < X.shape[0] else X for i in starts)
        parts = [rows_met(B, self.d, _dense(batch[:, columns]).T) for batch in batches]
        return np.concatenate([part.all(axis=0) for part in parts] or [np.empty(0, dtype=bool)])

    def scaled(self, mean: FloatArray | None, scale: FloatArray | None) -> ScaledRule:
        """The same rule for z = (x - mean) / scale: B diag(scale) and d - B mean."""
        B, d = self.B, self.d
        if mean is not None:
            named = self.columns
            d = d - on_columns(B, named) @ np.asarray(mean, dtype=np.float64)[named]
        if scale is not None:
            factors = np.asarray(scale, dtype=np.float64)[B.indices]
            B = sparse.csr_array((B.data * factors, B.indices, B.indptr), shape=B.shape)
        return ScaledRule(self.rule, B, d, self.sign, self.label)


def compile_rules(
    rules: str | Iterable[Rule | str],
    *,
    feature_names: FeatureIndex | Sequence[object] | None = None,
    n_features: int | None = None,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
    include_off: bool = False,
) -> tuple[CompiledRule, ...]:
    """Compile rules for data with these columns and these (negative, positive) classes.

    Rules that are switched off are passed over unless `include_off`.

    >>> (rule,) = compile_rules("mean(x0, x1) >= 4 => positive", n_features=3)
    >>> rule.B.toarray(), rule.d, rule.sign
    (array([[-0.5, -0.5,  0. ]]), array([-4.]), 1.0)
    >>> rule.fires([[3, 5, 0], [3, 4, 9]])
    array([ True, False])
    """
    found = as_rule_set(rules)
    index = as_index(feature_names, n_features)
    columns = resolve_blocks(blocks, index)
    resolved, weights = [], 0
    for rule, label in zip(found, found.labels, strict=True):
        if rule.enabled or include_off:
            each = _resolved(rule, Resolver(index, columns), classes, positive_chosen)
            weights = _more_weights(weights, each[1], rule)
            resolved.append((rule, label, *each))
    # The names of all rules before the matrices of all: one kind of work at a time is faster.
    return tuple([_compiled(*each, index) for each in resolved])


def compile_each(
    rules: RuleSet,
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, off or on, and what is wrong with the others.

    Near names are looked for in the first few errors only.
    """
    index = feature_names
    columns = resolve_blocks(blocks, index)
    found: dict[int, CompiledRule] = {}
    errors: list[RuleError] = []
    weights = 0
    for position, (rule, label) in enumerate(zip(rules, rules.labels, strict=True)):
        names = index if len(errors) < _HELPED else index.without_suggestions()
        try:
            each = _resolved(rule, Resolver(names, columns), classes, positive_chosen)
            weights = _more_weights(weights, each[1], rule)
            found[position] = _compiled(rule, label, *each, index)
        except RuleError as error:
            errors.append(error)
    return found, errors


def _more_weights(weights: int, rows: list[Row], rule: Rule) -> int:
    """How many numbers the matrices will hold with these rows; RuleError if too many."""
    weights += sum(len(row.columns) for row in rows)
    if weights > MOST_WEIGHTS:
        raise too_many_weights(rule.place and rule.place[0])
    return weights


def as_rule_set(rules: str | Iterable[Rule | str]) -> RuleSet:
    """Rules from text, or from any iterable of rules and texts.

    >>> print(as_rule_set(["a >= 1 => positive", "b >= 2 => positive"]))
    a >= 1 => positive
    b >= 2 => positive
    """
    if isinstance(rules, str):
        return parse_rules(rules)
    if isinstance(rules, RuleSet):
        return rules
    given = tuple(rules)
    texts = [each for each in given if isinstance(each, str)]
    if texts and len(texts) == len(given):
        return parse_rules("\n".join(texts))
    read = [tuple(parse_rules(each)) if isinstance(each, str) else (each,) for each in given]
    return RuleSet(tuple(rule for part in read for rule in part))


def _resolved(
    rule: Rule, resolver: Resolver, classes: Sequence[object], positive_chosen: bool
) -> tuple[float, list[Row], list[str]]:
    """The sign of the outcome, the rows that matter, and remarks."""
    sign = outcome_sign(rule, classes, positive_chosen=positive_chosen)
    try:
        rows = [row for condition in rule.conditions for row in resolver.rows(condition)]
    except RuleError as error:
        raise on_line(error, rule.place and rule.place[0]) from None
    kept, remarks = needed_rows(rows)
    return sign, kept, resolver.remarks + remarks


def _compiled(
    rule: Rule, label: str, sign: float, rows: list[Row], remarks: list[str], index: FeatureIndex
) -> CompiledRule:
    B, d = _matrix(rows, len(index))
    spoken = tuple(dict.fromkeys(remarks))
    origins = tuple([row.origin for row in rows])
    return CompiledRule(rule, B, d, sign, spoken, label, origins, index)


def _dense(part: Any) -> FloatArray:
    values = part.toarray() if sparse.issparse(part) else part
    return np.asarray(values, dtype=np.float64)


def _matrix(rows: list[Row], n_features: int) -> tuple[sparse.csr_array, FloatArray]:
    indptr = np.array([0, *accumulate(len(row.columns) for row in rows)])
    indices = np.concatenate([row.columns for row in rows])
    values = np.concatenate([row.values for row in rows])
    B = sparse.csr_array((values, indices, indptr), shape=(len(rows), n_features))
    return B, np.array([row.bound for row in rows])


def outcome_sign(rule: Rule, classes: Sequence[object], *, positive_chosen: bool = False) -> float:
    """+1 if the outcome is the second class, -1 if the first; RuleError if it is neither."""
    return class_sign(rule.outcome, classes, positive_chosen=positive_chosen, place=rule.place)

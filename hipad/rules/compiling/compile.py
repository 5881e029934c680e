"""Rules to sparse (B, d, sign): the premise B x <= d in the user's units, and the outcome.

Conditions joined by `and` are rows of one B; each rule keeps a B of its own, since stacking two
rules in one B would turn "or" into "and".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.errors import RuleError
from hipad.rules.compiling.lexicon import Lexicon
from hipad.rules.compiling.names import Blocks, FeatureIndex, as_index, resolve_blocks
from hipad.rules.compiling.outcomes import class_sign
from hipad.rules.compiling.resolving import Resolver
from hipad.rules.compiling.rows import Row, columns_of, needed_rows, on_columns, rows_met
from hipad.rules.compiling.settling import RowsNeeded, Settler
from hipad.rules.compiling.values import ColumnValues
from hipad.rules.language.bounds import MOST_WEIGHTS, too_many_weights
from hipad.rules.language.logic import All, Node, alternatives
from hipad.rules.language.model import Condition, Rule, RuleSet
from hipad.rules.language.parsing import parse_rules
from hipad.rules.language.spelling import on_line, quote_label, rule_error
from hipad.rules.language.statements import Statement
from hipad.rules.language.words.lexing import Vocabulary

_BATCH = 4_000_000  # numbers held at once while a rule is tried on data
_HELPED = 20  # errors that say which names are near
_SHOWN = 20  # errors that are told at once


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
    settled: tuple[Condition, ...] = ()
    outcome: str = ""

    @property
    def resolved_text(self) -> str:
        """The rule as it was understood: its own names, the numbers learnt, the class it says."""
        conditions = self.settled or self.rule.conditions
        own = replace(self.rule, conditions=conditions, outcome=self.outcome or self.rule.outcome)
        return own.text

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
    values: Any = None,
) -> tuple[CompiledRule, ...]:
    """Compile rules for data with these columns and these (negative, positive) classes.

    Rules that are switched off are passed over unless `include_off`. `values` are the training rows
    (or their ColumnValues), from which percentiles and the like are learnt. A rule that is met as
    soon as one of several features is becomes one compiled rule for each.

    >>> (rule,) = compile_rules("mean(x0, x1) >= 4 => positive", n_features=3)
    >>> rule.B.toarray(), rule.d, rule.sign
    (array([[-0.5, -0.5,  0. ]]), array([-4.]), 1.0)
    >>> rule.fires([[3, 5, 0], [3, 4, 9]])
    array([ True, False])
    """
    index = as_index(feature_names, n_features)
    context = _Context(index, resolve_blocks(blocks, index), classes, positive_chosen, values)
    found = as_rule_set(rules, context.lexicon)
    resolved: list[_Resolved] = []
    errors: list[RuleError] = []
    for rule, label in zip(found, found.labels, strict=True):
        if rule.enabled or include_off:
            if len(errors) == _HELPED:
                context = context.without_suggestions()
            try:
                resolved += context.resolved(rule, label, several=True)
            except RuleError as error:
                errors.append(error)
    if errors:
        raise together(errors)
    # The names of all rules before the matrices of all: one kind of work at a time is faster.
    return tuple([each.compiled(index) for each in resolved])


def compile_each(
    rules: RuleSet,
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
    values: Any = None,
) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, off or on, and what is wrong with the others.

    Near names are looked for in the first few errors only.
    """
    index = feature_names
    columns = resolve_blocks(blocks, index)
    context = _Context(index, columns, classes, positive_chosen, values)
    found: dict[int, CompiledRule] = {}
    errors: list[RuleError] = []
    for position, (rule, label) in enumerate(zip(rules, rules.labels, strict=True)):
        if len(errors) == _HELPED:
            context = context.without_suggestions()
        try:
            (each,) = context.resolved(rule, label, several=False)
            found[position] = each.compiled(index)
        except RuleError as error:
            errors.append(error)
    return found, errors


def together(errors: list[RuleError]) -> RuleError:
    """All mistakes as one error, which stands at the first."""
    if len(errors) == 1:
        return errors[0]
    first = errors[0]
    shown = list(dict.fromkeys(str(error) for error in errors))
    more = f"\nand {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    kind = RowsNeeded if all(isinstance(error, RowsNeeded) for error in errors) else RuleError
    return kind(
        "\n".join(shown[:_SHOWN]) + more,
        line=first.line,
        column=first.column,
        expected=first.expected,
        suggestion=first.suggestion,
    )


@dataclass(frozen=True, eq=False)
class _Resolved:
    """A rule with its names found, before its matrix is made."""

    rule: Rule
    label: str
    sign: float
    outcome: str
    rows: list[Row]
    remarks: list[str]
    settled: tuple[Condition, ...]

    def compiled(self, index: FeatureIndex) -> CompiledRule:
        B, d = _matrix(self.rows, len(index))
        return CompiledRule(
            self.rule,
            B,
            d,
            self.sign,
            tuple(dict.fromkeys(self.remarks)),
            self.label,
            tuple([row.origin for row in self.rows]),
            index,
            self.settled,
            self.outcome,
        )


class _Context:
    """What rules are compiled for: names, blocks, classes and training rows."""

    def __init__(
        self,
        index: FeatureIndex,
        blocks: dict[str, IntArray],
        classes: Sequence[object],
        positive_chosen: bool,
        values: Any,
    ) -> None:
        self.index, self.blocks, self.classes = index, blocks, classes
        self.positive_chosen = positive_chosen
        self.values = as_values(values)
        self.lexicon = Lexicon(index, blocks, self.values)
        self.weights = 0

    def without_suggestions(self) -> _Context:
        """The same, for errors without near names: finding these takes time."""
        index = self.index.without_suggestions()
        other = _Context(index, self.blocks, self.classes, self.positive_chosen, self.values)
        other.weights = self.weights
        return other

    def resolved(self, rule: Rule, label: str, *, several: bool) -> list[_Resolved]:
        """The rule with its names found: more than one where it says `any` of several features."""
        line = rule.place and rule.place[0]
        try:
            ways, remarks = self._settled(rule)
            if len(ways) > 1 and not several:
                raise _several(rule, ways)
            found = [self._rows(conditions) for conditions in ways]
        except RuleError as error:
            raise _on_line(error, line) from None
        sign = outcome_sign(rule, self.classes, positive_chosen=self.positive_chosen)
        outcome = str(self.classes[int(sign > 0)])
        self._weigh([rows for rows, _ in found], line)
        resolved = []
        for k, ((rows, more), conditions) in enumerate(zip(found, ways, strict=True), 1):
            own, named = rule, label
            if len(ways) > 1:
                worth = None if rule.worth is None else rule.worth / len(ways)
                own, named = replace(rule, conditions=conditions, worth=worth), f"{label}.{k}"
            each = _Resolved(own, named, sign, outcome, rows, remarks + more, conditions)
            resolved.append(each)
        return resolved

    def _settled(self, rule: Rule) -> tuple[list[tuple[Condition, ...]], list[str]]:
        """The conditions in plain sums, for each way in which they are met."""
        settler = Settler(self.lexicon)
        nodes: list[Node] = []
        errors: list[RuleError] = []
        for condition in rule.conditions:
            try:
                nodes.append(settler.settle(condition))
            except RuleError as error:
                errors.append(_on_line(error, rule.place and rule.place[0]))
        if errors:
            raise together(errors)
        if all(isinstance(node, Condition) for node in nodes):
            return [tuple(node for node in nodes if isinstance(node, Condition))], settler.remarks
        return alternatives(All(tuple(nodes))), settler.remarks

    def _rows(self, conditions: tuple[Condition, ...]) -> tuple[list[Row], list[str]]:
        resolver = Resolver(self.index, self.blocks, self.values)
        rows = [row for condition in conditions for row in resolver.rows(condition)]
        kept, remarks = needed_rows(rows)
        return kept, resolver.remarks + remarks

    def _weigh(self, found: list[list[Row]], line: int | None) -> None:
        """Count the numbers that the matrices will hold; RuleError if too many."""
        self.weights += sum(len(row.columns) for rows in found for row in rows)
        if self.weights > MOST_WEIGHTS:
            raise too_many_weights(line)


def _on_line(error: RuleError, line: int | None) -> RuleError:
    """The error with its line, of the same kind."""
    placed = on_line(error, line)
    if not isinstance(error, RowsNeeded) or placed is error:
        return placed
    return RowsNeeded(str(placed), line=placed.line, column=placed.column)


def _several(rule: Rule, ways: list[tuple[Condition, ...]]) -> RuleError:
    """The error for a rule that stands for several, where each must have a place in the text."""
    remedy = " or ".join(" and ".join(map(str, conditions)) for conditions in ways)
    return rule_error(
        f"this stands for {len(ways)} rules, one for each feature: write {remedy}",
        column=rule.conditions[0].sides[0][0].column or 1,
        suggestion=f"{remedy} => {quote_label(rule.outcome)}",
    )


def as_values(values: Any) -> ColumnValues | None:
    """Training rows as their columns' values; None if they are not known."""
    return values if values is None or isinstance(values, ColumnValues) else ColumnValues(values)


def as_rule_set(rules: str | Iterable[Rule | str], vocabulary: Vocabulary | None = None) -> RuleSet:
    """Rules from text, or from any iterable of rules and texts.

    >>> print(as_rule_set(["a >= 1 => positive", "b >= 2 => positive"]))
    a >= 1 => positive
    b >= 2 => positive
    """
    if isinstance(rules, str):
        return parse_rules(rules, vocabulary)
    if isinstance(rules, RuleSet):
        return rules
    given = tuple(rules)
    texts = [each for each in given if isinstance(each, str)]
    if texts and len(texts) == len(given):
        return parse_rules("\n".join(texts), vocabulary)
    found: list[Rule] = []
    statements: list[Statement] = []
    for each in given:
        if isinstance(each, str):
            part = parse_rules(each, vocabulary)
            statements += [replace(s, after=len(found) + s.after) for s in part.statements]
            found += part
        else:
            found.append(each)
    return RuleSet(tuple(found), statements=tuple(statements))


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

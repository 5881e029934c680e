"""A compiled rule: B x <= d in the user's units, the sign of its outcome, its meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.data.preprocessing import MissingValues
from hipad.data.roles import JoinedClass
from hipad.exceptions import RuleError
from hipad.rules.ast import Condition, FeatureSpan, Name, Rule, Side, Term
from hipad.rules.functions import find_function
from hipad.rules.lexer import Place, patients_text, plain_signs, quote_label, rule_error
from hipad.rules.names import FeatureIndex
from hipad.rules.parser import read_rules
from hipad.utils import FloatArray, IntArray, count, listed, number

# --------------------------------------------------------------------------------------------------
# Rows of B x <= d: which of them matter, and which points meet them.


Direction = tuple[bytes, bytes]

ULPS = 16.0
"""Room of a comparison, in units in the last place of the terms."""

ROUNDING = 1e-7
"""Relative slack of a comparison: data are often kept in single precision, where 1.9 is not 1.9."""


@dataclass(frozen=True, eq=False)
class Row:
    """One row: sum of values[j] * x[columns[j]] <= bound, and the condition it comes from.

    `size` is the largest coefficient, by which rows are made comparable.
    """

    columns: IntArray
    values: FloatArray
    bound: float
    size: float
    origin: Condition | str = ""

    @classmethod
    def of(
        cls, columns: IntArray, values: FloatArray, bound: float, origin: Condition | str = ""
    ) -> Row:
        """Return the row with its size."""
        size = float(np.abs(values).max()) if len(values) else 0.0
        return cls(columns, values, bound, size, origin)

    @property
    def source(self) -> str:
        """The origin in words, made only when asked for."""
        return str(self.origin)

    @property
    def level(self) -> float:
        """The bound of the row scaled to size one."""
        return self.bound / self.size

    @cached_property
    def _unit(self) -> FloatArray:
        return (self.values / self.size).round(12)

    @property
    def direction(self) -> Direction:
        """Equal for rows that differ only by a positive factor and the bound."""
        return self.columns.tobytes(), self._unit.tobytes()

    @property
    def opposite(self) -> Direction:
        """The direction of the row with its signs turned round."""
        return self.columns.tobytes(), (-self._unit).tobytes()


def columns_of(B: sparse.csr_array) -> IntArray:
    """Return the columns that some rows name, in order."""
    return np.unique(B.indices).astype(np.int64)


def on_columns(B: sparse.csr_array, columns: IntArray) -> sparse.csr_array:
    """Return b on some sorted columns, which must include all it uses; fast however wide B is."""
    where = np.searchsorted(columns, B.indices)
    return sparse.csr_array((B.data, where, B.indptr), shape=(B.shape[0], len(columns)))


def rows_met(B: sparse.csr_array, d: FloatArray, X: FloatArray) -> npt.NDArray[np.bool_]:
    """Return for each row of B and each column x of X whether B x <= d, up to rounding.

    The tolerance is a few units in the last place of what is added up. A value that was once kept
    in single precision meets the number that it stood for: 1.9 there is not 1.9 here.
    """
    bound = d[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        tolerance = comparison_tolerance(abs(B) @ np.abs(X), bound)
        met = np.asarray(bound + tolerance >= B @ X)
        single = np.flatnonzero(np.diff(B.indptr) == 1)
        for i in single:
            met[i] |= same_in_single(X[B.indices[B.indptr[i]]], d[i] / B.data[B.indptr[i]])
    return met


def comparison_tolerance(sizes: FloatArray, bound: FloatArray | float) -> FloatArray:
    """Return how far a sum of terms of this size may lie from a bound and still be on it."""
    return np.asarray(ULPS * np.finfo(np.float64).eps * (sizes + np.abs(bound)))


def same_in_single(x: FloatArray, level: float) -> npt.NDArray[np.bool_]:
    """Return where x is a broken number of single precision, and the one nearest to the level."""
    short = x.astype(np.float32)
    return np.asarray((short == np.float32(level)) & (short == x) & (x % 1 != 0))


def needed_rows(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows that matter, and remarks on those left out or never met."""
    if _unlike(rows):
        return rows, []
    kept: dict[Direction, Row] = {}
    sources = Counter(row.source for row in rows)
    remarks: list[str] = []
    for row in rows:
        if not row.size:
            if row.bound < 0:
                return [row], [f"'{row.source}' can never be true, so the rule never fires"]
            part = "part of " if sources[row.source] > 1 else ""
            remarks.append(f"{part}'{row.source}' is always true and was left out")
            continue
        key = row.direction
        other = kept.get(key)
        if other is None:
            kept[key] = row
            continue
        loose, tight = (row, other) if row.level >= other.level else (other, row)
        kept[key] = tight
        remarks.append(_left_out(loose, tight))
    remarks += [
        f"'{row.source}' and '{kept[opposite].source}' exclude each other, so the rule never fires"
        for key, row in kept.items()
        if (opposite := row.opposite) in kept
        and key < opposite
        and row.level + kept[opposite].level < 0
    ]
    nothing = Row.of(np.empty(0, np.int64), np.empty(0), 0.0, "always")
    return list(kept.values()) or [nothing], list(dict.fromkeys(remarks))


def _unlike(rows: list[Row]) -> bool:
    """Return True if a glance shows that no row follows from another and no two exclude
    each other.
    """
    levels: dict[tuple[bytes, bool], float] = {}
    for row in rows:
        if not row.size:
            return False
        columns, rises = row.columns.tobytes(), bool(row.values[0] > 0)
        if (columns, rises) in levels or levels.get((columns, not rises), np.inf) + row.level < 0:
            return False
        levels[columns, rises] = row.level
    return True


def _left_out(loose: Row, tight: Row) -> str:
    if loose.level == tight.level:
        return f"'{loose.source}' repeats '{tight.source}' and was left out"
    return f"'{loose.source}' follows from '{tight.source}' and was left out"


# --------------------------------------------------------------------------------------------------
# A compiled rule: the premise B x <= d, sparse and in the user's units, and the outcome's sign.
#
# Conditions joined by `and` are rows of one B; each rule keeps a B of its own, since stacking two
# rules in one B would turn "or" into "and".


_BATCH = 4_000_000  # numbers held at once while a rule is tried on data


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
    """A rule as linear constraints: B x <= d => sign * (w'x + b) >= 1.

    Parameters
    ----------
    rule : Rule
        What was written.
    B : csr_array of shape (n_conditions, n_features)
        A row for each condition, in the user's units.
    d : ndarray of shape (n_conditions,)
        The bounds.
    sign : float
        1.0 for the positive class, -1.0 for the negative one.
    remarks : tuple of str, default=()
        What was left out, and why.
    label : str, default=""
        The rule's name, or its number.
    origins : tuple of Condition or str, default=()
        From which condition each row comes.
    features : FeatureIndex, default=None
        Names of the columns.
    settled : tuple of Condition, default=()
        Conditions that always hold, and have no row.
    outcome : str, default=""
        The class, as the data call it.

    See Also
    --------
    compile_rules : Makes them.

    Examples
    --------
    >>> from hipad import compile_rules
    >>> (rule,) = compile_rules("x0 - x1 >= 4 => positive", n_features=2)
    >>> rule.B.toarray().tolist(), rule.d.tolist(), rule.sign
    ([[-1.0, 1.0]], [-4.0], 1.0)
    >>> rule.fires([[5.0, 0.0], [5.0, 2.0]])
    array([ True, False])
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

    def fires(self, X: Any, gaps: MissingValues | None = None) -> npt.NDArray[np.bool_]:
        """Return for each row of X whether it meets the premise; a missing value never does.

        `gaps` are the cells of X that were filled, and count as missing.
        """
        X = X if sparse.issparse(X) else np.asarray(X)
        if sparse.issparse(X) and X.format not in ("csr", "csc"):
            X = X.tocsr()
        columns = self.columns
        B = on_columns(self.B, columns)
        step = max(1, _BATCH // max(1, len(columns)))
        starts = range(0, X.shape[0], step)
        batches = (X[i : i + step] if step < X.shape[0] else X for i in starts)
        parts = [rows_met(B, self.d, _dense(batch[:, columns]).T) for batch in batches]
        met = np.concatenate([part.all(axis=0) for part in parts] or [np.empty(0, dtype=bool)])
        return met & ~gaps.rows(columns) if gaps else met

    def scaled(self, mean: FloatArray | None, scale: FloatArray | None) -> ScaledRule:
        """Return the same rule for z = (x - mean) / scale: B diag(scale) and d - B mean."""
        B, d = self.B, self.d
        if mean is not None:
            named = self.columns
            d = d - on_columns(B, named) @ np.asarray(mean, dtype=np.float64)[named]
        if scale is not None:
            factors = np.asarray(scale, dtype=np.float64)[B.indices]
            B = sparse.csr_array((B.data * factors, B.indices, B.indptr), shape=B.shape)
        return ScaledRule(self.rule, B, d, self.sign, self.label)


def _dense(part: Any) -> FloatArray:
    values = part.toarray() if sparse.issparse(part) else part
    return np.asarray(values, dtype=np.float64)


# --------------------------------------------------------------------------------------------------
# A compiled rule in plain words: what must hold, and what it then says.


_SIGNS: Final = {
    ">=": "at least",
    "<=": "at most",
    ">": "above",
    "<": "below",
    "=": "exactly",
}
_SHOWN: Final = 4  # names that are listed


def meaning(rule: CompiledRule) -> str:
    """Return what a rule says, as a sentence for somebody who does not know the rule language.

    >>> from hipad.rules.compiler import compile_rules
    >>> (rule,) = compile_rules("mean(K) >= 9.5 => yes", n_features=9, blocks={"K": [1, 2, 3]},
    ...                         classes=("no", "yes"))
    >>> meaning(rule)
    'mean of K, 3 features, at least 9.5, says yes'
    """
    conditions = rule.settled or rule.rule.conditions
    premise = " and ".join(_condition(each, rule) for each in conditions)
    worth = "" if rule.rule.worth is None else f", worth {patients_text(rule.rule.worth)}"
    return f"{premise}, says {quote_label(rule.outcome or rule.rule.outcome)}{worth}"


def _condition(condition: Condition, rule: CompiledRule) -> str:
    if condition.form == "count":
        counted, wanted = condition.sides[0][0], condition.sides[1][0].coefficient
        return (
            f"{_SIGNS[condition.relations[0]]} {number(wanted)} of {_names(counted.names)} being 1"
        )
    if len(condition.sides) == 3:
        return _range(condition, rule)
    left, right, relation = *condition.sides, condition.relations[0]
    if not any(term.names for term in left):
        left, right = right, left
        relation = relation.translate(str.maketrans("<>", "><"))
    if _is_flag(left, right, rule):
        return f"{_side(left, rule)} {'holds' if relation == '>=' else 'does not hold'}"
    return f"{_side(left, rule)} {_SIGNS[relation]} {_side(right, rule)}"


def _range(condition: Condition, rule: CompiledRule) -> str:
    low, middle, high = condition.sides
    first, second = condition.relations
    if first[0] == ">":
        low, high, first, second = high, low, second.replace(">", "<"), first.replace(">", "<")
    if (first, second) == ("<=", "<="):
        return f"{_side(middle, rule)} from {_side(low, rule)} to {_side(high, rule)}"
    under = _SIGNS[first.replace("<", ">")]
    return (
        f"{_side(middle, rule)} {under} {_side(low, rule)} and {_SIGNS[second]} {_side(high, rule)}"
    )


def _is_flag(left: Side, right: Side, rule: CompiledRule) -> bool:
    """Return a one-hot column or a name that stood alone, compared with 0 or 1."""
    alone = len(left) == 1 and left[0].coefficient == 1 and not left[0].function
    plain = len(right) == 1 and right[0].is_number and right[0].coefficient in (0.0, 1.0)
    one_hot = alone and bool(left[0].names) and "=" in str(left[0].names[0])
    return one_hot and plain


def _side(side: Side, rule: CompiledRule) -> str:
    text = ""
    for term in side:
        size = _term(term, rule)
        if not text:
            text = f"minus {size}" if term.coefficient < 0 else size
        else:
            text += f" {'minus' if term.coefficient < 0 else 'plus'} {size}"
    return text


def _term(term: Term, rule: CompiledRule) -> str:
    """Return a term without its sign."""
    size = abs(term.coefficient)
    if term.is_number:
        return term.converted.removeprefix("-") or f"{size:.6g}"
    times = "" if size == 1 else f"{size:.6g} times "
    if not term.function:
        return times + str(term.names[0])
    columns = _n_columns(term, rule)
    many = f", {count(columns, 'feature')}," if columns else ""
    function = find_function(term.function)
    noun = term.function if function is None else function.noun
    return f"{times}{noun} of {_names(term.names)}{many}"


def _n_columns(term: Term, rule: CompiledRule) -> int:
    """Return how many features a group has, where that is not seen from its names."""
    if rule.features is None or all(
        isinstance(n, str) and rule.features.position(n) is not None for n in term.names
    ):
        return 0
    return len(rule.columns) if _only_group(rule) else 0


def _only_group(rule: CompiledRule) -> bool:
    conditions = rule.settled or rule.rule.conditions
    terms = [t for c in conditions for side in c.sides for t in side if t.names]
    return len(terms) == 1


def _names(names: tuple[Name, ...]) -> str:
    shown = [f"{n.first} to {n.last}" if isinstance(n, FeatureSpan) else n for n in names]
    return listed(shown, limit=_SHOWN)


# --------------------------------------------------------------------------------------------------
# Which class an outcome means: a label of the data, `not` a label, or positive and negative.
#
# `positive` and `negative` are words of the user, not of the data. They are taken where the labels
# leave no doubt (1 and 0, yes and no, case and control) or where the positive class was chosen, and
# never where there are more than two classes.


PLAIN_PAIRS: Final = (  # (negative, positive) labels that need no choice
    ("negative", "positive"),
    ("neg", "pos"),
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("control", "case"),
    ("-", "+"),
)
_LITERAL: Final = {"negative": -1.0, "neg": -1.0, "positive": 1.0, "pos": 1.0}
_WORDS: Final = {"negative": -1.0, "-": -1.0, "positive": 1.0, "+": 1.0}
_NOT: Final = re.compile(r"(?:not|no|non)[\s-]\s*+(.+)", re.IGNORECASE)


def class_sign(
    outcome: str,
    classes: Sequence[object],
    *,
    positive_chosen: bool = False,
    place: Place | None = None,
) -> float:
    """+1 if the outcome is the second class, -1 if the first; RuleError if it is neither.

    >>> class_sign("ill", ("well", "ill")), class_sign("not ill", ("well", "ill"))
    (1.0, -1.0)
    >>> class_sign("positive", (0, 1)), class_sign("positive", ("case", "control"))
    (1.0, -1.0)
    >>> class_sign("b", (JoinedClass("not a", ("b", "c")), "a"))
    -1.0
    """
    labels = [str(label) for label in classes]
    if (sign := _label_sign(outcome, labels)) is not None:
        return sign
    if (sign := _joined_sign(outcome, classes, place)) is not None:
        return sign
    if other := _NOT.fullmatch(outcome):
        if (sign := _label_sign(other[1].strip("\"'"), labels)) is not None:
            return -sign
        outcome = other[1]
        if outcome.lower() in _WORDS:
            return -_word_sign(outcome, labels, positive_chosen, place)
    if outcome.lower() in _WORDS:
        return _word_sign(outcome, labels, positive_chosen, place)
    raise _no_class(outcome, labels, place)


class NamedClass(NamedTuple):
    """The position of a class among several, and whether the outcome speaks against it."""

    position: int
    negated: bool


def named_class(
    outcome: str, classes: Sequence[object], *, place: Place | None = None
) -> NamedClass:
    """Return which of several classes an outcome names; RuleError where it is none of them.

    `positive`, `negative` and an empty outcome, which stands for the positive class, name no class
    unless one is called so.

    >>> named_class("b", ("a", "b", "c")), named_class("not c", ("a", "b", "c"))
    (NamedClass(position=1, negated=False), NamedClass(position=2, negated=True))
    """
    labels = [str(label) for label in classes]
    if (found := _label_position(outcome, labels)) is not None:
        return NamedClass(found, False)
    other = _NOT.fullmatch(outcome)
    if other and (found := _label_position(other[1].strip("\"'"), labels)) is not None:
        return NamedClass(found, True)
    word = (other[1] if other else outcome).lower()
    if word in (*_WORDS, ""):
        quoted = [quote_label(label) for label in labels]
        raise rule_error(
            f"which of the {len(labels)} classes is {word or 'positive'} is not known, they are "
            f"{listed(quoted, limit=5)}: name the class, as in {_example(word, quoted)}",
            place,
            expected=tuple(quoted),
        )
    raise _no_class(outcome, labels, place)


def _example(word: str, quoted: Sequence[str]) -> str:
    """Return what to write in place of a word that names no class."""
    return f"'=> {quoted[-1]}'" if word else f"'is raised in {quoted[-1]}'"


def _no_class(outcome: str, labels: Sequence[str], place: Place | None) -> RuleError:
    quoted = [quote_label(label) for label in labels]
    return rule_error(
        f"the outcome {quote_label(outcome)} is not a class of the data: "
        f"write {listed(quoted, 'or')}",
        place,
        expected=tuple(quoted),
        suggestion=_similar_class(outcome, labels),
    )


def _label_sign(outcome: str, labels: Sequence[str]) -> float | None:
    """Return the sign of the only one of two labels that the outcome spells."""
    found = _label_position(outcome, labels)
    return None if found is None else (-1.0, 1.0)[found]


def _label_position(outcome: str, labels: Sequence[str]) -> int | None:
    """Return the only label that the outcome spells: as text, as a number, in other case."""
    for same in (_same_text, _same_number, _same_but_case, _same_but_joins):
        found = [at for at, label in enumerate(labels) if same(outcome, label)]
        if len(found) == 1:
            return found[0]
    return None


def _joined_sign(outcome: str, classes: Sequence[object], place: Place | None) -> float | None:
    """Return the sign of the class that a label was joined into; RuleError for `not` such a
    label.
    """
    other = _NOT.fullmatch(outcome)
    for sign, label in zip((-1.0, 1.0), classes, strict=True):
        if not isinstance(label, JoinedClass):
            continue
        if _label_position(outcome, label.labels) is not None:
            return sign
        if other and _label_position(other[1].strip("\"'"), label.labels) is not None:
            labels = [quote_label(str(one)) for one in classes]
            raise rule_error(
                f"the outcome {quote_label(outcome)} may be either of {listed(labels)}, as these "
                f"are the two classes: write one of them, or tell all classes apart",
                place,
                expected=tuple(labels),
            )
    return None


def _word_sign(
    word: str, labels: Sequence[str], positive_chosen: bool, place: Place | None
) -> float:
    """Return the sign of `positive` or `negative`; RuleError where the labels leave it open."""
    sign = _WORDS[word.lower()]
    if positive_chosen:
        return sign
    lowered = [_plain(label) for label in labels]
    for pair in PLAIN_PAIRS:
        if sorted(lowered) == sorted(pair):
            return sign if lowered[1] == pair[1] else -sign
    for literal, own in _LITERAL.items():
        if lowered.count(literal) == 1 and not set(lowered) & set(_LITERAL) - {literal}:
            return sign * own if lowered[1] == literal else -sign * own
    quoted = [quote_label(label) for label in labels]
    raise rule_error(
        f"which class is {word.lower()} is not known, the classes are {listed(quoted)}: "
        f"write {listed(quoted, 'or')} as the outcome, or choose the positive class",
        place,
        expected=tuple(quoted),
    )


def _plain(label: str) -> str:
    """Return a label in small letters; 1.0 and +1 are 1."""
    try:
        return f"{float(label):g}"
    except ValueError:
        return label.lower()


def _similar_class(outcome: str, labels: Sequence[str]) -> str | None:
    """Return the label that a longer text holds as a word, quoted; None if both or none stand in
    it.
    """
    inside = [label for label in labels if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", outcome)]
    return quote_label(inside[0]) if len(inside) == 1 else None


def _same_text(outcome: str, label: str) -> bool:
    return outcome == label


def _same_number(outcome: str, label: str) -> bool:
    try:
        return float(outcome) == float(label)
    except ValueError:
        return False


def _same_but_case(outcome: str, label: str) -> bool:
    one, other = (" ".join(plain_signs(each).lower().split()) for each in (outcome, label))
    return one == other


def _same_but_joins(outcome: str, label: str) -> bool:
    one, other = (re.sub(r"[\s_-]+", " ", plain_signs(each).lower()) for each in (outcome, label))
    return one == other


def first_outcome(text: str) -> str:
    """Return the outcome of the first rule that is switched on; "" where there is none.

    Rules that say positive or negative are passed over: they do not tell which class that is.

    >>> first_outcome("Glucose >= 126 => positive\\nBMI >= 40 => diabetic")
    'diabetic'
    """
    found = read_rules(text).rules
    said = [rule.outcome for rule in found if rule.enabled]
    said += [statement.outcome for statement in found.statements if statement.enabled]
    return next((each for each in said if each and each.lower() not in _LITERAL), "")


def outcome_sign(rule: Rule, classes: Sequence[object], *, positive_chosen: bool = False) -> float:
    """Return the sign of a rule's outcome, as `class_sign` gives it; an error names the rule's
    place.
    """
    return class_sign(rule.outcome, classes, positive_chosen=positive_chosen, place=rule.place)

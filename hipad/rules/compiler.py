"""The compiler: rules and feature priors for certain data in, (B, d) or all that is wrong out."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
from scipy import sparse

from hipad.exceptions import RuleError
from hipad.rules.ast import (
    All,
    Condition,
    FeaturePrior,
    Name,
    Node,
    Rule,
    RuleSet,
    Term,
    alternatives,
)
from hipad.rules.compiled_rule import CompiledRule, Row, class_sign, needed_rows, outcome_sign
from hipad.rules.context import ColumnValues, Context, NameTable, RowsNeeded, as_values
from hipad.rules.functions import EXTREMES, RULE_FUNCTIONS
from hipad.rules.lexer import (
    MOST_WEIGHTS,
    Vocabulary,
    on_line,
    quote_label,
    quote_name,
    rule_error,
    too_many_weights,
)
from hipad.rules.linearize import linearize
from hipad.rules.names import (
    Blocks,
    FeatureIndex,
    as_index,
    block_for_feature,
    each_once,
    resolve_blocks,
)
from hipad.rules.parser import RulesText, parse_rules, read_rules
from hipad.rules.units import unit_in_name, unit_of
from hipad.utils import FloatArray, IntArray, count, listed

# --------------------------------------------------------------------------------------------------
# From the terms of a condition to sparse rows: names become columns, equal ones are added up.


Weighted = list[tuple[float, Term]]
"""Terms with the coefficients they have on the left of `... <= 0`."""

Part = tuple[IntArray, float]
"""Columns, and the weight that each of them has."""

MAX_ROWS = 2_000

_CANCELLED = 1e-12  # what is left of 0.1 + 0.2 - 0.3, relative to its parts
_NO_COLUMNS = np.empty(0, np.int64)


def inequalities(condition: Condition) -> list[tuple[Weighted, bool]]:
    """Return weighted terms, each list meaning sum <= 0, and whether the sum must be below.

    >>> a, three = Term(1.0, ("a",)), Term(3.0)
    >>> for terms, strict in inequalities(Condition(((a,), (three,)), (">",))):
    ...     print([(weight, term.body) for weight, term in terms], strict)
    [(-1.0, 'a'), (3.0, '')] True
    """
    found: list[tuple[Weighted, bool]] = []
    steps = zip(condition.sides, condition.relations, condition.sides[1:], strict=False)
    for left, relation, right in steps:
        difference = [(t.coefficient, t) for t in left] + [(-t.coefficient, t) for t in right]
        strict = relation in ("<", ">")
        if relation[0] in "<=":
            found.append((difference, strict))
        if relation[0] in ">=":
            found.append(([(-weight, term) for weight, term in difference], strict))
    return found


class RowBuilder:
    """Turns names into columns, and says what a reader should know about the result."""

    def __init__(
        self,
        index: FeatureIndex,
        blocks: Mapping[str, IntArray],
        values: ColumnValues | None = None,
    ) -> None:
        self.index = index
        self.blocks = blocks
        self.values = values
        self.remarks: list[str] = []

    def rows(self, condition: Condition) -> Iterator[Row]:
        """Yield the rows of one condition; `>` on values with steps begins half-way to the next
        one.
        """
        for terms, strict in inequalities(condition):
            for row in self._rows(terms, condition):
                if strict and self.values is not None:
                    bound = self.values.strict_bound(row.columns, row.values, row.bound)
                    yield replace(row, bound=bound)
                else:
                    yield row

    def _rows(self, terms: Weighted, origin: Condition) -> Iterator[Row]:
        bound = 0.0
        fixed: list[Part] = []
        extremes: Weighted = []
        for weight, term in terms:
            if not term.names:
                bound -= weight
            elif term.function in EXTREMES:
                extremes.append((weight, term))
            else:
                fixed.append(self._spread(weight, term))
        for chosen in self._choices(extremes, origin) if extremes else [[]]:
            yield _added_up(fixed + chosen, bound, origin)

    def _choices(self, extremes: Weighted, origin: Condition) -> Iterator[list[Part]]:
        """Yield one feature of each group, in every combination: min(K) >= c holds for all of K."""
        groups = [self.columns(term) for _, term in extremes]
        if math.prod(map(len, groups)) > MAX_ROWS:
            raise rule_error(
                f"'{origin}' makes more than {MAX_ROWS:,} rows, one per feature: "
                "write mean(...) or name fewer features",
                column=extremes[0][1].column,
            )
        weights = [weight for weight, _ in extremes]
        for choice in itertools.product(*groups):
            yield [(np.array([j]), weight) for j, weight in zip(choice, weights, strict=True)]

    def _spread(self, weight: float, term: Term) -> Part:
        columns = self.columns(term)
        function = RULE_FUNCTIONS.get(term.function)
        if function is None or function.divisor is None:
            return columns, weight
        return columns, weight / function.divisor(len(columns))

    def columns(self, term: Term) -> IntArray:
        """Return the columns that a term names, each once."""
        if not term.function:
            return np.array([self._feature(str(term.names[0]), term.column)])
        parts = [self._group(name, term.column) for name in term.names]
        if len(parts) == 1 and len(parts[0]):
            return parts[0]
        together = np.concatenate(parts)
        columns = each_once(together)
        if len(columns) < len(together):
            self.remarks.append(f"{term.body} names a feature twice; it counts once")
        if not len(columns):
            raise rule_error(
                f"{term.body} has no features: fill the block first", column=term.column
            )
        return columns

    def _feature(self, name: str, column: int | None) -> int:
        if name in self.blocks and self.index.position(name) is None:
            raise block_for_feature(name, column)
        return self.index.find(name, column, self.blocks)

    def _group(self, name: Name, column: int | None) -> IntArray:
        if isinstance(name, str):
            if name in self.blocks:
                return self.blocks[name]
            return np.array([self.index.find(name, column, self.blocks)])
        first, last = (self.index.find(end, column) for end in (name.first, name.last))
        if first > last:
            remedy = f"write {quote_name(name.last)}:{quote_name(name.first)}"
            raise rule_error(f"{name} runs backwards: {remedy}", column=column)
        return np.arange(first, last + 1)


def _added_up(parts: list[Part], bound: float, origin: Condition) -> Row:
    weights = [weight for _, weight in parts]
    if len(parts) == 1 and weights[0]:
        columns = parts[0][0]
        return Row(columns, np.full(len(columns), weights[0]), bound, abs(weights[0]), origin)
    columns = np.concatenate([_NO_COLUMNS, *(columns for columns, _ in parts)])
    values = np.repeat(np.array(weights), [len(columns) for columns, _ in parts])
    order = columns.argsort(kind="stable")
    columns, values = columns[order], values[order]
    repeats = np.count_nonzero(columns[1:] == columns[:-1])
    if repeats or not all(weights):
        columns, values = _each_once(columns, values)
    return Row.of(columns, values, bound, origin)


def _each_once(columns: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each column with the sum of its values, without those that cancel."""
    columns, where = np.unique(columns, return_inverse=True)
    total = np.bincount(where, values, len(columns)).astype(np.float64)
    size = np.bincount(where, np.abs(values), len(columns))
    keep = np.abs(total) > _CANCELLED * size
    return columns[keep], total[keep]


# --------------------------------------------------------------------------------------------------
# One rule put together: its conditions settled, its names found, its matrix made.


_SHOWN = 20  # errors that are told at once


@dataclass(frozen=True, eq=False)
class ResolvedRule:
    """A rule with its names found, before its matrix is made."""

    rule: Rule
    label: str
    sign: float
    outcome: str
    rows: list[Row]
    remarks: list[str]
    settled: tuple[Condition, ...]

    def compiled(self, index: FeatureIndex) -> CompiledRule:
        """Return the rule with its matrix over all columns."""
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


@dataclass(frozen=True, eq=False)
class _Case:
    """One case in which a rule is met: its conditions, their rows, and remarks."""

    conditions: tuple[Condition, ...]
    rows: list[Row]
    remarks: list[str]

    @property
    def is_possible(self) -> bool:
        """False if a row asks that 0 be less than 0."""
        return all(row.size or row.bound >= 0 for row in self.rows)


class RuleAssembler:
    """What rules are compiled for: names, blocks, classes and training rows."""

    def __init__(
        self,
        index: FeatureIndex,
        blocks: dict[str, IntArray],
        classes: Sequence[object],
        positive_chosen: bool,
        values: Any,
        asks: bool = True,
    ) -> None:
        self.index, self.blocks, self.classes = index, blocks, classes
        self.positive_chosen = positive_chosen
        self.values = as_values(values)
        self.name_table = NameTable(index, blocks, self.values, asks=asks)
        self.weights = 0

    def without_suggestions(self) -> RuleAssembler:
        """Return the same, for errors without near names: finding these takes time."""
        index = self.index.without_suggestions()
        context = (self.blocks, self.classes, self.positive_chosen, self.values)
        other = RuleAssembler(index, *context, asks=self.name_table.asks)
        other.weights = self.weights
        return other

    def resolved(self, rule: Rule, label: str, *, several: bool) -> list[ResolvedRule]:
        """Return the rule with its names found: more than one where it says `any` of several
        features.
        """
        line = rule.place and rule.place[0]
        try:
            cases = self._cases(rule)
            if len(cases) > 1 and not several:
                raise _several(rule, [case.conditions for case in cases])
        except RuleError as error:
            raise _on_line(error, line) from None
        sign = outcome_sign(rule, self.classes, positive_chosen=self.positive_chosen)
        outcome = str(self.classes[int(sign > 0)])
        self._weigh(cases, line)
        resolved = []
        for k, case in enumerate(cases, 1):
            own, named = rule, label
            if len(cases) > 1:
                worth = None if rule.worth is None else rule.worth / len(cases)
                own, named = replace(rule, conditions=case.conditions, worth=worth), f"{label}.{k}"
            each = ResolvedRule(own, named, sign, outcome, case.rows, case.remarks, case.conditions)
            resolved.append(each)
        return resolved

    def _cases(self, rule: Rule) -> list[_Case]:
        """Return the cases in which the rule is met; without those that never are, if others
        remain.
        """
        found, remarks = self._settled(rule)
        cases = [self._case(conditions, remarks) for conditions in found]
        possible = [case for case in cases if case.is_possible]
        return possible or cases[:1]

    def _settled(self, rule: Rule) -> tuple[list[tuple[Condition, ...]], list[str]]:
        """Return the conditions in plain sums, for each case in which they are met."""
        context = Context(self.name_table)
        nodes: list[Node] = []
        errors: list[RuleError] = []
        for condition in rule.conditions:
            try:
                nodes.append(linearize(context, condition))
            except RuleError as error:
                errors.append(_on_line(error, rule.place and rule.place[0]))
        if errors:
            raise together(errors)
        if all(isinstance(node, Condition) for node in nodes):
            return [tuple(node for node in nodes if isinstance(node, Condition))], context.remarks
        return alternatives(All(tuple(nodes))), context.remarks

    def _case(self, conditions: tuple[Condition, ...], remarks: list[str]) -> _Case:
        resolver = RowBuilder(self.index, self.blocks, self.values)
        rows = [row for condition in conditions for row in resolver.rows(condition)]
        kept, more = needed_rows(rows)
        return _Case(conditions, kept, remarks + resolver.remarks + more)

    def _weigh(self, cases: list[_Case], line: int | None) -> None:
        """Count the numbers that the matrices will hold; RuleError if too many."""
        self.weights += sum(len(row.columns) for case in cases for row in case.rows)
        if self.weights > MOST_WEIGHTS:
            raise too_many_weights(line)


def together(errors: list[RuleError]) -> RuleError:
    """Return all mistakes as one error, which stands at the first."""
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


def _on_line(error: RuleError, line: int | None) -> RuleError:
    """Return the error with its line, of the same kind."""
    placed = on_line(error, line)
    if not isinstance(error, RowsNeeded) or placed is error:
        return placed
    return RowsNeeded(str(placed), line=placed.line, column=placed.column)


def _several(rule: Rule, cases: list[tuple[Condition, ...]]) -> RuleError:
    """Return the error for a rule that stands for several, where each must have a place in the
    text.
    """
    remedy = " or ".join(" and ".join(map(str, conditions)) for conditions in cases)
    return rule_error(
        f"this stands for {len(cases)} rules, one for each feature: write {remedy}",
        column=rule.conditions[0].sides[0][0].column or 1,
        suggestion=f"{remedy} => {quote_label(rule.outcome)}",
    )


def _matrix(rows: list[Row], n_features: int) -> tuple[sparse.csr_array, FloatArray]:
    indptr = np.array([0, *accumulate(len(row.columns) for row in rows)])
    indices = np.concatenate([row.columns for row in rows])
    values = np.concatenate([row.values for row in rows])
    B = sparse.csr_array((values, indices, indptr), shape=(len(rows), n_features))
    return B, np.array([row.bound for row in rows])


# --------------------------------------------------------------------------------------------------
# Rules for certain data: text or rules in, compiled rules or everything that is wrong out.


_HELPED = 20  # errors that say which names are near


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
    asks: bool = True,
) -> tuple[CompiledRule, ...]:
    """Compile rules for data with these columns and these classes.

    Parameters
    ----------
    rules : str or iterable of rules
        Text in the rule language, or parsed rules. Those that are switched off are passed over.
    feature_names : sequence or FeatureIndex, default=None
        Names of the columns; without them they are x0, x1, ...
    n_features : int, default=None
        Number of columns, where they have no names.
    blocks : dict, default=None
        Named groups of features: name -> column indices or feature names.
    classes : pair, default=("negative", "positive")
        What the data call the negative and the positive class.
    positive_chosen : bool, default=False
        Whether somebody has said which class is the positive one.
    include_off : bool, default=False
        Compile rules that are switched off as well.
    values : array, sparse matrix or ColumnValues, default=None
        The training rows, from which percentiles and the like are learnt, and which tell counts,
        columns of 0 and 1 and the range of each column. Without them a rule whose meaning depends
        on these is warned of, or refused.
    asks : bool, default=True
        Refuse a number in a unit that the column may not have, with what to write; False only
        remarks on it.

    Returns
    -------
    tuple of CompiledRule
        A rule that is met as soon as one of several features is becomes one for each.

    Raises
    ------
    RuleError
        A rule cannot be read, is not linear, or names what is not there.

    See Also
    --------
    parse_rules : Read rules without data.
    check_rules : Look for contradictions.

    Examples
    --------
    >>> from hipad import compile_rules
    >>> X = [[3, 5, 0], [3, 4, 9]]
    >>> (rule,) = compile_rules("mean(x0, x1) >= 4 => positive", n_features=3, values=X)
    >>> rule.B.toarray(), rule.d, rule.sign
    (array([[-0.5, -0.5,  0. ]]), array([-4.]), 1.0)
    >>> rule.fires(X)
    array([ True, False])
    """
    index = as_index(feature_names, n_features)
    columns = resolve_blocks(blocks, index)
    context = RuleAssembler(index, columns, classes, positive_chosen, values, asks)
    found = as_rule_set(rules, context.name_table)
    resolved: list[ResolvedRule] = []
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
    if values is None:
        _warn_of_unknown_values(resolved)
    # The names of all rules before the matrices of all: one kind of work at a time is faster.
    return tuple([each.compiled(index) for each in resolved])


def _warn_of_unknown_values(resolved: list[ResolvedRule]) -> None:
    """Say which rules may mean something else on the data that they are meant for."""
    strict = [each.label for each in resolved if _is_strict(each)]
    units = [each.label for each in resolved if _has_unit(each.rule)]
    remarks = []
    if strict:
        remarks.append(
            f"the border belongs to '>' and '<' of {listed(strict, limit=4)}, which it does not on "
            "whole numbers"
        )
    if units:
        remarks.append(
            f"the numbers of {listed(units, limit=4)} may be in another unit than the data"
        )
    if remarks:
        sentence = f"the rules are compiled without rows: {'; '.join(remarks)}: pass values=X"
        warnings.warn(sentence, UserWarning, stacklevel=3)


def _is_strict(each: ResolvedRule) -> bool:
    return any({"<", ">"} & set(condition.relations) for condition in each.settled)


def _has_unit(rule: Rule) -> bool:
    terms = [term for each in rule.conditions for side in each.sides for term in side]
    names = [name for term in terms for name in term.names if isinstance(name, str)]
    known = any(unit_in_name(name) is not None for name in names)
    return not known and any(unit_of(term.unit) is not None for term in terms)


def compile_each(
    rules: RuleSet,
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
    values: Any = None,
) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Return each rule that fits the data by its position, off or on, and what is wrong with the
    others.

    Near names are looked for in the first few errors only.
    """
    index = feature_names
    columns = resolve_blocks(blocks, index)
    context = RuleAssembler(index, columns, classes, positive_chosen, values)
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


def as_rule_set(rules: str | Iterable[Rule | str], vocabulary: Vocabulary | None = None) -> RuleSet:
    """Return rules from text, or from any iterable of rules and texts.

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
    statements: list[FeaturePrior] = []
    for each in given:
        if isinstance(each, str):
            part = parse_rules(each, vocabulary)
            statements += [replace(s, after=len(found) + s.after) for s in part.statements]
            found += part
        else:
            found.append(each)
    return RuleSet(tuple(found), statements=tuple(statements))


# --------------------------------------------------------------------------------------------------
# A text read for certain data: with their names, and with rules for several spelled out.
#
# `max(K1) >= 3` is met as soon as one feature of K1 is: it stands for one rule for each. Whoever
# looks at rules one by one, as a page or a report does, reads them here.


def read_for(text: str, name_table: NameTable, classes: Sequence[object]) -> RulesText:
    """Return the rules of a text as these data understand it; several where a rule stands for
    several.

    >>> from hipad.rules.names import FeatureIndex
    >>> names = NameTable(FeatureIndex(["blood pressure", "Age"]))
    >>> print(read_for("blood pressure >= 140 => ill", names, ("well", "ill")).rules)
    `blood pressure` >= 140 => ill
    """
    found = read_rules(text, name_table)
    parts = [_alternatives(rule, name_table, classes) for rule in found.rules]
    if all(len(some) == 1 for some in parts):
        return found
    rules = tuple(rule for some in parts for rule in some)
    return replace(found, rules=replace(found.rules, rules=rules))


def _alternatives(rule: Rule, name_table: NameTable, classes: Sequence[object]) -> list[Rule]:
    """Return the rules that a rule stands for; itself where it is one, or cannot be used."""
    if not _may_be_several(rule):
        return [rule]
    context: dict[str, Any] = {"feature_names": name_table.index, "blocks": name_table.blocks}
    try:
        found = compile_rules(
            [rule],
            classes=classes,
            positive_chosen=True,
            include_off=True,
            values=name_table.values,
            **context,
        )
    except RuleError:
        return [rule]
    if len(found) == 1:
        return [rule]
    named = [f"{rule.name}_{k}" if rule.name else "" for k in range(1, len(found) + 1)]
    return [
        replace(each.rule, name=name, place=rule.place)
        for each, name in zip(found, named, strict=True)
    ]


def _may_be_several(rule: Rule) -> bool:
    terms = (term for each in rule.conditions for side in each.sides for term in side)
    return any(term.function in EXTREMES for term in terms)


# --------------------------------------------------------------------------------------------------
# What an expert knows of single features, beside the rules: a direction, certainty, or nothing.
#
# "ABL1 is raised in BCR/ABL" fixes the sign of a weight. "x does not matter" keeps a feature out.
# "x is certain" lets a feature in without paying lambda1. None of these is an implication, so none
# is a row of (B, d).


_CONTRARY: Final = (
    ("raised", "lowered"),
    ("raised", "ignored"),
    ("lowered", "ignored"),
    ("certain", "ignored"),
)
_SAID: Final = {
    "raised": "speak for the positive class",
    "lowered": "speak against it",
    "ignored": "do not matter",
    "certain": "are certain",
}


def _no_features() -> IntArray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class SignConstraints:
    """Columns, sorted, whose weights are known to be >= 0, <= 0, exactly 0, or free of lambda1.

    A column may be certain and raised (or lowered) at once; every other pair contradicts itself.
    """

    raised: IntArray = field(default_factory=_no_features)
    lowered: IntArray = field(default_factory=_no_features)
    ignored: IntArray = field(default_factory=_no_features)
    certain: IntArray = field(default_factory=_no_features)

    def __bool__(self) -> bool:
        return any(part.size for part in (self.raised, self.lowered, self.ignored, self.certain))


@dataclass(frozen=True, eq=False)
class CompiledPrior:
    """A statement with the columns it is about; `kind` is as the weights see it.

    What is raised in the negative class is lowered for the weights, whose sign is the positive one.
    """

    statement: FeaturePrior
    kind: str
    columns: IntArray
    outcome: str = ""

    @property
    def meaning(self) -> str:
        """What it does to the model, in plain words."""
        names = listed([quote_name(n) if isinstance(n, str) else str(n)
                        for n in self.statement.names], limit=5)  # fmt: skip
        many = f" ({count(len(self.columns), 'feature')})" if len(self.columns) > 1 else ""
        says = {
            "raised": f"can only speak for {quote_label(self.outcome)}",
            "lowered": f"can only speak for {quote_label(self.outcome)}",
            "ignored": "gets no weight",
            "certain": "is in, however few features there may be",
        }[self.kind]
        high = "low" if self.statement.kind == "lowered" else "high"
        subject = f"a {high} {names}" if self.outcome else names
        return f"{subject}{many} {says}"


@dataclass(frozen=True, eq=False)
class ExpertKnowledge:
    """All that was written: rules, and what is known of single features.

    `written` holds all of it as it was read, with what is switched off; None if that is not known.
    """

    rules: tuple[CompiledRule, ...] = ()
    features: SignConstraints = field(default_factory=SignConstraints)
    statements: tuple[CompiledPrior, ...] = ()
    written: RuleSet | None = None


def compile_knowledge(rules: str | Iterable[Rule | str], **context: Any) -> ExpertKnowledge:
    """Compile rules and statements about features; `context` is that of `compile_rules`.

    >>> known = compile_knowledge("x0 raises the risk\\nx1 does not matter", n_features=3)
    >>> known.features.raised, known.features.ignored
    (array([0]), array([1]))
    """
    index = as_index(context.get("feature_names"), context.get("n_features"))
    blocks, values = resolve_blocks(context.get("blocks"), index), as_values(context.get("values"))
    asks = bool(context.get("asks", True))
    found = as_rule_set(rules, NameTable(index, blocks, values, asks=asks))
    context = {**context, "feature_names": index, "blocks": blocks, "values": values}
    context.pop("n_features", None)
    named = {key: context[key] for key in ("blocks", "classes", "positive_chosen")
             if key in context}  # fmt: skip
    stated, errors = compile_statements(found.statements, feature_names=index, **named)
    for error in errors:
        raise error
    on = [each for each in stated.values() if each.statement.enabled]
    compiled = compile_rules(found, **context)
    return ExpertKnowledge(compiled, known_features(on, index), tuple(on), found)


def read_knowledge(
    rules: str | Iterable[Rule | str] | None,
    index: FeatureIndex,
    blocks: Blocks | None = None,
    values: Any = None,
) -> RuleSet:
    """Return rules and statements as they are read for these columns, before they are compiled."""
    known = NameTable(index, resolve_blocks(blocks, index), as_values(values))
    return as_rule_set(rules if rules is not None else (), known)


def compile_statements(
    statements: Sequence[FeaturePrior],
    *,
    feature_names: FeatureIndex,
    blocks: Blocks | None = None,
    classes: Sequence[object] = ("negative", "positive"),
    positive_chosen: bool = False,
) -> tuple[dict[int, CompiledPrior], list[RuleError]]:
    """Return each statement that fits the data by its position, and what is wrong with the
    others.
    """
    resolver = RowBuilder(feature_names, resolve_blocks(blocks, feature_names))
    found: dict[int, CompiledPrior] = {}
    errors: list[RuleError] = []
    for position, statement in enumerate(statements):
        try:
            found[position] = _compiled(statement, resolver, classes, positive_chosen)
        except RuleError as error:
            line = statement.place and statement.place[0]
            placed = error if error.column else rule_error(str(error), column=1)
            errors.append(on_line(placed, line))
    return found, errors


def known_features(stated: Sequence[CompiledPrior], index: FeatureIndex) -> SignConstraints:
    """Return what all statements say together; RuleError where two of them contradict each
    other.
    """
    parts = {
        kind: np.unique(np.concatenate([
            _no_features(), *(each.columns for each in stated if each.kind == kind)
        ])).astype(np.intp)
        for kind in _SAID
    }  # fmt: skip
    for one, other in _CONTRARY:
        both = np.intersect1d(parts[one], parts[other])
        if len(both):
            names = listed([quote_name(index.name(j)) for j in both], limit=4)
            raise rule_error(
                f"{names} cannot both {_SAID[one]} and {_SAID[other]}: take one statement out"
            )
    return SignConstraints(**parts)


def _compiled(
    statement: FeaturePrior, resolver: RowBuilder, classes: Sequence[object], positive_chosen: bool
) -> CompiledPrior:
    columns = resolver.columns(Term(1.0, statement.names, "sum", column=1))
    if statement.kind not in ("raised", "lowered"):
        return CompiledPrior(statement, statement.kind, columns)
    outcome = statement.outcome or "positive"
    sign = class_sign(outcome, classes, positive_chosen=positive_chosen, place=statement.place)
    kinds = ("raised", "lowered")
    kind = statement.kind if sign > 0 else kinds[1 - kinds.index(statement.kind)]
    return CompiledPrior(statement, kind, columns, str(classes[int(sign > 0)]))

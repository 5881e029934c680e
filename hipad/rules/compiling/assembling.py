"""One rule put together: its conditions settled, its names found, its matrix made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.errors import RuleError
from hipad.rules.compiling.compiled import CompiledRule
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.outcomes import outcome_sign
from hipad.rules.compiling.resolving import Resolver
from hipad.rules.compiling.rows import Row, needed_rows
from hipad.rules.compiling.settling.ground import Ground, RowsNeeded
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.settler import settle
from hipad.rules.compiling.settling.values import as_values
from hipad.rules.language.bounds import MOST_WEIGHTS, too_many_weights
from hipad.rules.language.logic import All, Node, alternatives
from hipad.rules.language.model import Condition, Rule
from hipad.rules.language.spelling import on_line, quote_label, rule_error

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
        """The rule with its matrix over all columns."""
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
class _Way:
    """One way in which a rule is met: its conditions, their rows, and remarks."""

    conditions: tuple[Condition, ...]
    rows: list[Row]
    remarks: list[str]

    @property
    def is_possible(self) -> bool:
        """False if a row asks that 0 be less than 0."""
        return all(row.size or row.bound >= 0 for row in self.rows)


class Assembler:
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
        self.lexicon = Lexicon(index, blocks, self.values, asks=asks)
        self.weights = 0

    def without_suggestions(self) -> Assembler:
        """The same, for errors without near names: finding these takes time."""
        index = self.index.without_suggestions()
        context = (self.blocks, self.classes, self.positive_chosen, self.values)
        other = Assembler(index, *context, asks=self.lexicon.asks)
        other.weights = self.weights
        return other

    def resolved(self, rule: Rule, label: str, *, several: bool) -> list[ResolvedRule]:
        """The rule with its names found: more than one where it says `any` of several features."""
        line = rule.place and rule.place[0]
        try:
            ways = self._ways(rule)
            if len(ways) > 1 and not several:
                raise _several(rule, [way.conditions for way in ways])
        except RuleError as error:
            raise _on_line(error, line) from None
        sign = outcome_sign(rule, self.classes, positive_chosen=self.positive_chosen)
        outcome = str(self.classes[int(sign > 0)])
        self._weigh(ways, line)
        resolved = []
        for k, way in enumerate(ways, 1):
            own, named = rule, label
            if len(ways) > 1:
                worth = None if rule.worth is None else rule.worth / len(ways)
                own, named = replace(rule, conditions=way.conditions, worth=worth), f"{label}.{k}"
            each = ResolvedRule(own, named, sign, outcome, way.rows, way.remarks, way.conditions)
            resolved.append(each)
        return resolved

    def _ways(self, rule: Rule) -> list[_Way]:
        """The ways in which the rule is met; without those that never are, if others remain."""
        found, remarks = self._settled(rule)
        ways = [self._way(conditions, remarks) for conditions in found]
        possible = [way for way in ways if way.is_possible]
        return possible or ways[:1]

    def _settled(self, rule: Rule) -> tuple[list[tuple[Condition, ...]], list[str]]:
        """The conditions in plain sums, for each way in which they are met."""
        ground = Ground(self.lexicon)
        nodes: list[Node] = []
        errors: list[RuleError] = []
        for condition in rule.conditions:
            try:
                nodes.append(settle(ground, condition))
            except RuleError as error:
                errors.append(_on_line(error, rule.place and rule.place[0]))
        if errors:
            raise together(errors)
        if all(isinstance(node, Condition) for node in nodes):
            return [tuple(node for node in nodes if isinstance(node, Condition))], ground.remarks
        return alternatives(All(tuple(nodes))), ground.remarks

    def _way(self, conditions: tuple[Condition, ...], remarks: list[str]) -> _Way:
        resolver = Resolver(self.index, self.blocks, self.values)
        rows = [row for condition in conditions for row in resolver.rows(condition)]
        kept, more = needed_rows(rows)
        return _Way(conditions, kept, remarks + resolver.remarks + more)

    def _weigh(self, ways: list[_Way], line: int | None) -> None:
        """Count the numbers that the matrices will hold; RuleError if too many."""
        self.weights += sum(len(row.columns) for way in ways for row in way.rows)
        if self.weights > MOST_WEIGHTS:
            raise too_many_weights(line)


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


def _matrix(rows: list[Row], n_features: int) -> tuple[sparse.csr_array, FloatArray]:
    indptr = np.array([0, *accumulate(len(row.columns) for row in rows)])
    indices = np.concatenate([row.columns for row in rows])
    values = np.concatenate([row.values for row in rows])
    B = sparse.csr_array((values, indices, indptr), shape=(len(rows), n_features))
    return B, np.array([row.bound for row in rows])

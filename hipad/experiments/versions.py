"""A rule, wrong in one way and a little more each time: other threshold, worth, outcome, features.

All versions are made of the parsed rules, so that names, notes and the statements that stand among
the rules survive; a rule that has nothing to change in the way asked for is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hipad.arrays import IntArray
from hipad.errors import RuleError
from hipad.experiments.material import Material
from hipad.rules import (
    ColumnValues,
    CompiledRule,
    Condition,
    Rule,
    RuleSet,
    Term,
    compile_rules,
    parse_rules,
)
from hipad.rules.compiling.naming.names import as_index
from hipad.rules.language.terms import FUNCTIONS, RATIO, Name
from hipad.wording import number

NUMERIC: Final = ("compare", "between")  # forms of conditions that any number could stand in
MOST_NAMES: Final = 100_000  # that one rule may need


@dataclass(frozen=True)
class Version:
    """The rules with one of them changed; `label` says how, `place` where on the axis it stands."""

    label: str
    place: float
    rules: str


def threshold_versions(
    rules: str, position: int, values: Sequence[float], condition: int | None = None
) -> list[Version]:
    """The rule at `position` with other thresholds, in the condition at `condition` of it.

    Without one it is the rule's only threshold.
    """
    found, rule = _rule_at(rules, position)
    at = _threshold_place(rule, condition)
    return [
        Version(
            number(value),
            float(value),
            _changed(found, position, _with_threshold(rule, at, float(value))),
        )
        for value in values
    ]


def worth_versions(rules: str, position: int, values: Sequence[float]) -> list[Version]:
    """The rule at `position` worth more and more patients."""
    found, rule = _rule_at(rules, position)
    return [
        Version(
            f"{number(value)} patients",
            float(value),
            _changed(found, position, replace(rule, worth=float(value))),
        )
        for value in values
    ]


def wrong_versions(
    rules: str,
    position: int,
    outcomes: tuple[str, str],
    strangers: Sequence[str],
    blocks: Mapping[str, IntArray] | None = None,
    feature_names: Sequence[str] | None = None,
) -> list[Version]:
    """As written, about features that have nothing to do with it, and with the other outcome.

    A block or a range of `feature_names` becomes as many strangers as it has features, as far as
    there are so many. A rule about categories, or a ratio, has no version about other features:
    those need not be above zero.
    """
    found, rule = _rule_at(rules, position)
    other = outcomes[0] if rule.outcome == outcomes[1] else outcomes[1]
    versions = [Version("as written", 0.0, _changed(found, position, rule))]
    if all(
        condition.form in NUMERIC and not _has_ratio(condition) for condition in rule.conditions
    ):
        about = _about(rule, strangers, blocks or {}, feature_names)
        versions.append(Version("irrelevant features", 1.0, _changed(found, position, about)))
    flipped = _changed(found, position, replace(rule, outcome=other))
    return [*versions, Version("flipped", float(len(versions)), flipped)]


def thresholds_of(rules: str, position: int) -> list[int]:
    """The conditions of a rule that compare with one number, by their places."""
    _, rule = _rule_at(rules, position)
    return [k for k, each in enumerate(rule.conditions) if threshold_of(each) is not None]


def thresholds_seen(
    material: Material, position: int, condition: int | None = None, n: int = 7
) -> list[float]:
    """The written threshold, and others over the range that the rows show."""
    _, rule = _rule_at(material.rules, position)
    at = _threshold_place(rule, condition)
    now = threshold_of(rule.conditions[at])
    assert now is not None
    names = as_index(material.feature_names, material.X.shape[1])
    alone = replace(rule, conditions=(rule.conditions[at],))

    def compiled(value: float) -> CompiledRule:
        first, *others = compile_rules(
            [_with_threshold(alone, 0, value)],
            feature_names=names,
            blocks=material.blocks or None,
            classes=material.labels,
            values=ColumnValues(material.X, material.gaps),
        )
        if others or first.d.size != 1:
            raise RuleError(f"'{rule.conditions[at]}' has no range to sweep: sweep its worth")
        return first

    low, high = compiled(now), compiled(now + 1.0)
    slope = float(high.d[0] - low.d[0])
    if not slope:  # of a ratio: the number is among the weights
        raise RuleError(f"'{rule.conditions[at]}' has no range to sweep: sweep its worth")
    rows = material.X[material.pool]
    seen = now + (np.asarray(rows @ low.B[[0]].T.toarray()).ravel() - low.d[0]) / slope
    first, last = (float(np.quantile(seen, share)) for share in (0.02, 0.98))
    spread = [float(f"{value:.3g}") for value in np.linspace(first, last, n)]
    return sorted({*spread, now})


def strangers_to(material: Material, rng: np.random.Generator, most: int = 50) -> list[str]:
    """Features that no rule of the data names, at random; all others where there are none."""
    n = len(material.feature_names) if material.feature_names else material.X.shape[1]
    index = as_index(material.feature_names, n)
    rules = compile_rules(
        material.rules,
        feature_names=index,
        blocks=material.blocks or None,
        classes=material.labels,
        values=ColumnValues(material.X, material.gaps),
    )
    named = np.unique(np.concatenate([np.zeros(0, dtype=int), *(r.columns for r in rules)]))
    others = np.setdiff1d(np.arange(n), named)
    pool = others if others.size else np.arange(n)
    return [index.name(int(j)) for j in rng.permutation(pool)[:most]]


def threshold_of(condition: Condition) -> float | None:
    """The number that a condition compares with; None where there is not exactly one."""
    if len(condition.sides) != 2 or condition.form != "compare":
        return None
    numbers = [s for s in condition.sides if len(s) == 1 and s[0].is_number]
    return numbers[0][0].coefficient if len(numbers) == 1 else None


def _rule_at(rules: str, position: int) -> tuple[RuleSet, Rule]:
    """All rules, and the one that is doubted, switched on."""
    found = parse_rules(rules)
    if not 0 <= position < len(found):
        raise RuleError(f"expected a rule from 1 to {len(found)}, got {position + 1}: choose one")
    return found, replace(found[position], enabled=True)


def _threshold_place(rule: Rule, condition: int | None) -> int:
    """Which condition's threshold is meant."""
    places = [k for k, each in enumerate(rule.conditions) if threshold_of(each) is not None]
    if condition is None and len(places) == 1:
        return places[0]
    if condition not in places or condition is None:
        raise RuleError(
            f"'{rule.premise}' has no single threshold to sweep: expected one comparison with a "
            "number, such as Glucose >= 126, or say which condition is meant"
        )
    return condition


def _with_threshold(rule: Rule, place: int, value: float) -> Rule:
    condition = rule.conditions[place]
    sides = tuple(
        (replace(side[0], coefficient=value),) if len(side) == 1 and side[0].is_number else side
        for side in condition.sides
    )
    conditions = list(rule.conditions)
    conditions[place] = replace(condition, sides=sides, written=None)
    return replace(rule, conditions=tuple(conditions))


def _has_ratio(condition: Condition) -> bool:
    return any(term.function == RATIO for side in condition.sides for term in side)


def _about(
    rule: Rule,
    strangers: Sequence[str],
    blocks: Mapping[str, IntArray],
    feature_names: Sequence[str] | None,
) -> Rule:
    """The same rule about other features, in turn."""
    names = iter(np.resize(np.array(strangers, dtype=object), MOST_NAMES).tolist())
    index = as_index(feature_names, None if feature_names is not None else MOST_NAMES)

    def size(name: Name) -> int:
        if isinstance(name, str):
            return len(blocks.get(name, (0,)))
        ends = [index.position(end) for end in (name.first, name.last)]
        return 2 if None in ends else 1 + abs(int(ends[1] or 0) - int(ends[0] or 0))

    def exchanged(term: Term) -> Term:
        wanted = sum(map(size, term.names)) if term.function in FUNCTIONS else len(term.names)
        n = min(wanted, len(strangers)) if term.function in FUNCTIONS else wanted
        function = "" if n < wanted and n == 1 else term.function  # of one, it is the column's own
        return replace(term, names=tuple(next(names) for _ in range(n)), function=function)

    def other(condition: Condition) -> Condition:
        sides = tuple(
            tuple(replace(t, unit="") if t.is_number else exchanged(t) for t in side)
            for side in condition.sides
        )
        return replace(condition, sides=sides, written=None)

    return replace(rule, conditions=tuple(map(other, rule.conditions)))


def _changed(rules: RuleSet, position: int, rule: Rule) -> str:
    changed = list(rules)
    changed[position] = rule
    return str(replace(rules, rules=tuple(changed)))

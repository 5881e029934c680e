"""How far results depend on the number of labelled rows, and on rules that are wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata
from sklearn.isotonic import isotonic_regression

from hipad.exceptions import DataError, RuleError
from hipad.experiments.methods import ExperimentData, Synthetic, methods_of
from hipad.experiments.runner import (
    Done,
    Mean,
    Task,
    difference,
    failed_arms,
    figures,
    mean_of,
    select,
)
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
from hipad.rules.ast import RATIO, Name
from hipad.rules.functions import GROUP_FUNCTIONS
from hipad.rules.names import as_index
from hipad.utils import FloatArray, IntArray, number

# --------------------------------------------------------------------------------------------------
# Learning curves by the number of labelled rows, and what rules are worth in labelled patients.
#
# Four ways are compared on the same draws: with rules, without, the rules alone, and LIBSVM. Rules
# are worth what they spare: if eight labelled patients and the rules do as well as thirty patients
# without, the rules are worth twenty-two. The value is read off the curve without rules, which is
# made monotone first (more patients never harm); its interval comes from drawing the draws again.
# Rules may also cost patients: as many as must be added to them until they do what the same
# labelled patients do without. Both curves are of models that are tuned for themselves.


SIZES: Final = (4, 8, 16, 32, 64, 128)  # labelled rows of each class
CURVE_METHODS: Final = methods_of("learning_curve")
FEWEST_TESTED: Final = 5  # rows of each class that must be left to test
RESAMPLED: Final = 1_000


@dataclass(frozen=True)
class Curve:
    """One method: the mean figure at each number of labelled rows of a class."""

    method: str
    sizes: tuple[int, ...]
    means: tuple[Mean, ...]


@dataclass(frozen=True)
class Worth:
    """What rules are worth in labelled patients, both classes together, beside `labelled` rows.

    Below zero they cost so many. `beyond` says that the other curve never gets as far: the value is
    then only a bound.
    """

    labelled: int
    value: float
    low: float
    high: float
    beyond: bool = False

    def __str__(self) -> str:
        much = f"{'more than' if self.beyond else 'about'} {abs(self.value):.0f}"
        low, high = (
            "beyond the curve" if math.isinf(end) else f"{end + 0.0:.0f}"
            for end in (self.low, self.high)
        )
        text = f"the rules are worth {much} further ones"
        if self.value < 0:
            text = f"your rules cost {much} patients"
        chance = ", so it may be chance" if self.value and self.low <= 0 <= self.high else ""
        interval = f"(95 % interval {low} to {high}{chance})"
        return f"With {self.labelled} labelled patients {text} {interval}."

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no doubt that the rules help, or that they cost."""
        return not self.low <= 0 <= self.high


def sizes_for(data: ExperimentData, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    """Return the sizes that leave rows of both classes to test."""
    if isinstance(data, Synthetic):
        return tuple(sizes)
    y, _ = data.units
    what = "rows" if data.groups is None else "patients"
    fewest = min(int(np.sum(y > 0)), int(np.sum(y < 0)))
    usable = tuple(size for size in sizes if size + FEWEST_TESTED <= fewest)
    if not usable:
        raise DataError(
            f"expected more than {min(sizes) + FEWEST_TESTED} {what} of each class for a learning "
            f"curve, got {fewest}: add {what}, or choose smaller sizes"
        )
    return usable


def curve_tasks(
    data: ExperimentData,
    *,
    draws: int = 20,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = CURVE_METHODS,
    rules: str | None = None,
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Return a task for every method, size and draw; the same draw for all methods of one seed.

    `rules` replace those of the data; `options` are parameters of the classifier.
    """
    own: dict[str, Any] = {} if rules is None else {"rules": rules}
    own |= {"options": options} if options else {}
    return [
        Task("contest", data.name, seed, {"method": m, "rows": {"labelled": size}, **own})
        for seed in range(draws)
        for size in sizes_for(data, sizes)
        for m in methods
    ]


def curves(outcomes: Iterable[Done], figure: str = "balanced") -> list[Curve]:
    """Return a curve for each method found among the outcomes."""
    found = list(outcomes)
    methods = dict.fromkeys(str(done.setting("method")) for done in found)
    return [_curve(select(found, method=method), method, figure) for method in methods]


def _curve(own: Sequence[Done], method: str, figure: str) -> Curve:
    sizes = tuple(sorted({labelled_of(done) for done in own}))
    at = {n: [done for done in own if labelled_of(done) == n] for n in sizes}
    return Curve(method, sizes, tuple(mean_of(figures(at[n], figure)) for n in sizes))


def labelled_of(done: Done) -> int:
    """Return labelled rows of each class that a fit was given."""
    return int(done.setting("rows")["labelled"])


def worth_of_rules(
    outcomes: Iterable[Done], labelled: int | None = None, figure: str = "balanced"
) -> Worth:
    """Return what the rules spare beside `labelled` rows of each class (the fewest, if not
    said).
    """
    found = list(outcomes)
    ours, sizes = _by_draw(select(found, method="HIPAD"), figure)
    theirs, same = _by_draw(select(found, method="no rules"), figure)
    if ours.shape != theirs.shape or sizes != same or not ours.size:
        failed = "; ".join(failed_arms(found))
        raise DataError(
            "expected curves with and without rules on the same draws: "
            + (f"mend what failed ({failed})" if failed else "finish both")
        )
    at = 0 if labelled is None else sizes.index(labelled)
    value, beyond = spared(ours.mean(axis=0), theirs.mean(axis=0), sizes, at)
    rng = np.random.default_rng(0)
    again = []
    for _ in range(RESAMPLED):
        rows = rng.integers(len(ours), size=len(ours))
        one, over = spared(ours[rows].mean(axis=0), theirs[rows].mean(axis=0), sizes, at)
        again.append(math.copysign(math.inf, one) if over else one)
    low, high = np.quantile(again, [0.025, 0.975], method="nearest")
    top = 2.0 * (sizes[-1] - sizes[at])
    ends = min(float(low), top), max(float(high), -top)
    return Worth(2 * sizes[at], value, *ends, beyond)


def spared(
    ours: FloatArray, theirs: FloatArray, sizes: Sequence[int], at: int
) -> tuple[float, bool]:
    """Return further rows, of both classes, with which the other curve gets as far; and whether
    never.

    Where ours is the lower one it is our curve that must get as far, and the rows count below zero.
    Between two sizes a curve is taken to be straight in the logarithm of the size.

    >>> spared(np.array([0.8, 0.9]), np.array([0.6, 0.8]), (8, 32), 0)
    (48.0, False)
    >>> spared(np.array([0.6, 0.8]), np.array([0.8, 0.9]), (8, 32), 0)
    (-48.0, False)
    """
    rising = isotonic_regression(theirs)
    goal = float(ours[at])
    if goal < rising[at]:
        rows, never = _needed(float(rising[at]), isotonic_regression(ours), sizes, at)
        return -rows, never
    return _needed(goal, rising, sizes, at)


def _needed(goal: float, rising: FloatArray, sizes: Sequence[int], at: int) -> tuple[float, bool]:
    """Return further rows with which a rising curve reaches the goal; and whether it never does."""
    if goal > rising[-1] + 1e-12:
        return 2.0 * (sizes[-1] - sizes[at]), True
    if goal <= rising[at]:
        return 0.0, False
    # np.interp needs strictly rising values: of equal ones the first is the earliest size.
    values, first = np.unique(rising, return_index=True)
    reached = float(np.exp(np.interp(goal, values, np.log(np.array(sizes))[first])))
    return round(2.0 * max(reached - sizes[at], 0.0), 9), False


def _by_draw(own: Sequence[Done], figure: str) -> tuple[FloatArray, tuple[int, ...]]:
    """Return a row for each draw that has every size, a column for each size."""
    sizes = tuple(sorted({labelled_of(done) for done in own}))
    draws: dict[int, dict[int, float]] = {}
    for done in own:
        draws.setdefault(done.task.seed, {})[labelled_of(done)] = done.figure(figure)
    whole = [[row[n] for n in sizes] for row in draws.values() if len(row) == len(sizes)]
    return np.array(whole, dtype=float), sizes


# --------------------------------------------------------------------------------------------------
# Whether methods differ over data sets: Friedman's test with Iman and Davenport's statistic.
#
# Each data set ranks the methods, 1 for the best. With N data sets, k methods and mean ranks R_j
#
#     chi2_F = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)
#     F_F    = (N - 1) chi2_F / (N (k - 1) - chi2_F)
#
# and F_F follows the F distribution with k - 1 and (k - 1)(N - 1) degrees of freedom. Iman and
# Davenport, Communications in Statistics 9 (1980) 571-595; the paper uses the same.


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of the methods, 1 for the best, and how likely such ranks are by chance."""

    ranks: dict[str, float]
    data_sets: int
    chi2: float
    statistic: float
    p_value: float

    def __str__(self) -> str:
        text = ", ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.items())
        if math.isnan(self.p_value):
            return f"Mean ranks over {self.data_sets} data sets: {text}."
        return (
            f"Mean ranks over {self.data_sets} data sets: {text}. Friedman's chi-square "
            f"{self.chi2:.2f}, Iman and Davenport's F {self.statistic:.2f}, p = {self.p_value:.3f}."
        )


def rank_methods(scores: Mapping[str, Sequence[float]]) -> Ranking:
    """Rank methods by their scores, one for each data set, more is better; ties share a rank.

    >>> found = rank_methods({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.6], "c": [0.7, 0.6, 0.5]})
    >>> found.ranks, found.chi2, found.p_value
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 6.0, 0.0)
    """
    table = np.array(list(scores.values()), dtype=float).T.round(9)
    n, k = table.shape
    ranks = np.array([rankdata(-row) for row in table]).reshape(n, k)
    mean = ranks.mean(axis=0)
    named = dict(zip(scores, map(float, mean), strict=True))
    if n < 2 or k < 2:
        return Ranking(named, n, math.nan, math.nan, math.nan)
    chi2 = 12 * n / (k * (k + 1)) * (float(mean @ mean) - k * (k + 1) ** 2 / 4)
    left = n * (k - 1) - chi2
    statistic = math.inf if left <= 1e-9 else (n - 1) * chi2 / left
    p_value = float(f_distribution.sf(statistic, k - 1, (k - 1) * (n - 1)))
    return Ranking(named, n, float(chi2), float(statistic), p_value)


# --------------------------------------------------------------------------------------------------
# A rule, wrong in one way and a little more each time: other threshold, worth, outcome, features.
#
# All versions are made of the parsed rules, so that names, notes and the statements that stand
# among the rules survive; a rule that has nothing to change in the way asked for is refused in a
# sentence.


NUMERIC: Final = ("compare", "between")  # forms of conditions that any number could stand in
MOST_NAMES: Final = 100_000  # that one rule may need


@dataclass(frozen=True)
class PerturbedRule:
    """The rules with one of them changed; `label` says how, `place` where on the axis it stands."""

    label: str
    place: float
    rules: str


def threshold_versions(
    rules: str, position: int, values: Sequence[float], condition: int | None = None
) -> list[PerturbedRule]:
    """Return the rule at `position` with other thresholds, in the condition at `condition` of it.

    Without one it is the rule's only threshold.
    """
    found, rule = _rule_at(rules, position)
    at = _threshold_place(rule, condition)
    return [
        PerturbedRule(
            number(value),
            float(value),
            _changed(found, position, _with_threshold(rule, at, float(value))),
        )
        for value in values
    ]


def worth_versions(rules: str, position: int, values: Sequence[float]) -> list[PerturbedRule]:
    """Return the rule at `position` worth more and more patients."""
    found, rule = _rule_at(rules, position)
    return [
        PerturbedRule(
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
) -> list[PerturbedRule]:
    """As written, about features that have nothing to do with it, and with the other outcome.

    A block or a range of `feature_names` becomes as many strangers as it has features, as far as
    there are so many. A rule about categories, or a ratio, has no version about other features:
    those need not be above zero.
    """
    found, rule = _rule_at(rules, position)
    other = outcomes[0] if rule.outcome == outcomes[1] else outcomes[1]
    versions = [PerturbedRule("as written", 0.0, _changed(found, position, rule))]
    if all(
        condition.form in NUMERIC and not _has_ratio(condition) for condition in rule.conditions
    ):
        about = _about(rule, strangers, blocks or {}, feature_names)
        versions.append(PerturbedRule("irrelevant features", 1.0, _changed(found, position, about)))
    flipped = _changed(found, position, replace(rule, outcome=other))
    return [*versions, PerturbedRule("flipped", float(len(versions)), flipped)]


def thresholds_of(rules: str, position: int) -> list[int]:
    """Return the conditions of a rule that compare with one number, by their places."""
    _, rule = _rule_at(rules, position)
    return [k for k, each in enumerate(rule.conditions) if threshold_of(each) is not None]


def thresholds_seen(
    data: ExperimentData, position: int, condition: int | None = None, n: int = 7
) -> list[float]:
    """Return the written threshold, and others over the range that the rows show."""
    _, rule = _rule_at(data.rules, position)
    at = _threshold_place(rule, condition)
    now = threshold_of(rule.conditions[at])
    assert now is not None
    names = as_index(data.feature_names, data.X.shape[1])
    alone = replace(rule, conditions=(rule.conditions[at],))

    def compiled(value: float) -> CompiledRule:
        first, *others = compile_rules(
            [_with_threshold(alone, 0, value)],
            feature_names=names,
            blocks=data.blocks or None,
            classes=data.labels,
            values=ColumnValues(data.X, data.gaps),
        )
        if others or first.d.size != 1:
            raise RuleError(f"'{rule.conditions[at]}' has no range to sweep: sweep its worth")
        return first

    low, high = compiled(now), compiled(now + 1.0)
    slope = float(high.d[0] - low.d[0])
    if not slope:  # of a ratio: the number is among the weights
        raise RuleError(f"'{rule.conditions[at]}' has no range to sweep: sweep its worth")
    rows = data.X[data.pool]
    seen = now + (np.asarray(rows @ low.B[[0]].T.toarray()).ravel() - low.d[0]) / slope
    first, last = (float(np.quantile(seen, share)) for share in (0.02, 0.98))
    spread = [float(f"{value:.3g}") for value in np.linspace(first, last, n)]
    return sorted({*spread, now})


def strangers_to(data: ExperimentData, rng: np.random.Generator, most: int = 50) -> list[str]:
    """Features that no rule of the data names, at random; all others where there are none."""
    n = len(data.feature_names) if data.feature_names else data.X.shape[1]
    index = as_index(data.feature_names, n)
    rules = compile_rules(
        data.rules,
        feature_names=index,
        blocks=data.blocks or None,
        classes=data.labels,
        values=ColumnValues(data.X, data.gaps),
    )
    named = np.unique(np.concatenate([np.zeros(0, dtype=int), *(r.columns for r in rules)]))
    others = np.setdiff1d(np.arange(n), named)
    pool = others if others.size else np.arange(n)
    return [index.name(int(j)) for j in rng.permutation(pool)[:most]]


def threshold_of(condition: Condition) -> float | None:
    """Return the number that a condition compares with; None where there is not exactly one."""
    if len(condition.sides) != 2 or condition.form != "compare":
        return None
    numbers = [s for s in condition.sides if len(s) == 1 and s[0].is_number]
    return numbers[0][0].coefficient if len(numbers) == 1 else None


def _rule_at(rules: str, position: int) -> tuple[RuleSet, Rule]:
    """Return all rules, and the one that is doubted, switched on."""
    found = parse_rules(rules)
    if not 0 <= position < len(found):
        raise RuleError(f"expected a rule from 1 to {len(found)}, got {position + 1}: choose one")
    return found, replace(found[position], enabled=True)


def _threshold_place(rule: Rule, condition: int | None) -> int:
    """Return which condition's threshold is meant."""
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
    """Return the same rule about other features, in turn."""
    names = iter(np.resize(np.array(strangers, dtype=object), MOST_NAMES).tolist())
    index = as_index(feature_names, None if feature_names is not None else MOST_NAMES)

    def size(name: Name) -> int:
        if isinstance(name, str):
            return len(blocks.get(name, (0,)))
        ends = [index.position(end) for end in (name.first, name.last)]
        return 2 if None in ends else 1 + abs(int(ends[1] or 0) - int(ends[0] or 0))

    def exchanged(term: Term) -> Term:
        wanted = sum(map(size, term.names)) if term.function in GROUP_FUNCTIONS else len(term.names)
        n = min(wanted, len(strangers)) if term.function in GROUP_FUNCTIONS else wanted
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


# --------------------------------------------------------------------------------------------------
# What if my rule is wrong: graded wrong advice, and the point at which it starts to harm.
#
# A sweep changes one rule in one way, a little at a time: its threshold, its worth, its outcome, or
# the features it speaks of. On the same draws each version is fitted as HIPAD does by default, as
# hard knowledge that nothing can outvote, and without any rules. A rule harms from the first
# version on whose whole interval of differences lies below zero.


SWEEP_METHODS: Final = methods_of("perturbed_rules")
FALL: Final = 0.02  # points of a hundred that rules may cost before the user is warned


def falls(gain: float) -> bool:
    """Return whether a model with rules is so far below the one without that the user is warned.

    >>> falls(0.78 - 0.80), falls(-0.021), falls(float("nan"))
    (False, True, False)
    """
    return gain < -FALL - 1e-9


@dataclass(frozen=True)
class SweepStep:
    """One version's figures: with its weight as it is, as hard knowledge, without rules."""

    version: str
    place: float
    ours: Mean
    hard: Mean
    without: Mean
    gain: Mean  # ours against no rules, on the same draws
    support: Mean

    @property
    def falls(self) -> bool:
        """Whether the model is more than 2 points below that without rules, beyond chance."""
        return falls(self.gain.value) and self.harms

    @property
    def harms(self) -> bool:
        """Whether the model is worse with the rule than without, beyond chance."""
        return self.gain.high < 0


def sweep_tasks(
    data: ExperimentData,
    versions: Sequence[PerturbedRule],
    *,
    draws: int = 10,
    rows: dict[str, Any] | None = None,
    methods: Sequence[str] = SWEEP_METHODS,
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Return a task for every version, method and draw; without rules there is one version.

    `options` are parameters of the classifier.
    """
    own: dict[str, Any] = {} if rows is None else {"rows": rows}
    own |= {"options": options} if options else {}
    tasks = []
    for seed in range(draws):
        for method in methods:
            texts = [""] if method == "no rules" else [version.rules for version in versions]
            tasks += [
                Task("contest", data.name, seed, {"method": method, "rules": text, **own})
                for text in dict.fromkeys(texts)
            ]
    return tasks


def sweep(
    outcomes: Iterable[Done], versions: Sequence[PerturbedRule], figure: str = "balanced"
) -> list[SweepStep]:
    """Return what each version did."""
    found = list(outcomes)
    without = select(found, method="no rules")
    steps = []
    for version in versions:
        ours = select(found, method="HIPAD", rules=version.rules)
        hard = select(found, method="hard rules", rules=version.rules)
        steps.append(
            SweepStep(
                version.label,
                version.place,
                mean_of(figures(ours, figure)),
                mean_of(figures(hard, figure)),
                mean_of(figures(without, figure)),
                difference(ours, without, figure),
                mean_of(figures(ours, "support")),
            )
        )
    return steps


def harm_marks(steps: Sequence[SweepStep]) -> list[tuple[SweepStep, str]]:
    """Return where harm begins or ends along the axis, and in which direction it lies."""
    bad = [step.harms for step in steps]
    if not any(bad):
        return []
    first, last = bad.index(True), len(bad) - 1 - bad[::-1].index(True)
    if all(bad[first:]):
        return [(steps[first], "harms from here")]
    if all(bad[: last + 1]):
        return [(steps[last], "harms up to here")]
    return [(step, "harms") for step in steps if step.harms]


def starts_to_harm(steps: Sequence[SweepStep]) -> SweepStep | None:
    """Return the first version that harms beyond chance; None if none does."""
    return next((step for step in steps if step.harms), None)

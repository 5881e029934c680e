"""Tuning: a grid of settings by nested cross-validation, with rules as a second criterion."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import t as t_distribution

from hipad.data import column_statistics
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.grid_search import GRID, HIPADClassifierCV, combinations, lambda1_values
from hipad.estimator.parameters import RENAMED
from hipad.estimator.settings import USUAL_GRID
from hipad.evaluation.metrics import PositiveClassView
from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData, judged
from hipad.experiments.runner import LEVEL, Done, Figures, Mean, Task, mean_of
from hipad.rules import compile_rules, prototype, worst_case
from hipad.utils import FloatArray

# --------------------------------------------------------------------------------------------------
# The points of a grid of settings, and which of them to take.
#
# Of the settings whose score is as good as the best, within its standard error, the one is taken
# that agrees with most rules, about their typical patient first and about every patient then; of
# those the one with the fewest features.


SCORES: Final = ("balanced", "accuracy", "area")
FIGURES: Final = (*SCORES, "support", "agrees", "holds", "margin")
CALLED: Final = {"rule_weight": "worth"}

GridValues = Mapping[str, Any]


@dataclass(frozen=True)
class SettingPoint:
    """One setting of the grid: the means of its figures over all folds."""

    params: Mapping[str, Any]
    score: Mean
    support: Mean
    agrees: Mean  # the share of rules that the model agrees with about their typical patient
    holds: Mean  # the share that it agrees with about every patient in the observed range
    margin: Mean  # of the typical patients

    @property
    def lambda1(self) -> float:
        return float(self.params["lambda1"])

    @property
    def others(self) -> str:
        """The settings beside lambda1, as text."""
        return self.text_of(name for name in self.params if name != "lambda1")

    def text_of(self, names: Iterable[str]) -> str:
        """Return some settings as text; a rule's patients are its worth."""
        return ", ".join(f"{CALLED.get(n, n)} {_formatted(self.params[n])}" for n in names)


def settings_of(grid: GridValues) -> list[dict[str, Any]]:
    """Return every setting of a grid in a fixed order; kept results may have older names."""
    today = {RENAMED.get(name, name): values for name, values in grid.items()}
    return combinations({name: list(today[name]) for name in GRID})


def tuned(outcomes: Iterable[Done]) -> list[SettingPoint]:
    """Return the points of the grid over all folds that are done."""
    done = [one for one in outcomes if one.task.kind == "tune" and not one.failed]
    if not done:
        return []
    grid, score = done[0].setting("grid"), str(done[0].setting("score"))
    lists = [
        [{name: one.figures[name][k] for name in FIGURES} for one in done]
        for k in range(len(settings_of(grid)))
    ]
    return [point_of(p, own, score) for p, own in zip(settings_of(grid), lists, strict=True)]


def choose(points: Sequence[SettingPoint], *, rules_count: bool = True) -> SettingPoint:
    """Return the setting to take: as good as the best, then by the rules, then by the fewest
    features.
    """
    known = [point for point in points if not math.isnan(point.score.value)]
    if not known:
        raise DataError("no setting could be judged: add rows, or choose fewer folds")
    best = max(known, key=lambda point: point.score.value)
    near = [p for p in known if p.score.value >= best.score.value - _error(best.score)]
    if not rules_count:
        return min(near, key=lambda p: (p.support.value, -p.score.value))
    return min(near, key=lambda p: (*_disagreement(p), p.support.value, -p.score.value))


def honest_estimate(outcomes: Iterable[Done], figure: str = "balanced") -> Mean:
    """Return the mean over outer folds; of each repeat its own folds, so the interval is a rough
    one.
    """
    done = [one for one in outcomes if one.task.kind == "nested" and not one.failed]
    return mean_of(one.figure(figure) for one in done)


def _disagreement(point: SettingPoint) -> list[float]:
    """Return what of the rules a setting does not keep; nothing where there are no rules."""
    shares = (point.agrees.value, point.holds.value)
    return [0.0 if math.isnan(share) else round(1.0 - share, 9) for share in shares]


def point_of(params: Mapping[str, Any], own: Sequence[Figures], score: str) -> SettingPoint:
    """Return the means of a setting's figures over the folds; `score` names the one to judge by."""

    def mean(name: str) -> Mean:
        return mean_of(math.nan if one[name] is None else float(one[name]) for one in own)

    parts = (mean(name) for name in (score, "support", "agrees", "holds", "margin"))
    return SettingPoint(dict(params), *parts)


def _error(mean: Mean) -> float:
    """Return the standard error of a mean."""
    if math.isnan(mean.low):
        return 0.0
    return (mean.value - mean.low) / float(t_distribution.ppf((1 + LEVEL) / 2, mean.n - 1))


def _formatted(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


# --------------------------------------------------------------------------------------------------
# Settings chosen by cross-validation, with what the rules say as a second criterion.
#
# Every setting of a grid is fitted on all folds but one and judged on that one. Training rows may
# never show what a rule speaks of, and then no row can tell a setting that follows the rule from
# one that does not. So each model is also asked the rules themselves: does it agree with a rule
# about the typical patient it speaks of, and about every patient in the observed range? Of the
# settings whose score is as good as the best, within its standard error, the one is chosen that
# agrees with most rules, and of those the one with the fewest features.
#
# A score by which one has chosen flatters. Nested cross-validation does not: the whole choice is
# made again without each fold, and what was chosen is judged on it. Both are lists of tasks, see
# tasks.py.


class _RuleScorer:
    """A scorer that also looks how far each model follows the rules; keeps figures by setting."""

    def __init__(self, data: ExperimentData, score: str) -> None:
        self.data, self.score = data, score
        self.found: dict[str, list[Figures]] = {}

    def learn(self, X: Any) -> _RuleScorer:
        """Take from these rows the ranges of features, and the numbers that rules learn."""
        own = self.data
        self.stats = column_statistics(X)
        self.rules = compile_rules(
            own.rules,
            feature_names=own.feature_names,
            n_features=X.shape[1],
            blocks=own.blocks or None,
            classes=own.labels,
            values=X,
            asks=False,
        )
        return self

    def __call__(self, clf: HIPADClassifier, X: Any, y: Any) -> float:
        negative, positive = map(str, self.data.labels)
        model = PositiveClassView(clf, (negative, positive))
        found = judged(model.scores(X), np.where(np.asarray(y).astype(str) == positive, 1.0, -1.0))
        found |= {"support": clf.support_.size, **self._asked(model.weights, model.intercept)}
        params = {name: getattr(clf, name) for name in GRID}
        self.found.setdefault(_key(params), []).append(found)
        value = found[self.score]
        return math.nan if value is None else float(value)

    def _asked(self, w: FloatArray, b: float) -> Figures:
        """Return how far a model agrees with the rules that speak of anybody."""
        stats, margins, holds = self.stats, [], []
        scale = np.where(stats.sd > 0, stats.sd, 1.0)
        for rule in self.rules:
            typical = prototype(rule.B, rule.d, rule.sign, w, b, stats.mean, scale)
            worst = worst_case(rule.B, rule.d, rule.sign, w, b, stats.low, stats.high)
            margins += [typical.margin] if typical.feasible else []
            holds += [worst.holds] if worst.feasible else []
        return {
            "agrees": float(np.mean(np.array(margins) > 0)) if margins else None,
            "holds": float(np.mean(holds)) if holds else None,
            "margin": float(np.mean(margins)) if margins else None,
        }


def tune(
    data: ExperimentData,
    seed: int,
    *,
    fold: Sequence[int],
    grid: dict[str, Any],
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> Figures:
    """Return the figures of every setting on one fold, as lists in the order of `settings_of`."""
    learnt, held = data.folds(seed, fold[1])[fold[0]]
    found = _on_fold(data, learnt, held, grid, score, options or {})
    lists = [found[_key(params)][0] for params in settings_of(grid)]
    return {name: [one[name] for one in lists] for name in FIGURES}


def nested(
    data: ExperimentData,
    seed: int,
    *,
    fold: Sequence[int],
    grid: dict[str, Any],
    inner: int = 5,
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> Figures:
    """Return the whole choice without one fold, and what was chosen judged on it."""
    learnt, held = data.folds(seed, fold[1])[fold[0]]
    own, fixed = data.part(learnt), options or {}
    values = with_values(own, grid, fixed)
    found: dict[str, list[Figures]] = {}
    for train, test in own.folds(seed, inner):
        for key, figures in _on_fold(own, train, test, values, score, fixed).items():
            found.setdefault(key, []).extend(figures)
    points = [point_of(p, found[_key(p)], score) for p in settings_of(values)]
    chosen = choose(points)
    known: dict[str, Any] = {"rules": own.rules or None, "blocks": own.blocks or None}
    # as the search fits it: one model at the weights that were chosen
    clf = HIPADClassifier(**known, **chosen.params, **{"rule_trust": None, **fixed})
    names = own.feature_names
    known_rows: dict[str, Any] = {"groups": own.groups, "gaps": own.gaps}
    run = clf.fit_iter(own.X, _outcomes(own), feature_names=names, interactive=False, **known_rows)
    asked = _RuleScorer(own, score).learn(own.X)
    asked(run.to_end().finish(), data.X[held], _outcomes(data)[held])
    ((own_figures,),) = asked.found.values()
    return {**own_figures, "chosen": _key(chosen.params), **_numbers(chosen.params)}


def _on_fold(
    data: ExperimentData,
    train: Any,
    test: Any,
    grid: GridValues,
    score: str,
    options: Mapping[str, Any],
) -> dict[str, list[Figures]]:
    """Return figures of every setting, by its key; warm-started along lambda1."""
    asked = _RuleScorer(data, score).learn(data.X[train])
    values: dict[str, Any] = {name: list(grid[name]) for name in GRID}
    search = HIPADClassifierCV(
        data.rules or None,
        blocks=data.blocks or None,
        cv=[(train, test)],
        scoring=asked,
        refit=False,
        n_jobs=1,
        error_score="raise",
        **values,
        **options,
    )
    search.fit(
        data.X,
        _outcomes(data),
        groups=data.groups,
        feature_names=data.feature_names,
    )
    return asked.found


def with_values(
    data: ExperimentData, grid: GridValues, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the grid with lambda1 as values, spread on the scale of the rows to learn from."""
    full = {**USUAL_GRID, **grid}
    if not isinstance(full["lambda1"], int):
        return {name: list(full[name]) for name in GRID}
    rows, count = data.pool, full["lambda1"]
    if count < 1:
        raise DataError(f"expected at least 1 value of lambda1, got {count}: give more")
    clf = HIPADClassifier(lambda1=1.0, lambda2=1.0, **(options or {}))
    run = clf.fit_iter(data.X[rows], _outcomes(data)[rows], interactive=False)
    values = [
        float(f"{value:.6g}") for value in lambda1_values(count, run.data, loss=run.plan.loss)
    ]
    return {**{name: list(full[name]) for name in GRID if name != "lambda1"}, "lambda1": values}


def tune_tasks(
    data: ExperimentData,
    grid: GridValues,
    *,
    folds: int = 5,
    repeats: int = 1,
    honest: bool = True,
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """Return one task for each fold of each repeat, and one more for the honest estimate on it.

    `options` are further parameters of the classifier, the same for all settings.
    """
    if score not in SCORES:
        raise DataError(f"expected a score of {', '.join(SCORES)}, got {score!r}")
    shared: dict[str, Any] = {"score": score, **({"options": options} if options else {})}
    values = with_values(data, grid, options)
    counted = {**USUAL_GRID, **grid}
    every = [(seed, [k, folds]) for seed in range(repeats) for k in range(folds)]
    tasks = [
        Task("tune", data.name, seed, {"fold": fold, "grid": values, **shared})
        for seed, fold in every
    ]
    if honest:
        own = {**shared, "grid": counted, "inner": folds}
        tasks += [Task("nested", data.name, s, {"fold": f, **own}) for s, f in every]
    return tasks


def _outcomes(data: ExperimentData) -> Any:
    return np.where(data.y > 0, data.labels[1], data.labels[0])


def _key(params: Mapping[str, Any]) -> str:
    return json.dumps({name: params[name] for name in sorted(params)})


def _numbers(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if not isinstance(value, str)}

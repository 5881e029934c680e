"""Settings chosen by cross-validation, with what the rules say as a second criterion.

Every setting of a grid is fitted on all folds but one and judged on that one. Training rows may
never show what a rule speaks of, and then no row can tell a setting that follows the rule from one
that does not. So each model is also asked the rules themselves: does it agree with a rule about the
typical patient it speaks of, and about every patient in the observed range? Of the settings whose
score is as good as the best, within its standard error, the one is chosen that agrees with most
rules, and of those the one with the fewest features.

A score by which one has chosen flatters. Nested cross-validation does not: the whole choice is made
again without each fold, and what was chosen is judged on it. Both are lists of tasks, see task.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hipad.arrays import FloatArray
from hipad.data import column_statistics
from hipad.errors import DataError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.searching.grids import GRID, lambda1_values
from hipad.estimator.searching.search import HIPADClassifierCV
from hipad.evaluation.orientation import Oriented
from hipad.experiments.contests import judged
from hipad.experiments.material import Material
from hipad.experiments.searches.grid_points import (
    FIGURES,
    SCORES,
    GridValues,
    choose,
    point_of,
    settings_of,
)
from hipad.experiments.task import Figures, Task
from hipad.rules import compile_rules, prototype, worst_case

USUAL: Final[Mapping[str, Any]] = {
    "lambda1": 10,
    "lambda2": [0.1, 1.0, 10.0],
    "patients": ["auto"],
    "stiffness": ["auto"],
}


class _RuleScorer:
    """A scorer that also looks how far each model follows the rules; keeps figures by setting."""

    def __init__(self, material: Material, score: str) -> None:
        self.material, self.score = material, score
        self.found: dict[str, list[Figures]] = {}

    def learn(self, X: Any) -> _RuleScorer:
        """Take from these rows the ranges of features, and the numbers that rules learn."""
        own = self.material
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
        negative, positive = map(str, self.material.labels)
        model = Oriented(clf, (negative, positive))
        found = judged(model.scores(X), np.where(np.asarray(y).astype(str) == positive, 1.0, -1.0))
        found |= {"support": clf.support_.size, **self._asked(model.weights, model.intercept)}
        params = {name: getattr(clf, name) for name in GRID}
        self.found.setdefault(_key(params), []).append(found)
        value = found[self.score]
        return math.nan if value is None else float(value)

    def _asked(self, w: FloatArray, b: float) -> Figures:
        """How far a model agrees with the rules that speak of anybody."""
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
    material: Material,
    seed: int,
    *,
    fold: Sequence[int],
    grid: dict[str, Any],
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> Figures:
    """Every setting on one fold; each figure is a list in the order of `settings_of`."""
    learnt, held = material.folds(seed, fold[1])[fold[0]]
    found = _on_fold(material, learnt, held, grid, score, options or {})
    lists = [found[_key(params)][0] for params in settings_of(grid)]
    return {name: [one[name] for one in lists] for name in FIGURES}


def nested(
    material: Material,
    seed: int,
    *,
    fold: Sequence[int],
    grid: dict[str, Any],
    inner: int = 5,
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> Figures:
    """The whole choice without one fold, and what was chosen judged on it."""
    learnt, held = material.folds(seed, fold[1])[fold[0]]
    own, fixed = material.part(learnt), options or {}
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
    run = clf.start(own.X, _outcomes(own), feature_names=names, quick=True, **known_rows)
    asked = _RuleScorer(own, score).learn(own.X)
    asked(run.to_end().finish(), material.X[held], _outcomes(material)[held])
    ((own_figures,),) = asked.found.values()
    return {**own_figures, "chosen": _key(chosen.params), **_numbers(chosen.params)}


def _on_fold(
    material: Material,
    train: Any,
    test: Any,
    grid: GridValues,
    score: str,
    options: Mapping[str, Any],
) -> dict[str, list[Figures]]:
    """Figures of every setting, by its key; warm-started along lambda1."""
    asked = _RuleScorer(material, score).learn(material.X[train])
    values: dict[str, Any] = {name: list(grid[name]) for name in GRID}
    search = HIPADClassifierCV(
        material.rules or None,
        blocks=material.blocks or None,
        cv=[(train, test)],
        scoring=asked,
        refit=False,
        n_jobs=1,
        error_score="raise",
        **values,
        **options,
    )
    search.fit(
        material.X,
        _outcomes(material),
        groups=material.groups,
        feature_names=material.feature_names,
    )
    return asked.found


def with_values(
    material: Material, grid: GridValues, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The grid with lambda1 as values, spread on the scale of the rows to learn from."""
    full = {**USUAL, **grid}
    if not isinstance(full["lambda1"], int):
        return {name: list(full[name]) for name in GRID}
    rows, count = material.pool, full["lambda1"]
    if count < 1:
        raise DataError(f"expected at least 1 value of lambda1, got {count}: give more")
    clf = HIPADClassifier(lambda1=1.0, lambda2=1.0, **(options or {}))
    run = clf.start(material.X[rows], _outcomes(material)[rows], quick=True)
    values = [float(f"{value:.6g}") for value in lambda1_values(count, run.data)]
    return {**{name: list(full[name]) for name in GRID if name != "lambda1"}, "lambda1": values}


def tune_tasks(
    material: Material,
    grid: GridValues,
    *,
    folds: int = 5,
    repeats: int = 1,
    honest: bool = True,
    score: str = "balanced",
    options: dict[str, Any] | None = None,
) -> list[Task]:
    """One task for each fold of each repeat, and one more for the honest estimate on it.

    `options` are further parameters of the classifier, the same for all settings.
    """
    if score not in SCORES:
        raise DataError(f"expected a score of {', '.join(SCORES)}, got {score!r}")
    told: dict[str, Any] = {"score": score, **({"options": options} if options else {})}
    values = with_values(material, grid, options)
    counted = {**USUAL, **grid}
    every = [(seed, [k, folds]) for seed in range(repeats) for k in range(folds)]
    tasks = [
        Task("tune", material.name, seed, {"fold": fold, "grid": values, **told})
        for seed, fold in every
    ]
    if honest:
        own = {**told, "grid": counted, "inner": folds}
        tasks += [Task("nested", material.name, s, {"fold": f, **own}) for s, f in every]
    return tasks


def _outcomes(material: Material) -> Any:
    return np.where(material.y > 0, material.labels[1], material.labels[0])


def _key(params: Mapping[str, Any]) -> str:
    return json.dumps({name: params[name] for name in sorted(params)})


def _numbers(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if not isinstance(value, str)}

"""HIPADClassifierCV: every combination of settings by cross-validation, then the best on all rows.

>>> from hipad.datasets import make_ksvm_s
>>> data = make_ksvm_s("10k", seed=0)
>>> search = HIPADClassifierCV(lambda1=[0.1, 0.05], lambda2=[1.0, 10.0], cv=3, n_jobs=1)
>>> search = search.fit(data.X_train, data.y_train)
>>> sorted(search.best_params_), search.cv_results_["mean_test_score"].shape
(['lambda1', 'lambda2'], (4,))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from hipad.arrays import IntArray
from hipad.designs.base import FloatArray
from hipad.errors import HipadError
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.parameters import check_parameters
from hipad.estimator.searching.chosen import ChosenModel
from hipad.estimator.searching.grids import (
    GRID,
    Params,
    chains,
    checked_count,
    combinations,
    is_count,
    is_several,
    lambda1_values,
    tried_values,
)
from hipad.estimator.searching.results import results_of, warn_of_failures
from hipad.estimator.searching.trials import FoldSearch, FoldTask, LabelledRows, Trial
from hipad.estimator.several_classes import ClassRuns
from hipad.rules import Rule

USUAL_FOLDS: Final = 5
OF_THE_SEARCH: Final = ("cv", "n_jobs", "random_state")  # a single fit has its own
CHAINS_A_TASK: Final = 5  # short tasks keep all processes busy; the same for any number of them


class HIPADClassifierCV(ChosenModel):
    """HIPADClassifier whose settings are the best of a grid, by cross-validation.

    The models are those of a plain loop of fits. Fits on the same fold share the scaled data and
    begin at each other's results, which makes the grid many times faster than the loop.

    Parameters
    ----------
    rules, blocks : as in `HIPADClassifier`
    lambda1 : int, float or list of float, default=10
        A number of values to try (from just below the largest that keeps a feature to a hundredth
        of it, on the scale of all rows), or the values.
    lambda2 : float or list of float, default=(0.1, 1.0, 10.0)
    patients, stiffness : as in `HIPADClassifier`, or a list of such values
    cv : int, splitter or iterable of (train, test), default=None
        None is 5 folds, stratified; `groups` of `fit` are never split.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn; None is the accuracy.
    refit : bool or callable, default=True
        Fit the best settings to all rows at the end; a function of `cv_results_` gives their index.
    n_jobs : int, default=None
        Processes. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Where given, a number of folds means shuffled ones.
    error_score : "raise" or float, default=nan
        The score of a fit that fails.
    scope, class_weight, anchored, calibrate, method, engine, standardize, switch, mu, tol,
    max_iter, prevalence : as in `HIPADClassifier`

    A search compares optima at given weights of the rules, so none of its fits learns trust: the
    same model by hand needs `HIPADClassifier(rule_trust=None, ...)`.

    Attributes
    ----------
    cv_results_ : dict of arrays, as in `GridSearchCV`, and the support sizes of the models
    best_estimator_, best_params_, best_score_, best_index_, refit_time_ : as in `GridSearchCV`
    scorer_, n_splits_, classes_, n_features_in_ : as in `GridSearchCV`
    """

    def __init__(
        self,
        rules: str | Iterable[Rule | str] | None = None,
        *,
        blocks: Mapping[str, Any] | None = None,
        lambda1: float | Iterable[float] = 10,
        lambda2: float | Iterable[float] = (0.1, 1.0, 10.0),
        patients: Any = "auto",
        stiffness: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        error_score: float | str = np.nan,
        scope: str = "population",
        class_weight: str | dict[Any, float] | None = "balanced",
        anchored: bool = True,
        calibrate: bool = True,
        method: str = "hipad",
        engine: str = "ipm",
        standardize: bool = True,
        switch: str = "support",
        mu: float | str = "auto",
        tol: float = 1e-7,
        max_iter: int = 5000,
        prevalence: float | None = None,
    ) -> None:
        self.rules = rules
        self.blocks = blocks
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.patients = patients
        self.stiffness = stiffness
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.error_score = error_score
        self.scope = scope
        self.class_weight = class_weight
        self.anchored = anchored
        self.calibrate = calibrate
        self.method = method
        self.engine = engine
        self.standardize = standardize
        self.switch = switch
        self.mu = mu
        self.tol = tol
        self.max_iter = max_iter
        self.prevalence = prevalence

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        feature_names: Any = None,
    ) -> Self:
        """Try the grid, choose, and fit the choice to all rows.

        Rows of one of the `groups` are never split between folds; a splitter of your own gets them.
        Sample weights count in the fits, and in the scores of scorers that take them.
        `feature_names` names the columns for the rules where X has no names.
        """
        template = self._template()
        rows = self._validated(X, y, sample_weight, groups)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        candidates = self._candidates(template, rows, names)
        tasks = self._tasks(rows, chains(candidates))
        self.scorer_ = check_scoring(template, self.scoring)
        search = FoldSearch(template, candidates, self.scorer_, names, self.error_score)
        trials = self._trials(search, tasks, rows)
        warn_of_failures(trials)
        self.cv_results_ = results_of(candidates, trials, self.n_splits_)
        self._choose(template, X, y, sample_weight, names, groups)
        return self

    def _template(self) -> HIPADClassifier:
        """A classifier with all settings that are not tried; they must be such as `fit` takes."""
        own, theirs = self.get_params(deep=False), HIPADClassifier().get_params(deep=False)
        shared = [name for name in own if name in theirs and name not in OF_THE_SEARCH]
        template = HIPADClassifier(**{name: own[name] for name in shared}, rule_trust=None)
        for name in GRID:
            value = self._values(name)[0] if not self._is_spread(name) else 1.0
            template.set_params(**{name: value})
        check_parameters(template)
        return template

    def _is_spread(self, name: str) -> bool:
        """Whether the values of this setting are to be found: lambda1 as a number of them."""
        return name == "lambda1" and is_count(self.lambda1)

    def _values(self, name: str) -> list[Any]:
        return tried_values(name, getattr(self, name))

    def _validated(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> LabelledRows:
        """The rows, checked; in a form from which folds are quickly taken."""
        X, y, _, weights, _, unlabelled, codes, _ = self._labelled(X, y, sample_weight, groups)
        if unlabelled is not None:
            raise HipadError(
                f"expected a label for every row of a search, got {unlabelled.shape[0]:,} rows "
                "without one: leave them out here, or fit HIPADClassifier, which uses them"
            )
        X = X.tocsr() if hasattr(X, "tocsr") else X
        return LabelledRows(X, y, None if sample_weight is None else weights, codes)

    def _candidates(
        self, template: HIPADClassifier, rows: LabelledRows, names: Any
    ) -> list[Params]:
        """Every combination to try; values of lambda1 that are to be found come from all rows."""
        tried = ["lambda1", "lambda2", *(n for n in GRID[2:] if is_several(getattr(self, n)))]
        values = {name: self._values(name) for name in tried if not self._is_spread(name)}
        if self._is_spread("lambda1"):
            count = checked_count(self.lambda1)
            run = template.start(rows.X, rows.y, sample_weight=rows.weights, feature_names=names)
            runs = run.runs.values() if isinstance(run, ClassRuns) else (run,)
            values["lambda1"] = lambda1_values(count, *(one.data for one in runs))
        return combinations(values)

    def _tasks(self, rows: LabelledRows, order: list[list[int]]) -> list[FoldTask]:
        """Each fold with some chains of candidates at a time."""
        splits = list(self._splitter(rows).split(rows.X, rows.y, rows.groups))
        self.n_splits_ = len(splits)
        if not splits:
            raise HipadError("expected at least one split in cv, got none: give some")
        parts = [order[i : i + CHAINS_A_TASK] for i in range(0, len(order), CHAINS_A_TASK)]
        return [
            FoldTask(fold, np.asarray(train), np.asarray(test), part)
            for fold, (train, test) in enumerate(splits)
            for part in parts
        ]

    def _splitter(self, rows: LabelledRows) -> Any:
        """Who divides the rows: usual folds, shuffled where a random state is given, or cv."""
        folds, y = USUAL_FOLDS if self.cv is None else self.cv, rows.y
        if is_count(folds) and rows.groups is not None:
            shuffled = self.random_state is not None
            return StratifiedGroupKFold(folds, shuffle=shuffled, random_state=self.random_state)
        if is_count(folds) and self.random_state is not None:
            return StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        return check_cv(folds, y, classifier=True)

    def _trials(self, search: FoldSearch, tasks: list[FoldTask], rows: LabelledRows) -> list[Trial]:
        found = Parallel(n_jobs=self.n_jobs)(delayed(_run)(task, search, *rows) for task in tasks)
        return [trial for trials in found for trial in trials]


def _run(
    task: FoldTask,
    search: FoldSearch,
    X: Any,
    y: np.ndarray,
    weights: FloatArray | None,
    groups: IntArray | None,
) -> list[Trial]:
    """One task; the rows are arguments of their own, so that processes map them into memory."""
    return task.run(search, LabelledRows(X, y, weights, groups))

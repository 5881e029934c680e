"""HIPADClassifierCV: combinations of settings by cross-validation, the best on all rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import product
from numbers import Integral, Real
from typing import Any, Final, NamedTuple, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from hipad.estimator.base import ClassRuns, TableClassifier
from hipad.estimator.calibration import says_positive
from hipad.estimator.classifier import HIPADClassifier
from hipad.estimator.fit import FitRun
from hipad.estimator.parameters import SMALLEST, accepts_renamed, check_number, check_parameters
from hipad.estimator.path import PathFits, PathSolver
from hipad.estimator.problem_factory import TrainingData, noise
from hipad.estimator.settings import (
    USUAL_GRID,
    RuleSettings,
    SelectionSettings,
    SolverSettings,
)
from hipad.estimator.trust import LinearModel
from hipad.exceptions import HipadError
from hipad.rules import Rule
from hipad.solvers import Status, lambda1_max
from hipad.solvers.losses import HINGE, LOSSES, Loss
from hipad.solvers.solution import Settings, single_thread
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# The values that a grid search tries, and the order in which warm starts go through them.
#
# A setting is given as one value or as several. lambda1 may also be a number of values: they are
# then spread from just below lambda1_max, where the first feature enters, down to a hundredth of
# it.
#
# A chain is a run along lambda1 from large to small while everything else stays: each fit begins
# where the last one ended.


GRID: Final = ("lambda1", "lambda2", "rule_weight", "rho")
FIRST, LAST = 0.9, 0.01  # where a grid of lambda1 begins and ends, as fractions of lambda1_max
CLEARLY = 1e6  # times the noise: where no feature tells the classes apart

Params = dict[str, Any]


def is_several(value: object) -> bool:
    """Whether a setting is given as several values."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def is_count(value: object) -> bool:
    """Whether lambda1 is given as a number of values to try."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def tried_values(name: str, given: Any) -> list[Any]:
    """The values of one setting, each of which a fit would take.

    >>> tried_values("lambda2", 10.0), tried_values("rule_weight", ["auto", 3])
    ([10.0], ['auto', 3])
    """
    values = list(given) if is_several(given) else [given]
    if not values:
        raise HipadError(f"expected values of {name} to try, got none: give at least one")
    for value in values:
        check_number(name, value, *SMALLEST[name])
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def checked_count(count: Any) -> int:
    """A number of values of lambda1, which is at least 1."""
    if count < 1:
        raise HipadError(f"expected at least 1 value of lambda1, got {count}: give more, or values")
    return int(count)


def lambda1_values(count: int, *data: TrainingData, loss: Loss = HINGE) -> list[float]:
    """So many values of lambda1 from large to small, on the scale on which the data speak.

    Of several classes, each has data of its own.
    """
    largest = max(lambda1_max(one.problem((), 0.0, 1.0, "population", loss=loss)) for one in data)
    largest = max(largest, CLEARLY * noise(data[0].design), 1e-300)
    return np.geomspace(FIRST * largest, LAST * largest, count).tolist()


def combinations(values: Mapping[str, list[Any]]) -> list[Params]:
    """Every combination, in the order of scikit-learn's ParameterGrid.

    >>> combinations({"lambda1": [2.0, 1.0], "lambda2": [1.0]})
    [{'lambda1': 2.0, 'lambda2': 1.0}, {'lambda1': 1.0, 'lambda2': 1.0}]
    """
    names = sorted(values)
    return [
        dict(zip(names, chosen, strict=True)) for chosen in product(*(values[n] for n in names))
    ]


def chains(candidates: list[Params]) -> list[list[int]]:
    """Positions of candidates that differ in lambda1 only, from large to small.

    >>> chains([{"lambda1": 1.0, "lambda2": 1.0}, {"lambda1": 2.0, "lambda2": 1.0}])
    [[1, 0]]
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, candidate in enumerate(candidates):
        others = tuple(value for name, value in candidate.items() if name != "lambda1")
        found.setdefault(others, []).append(place)
    return [sorted(chain, key=lambda i: -_size(candidates[i])) for chain in found.values()]


def _size(candidate: Params) -> float:
    value = candidate["lambda1"]
    return float(value) if isinstance(value, Real) else float("inf")


# --------------------------------------------------------------------------------------------------
# One fold of a grid search: fits on its training rows, scores on the rows held out.
#
# Every fit is a `HIPADClassifier` of its own on the training rows alone, so that scaling, rules and
# whatever else is learnt from rows never sees those held out. The fits share the scaled design and
# its Gram matrix. Fits that differ in lambda1 and lambda2 alone go along one path, all lambda2 side
# by side (path.py), as far as the numbers let them; where that does not do (many rows, scorers that
# ask for probabilities, unusual settings), each begins where a neighbour in the grid ended. That
# changes the time that a fit takes, not the model.


MOST_ROWS: Final = 600  # of a fold: beyond, fits one by one are faster
CLEAR: Final = 1e-3  # of the margin: scores that rounding has no part in

Scorer = Callable[..., Any]


class LabelledRows(NamedTuple):
    """Rows, their labels, and their weights and groups where they have some."""

    X: Any
    y: np.ndarray
    weights: FloatArray | None
    groups: IntArray | None = None

    def part(self, rows: np.ndarray) -> LabelledRows:
        """Some of them."""
        weights = None if self.weights is None else self.weights[rows]
        X = self.X[rows]
        X = np.asfortranarray(X) if isinstance(X, np.ndarray) else X  # fits take out columns
        groups = None if self.groups is None else self.groups[rows]
        return LabelledRows(X, self.y[rows], weights, groups)


@dataclass(frozen=True)
class Trial:
    """One candidate in one fold."""

    candidate: int
    fold: int
    score: float
    support_size: float
    fit_seconds: float
    score_seconds: float
    converged: bool = True
    failure: str = ""


@dataclass(frozen=True, eq=False)
class FoldTask:
    """Some chains of candidates on one fold: what one process does at a time."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    chains: list[list[int]]

    def run(self, search: FoldSearch, rows: LabelledRows) -> list[Trial]:
        """Fit and score all candidates of the chains."""
        study = _Study(search, self.fold, rows.part(self.train), rows.part(self.test))
        with single_thread():
            found = study.together(self.chains)
            left = [[k for k in chain if k not in found] for chain in self.chains]
            alone = [trial for chain in left if chain for trial in study.along(chain)]
        return [*found.values(), *alone]


@dataclass(frozen=True, eq=False)
class FoldSearch:
    """What all folds have in common. `error_score` is "raise", or the score of a failed fit."""

    template: HIPADClassifier
    candidates: list[Params]
    scorer: Scorer
    names: Any
    error_score: float | str


class Decided(ClassifierMixin, BaseEstimator):
    """A classifier whose decision values of the rows that it is asked for are known."""

    def __init__(self, classes: np.ndarray, values: FloatArray) -> None:
        self.classes, self.values = classes, values
        self.classes_ = classes

    def decision_function(self, X: Any) -> FloatArray:
        """The decision values."""
        return self.values

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return np.asarray(self.classes.take(says_positive(self.values)))

    def score(self, X: Any, y: np.ndarray, sample_weight: FloatArray | None = None) -> float:
        """The accuracy, without looking at what was checked before."""
        return float(np.average(self.predict(X) == y, weights=sample_weight))


def asks_for_values(scorer: Scorer) -> bool:
    """Whether a scorer asks a model for nothing but its decision values or answers.

    >>> from sklearn.metrics import get_scorer
    >>> [asks_for_values(get_scorer(name)) for name in ("roc_auc", "f1", "neg_log_loss")]
    [True, True, False]
    """
    if isinstance(getattr(scorer, "_estimator", None), HIPADClassifier):
        return True  # its own score
    asked = getattr(scorer, "_response_method", "")
    return (asked if isinstance(asked, str) else asked[0]) in ("predict", "decision_function")


def _is_usual(run: FitRun[Any]) -> bool:
    """Whether the models of a path are those of fits: usual settings, and nothing pays its own."""
    plan, factory = run.plan, run.factory
    settings = replace(plan.settings, method="hipad", fastest=False)
    return (
        settings == Settings()
        and plan.fastest
        and plan.calibrate
        and not plan.is_automatic
        and len(run.members) == 1
        and not factory.penalty_factors.features.size
        and run.data.unlabelled is None
    )


def _model_of(fits: PathFits, run: FitRun[Any]) -> LinearModel | None:
    """The model of a path as it predicts; None where only a fit by itself finds it."""
    scores, w = fits.scores[:, 0], fits.weights[:, 0]
    if not fits.reached[0] or not np.max(np.abs(scores), initial=0.0) > CLEAR:
        return None
    kept = w != 0
    scale = run.leading.calibration(scores, float(fits.b[0]))
    features, w = fits.features[kept], w[kept]
    coef, intercept = run.data.to_user_units(features, scale.factor * w, scale.offset)
    return LinearModel(features, coef, intercept)


class _Study:
    """The fits of one task: side by side where they can be, else each with a neighbour at hand."""

    def __init__(
        self, search: FoldSearch, fold: int, train: LabelledRows, test: LabelledRows
    ) -> None:
        self.search, self.fold, self.train, self.test = search, fold, train, test
        self.weighted = test.weights is not None and takes_weights(search.scorer)
        self.beside: dict[int, HIPADClassifier] = {}  # the last chain, by place

    def together(self, chains: list[list[int]]) -> dict[int, Trial]:
        """Trials of the candidates whose models can be fitted side by side, by their place."""
        found: dict[int, Trial] = {}
        if len(self.train.y) > MOST_ROWS or not asks_for_values(self.search.scorer):
            return found
        beside: dict[str, list[list[int]]] = {}
        for chain in chains:
            others = {n: v for n, v in self.search.candidates[chain[0]].items() if n in GRID[2:]}
            beside.setdefault(repr(others), []).append(chain)
        for group in beside.values():
            try:
                found |= self._side_by_side([k for chain in group for k in chain])
            except (ValueError, np.linalg.LinAlgError):
                continue  # whoever fits them one by one says what is wrong with them
        return found

    def _side_by_side(self, candidates: list[int]) -> dict[int, Trial]:
        """Trials of candidates that differ in lambda1 and lambda2, along one path."""
        started = time.perf_counter()
        places: dict[tuple[Any, Any], int] = {}
        for k in candidates:
            params = self.search.candidates[k]
            places.setdefault((params["lambda1"], params["lambda2"]), k)
        if any(isinstance(value, str) or not value > 0 for pair in places for value in pair):
            return {}
        run = self._begin(self.search.candidates[candidates[0]])
        if isinstance(run, ClassRuns) or not _is_usual(run):
            return {}
        path = PathSolver(
            run.factory.problem(*next(iter(places))),
            [np.arange(run.data.y.size)],
            sorted({lambda2 for _, lambda2 in places}),
            polish=run.plan.settings.method == "hipad",
            fine=True,
        )
        models: dict[int, LinearModel] = {}
        for lambda1 in sorted({lambda1 for lambda1, _ in places}, reverse=True):
            for fits in path.fit(lambda1):
                place = places.get((fits.lambda1, fits.lambda2))
                model = _model_of(fits, run) if place is not None else None
                if place is not None and model is not None:
                    models[place] = model
        seconds = (time.perf_counter() - started) / max(len(models), 1)
        return dict(zip(models, self._judged(run, models, seconds), strict=True))

    def _judged(
        self, run: FitRun[Any], models: Mapping[int, LinearModel], seconds: float
    ) -> Iterator[Trial]:
        """The trials of models, whose decision values of the rows held out are one product."""
        weights = np.zeros((self.test.X.shape[1], len(models)))
        for column, model in zip(weights.T, models.values(), strict=True):
            column[model.features] = model.coef
        values = np.asarray(self.test.X @ weights)
        for (place, model), column in zip(models.items(), values.T, strict=True):
            started = time.perf_counter()
            score = self._score(Decided(self._classes, column + model.intercept))
            times = seconds, time.perf_counter() - started
            yield Trial(place, self.fold, score, model.features.size, *times)

    def along(self, chain: list[int]) -> Iterator[Trial]:
        """One trial for each candidate of a chain."""
        done: dict[int, HIPADClassifier] = {}
        for place, candidate in enumerate(chain):
            started = time.perf_counter()
            try:
                near = [done.get(place - 1), self.beside.get(place)]
                clf = self._fit(self.search.candidates[candidate], [c for c in near if c])
                done[place] = clf
                fitted = time.perf_counter()
                score = self._score(clf)
            except Exception as error:
                if isinstance(self.search.error_score, str):
                    raise
                yield self._failed(candidate, time.perf_counter() - started, error)
                continue
            times = fitted - started, time.perf_counter() - fitted
            converged = clf.certificate_.status is not Status.LIMIT
            yield Trial(candidate, self.fold, score, clf.support_.size, *times, converged)
        self.beside = done or self.beside

    def _fit(self, params: Params, near: list[HIPADClassifier]) -> HIPADClassifier:
        """A candidate on the training rows, from the nearest fits there are."""
        return self._begin(params, near).to_end().finish()

    def _begin(self, params: Params, near: Sequence[HIPADClassifier] = ()) -> Any:
        """A fit of a candidate to the training rows that has not begun."""
        clf = clone(self.search.template).set_params(**params)
        X, y, weights, groups = self.train
        run = clf.fit_iter(
            X,
            y,
            sample_weight=weights,
            groups=groups,
            warm_start_from=near,
            feature_names=self.search.names,
            interactive=False,
        )
        self._classes = np.unique(y)
        return run

    def _score(self, clf: HIPADClassifier | Decided) -> float:
        """The score of a model on the rows held out, weighted where the scorer can."""
        X, y, weights, _ = self.test
        further = {"sample_weight": weights} if self.weighted else {}
        score = self.search.scorer(clf, X, y, **further)
        if isinstance(score, dict) or np.ndim(score):
            raise ValueError(f"expected one number as a score, got {score!r}: give another scorer")
        return float(score)

    def _failed(self, candidate: int, seconds: float, error: Exception) -> Trial:
        score, failure = float(self.search.error_score), f"{type(error).__name__}: {error}"
        return Trial(candidate, self.fold, score, np.nan, seconds, 0.0, failure=failure)


def takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer can weigh the rows."""
    own = getattr(scorer, "_score_func", None) or getattr(scorer, "_estimator", None) or scorer
    own = getattr(own, "score", own)  # without a scorer, the classifier's own score
    return "sample_weight" in signature(own).parameters


# --------------------------------------------------------------------------------------------------
# The outcome of a grid search in the layout of scikit-learn's `cv_results_`.


def results_of(candidates: list[Params], trials: Iterable[Trial], n_splits: int) -> dict[str, Any]:
    """Times, settings, scores of every fold, their mean, deviation and rank, support sizes."""
    shape = (len(candidates), n_splits)
    score, size, fit, scoring = (np.full(shape, np.nan) for _ in range(4))
    for trial in trials:
        at = trial.candidate, trial.fold
        score[at], size[at] = trial.score, trial.support_size
        fit[at], scoring[at] = trial.fit_seconds, trial.score_seconds
    results: dict[str, Any] = {}
    for name, seconds in (("fit_time", fit), ("score_time", scoring)):
        results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(1), seconds.std(1)
    for name in candidates[0]:
        results[f"param_{name}"] = _column([candidate[name] for candidate in candidates])
    results["params"] = candidates
    results |= _splits("test_score", score)
    results["rank_test_score"] = ranks(results["mean_test_score"])
    return results | _splits("support_size", size)


def ranks(means: FloatArray) -> np.ndarray:
    """1 for the largest mean; equal ones share a rank, and what is no number comes last.

    >>> ranks(np.array([0.5, 0.9, np.nan, 0.9])).tolist()
    [3, 1, 4, 1]
    """
    least = np.nanmin(means, initial=0.0) - 1.0
    return rankdata(-np.where(np.isnan(means), least, means), method="min").astype(np.int32)


def best_of(results: dict[str, Any], refit: Any) -> int:
    """The place of the best candidate: the first of rank 1, or what the function `refit` says."""
    if not callable(refit):
        return int(results["rank_test_score"].argmin())
    index = refit(results)
    if not isinstance(index, int | np.integer) or not 0 <= index < len(results["params"]):
        most = len(results["params"])
        raise HipadError(f"expected refit to give an index below {most}, got {index!r}: change it")
    return int(index)


def warn_of_failures(trials: list[Trial]) -> None:
    """Say once how many fits failed or did not converge."""
    failures = [trial.failure for trial in trials if trial.failure]
    if failures:
        text = f"{len(failures)} of {len(trials)} fits failed, the first with {failures[0]}"
        if len(failures) == len(trials):
            raise HipadError(f"{text}: give error_score='raise' to see where")
        warnings.warn(text, FitFailedWarning, stacklevel=3)
    if limited := sum(not trial.converged for trial in trials):
        text = f"{limited} of {len(trials)} fits did not converge: raise max_iter"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)


def _splits(name: str, values: FloatArray) -> dict[str, FloatArray]:
    each = {f"split{k}_{name}": column for k, column in enumerate(values.T)}
    return each | {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}


def _column(values: list[Any]) -> np.ma.MaskedArray:
    """A masked array of numbers where all are, as scikit-learn has it."""
    words = any(isinstance(value, str) for value in values)
    column = np.ma.MaskedArray(np.empty(len(values)), dtype=object if words else float)
    column[:] = values
    column.mask = False
    return column


# --------------------------------------------------------------------------------------------------
# A search that has chosen: which settings are best, and the answers of their model.


class BestModel(TableClassifier):
    """Answers with `best_estimator_`, once `_choose` has made it from the results of a search."""

    refit: Any
    cv_results_: dict[str, Any]
    scorer_: Any

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of the best model."""
        return self._best.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row by the best model."""
        return self._best.predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Risks of both classes by the best model."""
        return self._best.predict_proba(X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        return self._best.predict_log_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by which the settings were chosen, of the best model."""
        further = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._best, X, y, **further))

    @property
    def n_iter_(self) -> int:
        """Steps of the best model."""
        return self._best.n_iter_

    @property
    def _best(self) -> HIPADClassifier:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError("expected a model of the best settings, got none: use refit=True")
        best: HIPADClassifier = self.best_estimator_
        return best

    def _choose(
        self,
        template: HIPADClassifier,
        X: Any,
        y: Any,
        sample_weight: Any,
        names: Any,
        groups: Any = None,
    ) -> None:
        """Find the best settings and, unless `refit` is off, fit them to all rows."""
        if hasattr(self, "best_estimator_"):
            delattr(self, "best_estimator_")
        self.best_index_ = best_of(self.cv_results_, self.refit)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit is not False:
            best = clone(template).set_params(**self.best_params_)
            own = {"sample_weight": sample_weight, "groups": groups}
            if names is getattr(self, "feature_names_in_", None):
                self.best_estimator_ = best.fit(X, y, **own)
                return
            run = best.fit_iter(X, y, **own, feature_names=names, interactive=False)
            with single_thread():
                self.best_estimator_ = run.to_end().finish()


# --------------------------------------------------------------------------------------------------
# HIPADClassifierCV: every combination of settings by cross-validation, then the best on all rows.


USUAL_FOLDS: Final = 5
OF_THE_SEARCH: Final = ("cv", "n_jobs", "random_state")  # a single fit has its own
CHAINS_A_TASK: Final = 5  # short tasks keep all processes busy; the same for any number of them


class HIPADClassifierCV(BestModel):
    """HIPADClassifier whose settings are the best of a grid, by cross-validation.

    The models are those of a plain loop of fits. Fits on the same fold share the scaled data and
    begin at each other's results, which makes the grid many times faster than the loop.

    Parameters
    ----------
    rules : str or rules, default=None
        As in `HIPADClassifier`.
    blocks : dict, default=None
        As in `HIPADClassifier`.
    lambda1 : int, float or list of float, default=10
        A number of values to try (from just below the largest that keeps a feature to a hundredth
        of it, on the scale of all rows), or the values.
    lambda2 : float or list of float, default=(0.1, 1.0, 10.0)
        Values to try.
    rule_weight : float, str or list of such, default="auto"
        As in `HIPADClassifier`, or several values to try.
    rho : float, "auto" or list of such, default="auto"
        As in `HIPADClassifier`, or several values to try.
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
    class_weight : "balanced", dict or None, default="balanced"
        As in `HIPADClassifier`.
    method : str, default="auto"
        As in `HIPADClassifier`.
    standardize : bool, default=True
        As in `HIPADClassifier`.
    prevalence : float or None, default=None
        As in `HIPADClassifier`.
    loss : str, default="hinge"
        As in `HIPADClassifier`.
    solver : SolverSettings, dict or None, default=None
        As in `HIPADClassifier`.
    selection : SelectionSettings, dict or None, default=None
        As in `HIPADClassifier`.
    rule_settings : RuleSettings, dict or None, default=None
        As in `HIPADClassifier`.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in `GridSearchCV`, and the support sizes of the models.
    best_estimator_, best_params_, best_score_, best_index_, refit_time_ : object
        As in `GridSearchCV`.
    scorer_, n_splits_, classes_, n_features_in_ : object
        As in `GridSearchCV`.

    See Also
    --------
    HIPADClassifier : One fit, which chooses lambda1 and lambda2 by itself.

    Notes
    -----
    A search compares optima at given weights of the rules, so none of its fits learns trust: the
    same model by hand needs ``HIPADClassifier(rule_trust=None, ...)``.

    Examples
    --------
    >>> from hipad import HIPADClassifierCV, make_ksvm_s
    >>> data = make_ksvm_s("10k", seed=0)
    >>> search = HIPADClassifierCV(lambda1=[0.1, 0.05], lambda2=[1.0, 10.0], cv=3, n_jobs=1)
    >>> search = search.fit(data.X_train, data.y_train)
    >>> sorted(search.best_params_), search.cv_results_["mean_test_score"].shape
    (['lambda1', 'lambda2'], (4,))
    """

    @accepts_renamed
    def __init__(
        self,
        rules: str | Iterable[Rule | str] | None = None,
        *,
        blocks: Mapping[str, Any] | None = None,
        lambda1: float | Iterable[float] = USUAL_GRID["lambda1"],
        lambda2: float | Iterable[float] = USUAL_GRID["lambda2"],
        rule_weight: Any = "auto",
        rho: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        error_score: float | str = np.nan,
        class_weight: str | dict[Any, float] | None = "balanced",
        method: str = "auto",
        standardize: bool = True,
        prevalence: float | None = None,
        loss: str = "hinge",
        solver: SolverSettings | Mapping[str, Any] | None = None,
        selection: SelectionSettings | Mapping[str, Any] | None = None,
        rule_settings: RuleSettings | Mapping[str, Any] | None = None,
    ) -> None:
        self.rules = rules
        self.blocks = blocks
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.rule_weight = rule_weight
        self.rho = rho
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.error_score = error_score
        self.class_weight = class_weight
        self.method = method
        self.standardize = standardize
        self.prevalence = prevalence
        self.loss = loss
        self.solver = solver
        self.selection = selection
        self.rule_settings = rule_settings

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
            run = template.fit_iter(rows.X, rows.y, sample_weight=rows.weights, feature_names=names)
            runs = run.runs.values() if isinstance(run, ClassRuns) else (run,)
            values["lambda1"] = lambda1_values(
                count, *(one.data for one in runs), loss=LOSSES[template.loss]
            )
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

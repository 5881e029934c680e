"""Automatic lambda1 and lambda2: the values tried, paths over folds, and the choice on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from hipad.estimator.calibration import says_positive
from hipad.estimator.cross_validation import CrossValidator, CVResult, upper_median
from hipad.estimator.problem_factory import ProblemFactory, TrainingData, noise
from hipad.estimator.settings import SelectionSettings
from hipad.solvers.batched import EXACT, BatchedInteriorPoint, RestrictedProblem, WorkingSetSelector
from hipad.solvers.problem import Problem
from hipad.solvers.solution import single_thread
from hipad.utils import FloatArray, html_table, number, percent

# --------------------------------------------------------------------------------------------------
# The values of lambda1 and lambda2 that an automatic choice tries.


ABOVE = 2.0  # factor between values above the path, at which only features of rules are in


class LambdaGrid:
    """What is tried for one fit."""

    def __init__(self, factory: ProblemFactory) -> None:
        self.factory, self.settings = factory, factory.plan.selection

    @property
    def ridges(self) -> list[float]:
        """The values of lambda2 to try."""
        given = self.factory.plan.lambda2
        if not isinstance(given, str):
            return [given]
        return [rounded(ridge * self.factory.data.unit) for ridge in self.settings.ridges]

    def lambda1(self) -> tuple[FloatArray, float]:
        """Values of lambda1 from large to small, and from which on they are judged."""
        data_alone = self.factory.largest_lambda1
        largest = max(data_alone, self.factory.first_lambda1)
        given = self.factory.plan.lambda1
        if isinstance(given, str):
            own = self.settings
            first, last = own.largest * data_alone, own.smallest * data_alone
            path = widening(first, last, own.n_lambda1, own.widening)
            grid = np.r_[values_above(own.largest * largest, path[0]), path]
            return np.array([rounded(value) for value in grid]), np.inf
        return approach(largest, given), given

    @property
    def spacing(self) -> FloatArray:
        """How far one value lies from the next, as logarithms of lambda1 and lambda2."""
        own = self.settings
        ridges = own.ridges[0] / own.ridges[1] if len(own.ridges) > 1 else np.e
        return np.array([-np.log(own.smallest) / own.n_lambda1, abs(np.log(ridges))])


def widening(first: float, last: float, count: int, exponent: float) -> FloatArray:
    """Return falling values, each by a larger factor than the one before.

    >>> widening(0.7, 0.01, 9, 1.25).round(3).tolist()
    [0.7, 0.51, 0.33, 0.201, 0.117, 0.066, 0.036, 0.019, 0.01]
    """
    values: FloatArray = first * (last / first) ** (np.linspace(0.0, 1.0, count) ** exponent)
    return values


def values_above(largest: float, first: float) -> FloatArray:
    """Return falling values between the largest and the first one of a path, without that one.

    >>> values_above(2.0, 0.5).tolist(), values_above(0.5, 0.5).tolist()
    ([2.0, 1.0], [])
    """
    count = int(np.ceil(np.log(max(largest / first, 1.0)) / np.log(ABOVE) - 1e-9))
    return np.geomspace(largest, first, count + 1)[:-1]


def approach(largest: float, value: float) -> FloatArray:
    """Return some values between the largest lambda1 and a given one."""
    first = max(largest, value, 1e-300)
    steps = np.geomspace(first, max(value, 1e-2 * first), 5)[1:-1]
    return np.r_[steps[steps > value], value]


def rounded(value: float) -> float:
    """To two digits: further ones hang on the order of rows and columns."""
    return float(f"{value:.2g}")


# --------------------------------------------------------------------------------------------------
# Paths from large to small lambda1, followed by all folds and several lambda2 side by side.
#
# For each value of lambda1 every fold is fitted as HIPAD fits: the features of the elastic net,
# then the SVM on what it kept. The fits are those of the lockstep solver: near enough to the
# optimum to judge a value by. The model on all rows goes along, last: its features are counted, so
# it is exact, but nobody asks for its scores, so it has no phase 2.


TOLERANCE = 1e-4  # of the folds: enough to judge by
FINE = 1e-11  # of models that stand for themselves: their features and weights are those of a fit
SMALL_MARGIN = 0.03  # how far inside these begin
BEYOND = 1.02  # times lambda1: a fold whose gradients are less has overlooked no feature


@dataclass(frozen=True)
class PathFits:
    """All models at one pair of values: scores of all rows without intercept, one column a model.

    The last scores are those of phase 1.
    """

    lambda1: float
    lambda2: float
    scores: FloatArray
    b: FloatArray
    sizes: np.ndarray
    named: FloatArray  # weights of the features that rules name
    features: np.ndarray  # those that some model keeps
    kept: np.ndarray  # which of them each model keeps
    weights: FloatArray  # of these features, one column a model, as the scores have them
    reached: np.ndarray  # which models are as near to the optimum as was asked for


class PathSolver:
    """Models on some rows each, for several lambda2, at falling values of lambda1.

    `rows` are those of each model, and `units` the scales of features in them; the models of one
    lambda2 lie side by side. The last rows are those of the whole data, unless all are `fine`.
    """

    def __init__(
        self,
        problem: Problem,
        rows: Sequence[np.ndarray],
        ridges: Sequence[float],
        polish: bool,
        units: FloatArray | None = None,
        fine: bool = False,
    ) -> None:
        self.problem, self.polish, self.ridges = problem, polish, list(ridges)
        count, times = len(rows), len(self.ridges)
        upper_bounds = np.zeros((problem.n_samples, count))
        for k, own in enumerate(rows):
            upper_bounds[own, k] = problem.p[own] / problem.p[own].sum()
        lambda2 = np.repeat(np.asarray(self.ridges, dtype=float), count)
        units = None if units is None else np.tile(units, times)
        self.batch = BatchedInteriorPoint(problem, np.tile(upper_bounds, times), lambda2, units)
        self._last = np.tile(np.arange(count) == count - 1, times) & (not fine)
        self.tolerance = FINE if fine else TOLERANCE
        if fine:
            self.batch.margin = SMALL_MARGIN  # neighbours on the path are near
        tolerance = np.where(self._last, EXACT, self.tolerance)
        self.selector = WorkingSetSelector(
            self.batch, tolerance, np.where(self._last | fine, 1.0 + EXACT, BEYOND)
        )
        self._kept = [np.full(1, -1)] * (count * times)  # features of each model, and
        self._models: list[tuple[FloatArray, float]] = []  # what phase 2 made of them

    def expected_size(self, lambda1: float, lambda2: float) -> int:
        """Estimate the features of the model on all rows from the present gradient."""
        whole = int(np.flatnonzero(self._last & (self.batch.lambda2 == lambda2))[0])
        return int(np.count_nonzero(self.selector.needed[:, whole] > lambda1))

    @property
    def duals(self) -> FloatArray:
        """Dual variables of the rows at the last value; all models of one lambda2 side by side."""
        return self.batch.alpha[: self.problem.n_samples]

    def drop(self, lambda2: float) -> None:
        """Stop the path of one lambda2."""
        stay = np.flatnonzero(self.batch.lambda2 != lambda2)
        self.ridges.remove(lambda2)
        self.selector.only(stay)
        self._last = self._last[stay]
        self._kept = [self._kept[k] for k in stay]
        self._models = [self._models[k] for k in stay] if self._models else []

    def fit(self, lambda1: float) -> list[PathFits]:
        """The models at one value, one `PathFits` for each lambda2 that is still followed."""
        with single_thread():
            return self._fit(lambda1)

    def _fit(self, lambda1: float) -> list[PathFits]:
        batch, named = self.batch, self.problem.stack.features
        stage, w = self.selector.select(lambda1)
        kept = np.flatnonzero(w.any(axis=1) | np.isin(stage.names, named))
        smooth, w = batch.restrict(stage.names[kept], 0.0), w[kept]
        sizes, b, in_model = np.count_nonzero(w, axis=0), batch.b, w != 0
        reached = batch.done
        if self.polish:
            w, b = self._polished(replace(smooth, fixed=w != 0))
            reached = reached & batch.done
        of_named = np.zeros((named.size, b.size))  # those that do not matter are in no stage
        of_named[np.isin(named, smooth.names)] = w[np.isin(smooth.names, named)]
        scores = smooth.design.dot(w)
        at = [np.flatnonzero(batch.lambda2 == lambda2) for lambda2 in self.ridges]
        found = []
        for lambda2, own in zip(self.ridges, at, strict=True):
            some = in_model[:, own].any(axis=1)
            fits = PathFits(
                lambda1=lambda1,
                lambda2=lambda2,
                scores=scores[:, own],
                b=b[own],
                sizes=sizes[own],
                named=of_named[:, own],
                features=smooth.names[some],
                kept=in_model[np.ix_(some, own)],
                weights=w[np.ix_(some, own)],
                reached=reached[own],
            )
            found.append(fits)
        return found

    def _polished(self, stage: RestrictedProblem) -> tuple[FloatArray, FloatArray]:
        """Phase 2: without lambda1, on the features kept; the path goes on from phase 1.

        A model that keeps the features of the value before is what it was: it does not ask for
        lambda1.
        """
        assert stage.fixed is not None
        batch, kept = self.batch, [stage.names[fixed] for fixed in stage.fixed.T]
        same = np.array([np.array_equal(*both) for both in zip(kept, self._kept, strict=True)])
        alpha, u = batch.alpha, batch.u
        w = batch.solve(stage, np.where(same | self._last, np.inf, self.tolerance))
        batch.alpha, batch.u = alpha, u
        for k in np.flatnonzero(same):
            w[stage.fixed[:, k], k], batch.b[k] = self._models[k]
        self._kept = kept
        self._models = [(w[fixed, k], batch.b[k]) for k, fixed in enumerate(stage.fixed.T)]
        return w, batch.b.copy()


# --------------------------------------------------------------------------------------------------
# When a path is left before its end: values that cannot help are not tried.
#
# Large models cost most of the time of a choice, and where they are no better than sparse ones they
# must not outvote them either: on a path there are more of them.


LARGE = 250_000  # numbers in the columns of a model: before such a one, one value is enough


def is_over(done: Sequence[CVResult], ahead: int, rows: float, settings: SelectionSettings) -> bool:
    """Whether a path is to be left: the next model is expected to have `ahead` features."""
    return is_hopeless(done, settings) or gains_nothing(done, ahead, rows, settings)


def is_hopeless(done: Sequence[CVResult], settings: SelectionSettings) -> bool:
    """Whether the last few values were all clearly worse than the best."""
    if len(done) <= settings.patience:
        return False
    best = min(done, key=lambda one: one.loss)
    last = [one.excess_loss(best) for one in done[-settings.patience :]]
    return all(mean > 2 * error > 0 for mean, error in last)


def gains_nothing(
    done: Sequence[CVResult], ahead: int, rows: float, settings: SelectionSettings
) -> bool:
    """Whether models with more features than rows have them for nothing.

    These are the last few, or the one ahead if it will be large: then the last one tells enough.
    """
    large = ahead * rows > LARGE
    count = 1 if large else settings.patience
    last, before = done[-count:], done[:-count]
    sizes = [ahead] if large else [one.support_size for one in last]
    if not before or min(sizes) <= rows:
        return False
    least = min(one.loss for one in before)
    return all(one.loss > (1 - settings.negligible) * least for one in last)


# --------------------------------------------------------------------------------------------------
# lambda1="auto" and lambda2="auto": a path for each lambda2, and what is good and sparse on it.
#
# The path goes down to a hundredth of lambda1_max, unless it is left before (path.py). The best
# pair of values is the one of least loss on held-out rows (cross_validation.py). With few rows many
# pairs are about as good, and the best is a matter of chance. So the weighted median of all pairs
# is taken, with candidate weight exp(-sharpness * excess loss / standard error). (A mean would lie
# between the sparse and the dense models where both are good, and the models there need not be.)
# Excess losses are paired differences, whose errors are far smaller than those of the losses. Where
# they are large, the median is the best pair. Then the sparsest model that is as good as the best,
# within a share of that error, is taken instead.
#
# A limit on the features is met along the same path. With `max_features` models with more are not
# looked at. lambda1="sparse" takes the fewest features whose loss is within one standard error of
# the least (Breiman's rule). Which features a model keeps is often chance, so what is counted are
# those that most folds keep, and the model on all rows is fitted to these alone.


CHANCE = float(np.log(2.0))  # log loss of a constant prediction
TOGETHER = 1_000_000  # weights of all models of a path: up to here all paths are followed at once
WITHOUT_FOLDS = (0.3, 1.0)  # lambda1 as a fraction of its largest, and lambda2, without folds
CLEARLY = 1e6  # times the noise: a lambda1 that no solver takes for zero


@dataclass(frozen=True)
class PathPoint:
    """One pair of values: its out-of-fold loss and balanced accuracy, and how many features it has.

    `excess_loss` is how far the loss lies above the least one, `error` its standard error.
    `stable_size` counts the features that most folds keep; `sparsest` is the point with the fewest
    of them within one standard error of the least loss, which lambda1="sparse" takes.
    """

    lambda1: float
    lambda2: float
    loss: float
    accuracy: float
    support_size: int
    excess_loss: float = 0.0
    error: float = 0.0
    best: bool = False
    chosen: bool = False
    stable_size: int = 0
    sparsest: bool = False


class SelectionPath(tuple[PathPoint, ...]):
    """The points of a path, in the order in which they were tried; a notebook shows a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        marks = ("chosen", "best", "sparsest")
        rows = [
            (
                *(number(value) for value in (point.lambda1, point.lambda2)),
                f"{point.loss:.4f}",
                f"{point.excess_loss:.4f} \N{PLUS-MINUS SIGN} {point.error:.4f}",
                percent(point.accuracy),
                f"{point.support_size:,}",
                ", ".join(mark for mark in marks if getattr(point, mark)),
            )
            for point in self
        ]
        head = ("lambda1", "lambda2", "held-out loss", "above the least", "balanced accuracy")
        return html_table((*head, "features", ""), rows, "Values of lambda1 and lambda2 tried")


class PathSelector:
    """The values that are tried, what was found of them, and the ones to take."""

    def __init__(self, factory: ProblemFactory) -> None:
        self.factory, self.plan, self.grid = factory, factory.plan, LambdaGrid(factory)
        self.settings = factory.plan.selection
        self.results: list[CVResult] = []
        self.repeats: list[list[np.ndarray]] = []  # held-out rows of the folds of each repeat
        self.training: list[np.ndarray] = []  # the rows of all models of a path
        self.duals: list[tuple[float, FloatArray]] = []  # of these models, at each lambda1

    def take_results(self, other: PathSelector) -> None:
        """Take the cross-validated results of another selector on the same problems."""
        self.results, self.repeats = other.results, other.repeats

    def steps(self) -> Iterator[PathPoint]:
        """One point for each pair of values tried."""
        data = self.factory.data
        if not self.factory.largest_lambda1 > noise(data.design):
            return
        validator = CrossValidator(self.factory)
        if not validator.repeats:
            return
        self.repeats, self.training = validator.repeats, validator.training
        for results in self._paths(validator):
            for result in results:
                self.results.append(result)
                yield self._point(result)

    def _paths(self, validator: CrossValidator) -> Iterator[Iterator[CVResult] | list[CVResult]]:
        """Paths in small tables all at once, in others in turn or on threads: the same points."""
        ridges, jobs = self.grid.ridges, self.plan.n_jobs or 1
        numbers = self.factory.data.design.shape[1] * len(validator.training)
        groups = [ridges] if numbers <= TOGETHER else [[lambda2] for lambda2 in ridges]
        if jobs == 1 or len(groups) == 1:
            yield from (self._solve_paths(validator, group) for group in groups)
            return
        with ThreadPoolExecutor(len(groups) if jobs < 0 else jobs) as pool:
            yield from pool.map(lambda group: list(self._solve_paths(validator, group)), groups)

    @property
    def values(self) -> tuple[float, float]:
        """lambda1 and lambda2 by what was found so far."""
        if self.results:
            taken = self.taken
            return taken.lambda1, taken.lambda2
        fraction, ridge = WITHOUT_FOLDS
        largest, least = self.factory.largest_lambda1, noise(self.factory.data.design)
        lambda1 = fraction * largest if largest > least else CLEARLY * least
        given1, given2 = self.plan.lambda1, self.plan.lambda2
        return (
            lambda1 if isinstance(given1, str) else given1,
            ridge * self.factory.data.unit if isinstance(given2, str) else given2,
        )

    @property
    def best(self) -> CVResult:
        """The least loss among models of the size asked for."""
        return min(self._fitting, key=lambda one: one.loss)

    @property
    def taken(self) -> CVResult:
        """The result of the pair that is taken."""
        if self.plan.is_sparse:
            return self.sparsest
        if self.settings.choice == "least_loss":
            return self.best
        if self.settings.choice == "one_se":
            return self._within_one_error
        if self.plan.max_features is not None:
            return self._middle  # the limit sets the sparsity
        return max(self._sparser, key=lambda one: one.lambda1, default=self._middle)

    @property
    def _within_one_error(self) -> CVResult:
        """The largest lambda1 within one standard error of the best, at its lambda2."""
        best = self.best
        most = best.loss + best.error
        near = [o for o in self._fitting if o.lambda2 == best.lambda2 and o.loss <= most]
        return max(near, key=lambda one: one.lambda1)

    @property
    def sparsest(self) -> CVResult:
        """The fewest stable features within one standard error of the best."""
        best = self.best
        most = min(best.loss + best.error, CHANCE)
        near = [one for one in self._fitting if one.loss <= most and one.stable.size]
        return min(near, key=lambda one: (one.stable.size, one.loss), default=best)

    def fresh_scores(self) -> FloatArray:
        """Scores of the rows in each repeat, at values that those of their own fold did not choose.

        The scores of the values taken are the best of many, and some of that is chance; and an
        average over repeats varies less than the decision value of one model.
        """
        found = np.full_like(self.results[0].by_repeat, np.nan)
        for repeat, parts in enumerate(self.repeats):
            for part in parts:
                others = copy(self)
                others.results = [one.without(part) for one in self.results]
                taken = others.taken.by_repeat
                found[repeat, part] = taken[repeat, part]
        return found

    @property
    def _sparser(self) -> list[CVResult]:
        """Sparser models of the same lambda2 as the one in the middle that are as good as the best.

        As good: clearly better than chance, and with an excess loss of no more than a share of the
        difference's error or of the loss itself. Where nothing is better than chance, sparse models
        are not either.
        """
        middle = self._middle
        beside = [one for one in self._fitting if one.lambda2 == middle.lambda2]
        return [one for one in beside if one.lambda1 > middle.lambda1 and self._as_good(one)]

    @property
    def _middle(self) -> CVResult:
        """The weighted median of all models in lambda1 and lambda2; in doubt, the sparser one."""
        fitting = self._fitting
        places, weights = _places(fitting), self._candidate_weights
        lambda1, lambda2 = (upper_median(column, weights) for column in places.T)
        steps = np.abs(places - [lambda1, lambda2]) / self.grid.spacing
        return fitting[int(np.argmin(steps.sum(axis=1)))]

    @property
    def _candidate_weights(self) -> FloatArray:
        """Weigh each pair by exp(-sharpness * excess loss / error), less for a small lambda2."""
        fitting, best = self._fitting, self.best
        excess = np.array([one.excess_loss(best) for one in fitting])
        own, errors = self.settings, np.hypot(excess[:, 1], self.settings.least_error)
        ridge = np.array([one.lambda2 for one in fitting])
        caution = (ridge / ridge.max()) ** min(own.few_rows / self.factory.data.total, own.caution)
        return caution * np.exp(-own.sharpness * excess[:, 0] / errors)

    @property
    def _fitting(self) -> list[CVResult]:
        """Models of the size asked for; the sparsest of all where there are none."""
        most = self.plan.max_features or self.factory.data.design.shape[1]
        fitting = [one for one in self.results if 0 < one.support_size <= most]
        return fitting or [min(self.results, key=lambda one: one.support_size)]

    @property
    def path(self) -> tuple[PathPoint, ...]:
        """All points, each compared with the best; the best and the one taken are marked."""
        if not self.results:
            return ()
        best, taken, sparsest = self.best, self.taken, self.sparsest
        return tuple(
            replace(
                self._point(one),
                excess_loss=one.excess_loss(best)[0],
                error=one.excess_loss(best)[1],
                best=one is best,
                chosen=one is taken,
                sparsest=one is sparsest,
            )
            for one in sorted(self.results, key=lambda one: (-one.lambda2, -one.lambda1))
        )

    def _solve_paths(
        self, validator: CrossValidator, ridges: Sequence[float]
    ) -> Iterator[CVResult]:
        """The paths of some lambda2 side by side, each while it may still help."""
        factory, polish = self.factory, self.plan.settings.method == "hipad"
        grid, judged = self.grid.lambda1()
        path_solver = PathSolver(
            factory.trial(1.0), validator.training, ridges, polish, validator.units
        )
        done: dict[float, list[CVResult]] = {lambda2: [] for lambda2 in ridges}
        for lambda1 in grid[grid >= factory.data.least_lambda1].tolist():
            for lambda2 in tuple(path_solver.ridges):
                ahead = path_solver.expected_size(lambda1, lambda2)
                if is_over(done[lambda2], ahead, factory.data.total, self.settings):
                    path_solver.drop(lambda2)
            fitted = path_solver.fit(lambda1) if path_solver.ridges else []
            if fitted:
                self.duals.append((lambda1, path_solver.duals))
            for fits in fitted:
                own = done[fits.lambda2]
                if lambda1 > judged or (not own and not fits.sizes.any()):
                    continue  # lambda1_max is an upper bound where the classes are not balanced
                own.append(validator.evaluate(fits))
                yield own[-1]

    def _as_good(self, one: CVResult) -> bool:
        """Whether a model beats a constant prediction, and hardly loses against the best."""
        best, own = self.best, self.settings
        excess, error = one.excess_loss(best)
        gain, doubt = one.excess_loss(replace(one, losses=np.full_like(one.losses, CHANCE)))
        spared = own.sparing * float(np.hypot(error, own.least_error))
        return -gain > 2 * doubt and excess <= max(spared, own.negligible * best.loss)

    def _point(self, result: CVResult) -> PathPoint:
        return PathPoint(
            lambda1=result.lambda1,
            lambda2=result.lambda2,
            loss=result.loss,
            accuracy=balanced_accuracy(result.scores - result.cut, self.factory.data),
            support_size=result.support_size,
            stable_size=int(result.stable.size),
        )


def balanced_accuracy(scores: FloatArray, data: TrainingData) -> float:
    """The mean over both classes of the share of known scores whose answer is right."""
    right = np.where(says_positive(scores) == (data.y > 0), 1.0, 0.0)
    parts = [np.isfinite(scores) & (data.y == sign) for sign in (-1.0, 1.0)]
    return float(np.mean([np.average(right[one], weights=data.weights[one]) for one in parts]))


def _places(results: Sequence[CVResult]) -> FloatArray:
    """lambda1 and lambda2 of each, as logarithms."""
    return np.log([(max(one.lambda1, 1e-300), one.lambda2) for one in results])

"""lambda1="auto" and lambda2="auto": a path for each lambda2, and what is good and sparse on it.

The path goes down to a hundredth of lambda1_max, unless it is left before (leaving.py). The best
pair of values is the one of least loss on held-out patients (weighing.py). With few patients many
pairs are about as good, and the best is a matter of chance. So all pairs have a say, each the less
the more standard errors its loss lies above the best, and the one in the middle is taken: half of
the say is for smaller values, half for larger ones. (A mean would lie between the sparse and the
dense models where both are good, and the models there need not be.) The differences are told
patient by patient, so that their errors are far smaller than those of the losses. Losses that speak
clearly give their best pair. Then the sparsest model that is as good as the best, within a share of
that error, is taken instead.

A wish for few features is met along the same path. With `max_features` models with more are not
looked at. lambda1="sparse" takes the fewest features whose loss is within one standard error of the
least (Breiman's rule). Which features a model keeps is often chance, so what is counted are those
that most folds keep, and the model on all rows is fitted to these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from hipad.designs.base import FloatArray
from hipad.estimator.choosing.following import Follower
from hipad.estimator.choosing.jury import Jury
from hipad.estimator.choosing.leaving import ALIKE, is_over
from hipad.estimator.choosing.posing import Posing
from hipad.estimator.choosing.tried_values import TriedValues
from hipad.estimator.choosing.weighing import Opinion, upper_median
from hipad.estimator.empty import noise
from hipad.estimator.training import TrainingData

SHARPNESS = 2.0  # a pair's say falls by e^-2 with each standard error
FEW, CAUTION = 60.0, 0.6  # patients, so few that a large ridge is the safer guess; and how much
SPARING = 0.25  # errors by which a sparser model may be behind the best
CHANCE = float(np.log(2.0))  # the loss of who knows nothing
LEAST_ERROR = 0.003  # of a loss: no difference below it is told from rounding or chance
TOGETHER = 1_000_000  # weights of all models of a path: up to here all paths are followed at once
WITHOUT_FOLDS = (0.3, 1.0)  # lambda1 as a fraction of its largest, and lambda2, without folds
CLEARLY = 1e6  # times the noise: a lambda1 that no solver takes for zero


@dataclass(frozen=True)
class PathPoint:
    """One pair of values: its out-of-fold loss and balanced accuracy, and how many features it has.

    `behind` is how far the loss lies above the least one, `error` the standard error of that.
    `stable_size` counts the features that most folds keep; `sparsest` is the point with the fewest
    of them within one standard error of the least loss, which lambda1="sparse" takes.
    """

    lambda1: float
    lambda2: float
    loss: float
    accuracy: float
    support_size: int
    behind: float = 0.0
    error: float = 0.0
    best: bool = False
    chosen: bool = False
    stable_size: int = 0
    sparsest: bool = False


class AutoChoice:
    """The values that are tried, what was found of them, and the ones to take."""

    def __init__(self, posing: Posing) -> None:
        self.posing, self.plan, self.tried = posing, posing.plan, TriedValues(posing)
        self.opinions: list[Opinion] = []
        self.ways: list[list[np.ndarray]] = []  # held-out rows of the folds of each repeat

    def steps(self) -> Iterator[PathPoint]:
        """One point for each pair of values tried."""
        data = self.posing.data
        if not self.posing.largest_lambda1 > noise(data.design):
            return
        jury = Jury(self.posing)
        if not jury.ways:
            return
        self.ways = jury.ways
        for opinions in self._paths(jury):
            for opinion in opinions:
                self.opinions.append(opinion)
                yield self._point(opinion)

    def _paths(self, jury: Jury) -> Iterator[Iterator[Opinion] | list[Opinion]]:
        """Paths in small tables all at once, in others in turn or on threads: the same points."""
        ridges, jobs = self.tried.ridges, self.plan.n_jobs or 1
        numbers = self.posing.data.design.shape[1] * len(jury.training)
        groups = [ridges] if numbers <= TOGETHER else [[lambda2] for lambda2 in ridges]
        if jobs == 1 or len(groups) == 1:
            yield from (self._follow(jury, group) for group in groups)
            return
        with ThreadPoolExecutor(len(groups) if jobs < 0 else jobs) as pool:
            yield from pool.map(lambda group: list(self._follow(jury, group)), groups)

    @property
    def values(self) -> tuple[float, float]:
        """lambda1 and lambda2 by what was found so far."""
        if self.opinions:
            taken = self.taken
            return taken.lambda1, taken.lambda2
        fraction, ridge = WITHOUT_FOLDS
        largest, least = self.posing.largest_lambda1, noise(self.posing.data.design)
        lambda1 = fraction * largest if largest > least else CLEARLY * least
        given1, given2 = self.plan.lambda1, self.plan.lambda2
        return (
            lambda1 if isinstance(given1, str) else given1,
            ridge * self.tried.unit if isinstance(given2, str) else given2,
        )

    @property
    def best(self) -> Opinion:
        """The least loss among models of the size asked for."""
        return min(self._fitting, key=lambda one: one.loss)

    @property
    def taken(self) -> Opinion:
        """What is said of the values taken: one of the pairs tried."""
        if self.plan.is_sparse:
            return self.sparsest
        if self.plan.max_features is not None:
            return self._middle  # the wish says how sparse
        return max(self._sparser, key=lambda one: one.lambda1, default=self._middle)

    @property
    def sparsest(self) -> Opinion:
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
        found = np.full_like(self.opinions[0].by_repeat, np.nan)
        for repeat, parts in enumerate(self.ways):
            for part in parts:
                others = copy(self)
                others.opinions = [one.without(part) for one in self.opinions]
                taken = others.taken.by_repeat
                found[repeat, part] = taken[repeat, part]
        return found

    @property
    def _sparser(self) -> list[Opinion]:
        """Sparser models of the same lambda2 as the one in the middle that are as good as the best.

        As good: clearly better than chance, and behind the best by no more than a share of the
        difference's error or of the loss itself. Where nothing is better than chance, sparse models
        are not either.
        """
        middle, best = self._middle, self.best
        beside = [one for one in self._fitting if one.lambda2 == middle.lambda2]
        return [one for one in beside if one.lambda1 > middle.lambda1 and _as_good(one, best)]

    @property
    def _middle(self) -> Opinion:
        """The model in the middle of all: half of the say on either side; in doubt, sparser."""
        fitting = self._fitting
        places, say = _places(fitting), self._say
        lambda1, lambda2 = (upper_median(column, say) for column in places.T)
        steps = np.abs(places - [lambda1, lambda2]) / self.tried.spacing
        return fitting[int(np.argmin(steps.sum(axis=1)))]

    @property
    def _say(self) -> FloatArray:
        """How much each model of the size asked for has to say, by how near it is to the best."""
        fitting, best = self._fitting, self.best
        behind = np.array([one.behind(best) for one in fitting])
        errors = np.hypot(behind[:, 1], LEAST_ERROR)
        ridge = np.array([one.lambda2 for one in fitting])
        caution = (ridge / ridge.max()) ** min(FEW / self.posing.data.total, CAUTION)
        return caution * np.exp(-SHARPNESS * behind[:, 0] / errors)

    @property
    def _fitting(self) -> list[Opinion]:
        """Models of the size asked for; the sparsest of all where there are none."""
        most = self.plan.max_features or self.posing.data.design.shape[1]
        fitting = [one for one in self.opinions if 0 < one.support_size <= most]
        return fitting or [min(self.opinions, key=lambda one: one.support_size)]

    @property
    def path(self) -> tuple[PathPoint, ...]:
        """All points, each compared with the best; the best and the one taken are marked."""
        if not self.opinions:
            return ()
        best, taken, sparsest = self.best, self.taken, self.sparsest
        return tuple(
            replace(
                self._point(one),
                behind=one.behind(best)[0],
                error=one.behind(best)[1],
                best=one is best,
                chosen=one is taken,
                sparsest=one is sparsest,
            )
            for one in sorted(self.opinions, key=lambda one: (-one.lambda2, -one.lambda1))
        )

    def _follow(self, jury: Jury, ridges: Sequence[float]) -> Iterator[Opinion]:
        """The paths of some lambda2 side by side, each while it may still help."""
        posing, polish = self.posing, self.plan.settings.method == "hipad"
        grid, judged = self.tried.lambda1()
        follower = Follower(posing.trial(1.0), jury.training, ridges, polish, jury.units)
        done: dict[float, list[Opinion]] = {lambda2: [] for lambda2 in ridges}
        for lambda1 in grid.tolist():
            for lambda2 in tuple(follower.ridges):
                ahead = follower.expected_size(lambda1, lambda2)
                if is_over(done[lambda2], ahead, posing.data.total):
                    follower.leave(lambda2)
            for fits in follower.fit(lambda1) if follower.ridges else ():
                own = done[fits.lambda2]
                if lambda1 > judged or (not own and not fits.sizes.any()):
                    continue  # lambda1_max is an upper bound where the classes are not balanced
                own.append(jury.opinion(fits))
                yield own[-1]

    def _point(self, opinion: Opinion) -> PathPoint:
        return PathPoint(
            lambda1=opinion.lambda1,
            lambda2=opinion.lambda2,
            loss=opinion.loss,
            accuracy=balanced_accuracy(opinion.scores - opinion.cut, self.posing.data),
            support_size=opinion.support_size,
            stable_size=int(opinion.stable.size),
        )


def balanced_accuracy(scores: FloatArray, data: TrainingData) -> float:
    """The mean over both classes of the share of known scores with the right sign."""
    right = np.where(data.y * scores > 0, 1.0, 0.0)
    parts = [np.isfinite(scores) & (data.y == sign) for sign in (-1.0, 1.0)]
    return float(np.mean([np.average(right[one], weights=data.weights[one]) for one in parts]))


def _as_good(one: Opinion, best: Opinion) -> bool:
    behind, error = one.behind(best)
    gain, doubt = one.behind(replace(one, losses=np.full_like(one.losses, CHANCE)))
    spared = max(SPARING * float(np.hypot(error, LEAST_ERROR)), ALIKE * best.loss)
    return -gain > 2 * doubt and behind <= spared


def _places(opinions: Sequence[Opinion]) -> FloatArray:
    """lambda1 and lambda2 of each, as logarithms."""
    return np.log([(max(one.lambda1, 1e-300), one.lambda2) for one in opinions])

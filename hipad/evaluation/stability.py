"""How stable a model is: refits to random halves of the rows, at the values that were chosen.

    found = stability(clf, n_refits=200)
    found.frequency                     how often each feature is selected
    found.false_discovery_share(0.5)    by decoys: permuted copies of all features
    found.spread, found.flip_share      how far each row's risk moves, how often its class flips

1. Draw half of the patients of each class without replacement: what a statistic varies between
   halves is, to first order, what it varies between bootstrap samples (Politis, Romano and Wolf).
2. Refit every candidate that has a part in the model, many draws side by side by the batched
   interior point, at its lambda1, lambda2 and rule weights; scale it by its own rows; average the
   candidates by their shares; tell risks by the curve of the model.
3. Refit some of the draws with a permuted copy beside every feature. Copies carry nothing of the
   class, so as many of them as are selected, as many selected features are selected by chance.

lambda1, lambda2, the shares of candidates and thresholds that rules learn are those of the model:
who would choose them anew in each refit would see a larger spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.data.table import canonical_csc
from hipad.designs import Design, make_design
from hipad.estimator.calibration import (
    Calibration,
    class_means_at_one,
    least_loss_offset,
    says_positive,
)
from hipad.estimator.cross_validation import units_of
from hipad.estimator.path import PathSolver, approach
from hipad.estimator.problem_factory import TrainingData
from hipad.estimator.trust import Member
from hipad.evaluation.curves import calibration_curve, decision_curve
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.solvers import Problem
from hipad.solvers.solution import single_thread
from hipad.utils import FloatArray, IntArray

N_REFITS: Final = 200
AT_ONCE: Final = 50  # refits side by side: more are no faster
MOST_WEIGHTS: Final = 1_000_000  # features times refits that are followed at once
DECOYS_OF: Final = 5  # one refit of so many is done with decoys as well
ORDERS: Final = 100  # random orders of decoys, of which one is taken
STEPS: Final = 2  # values of lambda1 on the way to that of the model, itself included


class FeatureStability(NamedTuple):
    """The share of refits that select a feature, and the share of these with a weight above 0."""

    column: int
    frequency: float
    positive_share: float


@dataclass(frozen=True, eq=False)
class Stability:
    """What refits select and say.

    Parameters
    ----------
    total : int
        How many refits were asked for; `done` are there.
    selected, raised : array of int
        In how many refits each feature has a weight, and a weight above zero.
    sizes : array of int
        The number of features of each refit.
    scores, risks : array, refits x rows
        Decision values and risks of the second class (of the positive one, see `sign`).
    fresh : array of bool, refits x rows
        Whether the refit has not learnt from the row.
    score, risk : array
        Those of the model itself.
    threshold : float or None
        The risk from which on the answer is positive; None for a score above zero.
    decoy_refits : int
        Refits with decoys; `with_decoys` and `decoys` count in how many of them each feature, and
        the permuted copy of each feature, is selected.
    """

    total: int
    selected: IntArray
    raised: IntArray
    sizes: IntArray
    scores: FloatArray
    risks: FloatArray
    fresh: npt.NDArray[np.bool_]
    score: FloatArray
    risk: FloatArray
    threshold: float | None = None
    decoy_refits: int = 0
    with_decoys: IntArray | None = None
    decoys: IntArray | None = None

    @property
    def done(self) -> int:
        """How many refits there are."""
        return len(self.scores)

    @property
    def is_done(self) -> bool:
        """Whether all refits are there, and those with decoys."""
        return self.done == self.total and (self.decoys is None or self.decoy_refits > 0)

    @property
    def frequency(self) -> FloatArray:
        """The share of refits that select each feature."""
        return self.selected / max(self.done, 1)

    def table(self, most: int = 50) -> list[FeatureStability]:
        """Return the features that are selected most often."""
        order = np.argsort(-self.selected, kind="stable")[:most]
        return [
            FeatureStability(
                int(j), float(self.frequency[j]), float(self.raised[j] / self.selected[j])
            )
            for j in order
            if self.selected[j]
        ]

    def false_discoveries(self, threshold: float = 0.5) -> float:
        """About how many features are selected that often by chance: as many as decoys are."""
        return float(np.count_nonzero(self._decoy_counts[1] >= self._least(threshold)))

    def false_discovery_share(self, threshold: float = 0.5) -> float:
        """The share of features selected that often which are selected by chance, by decoys."""
        found = int(np.count_nonzero(self._decoy_counts[0] >= self._least(threshold)))
        return min(self.false_discoveries(threshold) / found, 1.0) if found else 0.0

    @property
    def false_share(self) -> float:
        """The share of the features of a refit, on average, that chance selects."""
        features, decoys = self._decoy_counts
        return min(float(decoys.sum() / max(features.sum(), 1)), 1.0)

    def _least(self, threshold: float) -> float:
        if not 0 < threshold <= 1:
            raise DataError(f"expected a share of refits above 0 and up to 1, got {threshold!r}")
        return threshold * self.decoy_refits - 1e-9

    @property
    def _decoy_counts(self) -> tuple[IntArray, IntArray]:
        if not self.decoy_refits:
            raise DataError("expected refits with decoys, got none yet: go on, or set decoys=True")
        return self._counts

    @property
    def _counts(self) -> tuple[IntArray, IntArray]:
        if self.with_decoys is None or self.decoys is None:
            raise DataError("expected refits with decoys, got none: set decoys=True")
        return self.with_decoys, self.decoys

    @property
    def answers(self) -> npt.NDArray[np.bool_]:
        """Whether each refit answers each row with the positive class."""
        return self._answered(self.scores, self.risks)

    def _answered(self, scores: FloatArray, risks: FloatArray) -> npt.NDArray[np.bool_]:
        if self.threshold is None:
            return says_positive(scores)
        return risks >= self.threshold

    @property
    def flip_share(self) -> FloatArray:
        """Of each row, the share of refits that answer it otherwise than the model."""
        own = self._answered(self.score, self.risk)
        return np.asarray((self.answers != own).mean(axis=0))

    @property
    def mean_flip_share(self) -> float:
        """The mean of `flip_share` over the rows."""
        return float(self.flip_share.mean())

    def risk_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return between which risks the refits put each row, without the outermost ones."""
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.risks, tails, axis=0)
        return low, high

    @property
    def spread(self) -> FloatArray:
        """By how much the risk of each row differs from that of the model, on average (MAPE)."""
        return np.asarray(np.abs(self.risks - self.risk).mean(axis=0))

    @property
    def mean_spread(self) -> float:
        """The mean of `spread` over the rows."""
        return float(self.spread.mean())

    def at(self, threshold: float | None) -> Stability:
        """Return the same refits, answered from another risk on."""
        return replace(self, threshold=threshold)

    def seen_from(self, sign: float) -> Stability:
        """Return the same with the first class as the positive one, where `sign` is -1."""
        if sign > 0:
            return self
        return replace(
            self,
            raised=self.selected - self.raised,
            scores=-self.scores,
            score=-self.score,
            risks=1.0 - self.risks,
            risk=1.0 - self.risk,
            threshold=None if self.threshold is None else 1.0 - self.threshold,
        )

    # The four instability plots: Riley and Collins, Biometrical Journal 65 (2023) 2200302.

    def risk_instability(self, level: float = 0.95) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The risk of each row by the model, and the interval of the refits, by rising risk."""
        order = np.argsort(self.risk, kind="stable")
        low, high = self.risk_interval(level)
        return self.risk[order], low[order], high[order]

    def classification_instability(self) -> tuple[FloatArray, FloatArray]:
        """Return the risk of each row by the model, and the share of refits that flip its class."""
        order = np.argsort(self.risk, kind="stable")
        return self.risk[order], self.flip_share[order]

    def calibration_instability(
        self, positive: npt.ArrayLike
    ) -> list[tuple[FloatArray, FloatArray]]:
        """A smooth calibration curve (risk, observed share) of each refit, on rows fresh to it."""
        found = []
        for rows in self._fresh_rows(positive):
            curve = calibration_curve(rows)
            found.append((curve.x, curve.y))
        return found

    def decision_instability(
        self, positive: npt.ArrayLike, thresholds: npt.ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds, and the net benefit of each refit at them, on rows fresh to it."""
        curves = [decision_curve(rows, thresholds) for rows in self._fresh_rows(positive)]
        if not curves:
            raise DataError("expected refits with fresh rows of both classes, got none")
        return curves[0].thresholds, np.array([curve.model for curve in curves])

    def _fresh_rows(self, positive: npt.ArrayLike) -> Iterator[ScoredRows]:
        truth = np.asarray(positive, dtype=bool)
        if truth.shape != self.risk.shape:
            raise DataError(f"expected the class of {self.risk.size:,} rows, got {truth.size:,}")
        for scores, risks, fresh in zip(self.scores, self.risks, self.fresh, strict=True):
            own = truth[fresh]
            if own.any() and not own.all():
                yield ScoredRows(own, scores[fresh], risks[fresh])


# --------------------------------------------------------------------------------------------------
# The refits.


def stability(
    clf: Any,
    n_refits: int = N_REFITS,
    *,
    X_rows: Any = None,
    decoys: bool = True,
    random_state: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Stability:
    """Refit a model to many random halves of its rows.

    Parameters
    ----------
    clf : HIPADClassifier
        Of two classes, fitted in this session.
    n_refits : int, default=200
        How many.
    X_rows : array or sparse matrix, default=None
        Rows whose risks are asked for, in the columns of the fit; None for the training rows.
    decoys : bool, default=True
        Whether to refit one draw of five with permuted copies of all features as well.
    random_state : int, default=0
        Which halves are drawn.
    on_progress : callable, default=None
        Called with the number of refits done and of all, those with decoys included.
    should_stop : callable, default=None
        Asked between batches; True ends the work, with what there is.

    Returns
    -------
    Stability
        Counts of features, scores and risks of rows.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)
    >>> X[30:, 0] += 2.0
    >>> found = stability(HIPADClassifier(lambda1=0.1, lambda2=1.0).fit(X, y), n_refits=20)
    >>> found.table(1)[0].column, found.done
    (0, 20)
    """
    found: Stability | None = None
    steps = stability_steps(clf, n_refits, X_rows=X_rows, decoys=decoys, random_state=random_state)
    all_refits = n_refits + (_n_with_decoys(n_refits) if decoys else 0)
    for found in steps:
        if on_progress is not None:
            on_progress(found.done + found.decoy_refits, all_refits)
        if should_stop is not None and should_stop():
            break
    assert found is not None
    return found


def stability_steps(
    clf: Any,
    n_refits: int = N_REFITS,
    *,
    X_rows: Any = None,
    decoys: bool = True,
    random_state: int = 0,
) -> Iterator[Stability]:
    """Yield what there is after every batch of refits: see `stability`."""
    if n_refits < 2:
        raise DataError(f"expected 2 refits or more, got {n_refits}: ask for more")
    data, model = vars(clf).get("_data"), vars(clf).get("_model")
    if data is None or model is None:
        raise DataError(
            "expected a model of two classes with its training rows, got one without: fit it again"
        )
    rng = np.random.default_rng(random_state)
    halves = _halves(data, n_refits, rng)
    rows = data.X[: data.n_labelled] if X_rows is None else X_rows
    kept = clf.support_  # `rows` have no names, which a model of a data frame would ask for
    score = np.asarray(rows[:, kept] @ clf.coef_[0, kept] + clf.intercept_[0], dtype=float)
    parts = [_Part(share, member) for share, member in model.parts]
    found = _nothing(clf, n_refits, score, data.design.shape[1], decoys)
    at_once = int(np.clip(MOST_WEIGHTS // data.design.shape[1], 4, AT_ONCE))
    for start in range(0, n_refits, at_once):
        own = halves[start : start + at_once]
        coef, offset = _refits(parts, own, [part.problem for part in parts])
        found = _with_batch(found, clf, coef, offset, own, rows, X_rows is None)
        yield found
    if decoys:
        doubled: dict[int, Design] = {}
        for part in parts:
            own_data = part.member.factory.data
            if id(own_data) not in doubled:
                doubled[id(own_data)] = _with_copies(own_data, rng)
        problems = [part.on(doubled[id(part.member.factory.data)]) for part in parts]
        at_once = max(at_once // 2, 4)
        count = _n_with_decoys(n_refits)
        for start in range(0, count, at_once):
            own = halves[start : min(start + at_once, count)]
            counts = np.count_nonzero(_refits(parts, own, problems)[0], axis=1)
            p = counts.size // 2
            features, copies = found._counts
            found = replace(
                found,
                decoy_refits=found.decoy_refits + len(own),
                with_decoys=features + counts[:p],
                decoys=copies + counts[p:],
            )
            yield found


def _n_with_decoys(n_refits: int) -> int:
    return -(-n_refits // DECOYS_OF)


class _Part:
    """A candidate of the model with its share, and the problem that its refits solve."""

    def __init__(self, share: float, member: Member) -> None:
        self.share, self.member = share, member
        factory = member.factory
        self.lambda1, self.lambda2 = member.values
        self.problem = factory.trial(1.0)
        if member.among is not None:
            own = factory.problem(*member.values, among=member.among).penalty_factors
            self.problem = self.problem.with_parameters(penalty_factors=own)
        largest = max(factory.largest_lambda1, factory.first_lambda1)
        self.values = approach(largest, self.lambda1)[-STEPS:]
        self.polish = factory.plan.settings.method == "hipad"

    def on(self, design: Design) -> Problem:
        """Return the problem with decoys after the features of a design; rules name no decoy."""
        problem, p = self.problem, self.problem.n_features
        wide = tuple(
            replace(
                rule,
                B=sparse.csr_array(
                    (rule.B.data, rule.B.indices, rule.B.indptr), shape=(rule.B.shape[0], 2 * p)
                ),
            )
            for rule in problem.rules
        )
        return replace(problem, design=design, rules=wide)

    def scale(self, scores: FloatArray, rows: IntArray, b: float) -> Calibration:
        """Scale and offset of a refit, as `Member` has those of the fit itself."""
        data, plan = self.member.factory.data, self.member.factory.plan
        if not plan.calibrate:
            return Calibration(1.0, b)
        y, weights = data.y[rows], data.weights[rows]
        found = class_means_at_one(scores[rows], y, weights, b)
        if self.member.cut is not None:
            return replace(found, offset=found.offset - self.member.cut)
        if plan.balanced:
            return found
        p = data.p[rows] / data.p[rows].sum()
        return least_loss_offset(scores[rows], y, p, found.factor, plan.loss)


def _refits(
    parts: Sequence[_Part], halves: Sequence[IntArray], problems: Sequence[Problem]
) -> tuple[FloatArray, FloatArray]:
    """Weights in the design's units and offsets of the averaged model of each half of the rows."""
    coef = np.zeros((problems[0].n_features, len(halves)))
    offset = np.zeros(len(halves))
    for part, problem in zip(parts, problems, strict=True):
        data = part.member.factory.data
        inferred = np.arange(data.n_labelled, data.y.size)
        everyone = np.arange(data.y.size)
        training = [*(np.r_[rows, inferred] for rows in halves), everyone]
        with single_thread():
            units = units_of(problem.design, data.weights, training)
            solver = PathSolver(problem, training, [part.lambda2], part.polish, units)
            for lambda1 in part.values.tolist():
                fits = solver.fit(lambda1)[0]
        factors = np.zeros(len(halves))
        for k, rows in enumerate(training[:-1]):
            scale = part.scale(fits.scores[:, k], rows, float(fits.b[k]))
            factors[k] = part.share * scale.factor
            offset[k] += part.share * scale.offset
        coef[fits.features] += fits.weights[:, :-1] * factors
    return coef, offset


def _halves(data: TrainingData, count: int, rng: np.random.Generator) -> list[IntArray]:
    """Return half of the labelled patients of each class, again and again; groups stay together."""
    y = data.y[: data.n_labelled]
    codes = np.arange(y.size)
    if data.groups is not None:
        codes = np.unique(data.groups[: y.size], return_inverse=True)[1]
    sums = np.bincount(codes, y)
    classes = [np.flatnonzero(own) for own in (sums < 0, sums >= 0)]
    if min(own.size for own in classes) < 2:
        raise DataError("expected two patients or more of each class to draw halves of, got fewer")
    found = []
    for _ in range(count):
        drawn = [rng.choice(own, max(own.size // 2, 1), replace=False) for own in classes]
        rows = np.flatnonzero(np.isin(codes, np.concatenate(drawn)))
        found.append(rows)
    return found


def _with_copies(data: TrainingData, rng: np.random.Generator) -> Design:
    """Return the design with a copy of each column after the columns, its rows in random order.

    All copies have the same order, so they are as correlated with each other as the features are.
    Of several orders the one is taken in which the classes of the copies tell least of the rows'.
    Where rows have groups, patients are put in another order.
    """
    X, n = data.X, data.y.size
    if data.groups is not None:
        codes = np.unique(data.groups[:n], return_inverse=True)[1]
        members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
        order = np.empty(n, dtype=np.intp)
        for own, other in zip(members, rng.permutation(len(members)), strict=True):
            order[own] = members[other][np.arange(own.size) % members[other].size]
        copies = X[order]
    else:
        orders = [rng.permutation(n) for _ in range(ORDERS)]
        copies = X[min(orders, key=lambda own: abs(float(data.p @ (data.y * data.y[own]))))]
    if sparse.issparse(X):
        both = canonical_csc(sparse.hstack([X, copies]))
    else:
        both = np.hstack([X, copies])
    mean, scale = (None if own is None else np.tile(own, 2) for own in _moments(data))
    return make_design(both, mean=mean, scale=scale)


def _moments(data: TrainingData) -> tuple[FloatArray | None, FloatArray | None]:
    return data.design.mean, data.design.scale


def _nothing(clf: Any, total: int, score: FloatArray, n_features: int, decoys: bool) -> Stability:
    none = np.zeros((0, score.size))
    counts = np.zeros(n_features, dtype=np.intp)
    return Stability(
        total=total,
        selected=counts,
        raised=counts,
        sizes=np.zeros(0, dtype=np.intp),
        scores=none,
        risks=none,
        fresh=none.astype(bool),
        score=score,
        risk=clf.risk_curve_.risks(score, clf.prevalence),
        threshold=vars(clf).get("risk_threshold_"),
        with_decoys=counts if decoys else None,
        decoys=counts if decoys else None,
    )


def _with_batch(
    found: Stability,
    clf: Any,
    coef: FloatArray,
    offset: FloatArray,
    halves: Sequence[IntArray],
    rows: Any,
    of_training: bool,
) -> Stability:
    """Return what there is, and a batch of refits."""
    mean, scale = _moments(clf._data)
    own = coef if scale is None else coef / scale[:, None]
    if mean is not None:
        offset = offset - mean @ own
    used = np.flatnonzero(own.any(axis=1))
    scores = np.asarray(rows[:, used] @ own[used]).T + offset[:, None]
    fresh = np.ones(scores.shape, dtype=bool)
    if of_training:
        for line, half in zip(fresh, halves, strict=True):
            line[half] = False
    return replace(
        found,
        selected=found.selected + np.count_nonzero(coef, axis=1),
        raised=found.raised + np.count_nonzero(coef > 0, axis=1),
        sizes=np.r_[found.sizes, np.count_nonzero(coef, axis=0)],
        scores=np.vstack([found.scores, scores]),
        risks=np.vstack([found.risks, clf.risk_curve_.risks(scores, clf.prevalence)]),
        fresh=np.vstack([found.fresh, fresh]),
    )

"""The training data of a fit, and the problems that they pose at any lambda1 and lambda2."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array, issparse
from scipy.stats import norm
from scipy.stats import t as student

from hipad.data.preprocessing import MissingValues, same_gaps
from hipad.data.table import ColumnStatistics, canonical_csc, column_statistics
from hipad.designs import LAST_DIGITS, Design, damped_scale, make_design, unit_scale, varying
from hipad.estimator.parameters import FitSettings
from hipad.estimator.settings import RULE_SETTINGS, SELECTION, RuleSettings, SelectionSettings
from hipad.rules import (
    Box,
    CompiledRule,
    RuleColumns,
    RuleEvidence,
    RuleWeights,
    ScaledRule,
    shortest_patient,
)
from hipad.rules.compiler import SignConstraints
from hipad.rules.linearize import UNSURE
from hipad.solvers import Hipad, PenaltyFactors, Problem, RuleBlock, Solution, lambda1_max
from hipad.solvers.certificate import relative_gap
from hipad.solvers.losses import HINGE, Loss
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Folds that follow the content of the rows, not the order of rows or columns.
#
# Equal rows share a fold. So a row of weight two and two equal rows give the same choice, and no
# row is judged by its own copy. Each repeat divides the rows anew; `random_state` seeds them. Rows
# of one group always share a fold.


def content_folds(
    design: Design, y: FloatArray, p: FloatArray, count: int, wave: float = 40.0
) -> np.ndarray:
    """Return the fold of each row, stratified: ranks of its key. Equal rows share a fold."""
    return folds_by_key(content_key(design, y, p, wave), y, count)


def folds_by_key(key: FloatArray, y: FloatArray, count: int) -> np.ndarray:
    """Return the fold of each row, stratified: ranks of its key. Equal rows share a fold."""
    folds = np.zeros(y.size, dtype=int)
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(y == sign)
        order = rows[np.argsort(key[rows], kind="stable")]
        steps = np.diff(key[order]) > 1e-9 * np.ptp(key)
        folds[order] = np.r_[0, np.cumsum(steps)] % count
    return folds


def content_key(design: Design, y: FloatArray, p: FloatArray, wave: float = 40.0) -> FloatArray:
    """Return a projection of each row that is the same whatever the order of rows and columns.

    Another `wave` is another division of the rows.
    """
    return design.content_keys(p * y, wave)[:, 0]


def equal_rows(design: Design, y: FloatArray, p: FloatArray) -> np.ndarray:
    """Return a number for each row that equal rows of one class share."""
    key = content_key(design, y, p)
    order = np.lexsort((key, y))
    far = np.diff(key[order]) > 1e-9 * np.ptp(key)
    groups = np.zeros(y.size, dtype=int)
    groups[order] = np.r_[0, np.cumsum(far | (np.diff(y[order]) != 0))]
    return groups


def usable_folds(folds: np.ndarray, y: FloatArray) -> list[np.ndarray]:
    """Return held-out rows of each fold whose training and held-out parts hold both classes."""
    parts = [np.flatnonzero(folds == k) for k in range(folds.max(initial=0) + 1)]

    def both(rows: np.ndarray) -> bool:
        return len(np.unique(y[rows])) == 2

    return [part for part in parts if both(part) and both(np.setdiff1d(np.arange(y.size), part))]


def group_folds(
    key: FloatArray, y: FloatArray, p: FloatArray, groups: IntArray, count: int
) -> np.ndarray:
    """Return the fold of each row, where rows of one group share a fold.

    Groups go, large ones first and else by the mean key of their rows, to the fold that has least
    of the classes they bring. There are no more folds than groups with a row of the rarer class.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    parts = np.column_stack([np.bincount(codes, np.where(y == s, p, 0.0)) for s in (-1.0, 1.0)])
    count = max(min(count, int((parts > 0).sum(axis=0).min())), 2)
    parts = parts / parts.sum(axis=0)
    sizes = parts.sum(axis=1)
    keys = np.bincount(codes, p * key) / np.bincount(codes, p)
    large = np.round(np.log2(np.maximum(sizes / sizes.max(), 1e-12)))
    has, fold_of = np.zeros((count, 2)), np.zeros(len(sizes), dtype=int)
    for group in np.lexsort((keys, -large)):
        held = np.round(has @ parts[group] / (parts[group] @ parts[group]), 9)
        fold = int(np.lexsort((np.round(has.sum(axis=1), 9), held))[0])
        fold_of[group] = fold
        has[fold] += parts[group]
    return fold_of[codes]


def repeated_folds(
    design: Design,
    y: FloatArray,
    p: FloatArray,
    count: int,
    repeats: int,
    seed: int,
    groups: IntArray | None = None,
) -> list[list[np.ndarray]]:
    """For each repeat the held-out rows of its folds; repeats that cannot be used are left out."""
    waves = np.random.default_rng(seed).uniform(30.0, 90.0, repeats)
    found = []
    for key in design.content_keys(p * y, waves).T:
        if groups is None:
            folds = folds_by_key(key, y, count)
        else:
            folds = group_folds(key, y, p, groups, count)
        found.append(usable_folds(folds, y))
    return [parts for parts in found if len(parts) > 1]


def given_folds(parts: Sequence[np.ndarray], y: FloatArray) -> list[list[np.ndarray]]:
    """Return held-out rows as the user gives them, in as many repeats as it takes to have each row
    once.

    Parts without rows, or without which a class is missing, are left out, and so are repeats that
    hold out one class only.

    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> [len(parts) for parts in given_folds([np.array(p) for p in ([0, 1], [2, 3], [0, 3])], y)]
    [2, 1]
    """
    repeats: list[list[np.ndarray]] = []
    seen: list[set[int]] = []
    for part in parts:
        rest = np.delete(y, part)
        if not part.size or len(np.unique(rest)) < len(np.unique(y)):
            continue
        rows = set(part.tolist())
        free = next((k for k, taken in enumerate(seen) if not taken & rows), None)
        if free is None:
            repeats.append([])
            seen.append(set())
            free = len(repeats) - 1
        repeats[free].append(np.unique(part))
        seen[free] |= rows
    repeats = [one for one in repeats if len(np.unique(y[np.concatenate(one)])) == 2]
    return repeats if sum(map(len, repeats)) > 1 else []


# --------------------------------------------------------------------------------------------------
# Whether columns that vary little for the size of their values count less: labelled rows say.
#
# Both scalings (hipad/designs.py) are free of units. Each is judged by ridge regression of
# the labels, whose leave-one-out errors have a closed form: with row shares p that sum to one, K =
# Z Z' and a ridge t,
#
#     minimise sum_j p_j (y_j - z_j'w - b)^2 + t |w|^2
#
# has residuals r = t a / p, where (a, b) = A^{-1} (y, 0) for the matrix A of K + t diag(1/p)
# bordered by ones, and leverages h = 1 - t diag(A^{-1}) / p. The error of row j, were it left out,
# is r_j / (1 - h_j) (Allen's PRESS); a row of weight two is two rows, of which one is left out. The
# ridge of least error counts for each scaling. Deviation 1 stays unless the damped scale is better
# by more than `damping_errors` standard errors of the difference, row by row, at the level of
# Student's t for so many rows: of few rows the error itself is hardly known.
#
# On text, images and gene expression the difference was 3 to 20 standard errors in favour of
# damping, on clinical tables and spectra -8 to 1.


RIDGES: Final = np.geomspace(1e-3, 10.0, 9)  # t, in units of the mean squared norm of a row
LEAST_ROWS: Final = 3  # of each class: with fewer the error is unknown
FEW_TO_ASK: Final = 128  # rows that are asked first: mostly their answer is clear


def standardised_design(
    X: Any,
    labels: FloatArray,
    weights: FloatArray,
    moments: ColumnStatistics | None = None,
    settings: SelectionSettings = SELECTION,
) -> Design:
    """Return the rows with columns scaled as serves them best.

    Of several classes each is told from all others. `moments` are the statistics of the columns,
    where further rows have a part in them.
    """
    stats = column_statistics(X, weights) if moments is None else moments
    usual = make_design(X, mean=stats.mean, scale=unit_scale(stats))
    if not varying(stats).any():
        return usual
    damped = make_design(X, mean=stats.mean, scale=damped_scale(stats))

    def grams(rows: np.ndarray) -> list[FloatArray]:
        part = X if rows.size == len(labels) else X[rows]
        return [
            (one if part is X else make_design(part, mean=one.mean, scale=one.scale)).gram()
            for one in (usual, damped)
        ]

    better = is_damping_better(usual, signs_of_classes(labels), weights, grams, settings)
    return damped if better else usual


def signs_of_classes(labels: FloatArray) -> FloatArray:
    """Return 1 and -1 for each class that is told from all others, a column each; one of two."""
    classes = np.unique(labels)
    separated = classes[1:] if classes.size == 2 else classes
    return np.where(labels[:, None] == separated, 1.0, -1.0)


def is_damping_better(
    usual: Design,
    signs: FloatArray,
    weights: FloatArray,
    grams: Callable[[np.ndarray], list[FloatArray]],
    settings: SelectionSettings = SELECTION,
) -> bool:
    """Whether damped scales clearly serve the rows better.

    `grams` gives the Gram matrices of some rows, by usual and by damped scales.
    """
    for most in sorted({min(FEW_TO_ASK, settings.damping_rows), settings.damping_rows}):
        rows = _rows_to_ask(usual, signs, weights, most)
        if rows.size == 0:
            return False
        gain, error = _gain(grams(rows), signs[rows], weights[rows])
        least = float(
            student.isf(norm.sf(settings.damping_errors), max(weights[rows].sum() - 1.0, 1.0))
        )
        if gain > least * error:
            return True
        if gain <= 0 or rows.size == len(signs):
            break
    return False


def leave_one_out_errors(
    K: FloatArray, y: FloatArray, p: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the errors of rows that are left out of a ridge regression, at its best ridge.

    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> p, ones = np.full(4, 0.25), np.ones(4)
    >>> leave_one_out_errors(np.outer(x, x), np.sign(x), p, ones).round(2).tolist()
    [0.24, -0.69, 0.69, -0.24]
    """
    root = np.sqrt(p)
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    found, least = np.zeros_like(y), np.inf
    for t in RIDGES * max(float(p @ np.diag(K)), 1e-300):
        inverse = 1.0 / (np.maximum(values, 0.0) + t)

        def solve(of: FloatArray, inverse: FloatArray = inverse) -> FloatArray:
            return np.asarray(root * (vectors @ (inverse * (vectors.T @ (root * of)))))

        ones = solve(np.ones_like(y))
        a = solve(y) - ones * (ones @ y) / ones.sum()
        diagonal = vectors**2 @ inverse - ones**2 / (p * ones.sum())  # of A^{-1}, by p
        leverage = (1.0 - t * diagonal) / np.maximum(weights, 1.0)
        errors = t * a / (p * np.maximum(1.0 - leverage, 1e-12))
        if (loss := float(p @ errors**2)) < least:
            found, least = errors, loss
    return found


def _rows_to_ask(design: Design, signs: FloatArray, weights: FloatArray, most: int) -> np.ndarray:
    """Return rows of all classes, not too many; none where a class has too few."""
    smallest = min(np.count_nonzero(signs == sign, axis=0).min() for sign in (-1.0, 1.0))
    if smallest < LEAST_ROWS:
        return np.zeros(0, dtype=int)
    n = len(signs)
    if n <= most:
        return np.arange(n)
    parts = content_folds(design, signs[:, 0], weights / weights.sum(), -(-n // most))
    rows = np.flatnonzero(parts == 0)
    both = all(np.unique(column).size == 2 for column in signs[rows].T)
    return rows if both else np.zeros(0, dtype=int)


def _gain(grams: list[FloatArray], signs: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """By how much the second scaling has the smaller squared errors, and the error of that."""
    share = weights / weights.sum()
    gains = np.zeros(len(signs))
    for y in signs.T:
        positive = y > 0
        p = share * np.where(positive, 0.5 / share[positive].sum(), 0.5 / share[~positive].sum())
        first, second = (leave_one_out_errors(K, y, p, weights) ** 2 for K in grams)
        gains += p / share * (first - second)
    mean = float(share @ gains)
    variance = (share**2 / weights) @ (gains - mean) ** 2
    return mean, float(np.sqrt(variance))


# --------------------------------------------------------------------------------------------------
# Units that do not fit: of data that were scaled before they came here, or of a written number.
#
# A StandardScaler before the classifier changes what `Glucose >= 126` means: 126 is then counted in
# standard deviations, and no row meets it. Columns that a scaler made are easy to know: their
# mean is zero and their deviation one, or they go from zero to one. A number in a unit that the
# column may not have is reported too.


ROUNDING = 1e-6


def foreign_units(X: Any, rules: tuple[CompiledRule, ...]) -> Iterator[str]:
    """Yield a sentence for each rule in doubtful units, or beyond data that a scaler made."""
    for rule in rules:
        yield from (f"{rule.label}: {remark}" for remark in rule.remarks if UNSURE in remark)
        columns = np.unique(rule.B.indices)
        values = X[:, columns]
        values = np.asarray(values.toarray() if issparse(values) else values, dtype=float)
        if values.size and scaler_of(values) and _out_of_range(rule, columns, values):
            yield (
                f"the rule {str(rule.rule)!r} has a threshold far beyond all rows, and its "
                f"columns look as if {scaler_of(values)} came before the classifier: rules are in "
                "the units of the data that they are given, so leave the scaler out "
                "(standardize=True scales inside)"
            )


def scaler_of(values: FloatArray) -> str:
    """Return the scaler that makes such columns, or nothing.

    >>> scaler_of(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    'a StandardScaler'
    >>> scaler_of(np.array([[1.0], [5.0]]))
    ''
    """
    low, high = values.min(axis=0), values.max(axis=0)
    if (np.abs(low) < ROUNDING).all() and (np.abs(high - 1.0) < ROUNDING).all():
        return "a MinMaxScaler"
    centred = np.abs(values.mean(axis=0)) < ROUNDING
    one = np.abs(values.std(axis=0) - 1.0) < ROUNDING
    scaled = (centred & (one | (low == high))).all() and one.any()
    return "a StandardScaler" if scaled else ""


def _out_of_range(rule: CompiledRule, columns: np.ndarray, values: FloatArray) -> bool:
    """Return whether a threshold is farther from the values seen than these are from each other."""
    B, low, high = rule.B[:, columns].toarray(), values.min(axis=0), values.max(axis=0)
    least = np.where(B > 0, B * low, B * high).sum(axis=1)
    most = np.where(B > 0, B * high, B * low).sum(axis=1)
    beyond = np.maximum(least - rule.d, rule.d - most)
    return bool((beyond > most - least).any())


# --------------------------------------------------------------------------------------------------
# What a fit needs of the data, made once and shared by all refits on them.
#
# Labels become y in {-1, +1}, weights become shares p that sum to one, columns are scaled
# implicitly, and the Gram matrix stays with the design.


MOST_INFERRED: Final = 400  # rows that get a label from rules: more cost time and tell no more


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Data of one fit. `weights` count rows: a row of weight two is two rows."""

    X: Any
    y: FloatArray
    weights: FloatArray
    p: FloatArray
    design: Design
    source: Any
    row_sums: FloatArray
    unlabelled: Any = None  # rows without a label, as they came
    n_inferred: int = 0  # how many of the last rows have their label from rules
    groups: IntArray | None = None  # equal numbers belong together: rows of y, then unlabelled ones
    gaps: MissingValues | None = None  # cells of X that were filled
    unlabelled_gaps: MissingValues | None = None
    selection: SelectionSettings = SELECTION
    whole: Design | None = None  # labelled rows with all columns, where `design` has some of them
    mean_variance: float | None = None  # of all columns, where X has some of them
    least_lambda1: float = 0.0  # paths end there: at less, columns that X has not have a say
    inferred: IntArray | None = None  # which unlabelled rows have their label from rules

    @classmethod
    def of(
        cls,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
        source: Any = None,
        unlabelled: Any = None,
        groups: IntArray | None = None,
        gaps: tuple[MissingValues | None, MissingValues | None] = (None, None),
        selection: SelectionSettings = SELECTION,
    ) -> TrainingData:
        """Scale the columns as serves these rows best (damping.py); `source` is what X came from.

        Rows without a label count one each in means and deviations. `gaps` are the cells that were
        filled, of X and of the rows without a label.
        """
        sums = row_sums(X if unlabelled is None else stacked_rows(X, unlabelled))
        if issparse(X):
            X = canonical_csc(X)
        if not standardize:
            design = make_design(X)
            return cls(
                X, y, weights, p, design, source, sums, unlabelled, 0, groups, *gaps, selection
            )
        moments = None
        if unlabelled is not None:
            counts = np.r_[weights, np.ones(unlabelled.shape[0])]
            moments = column_statistics(stacked_rows(X, unlabelled), counts)
        design = standardised_design(X, y, weights, moments, selection)
        return cls(X, y, weights, p, design, source, sums, unlabelled, 0, groups, *gaps, selection)

    def with_rule_labels(
        self, rules: Sequence[CompiledRule], weights: Sequence[float | None]
    ) -> TrainingData | None:
        """Return these rows and, after them, unlabelled ones with the labels that rules give.

        The weight of a rule is spread evenly over the unlabelled rows that it covers. Where rules
        disagree on a row, the heavier side has it, at the difference. Each class keeps its share of
        the loss. None where no row gets a label.
        """
        if self.unlabelled is None:
            return None
        votes = np.zeros(self.unlabelled.shape[0])
        for rule, weight in zip(rules, weights, strict=True):
            covered = rule.fires(self.unlabelled, self.unlabelled_gaps)
            if weight and covered.any():
                votes[covered] += rule.sign * weight / np.count_nonzero(covered)
        labelled = np.flatnonzero(np.abs(votes) > 1e-9 * np.abs(votes).max(initial=0.0))
        if not labelled.size:
            return None
        labelled, votes = self._spread(labelled, votes)
        X = stacked_rows(self.X, self.unlabelled[labelled])
        if issparse(X):
            X = canonical_csc(X)
        y = np.r_[self.y, np.sign(votes[labelled])]
        counts, p = np.r_[self.weights, np.abs(votes[labelled])], np.zeros(y.size)
        for sign in (-1.0, 1.0):
            own = y == sign
            p[own] = counts[own] * self.p[self.y == sign].sum() / counts[own].sum()
        design = make_design(X, mean=self.design.mean, scale=self.design.scale)
        groups, gaps = self.groups, self.gaps
        if groups is not None:
            groups = np.r_[groups[: self.y.size], groups[self.y.size :][labelled]]
        if gaps or self.unlabelled_gaps:
            added = None if self.unlabelled_gaps is None else self.unlabelled_gaps.take(labelled)
            gaps = MissingValues.stacked([(gaps, self.y.size), (added, labelled.size)])
        made = {"X": X, "y": y, "weights": counts, "p": p, "design": design, "inferred": labelled}
        return replace(self, **made, groups=groups, gaps=gaps, n_inferred=labelled.size)

    def _spread(self, rows: np.ndarray, votes: FloatArray) -> tuple[np.ndarray, FloatArray]:
        """At most `MOST_INFERRED` of these rows, spread over their range, with the votes of all."""
        if rows.size <= MOST_INFERRED:
            return rows, votes
        X = self.unlabelled[rows]
        design = make_design(
            canonical_csc(X) if issparse(X) else X, mean=self.design.mean, scale=self.design.scale
        )
        sign, own = np.sign(votes[rows]), np.abs(votes[rows])
        key, kept, scaled = content_key(design, sign, own / own.sum()), [], votes.copy()
        for side in (np.flatnonzero(sign < 0), np.flatnonzero(sign > 0)):
            if not side.size:
                continue
            count = max(MOST_INFERRED * side.size // rows.size, 1)
            middles = (2 * np.arange(count) + 1) * side.size // (2 * count)
            taken = side[np.lexsort((own[side], key[side]))][middles]
            scaled[rows[taken]] *= own[side].sum() / own[taken].sum()
            kept.append(rows[taken])
        return np.sort(np.concatenate(kept)), scaled

    @cached_property
    def total(self) -> float:
        """Number of labelled rows: by their weights, or groups by the mean of theirs."""
        weights = self.weights[: self.n_labelled]
        if self.groups is None:
            return float(weights.sum())
        groups = np.unique(self.groups[: self.n_labelled], return_inverse=True)[1]
        return float((np.bincount(groups, weights) / np.bincount(groups)).sum())

    @property
    def group_weights(self) -> FloatArray:
        """The weights of the rows, scaled to sum to `total`."""
        if self.groups is None:
            return self.weights
        return self.weights * (self.total / float(self.weights[: self.n_labelled].sum()))

    @property
    def n_labelled(self) -> int:
        """Rows whose label was given, which come first."""
        return int(self.y.size - self.n_inferred)

    @property
    def labelled(self) -> tuple[Design, FloatArray, FloatArray]:
        """Design (of all columns), signs and shares of the rows whose label was given."""
        if not self.n_inferred:
            return self.whole or self.design, self.y, self.p
        rows = slice(self.n_labelled)
        y, weights, p = self.y[rows], self.weights[rows], np.zeros(self.n_labelled)
        for sign in (-1.0, 1.0):
            own = y == sign
            p[own] = weights[own] * self.p[self.y == sign].sum() / weights[own].sum()
        return self.whole or self.design.rows(rows), y, p

    @cached_property
    def unit(self) -> float:
        """The mean variance of a column, as the design has it."""
        if self.design.scale is not None:
            return 1.0
        if self.mean_variance is not None:
            return self.mean_variance or 1.0
        deviation = column_statistics(self.X, self.weights).sd
        return float(np.mean(deviation**2)) or 1.0

    @cached_property
    def box(self) -> Box:
        """The observed range of every feature, in the user's units."""
        return Box.observed(self.X)

    @cached_property
    def sha256(self) -> str:
        """A hash of the matrix, the labels and the weights, to know the same data again."""
        digest = hashlib.sha256(f"{self.X.shape} {self.X.dtype.str}".encode())
        parts: Iterable[np.ndarray] = (self.X[i : i + 256] for i in range(0, self.X.shape[0], 256))
        if issparse(self.X):
            parts = (self.X.indptr.astype("<i8"), self.X.indices.astype("<i8"), self.X.data)
        for part in (*parts, self.y, self.weights):
            digest.update(np.ascontiguousarray(part).data)
        if self.unlabelled is not None:
            rest = self.unlabelled.toarray() if issparse(self.unlabelled) else self.unlabelled
            digest.update(np.ascontiguousarray(rest).data)
        if self.groups is not None:
            digest.update(np.ascontiguousarray(self.groups, dtype="<i8").data)
        return digest.hexdigest()

    def same_as(
        self,
        source: Any,
        X: Any,
        y: FloatArray,
        weights: FloatArray,
        p: FloatArray,
        standardize: bool,
        unlabelled: Any = None,
        groups: IntArray | None = None,
        gaps: tuple[MissingValues | None, MissingValues | None] = (None, None),
        selection: SelectionSettings = SELECTION,
    ) -> bool:
        """Return whether a refit may reuse this: the same matrix object, labels, weights and
        scaling.

        Sums of the rows tell when the matrix was changed in place.
        """
        rows = X if unlabelled is None else stacked_rows(X, unlabelled)
        return (
            self.source is source
            and self.selection.damping_errors == selection.damping_errors
            and self.selection.damping_rows == selection.damping_rows
            and np.array_equal(self.row_sums, row_sums(rows))
            and (self.design.scale is not None) == standardize
            and np.array_equal(self.y, y)
            and np.array_equal(self.weights, weights)
            and np.array_equal(self.p, p)
            and _same_groups(self.groups, groups)
            and same_gaps(self.gaps, gaps[0])
            and same_gaps(self.unlabelled_gaps, gaps[1])
        )

    def scaled(self, rules: tuple[CompiledRule, ...]) -> tuple[ScaledRule, ...]:
        """Return rules in the design's units."""
        return tuple(rule.scaled(self.design.mean, self.design.scale) for rule in rules)

    def rule_columns(self, rules: tuple[CompiledRule, ...]) -> RuleColumns:
        """The training rows as rules see them; labels that rules gave do not speak for them."""
        n = self.n_labelled
        gaps = None if self.gaps is None else self.gaps.take(slice(n))
        if self.unlabelled is not None and (gaps or self.unlabelled_gaps):
            parts = [(gaps, n), (self.unlabelled_gaps, self.unlabelled.shape[0])]
            gaps = MissingValues.stacked(parts)
        rows = (self.X[:n], self.y[:n], self.weights[:n], self.unlabelled)
        return RuleColumns.of(rules, *rows, gaps=gaps)

    def problem(
        self,
        rules: tuple[RuleBlock, ...],
        lambda1: float,
        lambda2: float,
        scope: Any,
        penalty_factors: PenaltyFactors | None = None,
        loss: Loss = HINGE,
    ) -> Problem:
        """Return the optimisation problem on these data."""
        own = penalty_factors or PenaltyFactors()
        return Problem(self.design, self.y, self.p, lambda1, lambda2, rules, scope, own, loss)

    def to_user_units(
        self, features: np.ndarray, w: FloatArray, b: float
    ) -> tuple[FloatArray, float]:
        """Return weights and intercept for x instead of z = (x - mean) / scale."""
        mean, scale = self.design.mean, self.design.scale
        if scale is not None:
            w = w / scale[features]
        if mean is not None:
            b -= float(mean[features] @ w)
        return w, b


def _same_groups(one: IntArray | None, other: IntArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def stacked_rows(X: Any, others: Any) -> Any:
    """Return rows of two arrays or sparse matrices under one another."""
    if issparse(X) or issparse(others):
        return sparse.vstack([X, others], format="csr")
    return np.vstack([X, others])


def row_sums(X: Any) -> FloatArray:
    """Return the sum of each row of an array or sparse matrix."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def shares(
    y: FloatArray, weights: FloatArray, class_weight: str | dict[float, float] | None
) -> FloatArray:
    """Return sample weights that sum to one; "balanced" gives each class of y the same share."""
    p = weights.astype(float)
    classes = np.unique(y)
    if class_weight == "balanced":
        for label in classes:
            p[y == label] *= 1.0 / (classes.size * p[y == label].sum())
    elif isinstance(class_weight, dict):
        for label in classes:
            p[y == label] *= class_weight[float(label)]
    return p / p.sum()


# --------------------------------------------------------------------------------------------------
# From what the user says of a rule (its weight in rows, rho) to the solver's sigma and rho.
#
# One training sample weighs 1/N in the objective, so sigma = n/N says "this rule counts as n
# rows". With z the shortest vector that meets the premise, the gradient of a rule on feature j at
# w = 0 is
#
#     min( sigma, rho / |z|^2 ) |z_j|,
#
# and a feature enters only when this gradient exceeds lambda1. A rho beyond sigma |z|^2 adds
# nothing to it. It adds a ridge on every feature that the rule does not name, so a rule of hardly
# any weight would still favour its own. The automatic rho is therefore a small multiple of
# sigma |z|^2: the gradient is whole until most of the distance is gone, and a rule vanishes with
# its weight. A rho of the user's own is held within reach of it for the same reason.


NEAREST = 1.0  # a premise next to the average row is taken to be one deviation away


def default_weight(
    rule_weight: float | str, total: float, settings: RuleSettings = RULE_SETTINGS
) -> float:
    """Return for how many of `total` rows a rule counts where no weight is written or learnt.

    >>> default_weight("auto", 200), default_weight(5, 200)
    (30.0, 5.0)
    """
    return settings.default_share * total if isinstance(rule_weight, str) else float(rule_weight)


def automatic_rho(
    B: csr_array, d: FloatArray, sigma: float, settings: RuleSettings = RULE_SETTINGS
) -> float:
    """Return a multiple of sigma |z|^2, from which on the weight alone limits the gradient."""
    z = shortest_patient(B, d)
    square = 0.0 if z is None else float(z @ z)
    return settings.rho_factor * sigma * max(square, NEAREST)


def rule_weights(
    rule: ScaledRule,
    *,
    total: float,
    rule_weight: float | str,
    rho: float | str,
    evidence: RuleEvidence | None = None,
    settings: RuleSettings = RULE_SETTINGS,
) -> RuleWeights:
    """Return sigma and rho of a rule in the design's units; `total` is the number of rows.

    `evidence` counts the rows that it covers, and those with its outcome.
    """
    worth = rule.rule.worth
    sigma = (default_weight(rule_weight, total, settings) if worth is None else worth) / total
    follows = isinstance(rho, str)
    automatic = automatic_rho(rule.B, rule.d, sigma, settings)
    used = automatic if isinstance(rho, str) else min(float(rho), settings.rho_limit * automatic)
    if worth is None and rule_weight == "equal":
        sigma = used = automatic if isinstance(rho, str) else float(rho)
    return RuleWeights(sigma, used, total, rho_follows=follows, evidence=evidence)


def rule_blocks(
    rules: tuple[ScaledRule, ...], weights: list[RuleWeights], *, centered: bool = False
) -> tuple[RuleBlock, ...]:
    """Solver rules. One that is worth nothing is left out: its residual would still shrink w."""
    return tuple(
        RuleBlock(rule.B, rule.d, rule.sign, own.sigma, own.rho, centered)
        for rule, own in zip(rules, weights, strict=True)
        if own.sigma > 0
    )


# --------------------------------------------------------------------------------------------------
# From what is said of single features to the solver's penalties of their weights.
#
# Who says that a gene is raised in a disease means that it matters. With thousands of features a
# known sign alone changes nothing: the feature would have to be the strongest of all to enter. So
# it also pays a share of lambda1 only. It enters before others of the same gradient, and the
# data may still leave it out: a statement that is wrong, or of no use, does little harm. A feature
# that is certain pays nothing.


def penalty_factors(
    known: SignConstraints, *, share: float = RULE_SETTINGS.known_share, certain: float = 0.0
) -> PenaltyFactors:
    """Return the penalty factors of the features of which something is known.

    In multiples of lambda1, `share` for a known direction and `certain` for certain features.

    >>> factors = penalty_factors(SignConstraints(raised=np.array([4]), certain=np.array([2])))
    >>> factors.features.tolist(), factors.up.tolist(), factors.down.tolist()
    ([2, 4], [0.0, 0.25], [0.0, inf])
    """
    directed = np.union1d(known.raised, known.lowered)
    features = np.unique(np.concatenate([directed, known.ignored, known.certain])).astype(int)
    up = np.ones(features.size)
    up[np.searchsorted(features, directed)] = share
    up[np.searchsorted(features, known.certain)] = certain
    down = up.copy()
    up[np.searchsorted(features, np.union1d(known.lowered, known.ignored))] = np.inf
    down[np.searchsorted(features, np.union1d(known.raised, known.ignored))] = np.inf
    return PenaltyFactors(features, up, down)


def only(factors: PenaltyFactors, among: np.ndarray, count: int) -> PenaltyFactors:
    """Return the same factors for some of `count` features; all others are excluded.

    >>> factors = only(PenaltyFactors(), np.array([1]), 3)
    >>> factors.excluded.tolist()
    [0, 2]
    """
    up, down = np.full((2, count), np.inf)
    own = factors.at(among, 1.0)
    up[among], down[among] = own.up, own.down
    return PenaltyFactors(np.arange(count), up, down)


def signs_alone(known: SignConstraints) -> PenaltyFactors:
    """Forbidden signs and ignored features; all others pay as if nothing were known."""
    return penalty_factors(known, share=1.0, certain=1.0)


def entering_first(
    known: SignConstraints, *, share: float = RULE_SETTINGS.known_share
) -> PenaltyFactors:
    """As if certain features paid a share too: a path that begins here lets the known in first."""
    return penalty_factors(known, share=share, certain=share)


# --------------------------------------------------------------------------------------------------
# The problems that data, rules and settings pose: at any lambda1 and lambda2, on any rows.
#
# A fit, the folds of an automatic choice and the out-of-fold scores all ask here, so that they
# have the same rules at the same weight.


FAINT = 1e-3  # rows: folds cannot measure the effect of a rule of less weight


class RuleVote(NamedTuple):
    """The vote of a rule in the choice of lambda1 and lambda2: typical row, outcome and weight.

    `z` is the row on the columns that the rule names, counted from the middle of the classes.
    """

    columns: np.ndarray
    z: FloatArray
    sign: float
    sigma: float


class ProblemFactory:
    """Data and plan of one fit; makes its problems.

    `weights` are the rows that each rule counts for; None, for a rule or for all of them,
    leaves that to the rule and the plan.
    """

    def __init__(
        self, data: TrainingData, plan: FitSettings, weights: Sequence[float | None] | None = None
    ) -> None:
        self.data, self.plan = data, plan
        self.weights = [None] * len(plan.rules) if weights is None else list(weights)
        self.scaled_rules, self.evidence = self._rules_in_units()

    def problem(
        self,
        lambda1: float,
        lambda2: float,
        rows: np.ndarray | None = None,
        among: np.ndarray | None = None,
    ) -> Problem:
        """Return the problem at these values, on all rows or some of them.

        Of the features that neither rules name nor the user knows, only those `among` these may
        have a weight, where they are given.
        """
        data, plan = self.data, self.plan
        if rows is None:
            factors = self.penalty_factors
            if among is not None:
                named = [rule.columns for rule in self.scaled_rules]
                free = np.unique(np.concatenate([among, self.penalty_factors.features, *named]))
                factors = only(factors, free.astype(int), data.design.shape[1])
            return data.problem(self.blocks, lambda1, lambda2, plan.scope, factors, plan.loss)
        p = data.p[rows] / data.p[rows].sum()
        design = data.design.rows(rows)
        return Problem(
            design,
            data.y[rows],
            p,
            lambda1,
            lambda2,
            self.blocks,
            plan.scope,
            self.penalty_factors,
            plan.loss,
        )

    def trial(self, lambda2: float) -> Problem:
        """Return the problem of an automatic choice, without rules of hardly any weight."""
        least, plan = FAINT / self.data.total, self.plan
        rules = tuple(block for block in self.blocks if block.sigma >= least)
        return self.data.problem(rules, 0.0, lambda2, plan.scope, self.penalty_factors, plan.loss)

    @cached_property
    def rule_weights(self) -> list[RuleWeights]:
        """sigma and rho of every rule."""
        total, plan = self.data.total, self.plan
        return [
            rule_weights(
                rule if weight is None else replace(rule, rule=replace(rule.rule, worth=weight)),
                total=total,
                rule_weight=plan.rule_weight,
                rho=plan.rho,
                evidence=evidence,
                settings=plan.rule_settings,
            )
            for rule, evidence, weight in zip(
                self.scaled_rules, self.evidence, self.weights, strict=True
            )
        ]

    @cached_property
    def penalty_factors(self) -> PenaltyFactors:
        """What is known of single features, for the solver."""
        return penalty_factors(self.plan.known, share=self.plan.rule_settings.known_share)

    @cached_property
    def blocks(self) -> tuple[RuleBlock, ...]:
        """The rules for the solver."""
        return rule_blocks(self.scaled_rules, self.rule_weights, centered=self.plan.centered)

    @cached_property
    def largest_lambda1(self) -> float:
        """lambda1_max without the rules: the scale on which the data speak.

        Features that pay less, or nothing, count as others do: what they leave over is no scale.
        """
        plan = self.plan
        factors = signs_alone(plan.known)
        return lambda1_max(self.data.problem((), 0.0, 1.0, plan.scope, factors, plan.loss))

    @cached_property
    def first_lambda1(self) -> float:
        """lambda1_max with rules and knowledge, which may let their features in before others."""
        share = self.plan.rule_settings.known_share
        factors = entering_first(self.plan.known, share=share)
        return lambda1_max(self.trial(1.0).with_parameters(penalty_factors=factors))

    def rule_votes(self) -> tuple[RuleVote, ...]:
        """Return the votes of the rules in the choice of lambda1 and lambda2."""
        if not self.plan.centered:
            return ()
        candidates = [
            (rule, shortest_patient(rule.B, rule.d), own.sigma)
            for rule, own in zip(self.scaled_rules, self.rule_weights, strict=True)
        ]
        return tuple(
            RuleVote(rule.columns, z, rule.sign, sigma)
            for rule, z, sigma in candidates
            if z is not None and z.any() and sigma >= FAINT / self.data.total
        )

    @cached_property
    def reach(self) -> FloatArray:
        """Projection of each row on the direction to each rule's typical row; 0 to inf.

        One column a rule. A rule that has no such row is reached by all.
        """
        data = self.data
        found = np.ones((data.y.size, len(self.scaled_rules)))
        halves = data.weights.astype(float)
        for sign in (-1.0, 1.0):
            halves[data.y == sign] *= 0.5 / halves[data.y == sign].sum()
        for i, rule in enumerate(self.scaled_rules):
            z = shortest_patient(rule.B, rule.d)
            if z is None or not z.any():
                continue
            values = data.design.columns(rule.columns)
            found[:, i] = np.abs((values - halves @ values) @ z) / float(z @ z)
            if data.gaps:
                found[data.gaps.rows(rule.columns), i] = 0.0  # a missing value is no evidence
        return found

    @cached_property
    def in_sight(self) -> bool:
        """Whether labelled rows lie near enough to the rules' typical rows to be evidence."""
        own = self.plan.rule_settings
        evidence = relevance(self.reach.max(axis=1, initial=0.0), own.near)
        return float(np.average(evidence, weights=self.data.weights)) >= own.least_evidence

    def _rules_in_units(self) -> tuple[tuple[ScaledRule, ...], list[RuleEvidence | None]]:
        """Return the rules in the solver's units, and the evidence of the training rows on each."""
        data, rules = self.data, self.plan.rules
        if not rules or not self.plan.centered:
            return data.scaled(rules), [None] * len(rules)
        columns = data.rule_columns(rules)
        scaled = columns.all_representatives(rules, data.design.scale)
        return scaled, list(columns.all_evidence(rules))


def relevance(reach: FloatArray, near: float = RULE_SETTINGS.near) -> FloatArray:
    """Return how far rows count as evidence on rules, from 0 to 1.

    `reach` is the distance from the middle between the classes in multiples of that of the typical
    row of the nearest rule: a row at `near` of it counts one half.

    >>> relevance(np.array([0.0, 0.01, 0.1, 1.0])).round(2).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    return reach**4 / (reach**4 + near**4)


# --------------------------------------------------------------------------------------------------
# How sparse a model can get: the lambda1 above which the data alone let no feature in.


def largest_lambda1(
    X: Any,
    y: FloatArray,
    *,
    standardize: bool = True,
    class_weight: Any = "balanced",
    lambda2: float = 0.0,
) -> float:
    """Return from this lambda1 on a fit without rules keeps no feature; y is +1 or -1.

    With classes of equal weight it is the least such value, otherwise it may be a little more.

    >>> X, y = np.array([[0.0, 3.0], [0.0, 5.0]]), np.array([-1.0, 1.0])
    >>> round(largest_lambda1(X, y), 6)
    1.0
    """
    ones = np.ones(len(y))
    design = standardised_design(X, y, ones) if standardize else make_design(X)
    return lambda1_max(Problem(design, y, shares(y, ones, class_weight), 0.0, lambda2))


# --------------------------------------------------------------------------------------------------
# Models without a feature: when they are the right answer, and in which words to say why.


TRACE = 1e-6  # of the margin: scores of less are looked at for rounding


def noise(design: Design) -> float:
    """Return the gradient that rounding alone may give a feature that tells nothing."""
    size = design.column_norms()
    if design.mean is not None:
        size = size + np.abs(design.mean if design.scale is None else design.mean / design.scale)
    return 1e-12 * float(np.max(size, initial=0.0))


def score_noise(design: Design, features: np.ndarray, w: FloatArray) -> float:
    """Return how far scores w'x may be off by the last digits of the values and their means."""
    size = np.zeros(w.size) if design.mean is None else np.abs(design.mean[features])
    scale = 1.0 if design.scale is None else design.scale[features]
    return LAST_DIGITS * float(np.abs(w) @ (size / scale))


def explained(hipad: Hipad, message: str) -> Solution:
    """Return the solution with a message; one without features says why in its certificate."""
    found, lambda1 = _without_noise(hipad, hipad.solution()), hipad.problem.lambda1
    if found.features.size:
        message = message or found.certificate.message
        return replace(found, certificate=replace(found.certificate, message=message))
    largest = lambda1_max(hipad.problem)
    if lambda1 < largest and not hipad.finished:
        reason = "stopped before a feature entered"
    elif largest > noise(hipad.problem.design):
        reason = f"no feature survives lambda1 = {lambda1:.4g}: choose one below {largest:.4g}"
    else:
        reason = "no feature tells the classes apart"
    message = f"{reason}; as it is, everyone gets the same answer"
    return replace(found, certificate=replace(found.certificate, message=message))


def _without_noise(hipad: Hipad, found: Solution) -> Solution:
    """Return the solution, or the model without features where rounding alone put them in.

    Unpenalized features are in at every gradient, be it the last digit of a sum. Their scores are
    then a trace of the margin, and no gradient is above rounding.
    """
    problem, own = hipad.problem, hipad.problem.penalty_factors
    largest_score = problem.design.column_norms()[found.features] @ np.abs(found.w)
    if not found.features.size or not hipad.finished or largest_score > TRACE:
        return found
    up, down = (np.where(factor == 0, 1.0, factor) for factor in (own.up, own.down))
    paying = replace(own, up=up, down=down)
    if lambda1_max(problem.with_parameters(penalty_factors=paying)) > noise(problem.design):
        return found
    none, nothing = np.zeros(0, dtype=int), np.zeros(0)
    objective = problem.objective(none, nothing, np.zeros(problem.n_samples), found.b, found.u)
    certificate = replace(
        found.certificate,
        primal_objective=objective,
        gap=relative_gap(objective, found.certificate.dual_objective),
        covers=found.certificate.covers.replace(f"the {found.features.size} ", "the 0 "),
        certain=0,
        undecided=0,
    )
    return replace(found, features=none, w=nothing, certificate=certificate)

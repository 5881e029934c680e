"""Training data of a fit: folds by content, scaling and its damping, units, unlabelled rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.sparse import issparse
from scipy.stats import norm
from scipy.stats import t as student

from hipad.data.preprocessing import MissingValues, same_gaps
from hipad.data.table import ColumnStatistics, canonical_csc, column_statistics
from hipad.designs import Design, damped_scale, make_design, unit_scale, varying
from hipad.estimator.settings import SELECTION, SelectionSettings
from hipad.rules import Box, CompiledRule, RuleColumns, ScaledRule
from hipad.rules.linearize import UNSURE
from hipad.solvers import PenaltyFactors, Problem, RuleBlock
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
    """The fold of each row, stratified: ranks of its key. Equal rows share a fold."""
    return folds_by_key(content_key(design, y, p, wave), y, count)


def folds_by_key(key: FloatArray, y: FloatArray, count: int) -> np.ndarray:
    """The fold of each row, stratified: ranks of its key. Equal rows share a fold."""
    folds = np.zeros(y.size, dtype=int)
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(y == sign)
        order = rows[np.argsort(key[rows], kind="stable")]
        steps = np.diff(key[order]) > 1e-9 * np.ptp(key)
        folds[order] = np.r_[0, np.cumsum(steps)] % count
    return folds


def content_key(design: Design, y: FloatArray, p: FloatArray, wave: float = 40.0) -> FloatArray:
    """A projection of each row that is the same whatever the order of rows and columns.

    Another `wave` is another division of the rows.
    """
    return design.content_keys(p * y, wave)[:, 0]


def equal_rows(design: Design, y: FloatArray, p: FloatArray) -> np.ndarray:
    """A number for each row that equal rows of one class share."""
    key = content_key(design, y, p)
    order = np.lexsort((key, y))
    far = np.diff(key[order]) > 1e-9 * np.ptp(key)
    groups = np.zeros(y.size, dtype=int)
    groups[order] = np.r_[0, np.cumsum(far | (np.diff(y[order]) != 0))]
    return groups


def usable_folds(folds: np.ndarray, y: FloatArray) -> list[np.ndarray]:
    """Held-out rows of each fold whose training and held-out parts hold both classes."""
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
    """Held-out rows as the user gives them, in as many repeats as it takes to have each row once.

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
    signs = signs_of_classes(labels)
    rows = rows_to_ask(usual, signs, weights, settings.damping_rows)
    if rows.size == 0 or not varying(stats).any():
        return usual
    damped = make_design(X, mean=stats.mean, scale=damped_scale(stats))
    everybody = rows.size == len(signs)
    grams = [
        (one if everybody else make_design(X[rows], mean=one.mean, scale=one.scale)).gram()
        for one in (usual, damped)
    ]
    return damped if is_damping_better(grams, signs[rows], weights[rows], settings) else usual


def signs_of_classes(labels: FloatArray) -> FloatArray:
    """Return 1 and -1 for each class that is told from all others, a column each; one of two."""
    classes = np.unique(labels)
    told_apart = classes[1:] if classes.size == 2 else classes
    return np.where(labels[:, None] == told_apart, 1.0, -1.0)


def is_damping_better(
    grams: list[FloatArray],
    signs: FloatArray,
    weights: FloatArray,
    settings: SelectionSettings = SELECTION,
) -> bool:
    """Whether the second Gram matrix, of damped columns, clearly serves these rows better."""
    gain, error = _gain(grams, signs, weights)
    least = student.isf(norm.sf(settings.damping_errors), max(weights.sum() - 1.0, 1.0))
    return bool(gain > float(least) * error)


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


def rows_to_ask(design: Design, signs: FloatArray, weights: FloatArray, most: int) -> np.ndarray:
    """Rows of all classes, not too many; none where a class has too few."""
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
    """A sentence for each rule in doubtful units, or beyond data that a scaler made."""
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
    """The scaler that makes such columns, or nothing.

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
    """Whether a threshold is farther from the values seen than these are from each other."""
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
        """Whether a refit may reuse this: the same matrix object, labels, weights and scaling.

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
        """Rules in the design's units."""
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
        """The optimisation problem on these data."""
        own = penalty_factors or PenaltyFactors()
        return Problem(self.design, self.y, self.p, lambda1, lambda2, rules, scope, own, loss)

    def to_user_units(
        self, features: np.ndarray, w: FloatArray, b: float
    ) -> tuple[FloatArray, float]:
        """Weights and intercept for x instead of z = (x - mean) / scale."""
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
    """Rows of two arrays or sparse matrices under one another."""
    if issparse(X) or issparse(others):
        return sparse.vstack([X, others], format="csr")
    return np.vstack([X, others])


def row_sums(X: Any) -> FloatArray:
    """The sum of each row of an array or sparse matrix."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def shares(
    y: FloatArray, weights: FloatArray, class_weight: str | dict[float, float] | None
) -> FloatArray:
    """Sample weights that sum to one; "balanced" gives each class of y the same share."""
    p = weights.astype(float)
    classes = np.unique(y)
    if class_weight == "balanced":
        for label in classes:
            p[y == label] *= 1.0 / (classes.size * p[y == label].sum())
    elif isinstance(class_weight, dict):
        for label in classes:
            p[y == label] *= class_weight[float(label)]
    return p / p.sum()

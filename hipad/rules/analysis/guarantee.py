"""How far a rule holds for a classifier (w, b): worst case, prototype, threshold.

For a rule B x <= d => s (w'x + b) >= 1 and the box lo <= x <= hi of plausible values:

    worst      = min { s (w'x + b) : B x <= d, lo <= x <= hi }
    prototype  = the patient of B x <= d nearest to the average one, in units of spread
    threshold  = min { B_i x : s (w'x + b) <= margin, the other rows, the box }

The threshold is a linear programme of the same kind with objective and row exchanged: for any
bound d_i below it, every patient of the region is past the margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.rules.analysis.box import ROUNDING, Box, Minimum, Patient, minimise
from hipad.rules.analysis.points import least_norm
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.rows import on_columns

Ends = FloatArray | float
NEARLY = 1e-9  # of the reach of a row


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The least s (w'x + b) over the region, and the patient that attains it.

    `value` is +inf if nobody in the box meets the premise, -inf if the box has no end.
    """

    value: float
    patient: Patient
    feasible: bool

    @property
    def holds(self) -> bool:
        """True if every patient of the region is classified as the rule says."""
        return self.value >= 0

    def sentence(self, features: FeatureIndex | None = None) -> str:
        """The guarantee in words."""
        if not self.feasible:
            return "nobody in the box meets the premise"
        if self.holds:
            margin = " with the full margin" if self.value >= 1 else ""
            return f"holds for every patient in the box{margin} (worst {self.value:.3g})"
        shown = [f"{k} = {v:.4g}" for k, v in list(self.patient.named(features).items())[:4]]
        more = ", ..." if len(self.patient) > 4 else ""
        return f"fails in the worst case ({self.value:.3g}), for {', '.join(shown)}{more}"


@dataclass(frozen=True, eq=False)
class Prototype:
    """The least unusual patient that meets the premise, and s (w'x + b) for them."""

    margin: float
    patient: Patient
    feasible: bool


def worst_case(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    lo: Ends,
    hi: Ends,
) -> WorstCase:
    """The worst case of one rule over the box; only columns of w or B that are not zero matter.

    >>> B = sparse.csr_array([[-1.0, 0.0]])
    >>> worst_case(B, np.array([-2.0]), 1.0, np.array([1.0, 0.5]), -1.0, 0.0, 3.0).value
    1.0
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.union1d(np.flatnonzero(w), B.indices).astype(np.int64)
    found = minimise(sign * w[columns], on_columns(B, columns), d, *Box(lo, hi).ends(columns))
    value = found.value + sign * float(b)
    return WorstCase(value, _patient(found, columns), found.feasible)


def prototype(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
) -> Prototype:
    """The patient of the region nearest to the average one; features not named stay average.

    `mean` and `scale` are the scaling z = (x - mean) / scale in which nearness is measured, None
    if x is already in such units.

    >>> B = sparse.csr_array([[-1.0, -1.0]])
    >>> found = prototype(B, np.array([-2.0]), 1.0, np.array([3.0, 0.0]), -1.0)
    >>> found.patient.values, found.margin
    (array([1., 1.]), 2.0)
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.unique(B.indices).astype(np.int64)
    centre = np.zeros(len(columns)) if mean is None else np.asarray(mean)[columns]
    spread = np.ones(len(columns)) if scale is None else np.asarray(scale)[columns]
    named = on_columns(B, columns)
    z = least_norm(sparse.csr_array(named * spread), d - named @ centre)
    if z is None:
        return Prototype(np.inf, Patient.of({}), False)
    average = float(b) + (0.0 if mean is None else float(w @ np.asarray(mean, dtype=np.float64)))
    margin = sign * (average + float(w[columns] @ (spread * z)))
    return Prototype(margin, Patient(columns, centre + spread * z), True)


def tightest_bound(
    B: sparse.csr_array,
    d: FloatArray,
    sign: float,
    w: FloatArray,
    b: float,
    lo: Ends,
    hi: Ends,
    *,
    row: int = 0,
    margin: float = 0.0,
) -> float | None:
    """The loosest d[row] for which every patient of the region is past the margin.

    +inf if any bound would do, None if no bound that leaves somebody in the region would.

    >>> B, d, w = sparse.csr_array([[-1.0, 0.0]]), np.array([-2.0]), np.array([1.0, 0.5])
    >>> tightest_bound(B, d, 1.0, w, -2.5, 0.0, 3.0)  # holds from x0 >= 2.5 on
    -2.5
    """
    w = np.asarray(w, dtype=np.float64)
    columns = np.union1d(np.flatnonzero(w), B.indices).astype(np.int64)
    ends = Box(lo, hi).ends(columns)
    named = on_columns(B, columns)
    others = np.flatnonzero(np.arange(B.shape[0]) != row)
    goal = named[[row]].toarray()[0]
    nearest = minimise(goal, named[others], d[others], *ends)
    wrong = sparse.vstack([named[others], sparse.csr_array(sign * w[columns][None, :])], "csr")
    failing = minimise(goal, wrong, np.append(d[others], margin - sign * float(b)), *ends)
    if not failing.feasible:
        return np.inf
    gap = failing.value - nearest.value
    if not np.isfinite(gap) or gap <= _least_gap(goal, *ends):
        return None
    return failing.value


def _least_gap(goal: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """What two values of a row must differ by: a little of its reach in the box, or rounding."""
    ends = np.array([lo, hi])[:, goal != 0]
    size = np.abs(goal[goal != 0])
    reach = float(size @ (ends[1] - ends[0]))
    largest = np.where(np.isfinite(ends), np.abs(ends), 0.0).max(axis=0)
    return max(NEARLY * reach if np.isfinite(reach) else 0.0, ROUNDING * float(size @ largest))


def _patient(found: Minimum, columns: IntArray) -> Patient:
    return Patient.of({}) if found.x is None else Patient(columns, found.x)

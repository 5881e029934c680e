"""A compiled rule: the premise B x <= d, sparse and in the user's units, and the outcome's sign.

Conditions joined by `and` are rows of one B; each rule keeps a B of its own, since stacking two
rules in one B would turn "or" into "and".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.data.gaps import Gaps
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.rows import columns_of, on_columns, rows_met
from hipad.rules.language.model import Condition, Rule

_BATCH = 4_000_000  # numbers held at once while a rule is tried on data


@dataclass(frozen=True, eq=False)
class ScaledRule:
    """A rule in the design's units, as solvers take it; a type of its own, so that none is mixed up
    with rules in the user's units.
    """

    rule: Rule
    B: sparse.csr_array
    d: FloatArray
    sign: float
    label: str = ""

    @property
    def columns(self) -> IntArray:
        """The columns that the rule names, in order."""
        return columns_of(self.B)


@dataclass(frozen=True, eq=False)
class CompiledRule:
    """A rule as B x <= d => sign * (w'x + b) >= 1.

    `remarks` say what was left out and why, `origins` from which condition each row comes.
    """

    rule: Rule
    B: sparse.csr_array
    d: FloatArray
    sign: float
    remarks: tuple[str, ...] = ()
    label: str = ""
    origins: tuple[Condition | str, ...] = ()
    features: FeatureIndex | None = field(default=None, repr=False)
    settled: tuple[Condition, ...] = ()
    outcome: str = ""

    @property
    def resolved_text(self) -> str:
        """The rule as it was understood: its own names, the numbers learnt, the class it says."""
        conditions = self.settled or self.rule.conditions
        own = replace(self.rule, conditions=conditions, outcome=self.outcome or self.rule.outcome)
        return own.text

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The condition that each row comes from, in words."""
        return tuple(map(str, self.origins))

    @property
    def columns(self) -> IntArray:
        """The columns that the rule names, in order."""
        return columns_of(self.B)

    def fires(self, X: Any, gaps: Gaps | None = None) -> npt.NDArray[np.bool_]:
        """For each row of X whether it meets the premise; a missing value never does.

        `gaps` are the cells of X that were filled, and count as missing.
        """
        X = X if sparse.issparse(X) else np.asarray(X)
        if sparse.issparse(X) and X.format not in ("csr", "csc"):
            X = X.tocsr()
        columns = self.columns
        B = on_columns(self.B, columns)
        step = max(1, _BATCH // max(1, len(columns)))
        starts = range(0, X.shape[0], step)
        batches = (X[i : i + step] if step < X.shape[0] else X for i in starts)
        parts = [rows_met(B, self.d, _dense(batch[:, columns]).T) for batch in batches]
        met = np.concatenate([part.all(axis=0) for part in parts] or [np.empty(0, dtype=bool)])
        return met & ~gaps.rows(columns) if gaps else met

    def scaled(self, mean: FloatArray | None, scale: FloatArray | None) -> ScaledRule:
        """The same rule for z = (x - mean) / scale: B diag(scale) and d - B mean."""
        B, d = self.B, self.d
        if mean is not None:
            named = self.columns
            d = d - on_columns(B, named) @ np.asarray(mean, dtype=np.float64)[named]
        if scale is not None:
            factors = np.asarray(scale, dtype=np.float64)[B.indices]
            B = sparse.csr_array((B.data * factors, B.indices, B.indptr), shape=B.shape)
        return ScaledRule(self.rule, B, d, self.sign, self.label)


def _dense(part: Any) -> FloatArray:
    values = part.toarray() if sparse.issparse(part) else part
    return np.asarray(values, dtype=np.float64)

"""Patients as a run sees them, and rules as these patients see them.

A run knows of patients their rows, the range of each column, its scaling, and their shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from hipad.arrays import FloatArray, IntArray
from hipad.data.gaps import Gaps
from hipad.designs import make_design
from hipad.rules import CompiledRule, Heard, RuleRecord, ScaledRule, Witnesses, rule_report
from hipad.rules.compiling.rows import on_columns

Rows = tuple[Any, FloatArray]
"""Rows of patients, and their outcomes as +1 and -1."""


@dataclass(frozen=True, eq=False)
class Patients:
    """Training and test rows, the range `lo` to `hi` of each column, and its scaling.

    `p` are the shares of the training patients in the objective; they sum to one. Without scaling
    `mean` and `scale` are None, and the run measures from the patient whose values are all zero.
    """

    train: Rows
    test: Rows | None
    lo: FloatArray
    hi: FloatArray
    mean: FloatArray | None
    scale: FloatArray | None
    p: FloatArray
    gaps: Gaps | None = None  # cells of the training rows that were filled
    test_gaps: Gaps | None = None

    def pull(self, columns: IntArray) -> FloatArray:
        """How hard the training patients pull on some columns by themselves."""
        X, y = self.train
        mean, scale = (None if m is None else m[columns] for m in (self.mean, self.scale))
        return make_design(_columns(X, columns), mean=mean, scale=scale).correlate(self.p * y)

    def report(
        self, rules: Sequence[CompiledRule], w: FloatArray | None, b: float
    ) -> list[RuleRecord]:
        """How a model stands to rules on these patients, whether or not it was told them."""
        return rule_report(
            rules, w=w, b=b, lo=self.lo, hi=self.hi, mean=self.mean, scale=self.scale
        )

    def on(self, columns: IntArray) -> tuple[Rows, Rows | None]:
        """Some columns of the training and of the test rows, with nan in their gaps."""
        (X, y), test = self.train, self.test
        return (_measured(X, columns, self.gaps), y), None if test is None else (
            _measured(test[0], columns, self.test_gaps),
            test[1],
        )


def as_told(
    rules: Sequence[CompiledRule], patients: Patients
) -> tuple[tuple[ScaledRule, ...], list[Heard]]:
    """The rules as the solver is told them, and what the training patients say of each."""
    X, y = patients.train
    witnesses = Witnesses.of(rules, X, y, np.ones(len(y)), gaps=patients.gaps)
    return witnesses.all_spoken(rules, patients.scale), witnesses.all_heard(rules)


def cut_out(
    rules: Sequence[CompiledRule], patients: Patients
) -> tuple[list[CompiledRule], tuple[Rows, Rows | None]]:
    """The rules on the columns they name, and these columns of the training and test rows."""
    columns = np.unique(np.concatenate([np.empty(0, np.int64), *(r.columns for r in rules)]))
    return [replace(rule, B=on_columns(rule.B, columns)) for rule in rules], patients.on(columns)


def _measured(X: Any, columns: IntArray, gaps: Gaps | None) -> Any:
    """Some columns as they were measured: with nan where there was no value."""
    part = _columns(X, columns)
    return gaps.put_into(part, columns) if gaps else part


def _columns(X: Any, columns: IntArray) -> Any:
    """Some columns, in a form from which columns are quickly taken."""
    part = X[:, columns]
    return part.tocsc() if sparse.issparse(part) else np.asfortranarray(part)

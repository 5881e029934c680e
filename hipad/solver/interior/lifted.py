"""The problem on a few features as a soft-margin SVM in x = (w, b, u): each rule is one more row.

    rows A x:   Z w + y b            of samples, where Z has the rows y_j x_j'
                -thresholds u + e b  of rules, e = 0 where a rule is anchored
    x'Qx / 2:   ridge w^2 / 2 + u'C w + u'curvature u / 2

Whatever solves the problem on features that are known starts from these operators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.problem import Problem


class Values(NamedTuple):
    """A point: weights, intercept, multipliers of the rules' conditions, prices of all rows."""

    w: FloatArray
    b: float
    u: FloatArray
    alpha: FloatArray


class Lifted:
    """The operators: `labels` and `prices` are those of all rows, samples first, then rules."""

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        stack = problem.stack
        self.n = problem.n_samples
        self.Z = problem.design.columns(features)
        self.Z *= problem.y[:, None]
        self.labels = np.r_[problem.y, stack.of_b]
        self.prices = np.r_[problem.p, stack.sigma]
        self.ridge = problem.ridge(features)
        at, of = problem.rule_positions(features)
        self.C = np.zeros((stack.n_rows, features.size))
        self.C[:, at] = stack.coupling[:, of]
        self.curvature, self.thresholds = stack.curvature, stack.thresholds

    def gradient(
        self, w: FloatArray, u: FloatArray, alpha: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the Lagrangian in w and u; `alpha` are multipliers of the rows."""
        samples, rules = alpha[: self.n], alpha[self.n :]
        in_w = self.ridge * w + self.C.T @ u - self.Z.T @ samples
        return in_w, self.C @ w + self.curvature @ u + self.thresholds.T @ rules

    def rows(self, w: FloatArray, b: float, u: FloatArray) -> FloatArray:
        """A x: margins of the samples, then of the rules."""
        return np.r_[self.Z @ w, -self.thresholds @ u] + self.labels * b

"""The intercept where several are equally good: the middle of them.

Given w and u the objective is convex and piecewise linear in b, with a break where a row meets its
margin. Where it is flat at its least, an iterative method stops anywhere between; the middle
depends on the problem alone.
"""

from __future__ import annotations

import numpy as np

from hipad.designs.base import FloatArray
from hipad.solver.problem import Problem

FLAT = 1e-12  # a slope of this size is that of rounding: weights of samples sum to one


def middle_intercept(problem: Problem, scores: FloatArray, u: FloatArray) -> float:
    """The middle of the best intercepts for weights with these scores (Xw) and multipliers u."""
    stack = problem.stack
    # sample: y (score + b) = 1 at b = y - score; rule: s b = d'u + 1 at b = s (d'u + 1)
    free = stack.of_b != 0
    breaks = np.r_[problem.y - scores, (stack.of_b * (stack.thresholds @ u + 1.0))[free]]
    labels, prices = np.r_[problem.y, stack.of_b[free]], np.r_[problem.p, stack.sigma[free]]
    order = np.argsort(breaks, kind="stable")
    slope = np.cumsum(prices[order]) - prices[labels > 0].sum()
    first = int(np.searchsorted(slope, -FLAT * max(1.0, float(prices.sum()))))
    first = min(first, order.size - 1)
    flat = slope[first] <= FLAT * max(1.0, float(prices.sum())) and first + 1 < order.size
    ends = breaks[order[[first, first + 1 if flat else first]]]
    return float(ends.mean())

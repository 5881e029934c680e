"""Where many problems stand on their way, and what each of them lacks; one column a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hipad.designs.base import FloatArray


class Products(NamedTuple):
    """Two arrays with one column a problem whose product goes to zero."""

    x: FloatArray
    z: FloatArray

    @property
    def product(self) -> FloatArray:
        return self.x * self.z

    def moved(self, by: Products, step: FloatArray) -> Products:
        return Products(self.x + step * by.x, self.z + step * by.z)

    def room(self, by: Products) -> FloatArray:
        """Longest step of each problem that keeps both non-negative."""
        return np.minimum(_room(self.x, by.x), _room(self.z, by.z))


class Standing(NamedTuple):
    """Where all problems stand: (alpha, s), (t, xi), (u, pi) and the intercepts."""

    rows: Products
    caps: Products
    rules: Products
    b: FloatArray

    def moved(self, by: Standing, step: FloatArray) -> Standing:
        rows, caps, rules = (one.moved(other, step) for one, other in self.beside(by))
        return Standing(rows, caps, rules, self.b + step * by.b)

    def room(self, by: Standing) -> FloatArray:
        return np.min([one.room(other) for one, other in self.beside(by)], axis=0)

    def beside(self, by: Standing) -> Iterator[tuple[Products, Products]]:
        """The pairs of two places, one beside the other."""
        return zip(self.pairs, by.pairs, strict=True)

    @property
    def pairs(self) -> tuple[Products, Products, Products]:
        return self.rows, self.caps, self.rules


class Lack(NamedTuple):
    """What is missing to feasibility: margins of rows, gradient in u, balance, prices."""

    rows: FloatArray
    u: FloatArray
    b: FloatArray
    t: FloatArray


class Direction(NamedTuple):
    """Newton steps: alpha, intercept and multipliers."""

    alpha: FloatArray
    b: FloatArray
    u: FloatArray


def _room(x: FloatArray, dx: FloatArray) -> FloatArray:
    ratio = np.where(dx < 0, -x / np.where(dx < 0, dx, -1.0), np.inf)
    return np.min(ratio, axis=0, initial=np.inf)

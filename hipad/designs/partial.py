"""Z Z' over some columns, kept from one request to the next.

Active sets of neighbouring fits share most of their columns. So the last answer is kept, and the
columns that came and went are added and taken away. Once half of the columns have changed it is
computed anew, which also keeps rounding from piling up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hipad.arrays import FloatArray

if TYPE_CHECKING:
    from hipad.designs.base import Design


class _Known(NamedTuple):
    """The last answer, and how many columns came and went since it was computed whole."""

    columns: np.ndarray
    gram: FloatArray
    changed: int


class PartialGram:
    """Z Z' of a design over any columns, quickest over nearly those of the last request."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._last: _Known | None = None

    def of(self, columns: np.ndarray) -> FloatArray:
        """Z[:, columns] Z[:, columns]' for different columns in order; not to be written to."""
        last, found = self._last, None
        if last is not None:
            found = self._updated(last, columns)
        if found is None:
            Z = self._design.columns(columns)
            found = _Known(columns, Z @ Z.T, 0)
        self._last = found  # in one step: other threads may ask at the same time
        return found.gram

    def _updated(self, last: _Known, columns: np.ndarray) -> _Known | None:
        came = np.setdiff1d(columns, last.columns, assume_unique=True)
        went = np.setdiff1d(last.columns, columns, assume_unique=True)
        changed = last.changed + came.size + went.size
        if 2 * changed > columns.size:
            return None
        gram = last.gram
        if came.size or went.size:
            new, old = self._design.columns(came), self._design.columns(went)
            gram = gram + (new @ new.T - old @ old.T)
        return _Known(columns, gram, changed)

"""The names that look most like an unknown one, for the error that asks whether they were meant."""

from __future__ import annotations

import difflib
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hipad.arrays import IntArray

_WIDTH = 48  # characters compared when looking for a similar name
_LONGEST = 200  # characters compared exactly
_CANDIDATES = 40  # names compared exactly after the rough search


class NearNames:
    """Names, searched for those that look like another one.

    >>> NearNames(["Glucose", "BMI"]).roughly_like("glucos")[0]
    'Glucose'
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def roughly_like(self, name: str) -> list[str]:
        """The names that share most pairs of neighbouring letters, found in one sweep."""
        if not self._names:
            return []
        wanted = np.zeros(1 << 16, dtype=bool)
        wanted[_letter_pairs([name])] = True
        wanted[0] = False
        common = wanted[self._pairs].sum(axis=1, dtype=np.int32)
        score = 2 * common / (self._lengths + len(name) + 2)
        best = np.argpartition(-score, min(_CANDIDATES, len(score)) - 1)[:_CANDIDATES]
        return [self._names[j] for j in best]

    @cached_property
    def _pairs(self) -> npt.NDArray[np.uint16]:
        return _letter_pairs([name.lower() for name in self._names])

    @cached_property
    def _lengths(self) -> IntArray:
        return np.minimum([len(name) for name in self._names], _WIDTH)


def _letter_pairs(names: list[str]) -> npt.NDArray[np.uint16]:
    """A hash of each pair of neighbouring letters, one name per row, 0 beyond its end."""
    width = min(max(map(len, names), default=1), _WIDTH) + 2
    padded = np.array([" " + name[:_WIDTH] for name in names], dtype=f"U{width}")
    codes = padded.view(np.uint32).reshape(len(names), width)
    return (codes[:, :-1] * np.uint32(31) + codes[:, 1:]).astype(np.uint16)


def likeness(name: str, other: str) -> float:
    """1 for equal texts, 0 for texts without a common letter; a shared beginning counts most."""
    if not name or not other:
        return 0.0
    name, other = name[:_LONGEST], other[:_LONGEST]
    ratio = difflib.SequenceMatcher(None, name, other).ratio()
    short, long = sorted((name, other), key=len)
    starts = long.startswith(short) and (len(short) > 2 or not long[len(short) :][:1].isalnum())
    return max(ratio, 0.7) if starts else ratio

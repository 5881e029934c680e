"""Folds that follow the content of the rows, not the order of rows or columns.

Equal rows share a fold. So a row of weight two and two equal rows give the same choice, and no
patient is judged by its own copy. Several repeats divide the rows in several ways; `random_state`
says which ways. Rows of one group always share a fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hipad.arrays import IntArray
from hipad.designs.base import Design, FloatArray


def content_folds(
    design: Design, y: FloatArray, p: FloatArray, count: int, wave: float = 40.0
) -> np.ndarray:
    """The fold of each row, stratified: ranks of its key. Equal rows share a fold."""
    key = content_key(design, y, p, wave)
    folds = np.zeros(y.size, dtype=int)
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(y == sign)
        order = rows[np.argsort(key[rows], kind="stable")]
        steps = np.diff(key[order]) > 1e-9 * np.ptp(key)
        folds[order] = np.r_[0, np.cumsum(steps)] % count
    return folds


def content_key(design: Design, y: FloatArray, p: FloatArray, wave: float = 40.0) -> FloatArray:
    """A projection of each row that is the same whatever the order of rows and columns.

    Each column's part in the direction is a restless function of how the column goes with the
    labels: as good as random, and even, so that it does not favour a class. Another `wave` is
    another way to divide the rows.
    """
    pull = design.correlate(p * y)
    key: FloatArray = design.dot(
        np.cos(wave * pull / max(float(np.max(np.abs(pull), initial=0.0)), 1e-300))
    )
    return key


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
    ways = []
    for wave in waves:
        if groups is None:
            folds = content_folds(design, y, p, count, wave)
        else:
            folds = group_folds(content_key(design, y, p, wave), y, p, groups, count)
        ways.append(usable_folds(folds, y))
    return [parts for parts in ways if len(parts) > 1]


def given_folds(parts: Sequence[np.ndarray], y: FloatArray) -> list[list[np.ndarray]]:
    """Held-out rows as the user gives them, in as many repeats as it takes to have each row once.

    Parts without rows, or without which a class is missing, are left out, and so are repeats that
    hold out one class only.

    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> [len(way) for way in given_folds([np.array(p) for p in ([0, 1], [2, 3], [0, 3])], y)]
    [2, 1]
    """
    ways: list[list[np.ndarray]] = []
    seen: list[set[int]] = []
    for part in parts:
        rest = np.delete(y, part)
        if not part.size or len(np.unique(rest)) < len(np.unique(y)):
            continue
        rows = set(part.tolist())
        free = next((k for k, taken in enumerate(seen) if not taken & rows), None)
        if free is None:
            ways.append([])
            seen.append(set())
            free = len(ways) - 1
        ways[free].append(np.unique(part))
        seen[free] |= rows
    ways = [way for way in ways if len(np.unique(y[np.concatenate(way)])) == 2]
    return ways if sum(map(len, ways)) > 1 else []

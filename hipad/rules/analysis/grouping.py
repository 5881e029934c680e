"""Blocks and data: groups of features that rise and fall together, and features in two blocks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

from hipad.arrays import FloatArray, IntArray
from hipad.designs import column_moments


def suggest_blocks(
    X: Any, *, least_correlation: float = 0.6, smallest: int = 3, most_features: int = 1_500
) -> dict[str, IntArray]:
    """Groups of features that rise and fall together, among those that vary most.

    The features of a group have on average a correlation of at least `least_correlation`. Only
    `most_features` columns are compared, so that no matrix of all pairs is built.
    """
    X = X if sparse.issparse(X) else np.asarray(X)
    _, spread = column_moments(X)
    varying = np.sort(np.argsort(-spread, kind="stable")[:most_features])
    varying = varying[spread[varying] > 0]
    if len(varying) < 2:
        return {}
    far = 1.0 - _correlations(X, varying)
    tree = linkage(far[np.triu_indices(len(varying), 1)], "average")
    groups = fcluster(tree, 1.0 - least_correlation, "distance")
    sizes = np.bincount(groups)
    members = [varying[groups == g] for g in np.flatnonzero(sizes >= smallest)]
    members.sort(key=lambda columns: int(columns[0]))
    return {f"B{n}": columns for n, columns in enumerate(members, 1)}


def _correlations(X: Any, columns: IntArray) -> FloatArray:
    part = X[:, columns]
    dense = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    dense = np.nan_to_num(dense - np.nanmean(dense, axis=0))
    dense /= np.maximum(np.abs(dense).max(axis=0), np.finfo(float).tiny)  # squares stay in range
    dense /= np.maximum(np.linalg.norm(dense, axis=0), np.finfo(float).tiny)
    return np.clip(dense.T @ dense, -1.0, 1.0)


def block_overlaps(blocks: Mapping[str, IntArray]) -> list[tuple[str, str, IntArray]]:
    """Pairs of blocks with the columns that they share, largest share first.

    >>> block_overlaps({"a": np.array([0, 1]), "b": np.array([1, 2]), "c": np.array([7])})
    [('a', 'b', array([1]))]
    """
    shared = [
        (a, b, np.intersect1d(blocks[a], blocks[b], assume_unique=True))
        for a, b in itertools.combinations(blocks, 2)
    ]
    return sorted((pair for pair in shared if len(pair[2])), key=lambda pair: -len(pair[2]))

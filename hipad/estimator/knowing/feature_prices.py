"""From what is said of single features to the solver's prices of their weights.

Who says that a gene is raised in a disease means that it matters. With thousands of features a
known sign alone changes nothing: the feature would have to be the strongest of all to enter. So it
also pays a share of lambda1 only. It enters before others that are pulled as hard, and the data may
still leave it out: a statement that is wrong, or of no use, does little harm. A feature that is
certain pays nothing.
"""

from __future__ import annotations

import numpy as np

from hipad.rules.compiling.knowledge import FeatureKnowledge
from hipad.solver import FeaturePrices

KNOWN_SHARE = 0.25  # of lambda1, for a feature whose direction is known (measured)


def feature_prices(
    known: FeatureKnowledge, *, share: float = KNOWN_SHARE, certain: float = 0.0
) -> FeaturePrices:
    """The prices of the features of which something is known.

    In multiples of lambda1, `share` for a known direction and `certain` for certain features.

    >>> prices = feature_prices(FeatureKnowledge(raised=np.array([4]), certain=np.array([2])))
    >>> prices.features.tolist(), prices.up.tolist(), prices.down.tolist()
    ([2, 4], [0.0, 0.25], [0.0, inf])
    """
    directed = np.union1d(known.raised, known.lowered)
    features = np.unique(np.concatenate([directed, known.ignored, known.certain])).astype(int)
    up = np.ones(features.size)
    up[np.searchsorted(features, directed)] = share
    up[np.searchsorted(features, known.certain)] = certain
    down = up.copy()
    up[np.searchsorted(features, np.union1d(known.lowered, known.ignored))] = np.inf
    down[np.searchsorted(features, np.union1d(known.raised, known.ignored))] = np.inf
    return FeaturePrices(features, up, down)


def only(prices: FeaturePrices, among: np.ndarray, count: int) -> FeaturePrices:
    """The same prices for some of `count` features; all others are barred.

    >>> prices = only(FeaturePrices(), np.array([1]), 3)
    >>> prices.barred.tolist()
    [0, 2]
    """
    up, down = np.full((2, count), np.inf)
    own = prices.at(among, 1.0)
    up[among], down[among] = own.up, own.down
    return FeaturePrices(np.arange(count), up, down)


def signs_alone(known: FeatureKnowledge) -> FeaturePrices:
    """Forbidden signs and ignored features; all others pay as if nothing were known."""
    return feature_prices(known, share=1.0, certain=1.0)


def entering_first(known: FeatureKnowledge) -> FeaturePrices:
    """As if certain features paid a share too: a path that begins here lets the known in first."""
    return feature_prices(known, certain=KNOWN_SHARE)

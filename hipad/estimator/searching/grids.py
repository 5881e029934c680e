"""The values that a grid search tries, and the order in which warm starts go through them.

A setting is given as one value or as several. lambda1 may also be a number of values: they are then
spread from just below lambda1_max, where the first feature enters, down to a hundredth of it.

A chain is a run along lambda1 from large to small while everything else stays: each fit begins
where the last one ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from numbers import Integral, Real
from typing import Any, Final

import numpy as np

from hipad.errors import HipadError
from hipad.estimator.empty import noise
from hipad.estimator.parameters import SMALLEST, check_number
from hipad.estimator.training import TrainingData
from hipad.solver import lambda1_max

GRID: Final = ("lambda1", "lambda2", "patients", "stiffness")
FIRST, LAST = 0.9, 0.01  # where a grid of lambda1 begins and ends, as fractions of lambda1_max
CLEARLY = 1e6  # times the noise: where no feature tells the classes apart

Params = dict[str, Any]


def is_several(value: object) -> bool:
    """Whether a setting is given as several values."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def is_count(value: object) -> bool:
    """Whether lambda1 is given as a number of values to try."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def tried_values(name: str, given: Any) -> list[Any]:
    """The values of one setting, each of which a fit would take.

    >>> tried_values("lambda2", 10.0), tried_values("patients", ["auto", 3])
    ([10.0], ['auto', 3])
    """
    values = list(given) if is_several(given) else [given]
    if not values:
        raise HipadError(f"expected values of {name} to try, got none: give at least one")
    for value in values:
        check_number(name, value, *SMALLEST[name])
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def checked_count(count: Any) -> int:
    """A number of values of lambda1, which is at least 1."""
    if count < 1:
        raise HipadError(f"expected at least 1 value of lambda1, got {count}: give more, or values")
    return int(count)


def lambda1_values(count: int, *data: TrainingData) -> list[float]:
    """So many values of lambda1 from large to small, on the scale on which the data speak.

    Of several classes, each has data of its own.
    """
    largest = max(lambda1_max(one.problem((), 0.0, 1.0, "population")) for one in data)
    largest = max(largest, CLEARLY * noise(data[0].design), 1e-300)
    return np.geomspace(FIRST * largest, LAST * largest, count).tolist()


def combinations(values: Mapping[str, list[Any]]) -> list[Params]:
    """Every combination, in the order of scikit-learn's ParameterGrid.

    >>> combinations({"lambda1": [2.0, 1.0], "lambda2": [1.0]})
    [{'lambda1': 2.0, 'lambda2': 1.0}, {'lambda1': 1.0, 'lambda2': 1.0}]
    """
    names = sorted(values)
    return [
        dict(zip(names, chosen, strict=True)) for chosen in product(*(values[n] for n in names))
    ]


def chains(candidates: list[Params]) -> list[list[int]]:
    """Positions of candidates that differ in lambda1 only, from large to small.

    >>> chains([{"lambda1": 1.0, "lambda2": 1.0}, {"lambda1": 2.0, "lambda2": 1.0}])
    [[1, 0]]
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, candidate in enumerate(candidates):
        others = tuple(value for name, value in candidate.items() if name != "lambda1")
        found.setdefault(others, []).append(place)
    return [sorted(chain, key=lambda i: -_size(candidates[i])) for chain in found.values()]


def _size(candidate: Params) -> float:
    value = candidate["lambda1"]
    return float(value) if isinstance(value, Real) else float("inf")

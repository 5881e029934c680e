"""Values to JSON and back: exact where they fit, a sentence where they do not."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from hipad.estimator.serialization import plain, rebuild, text_of


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    name: str
    sizes: tuple[float, ...]


@dataclass(frozen=True)
class Outer:
    inner: Inner | None
    kind: Literal["a", "b"]
    colour: Colour
    counts: dict[str, int]
    on: bool
    anything: Any


@given(
    name=st.text(st.characters(exclude_categories=["Cs"])),
    sizes=st.lists(st.floats()),
    counts=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers()),
)
def test_there_and_back_through_json(name, sizes, counts):
    value = Outer(Inner(name, tuple(sizes)), "b", Colour.RED, counts, True, [1, {"x": None}])
    back = rebuild(Outer, json.loads(json.dumps(plain(value), allow_nan=False)))
    assert [math.isnan(one) for one in back.inner.sizes] == [math.isnan(one) for one in sizes]
    assert plain(back) == plain(value)
    assert (back.kind, back.colour, back.counts, back.on) == ("b", Colour.RED, counts, True)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_arrays_keep_their_type(dtype):
    array = np.array([1, -2, 3], dtype=dtype)
    back = rebuild(npt.NDArray[dtype], plain(array))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (float, "12", "expected a number, got '12'"),
        (float, True, "expected a number"),
        (int, True, "expected a whole number, got True"),
        (bool, 1, "expected true or false"),
        (str, 5, "expected a text"),
        (tuple[float, ...], [1, "x"], "2: expected a number"),
        (Literal["a", "b"], "c", "expected one of a, b, got 'c'"),
        (npt.NDArray[np.int64], [0.5], "expected whole numbers"),
        (npt.NDArray[np.int64], [2**60], "expected whole numbers"),
        (Inner, {"name": "x"}, "expected sizes, got none"),
        (Inner, {"name": "x", "sizes": [], "more": 1}, "expected only name, sizes, got 'more'"),
        (Inner, {"name": 1, "sizes": []}, "name: expected a text"),
        (Colour, "blue", "blue"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(kind, value, message):
    with pytest.raises(ValueError, match="^" + message if message != "blue" else message):
        rebuild(kind, value)


def test_half_a_character_is_no_text():
    with pytest.raises(ValueError, match="whole characters"):
        text_of("\ud800")

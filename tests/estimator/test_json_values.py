from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.estimator.json_values import plain, rebuild


class Colour(StrEnum):
    RED = "red"


class Even:
    def read(self, value):
        if value % 2:
            raise ValueError("expected an even number")
        return value


@dataclass(frozen=True)
class Inner:
    size: float
    kind: Literal["a", "b"]


@dataclass(frozen=True)
class Outer:
    inner: Inner
    many: tuple[Inner, ...]
    table: dict[str, int]
    colour: Colour
    even: Annotated[int, Even()]
    maybe: str | None
    anything: Any = field(default=None)


GOOD = {
    "inner": {"size": 1, "kind": "a"},
    "many": [{"size": "inf", "kind": "b"}],
    "table": {"x": 3},
    "colour": "red",
    "even": 4,
    "maybe": None,
    "anything": [1, {"deep": True}],
}


def test_a_dataclass_comes_back_as_it_was():
    built = rebuild(Outer, GOOD)
    assert built.many == (Inner(float("inf"), "b"),)
    assert built.colour is Colour.RED
    assert rebuild(Outer, json.loads(json.dumps(plain(built), allow_nan=False))) == built


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inner": {"size": True, "kind": "a"}}, "inner: size: expected a number"),
        ({"inner": {"size": 1, "kind": "c"}}, "inner: kind: expected one of a, b"),
        ({"inner": {"size": 1}}, "inner: expected kind, got none"),
        ({"inner": 3}, "inner: expected named values"),
        ({"many": [{"size": 1, "kind": "a"}, 2]}, "many: 2: expected named values"),
        ({"table": {"x": 1.5}}, "table: x: expected a whole number"),
        ({"table": {"x": True}}, "table: x: expected a whole number"),
        ({"colour": "blue"}, "colour: "),
        ({"even": 3}, "even: expected an even number"),
        ({"maybe": "\ud800"}, "maybe: expected a text of whole characters"),
        ({"more": 1}, "expected only inner"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(change, message):
    with pytest.raises(ValueError, match=r"expected|not a valid") as error:
        rebuild(Outer, {**GOOD, **change})
    assert message in str(error.value)


@given(st.lists(st.floats()))
def test_numbers_round_trip_exactly(values):
    array = np.array(values, dtype=float)
    written = json.loads(json.dumps(plain(array), allow_nan=False))
    np.testing.assert_array_equal(rebuild(npt.NDArray[np.float64], written), array)


@given(st.lists(st.integers(-(2**53) + 1, 2**53 - 1)))
def test_whole_numbers_round_trip_exactly(values):
    found = rebuild(npt.NDArray[np.int64], plain(np.array(values, dtype=np.int64)))
    assert found.tolist() == values


@pytest.mark.parametrize("value", [0.5, "inf", "nan", 2**60])
def test_columns_are_whole_numbers(value):
    with pytest.raises(ValueError, match="expected whole numbers"):
        rebuild(npt.NDArray[np.int64], [value])

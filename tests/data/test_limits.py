"""Limits: what may be stated from outside, and tables at and beyond them."""

from dataclasses import fields

import pytest

from hipad.data.limits import Limits
from hipad.exceptions import DataError


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_each_limit_can_be_stated_by_a_variable(name):
    stated = Limits.from_environment({f"HIPAD_LIMIT_{name.upper()}": "8e3"})
    assert getattr(stated, name) == 8_000
    others = [field.name for field in fields(Limits) if field.name != name]
    assert all(getattr(stated, other) == getattr(Limits(), other) for other in others)


def test_other_variables_do_not_matter():
    assert Limits.from_environment({"HIPAD_LIMIT_": "1", "ROWS": "2", "PATH": "x"}) == Limits()


@pytest.mark.parametrize("text", ["", "many", "0", "-5", "nan", "inf", "0.5"])
def test_what_is_no_number_above_zero_is_refused(text):
    with pytest.raises(DataError, match="number above zero in HIPAD_LIMIT_ROWS, got"):
        Limits.from_environment({"HIPAD_LIMIT_ROWS": text})


SMALL = Limits(rows=10, columns=20, cells=100)


@pytest.mark.parametrize("shape", [(10, 10), (5, 20), (0, 0), (10, 0)])
def test_a_table_at_its_limits_is_taken(shape):
    SMALL.check_shape(*shape)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((11, 1), "at most 10 rows, got 11"),
        ((1, 21), "at most 20 columns, got 21"),
        ((10, 11), r"at most 100 cells, got 110 \(10 rows x 11 columns\)"),
    ],
)
def test_a_table_beyond_them_is_refused(shape, message):
    with pytest.raises(DataError, match=message):
        SMALL.check_shape(*shape)


def test_of_a_sparse_table_the_stored_cells_count():
    SMALL.check_shape(10, 20, cells=100)
    with pytest.raises(DataError, match="got 101"):
        SMALL.check_shape(10, 20, cells=101)

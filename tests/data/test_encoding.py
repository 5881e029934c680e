"""Recipes: the same columns from every table, and gaps that never speak."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data.preprocessing import ColumnRecipe, fill_gaps, has_gap, join, numeric_part, one_hot
from hipad.data.table import Table
from hipad.exceptions import DataError

NAN = np.nan
ALL = np.arange(4)


def table(numbers=None, names=("a", "b"), **text):
    values = np.array([[1, NAN], [2, 5], [np.inf, 6], [4, 7]]) if numbers is None else numbers
    columns = {name: np.array(cells) for name, cells in text.items()}
    return Table(values, tuple(names), columns, "made here")


@given(
    cells=st.lists(st.sampled_from(["", "x", "y", "z", "new", "\u00e9"]), min_size=1, max_size=8)
)
def test_levels_are_found_cell_by_cell(cells):
    known = ("x", "y", "\u00e9")
    made = table(np.zeros((len(cells), 0)), (), kind=cells)
    found = one_hot(made, np.arange(len(cells)), {"kind": known}).toarray()
    assert found.tolist() == [[float(cell == level) for level in known] for cell in cells]


def test_levels_of_several_columns_stand_side_by_side_for_the_rows_asked():
    made = table(one=["p", "q", "p", ""], two=["u", "v", "w", "u"])
    found = one_hot(made, np.array([3, 1]), {"one": ("p", "q"), "two": ("u", "v")})
    assert found.toarray().tolist() == [[0, 0, 1, 0], [0, 1, 0, 1]]
    assert one_hot(made, ALL, {}).shape == (4, 0)


def test_a_level_may_be_a_number():
    made = table(np.array([[1.0], [2.0], [1.5]]), ("a",))
    assert one_hot(made, np.arange(3), {"a": ("1", "1.5")}).toarray().tolist() == [
        [1, 0],
        [0, 0],
        [0, 1],
    ]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_columns_are_taken_by_name_in_any_order(make):
    values = np.arange(12.0).reshape(4, 3)
    made = table(make(values), ("a", "b", "c"))
    rows = np.array([2, 0])
    found = numeric_part(made, rows, ("c", "a"))
    np.testing.assert_array_equal(
        found.toarray() if sp.issparse(found) else found, values[rows][:, [2, 0]]
    )


def test_a_sparse_table_may_lack_columns_and_a_dense_one_may_not():
    values = np.arange(1.0, 9.0).reshape(4, 2)
    found = numeric_part(table(sp.csr_array(values)), ALL, ("b", "new", "a"))
    np.testing.assert_array_equal(
        found.toarray(), np.column_stack([values[:, 1], 0 * ALL, values[:, 0]])
    )
    with pytest.raises(DataError, match="1 of them are not there"):
        numeric_part(table(), ALL, ("b", "new"))
    with pytest.raises(DataError, match=r"expected numbers in 'new'.*got text"):
        numeric_part(table(new=["x"] * 4), ALL, ("b", "new"))


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_each_gap_gets_the_value_of_its_column(make):
    numbers = make([[1.0, NAN], [NAN, 5.0], [-np.inf, NAN]])
    fill_gaps(numbers, np.array([10.0, 20.0]))
    full = numbers.toarray() if sp.issparse(numbers) else numbers
    assert full.tolist() == [[1, 20], [10, 5], [10, 20]]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_with_a_gap_are_found_in_numbers_and_in_text(make):
    values = np.array([[1, NAN], [0, 5], [np.inf, 6], [4, 7]])
    made = table(make(values), kind=["x", "", "y", "z"])
    assert has_gap(made, ALL, ("a", "b"), {}).tolist() == [True, False, True, False]
    assert has_gap(made, ALL, ("a",), {"kind": ()}).tolist() == [False, True, True, False]
    assert has_gap(made, np.array([3, 1]), ("a", "b"), {"kind": ()}).tolist() == [False, True]


def test_a_recipe_leaves_out_rows_or_fills_them():
    made = table(kind=["x", "", "y", "x"])
    names = ("a", "b", "kind=x", "kind=y")
    leaving = ColumnRecipe(("a", "b"), {"kind": ("x", "y")})
    X, rows = leaving.matrix(made, ALL)
    assert leaving.feature_names == names
    assert rows.tolist() == [3]
    assert X.tolist() == [[4, 7, 1, 0]]
    filling = ColumnRecipe(("a", "b"), {"kind": ("x", "y")}, fill=np.array([0.5, 9.0]))
    X, rows = filling.matrix(made, ALL)
    assert rows.tolist() == [0, 1, 2, 3]
    assert X.tolist() == [[1, 9, 1, 0], [2, 5, 0, 0], [0.5, 6, 0, 1], [4, 7, 1, 0]]
    assert np.isnan(made.numbers[0, 1])  # the table itself is not changed


def test_columns_kept_twice_are_counted_from_the_first_choice():
    recipe = ColumnRecipe(("a", "b"), {"kind": ("x", "y")}, fill=np.zeros(2))
    once = recipe.keep(np.array([0, 2, 3]))
    twice = once.keep(np.array([2, 0]))
    assert once.feature_names == ("a", "kind=x", "kind=y")
    assert twice.feature_names == ("kind=y", "a")
    X, _ = twice.matrix(table(kind=["x", "y", "y", ""]), ALL)
    assert X.tolist() == [[0, 1], [1, 2], [1, 0], [0, 4]]


def test_many_levels_make_the_matrix_sparse_and_few_do_not():
    few, many = sp.csr_array(np.eye(2)), sp.csr_array((2, 1_001))
    numbers = np.ones((2, 3), dtype=np.float32)
    assert join(numbers, few).tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 0, 1]]
    assert join(numbers, few).dtype == np.float32
    assert sp.issparse(join(numbers, many))
    assert join(numbers, many).shape == (2, 1_004)
    assert join(numbers, sp.csr_array((2, 0))) is numbers


def test_a_text_column_that_is_not_there_is_told():
    with pytest.raises(DataError, match="expected the columns of the training table"):
        one_hot(table(), ALL, {"kind": ("x",)})


def test_one_hot_known_level_that_reads_as_a_gap():
    written = np.array(["x", "-", "y", "NA"])
    made = replace(table(kind=["x", "", "y", ""]), written={"kind": written})
    levels = {"kind": ("-", "x", "y")}
    found = one_hot(made, ALL, levels).toarray().tolist()
    assert found == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert has_gap(made, ALL, (), levels).tolist() == [False, False, False, True]

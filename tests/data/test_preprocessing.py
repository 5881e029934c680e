from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Table, prepare, read_table
from hipad.data.preprocessing import (
    UNLABELLED,
    ColumnRecipe,
    Options,
    PreparationStep,
    fill_gaps,
    has_gap,
    join,
    numeric_part,
    one_hot,
)
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# Preparing.


def table(text: str) -> Table:
    return read_table(text.replace(" ", "").encode())


MIXED = table(
    """age,sex,dose,site,same,copy,y
    50,f,1.0,A,3,50,ill
    60,m,NA,B,3,60,well
    ,f,3.0,,3,,ill
    70,m,inf,A,3,70,well
    80,f,5.0,B,3,80,ill
    90,f,7.0,B,3,90,"""
)


def steps(prepared) -> dict[str, int]:
    return {step.what: step.count for step in prepared.steps}


def column(prepared, name):
    return prepared.X[:, prepared.feature_names.index(name)]


def test_every_step_is_told_with_its_count():
    prepared = prepare(MIXED, label="y")
    assert steps(prepared) == {
        UNLABELLED: 1,
        "text columns encoded, one column per level": 2,
        "gaps in text columns, encoded as no level": 1,
        "infinite values taken as missing": 1,
        "missing values filled (median)": 4,
        "constant columns dropped": 1,
        "columns that repeat another kept": 1,
    }
    assert prepared.feature_names == (
        "age", "dose", "copy", "sex=f", "sex=m", "site=A", "site=B"
    )  # fmt: skip
    assert prepared.y.tolist() == ["ill", "well", "ill", "well", "ill"]
    assert prepared.classes == ("well", "ill")
    assert prepared.class_counts == {"ill": 3, "well": 2}
    assert np.isfinite(prepared.X).all()


def test_rows_without_a_label_are_kept_beside_the_others():
    prepared = prepare(MIXED, label="y")
    assert prepared.unlabelled_rows.tolist() == [5]
    names = prepared.feature_names
    assert prepared.unlabelled[0, names.index("age")] == 90
    assert prepared.unlabelled.shape == (1, len(names))
    dropped = prepare(MIXED, label="y", use_unlabelled=False)
    assert dropped.unlabelled is None
    assert steps(dropped)["rows without a label dropped"] == 1
    np.testing.assert_array_equal(dropped.X, prepared.X)


def test_medians_are_of_the_values_that_are_there():
    prepared = prepare(MIXED, label="y")
    np.testing.assert_array_equal(column(prepared, "age"), [50, 60, 65, 70, 80])
    np.testing.assert_array_equal(column(prepared, "dose"), [1, 3, 3, 3, 5])


def test_means_and_zeros_can_be_had_instead():
    assert column(prepare(MIXED, label="y", missing="mean"), "dose")[1] == 3.0
    assert column(prepare(MIXED, label="y", missing="zero"), "age")[2] == 0.0


def test_rows_with_gaps_can_be_dropped_instead():
    prepared = prepare(MIXED, label="sex", missing="drop rows", exclude=["y", "dose"])
    np.testing.assert_array_equal(prepared.rows, [0, 1, 3, 4, 5])
    np.testing.assert_array_equal(column(prepared, "age"), [50, 60, 70, 80, 90])
    assert steps(prepared)["rows with gaps dropped"] == 1


def test_each_step_can_be_undone():
    kept = prepare(MIXED, label="y", drop_constant=False)
    assert "same" in kept.feature_names
    assert steps(kept)["constant columns kept"] == 1
    bare = prepare(MIXED, label="y", one_hot=False)
    assert bare.feature_names == ("age", "dose", "copy")
    assert steps(bare)["text columns left out (not numbers)"] == 2
    single = prepare(MIXED, label="y", drop_duplicates=True)
    assert "copy" not in single.feature_names
    assert "age" not in prepare(MIXED, label="y", exclude=["age"]).feature_names


def test_levels_become_columns_of_zeros_and_ones():
    prepared = prepare(MIXED, label="y")
    np.testing.assert_array_equal(column(prepared, "sex=f"), [1, 0, 1, 0, 1])
    np.testing.assert_array_equal(column(prepared, "site=A"), [1, 0, 0, 1, 0])
    np.testing.assert_array_equal(column(prepared, "site=B"), [0, 1, 0, 0, 1])


def test_names_of_patients_are_left_out():
    rows = "\n".join(f"p{i},{i},{'ab'[i % 2]}" for i in range(30))
    prepared = prepare(table("id,x,y\n" + rows), label="y")
    assert prepared.feature_names == ("x",)
    assert steps(prepared) == {"columns of role ID, no features": 1}


def test_many_text_columns_become_a_sparse_matrix():
    rng = np.random.default_rng(0)
    letters = np.array(["AA", "AG", "GG"])[rng.integers(0, 3, (40, 500))]
    genotypes = Table(np.empty((40, 0)), (), {f"snp{j}": letters[:, j] for j in range(500)}, "")
    labelled = Table(
        genotypes.numbers, (), {**genotypes.text, "y": np.array(["a", "b"] * 20)}, "test"
    )
    prepared = prepare(labelled, label="y")
    assert sp.issparse(prepared.X)
    assert prepared.X.shape == (40, 1_500)
    np.testing.assert_array_equal(prepared.X.sum(axis=1), 500)


@pytest.mark.parametrize(
    ("labels", "positive", "classes"),
    [
        ("0 1", None, ("0", "1")),
        ("10 9", None, ("9", "10")),
        ("-1 1", None, ("-1", "1")),
        ("1 2.5", None, ("1", "2.5")),
        ("no yes", None, ("no", "yes")),
        ("Positive zero", None, ("zero", "Positive")),
        ("BCR/ABL NEG", "BCR/ABL", ("NEG", "BCR/ABL")),
    ],
)
def test_the_positive_class_is_the_usual_one_unless_chosen(labels, positive, classes):
    a, b = labels.split()
    read = table(f"x,y\n1,{a}\n2,{b}\n3,{a}\n4,{b}\n")
    assert prepare(read, label="y", positive=positive).classes == classes


def test_more_than_two_classes_need_a_choice_and_then_become_two():
    read = table("x,y\n" + "\n".join(f"{i},c{i % 40}" for i in range(80)))
    with pytest.raises(DataError, match=r"got 40 .*choose the positive class"):
        prepare(read, label="y")
    prepared = prepare(read, label="y", positive="c7")
    assert prepared.classes == ("not c7", "c7")
    assert prepared.class_counts == {"not c7": 78, "c7": 2}
    assert steps(prepared)["labels taken as 'not c7'"] == 39


@pytest.mark.parametrize(
    ("text", "options", "fault"),
    [
        ("x,y\n1,a\n2,a\n", {"label": "y"}, r"expected two classes in 'y', got one \('a'\)"),
        ("x,y\n1,a\n2,b\n", {"label": "z"}, "expected the label to be a column, got 'z'"),
        ("x,y\n1,a\n2,b\n", {"label": "y", "positive": "c"}, "there are 'a' and 'b'"),
        ("x,y\n1,a\n1,b\n", {"label": "y"}, "constant columns only"),
        ("x,y\n1,a\n2,b\n", {"label": "y", "exclude": ["x"]}, "expected a column of numbers"),
        ("x,y\n1,a\n2,b\n", {"label": "y", "exclude": ["q"]}, "to exclude, got 'q'"),
        ("x,y\n1,a\n2,b\n", {"label": "y", "missing": "guess"}, "expected missing"),
        ("x,z,y\n1,1,a\n,2,b\n", {"label": "y", "missing": "drop rows"}, "fill the gaps"),
    ],
)
def test_what_cannot_be_prepared_is_said_in_one_sentence(text, options, fault):
    with pytest.raises(DataError, match=fault):
        prepare(table(text), **options)


def test_a_sparse_table_stays_sparse():
    X = sp.random_array((30, 200), density=0.1, format="csr", rng=0)
    X.data[3] = np.nan
    y = np.array(["a", "b"] * 15)
    names = tuple(f"x{j}" for j in range(200))
    prepared = prepare(Table(X, names, {"y": y}, "test"), label="y")
    assert sp.issparse(prepared.X)
    assert np.isfinite(prepared.X.data).all()
    assert steps(prepared)["missing values filled (median)"] == 1
    assert np.isnan(X.data[3])


def test_the_table_is_left_as_it_was():
    before = MIXED.numbers.copy()
    prepare(MIXED, label="y")
    np.testing.assert_array_equal(MIXED.numbers, before)


def test_single_precision_is_kept():
    X = np.random.default_rng(0).standard_normal((10, 5)).astype(np.float32)
    read = Table(
        X, tuple("abcde"), {"s": np.array(["u", "v"] * 5), "y": np.array(["0", "1"] * 5)}, ""
    )
    assert prepare(read, label="y").X.dtype == np.float32


@given(st.data())
def test_filling_gaps_changes_gaps_only(data):
    cells = st.one_of(st.none(), st.floats(-1e6, 1e6))
    values = data.draw(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=4, max_size=12))
    X = np.array([[np.nan if v is None else v for v in row] for row in values])
    y = np.array(["a", "b"] * 6)[: len(X)]
    for missing in ("median", "mean", "zero"):
        filled = prepare(
            Table(X, ("u", "v", "w"), {"y": y}, ""),
            label="y",
            missing=missing,
            drop_constant=False,
        ).X
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])


def test_columns_that_describe_patients_are_no_features():
    text = {"y": np.array(["a", "b"] * 3), "site": np.array(["p", "q", "p"] * 2)}
    table = Table(np.arange(12.0).reshape(6, 2), ("u", "v"), text, "made", about=("y", "site"))
    prepared = prepare(table, label="y")
    assert prepared.feature_names == ("u", "v")
    assert any("describe patients" in step.what and step.names == ("site",)
               for step in prepared.steps)  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The account of a preparation as a reader sees it, and options that leave the data alone.


def test_a_step_tells_what_how_many_and_which():
    step = PreparationStep("constant columns left out", 1_234, ("a", "b"), "drop_constant")
    assert str(step) == "constant columns left out: 1,234 ('a' and 'b')"
    assert str(PreparationStep("rows left out", 2, (), "missing")) == "rows left out: 2"


def test_a_long_list_of_names_is_cut():
    names = tuple(f"column {j}" for j in range(5_000))
    assert len(str(PreparationStep("left out", 5_000, names, "exclude"))) < 200


def test_nothing_is_lost_unless_asked():
    options = Options("outcome")
    assert (options.missing, options.exclude, options.positive) == ("median", (), None)
    assert not options.drop_duplicates


def test_options_cannot_change_under_a_recipe():
    with pytest.raises(FrozenInstanceError):
        Options("outcome").label = "other"


# --------------------------------------------------------------------------------------------------
# Recipes: the same columns from every table, and gaps that never speak.


NAN = np.nan
ALL = np.arange(4)


def table_encoding(numbers=None, names=("a", "b"), **text):
    values = np.array([[1, NAN], [2, 5], [np.inf, 6], [4, 7]]) if numbers is None else numbers
    columns = {name: np.array(cells) for name, cells in text.items()}
    return Table(values, tuple(names), columns, "made here")


@given(
    cells=st.lists(st.sampled_from(["", "x", "y", "z", "new", "\u00e9"]), min_size=1, max_size=8)
)
def test_levels_are_found_cell_by_cell(cells):
    known = ("x", "y", "\u00e9")
    made = table_encoding(np.zeros((len(cells), 0)), (), kind=cells)
    found = one_hot(made, np.arange(len(cells)), {"kind": known}).toarray()
    assert found.tolist() == [[float(cell == level) for level in known] for cell in cells]


def test_levels_of_several_columns_stand_side_by_side_for_the_rows_asked():
    made = table_encoding(one=["p", "q", "p", ""], two=["u", "v", "w", "u"])
    found = one_hot(made, np.array([3, 1]), {"one": ("p", "q"), "two": ("u", "v")})
    assert found.toarray().tolist() == [[0, 0, 1, 0], [0, 1, 0, 1]]
    assert one_hot(made, ALL, {}).shape == (4, 0)


def test_a_level_may_be_a_number():
    made = table_encoding(np.array([[1.0], [2.0], [1.5]]), ("a",))
    assert one_hot(made, np.arange(3), {"a": ("1", "1.5")}).toarray().tolist() == [
        [1, 0],
        [0, 0],
        [0, 1],
    ]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_columns_are_taken_by_name_in_any_order(make):
    values = np.arange(12.0).reshape(4, 3)
    made = table_encoding(make(values), ("a", "b", "c"))
    rows = np.array([2, 0])
    found = numeric_part(made, rows, ("c", "a"))
    np.testing.assert_array_equal(
        found.toarray() if sp.issparse(found) else found, values[rows][:, [2, 0]]
    )


def test_a_sparse_table_may_lack_columns_and_a_dense_one_may_not():
    values = np.arange(1.0, 9.0).reshape(4, 2)
    found = numeric_part(table_encoding(sp.csr_array(values)), ALL, ("b", "new", "a"))
    np.testing.assert_array_equal(
        found.toarray(), np.column_stack([values[:, 1], 0 * ALL, values[:, 0]])
    )
    with pytest.raises(DataError, match="1 of them are not there"):
        numeric_part(table_encoding(), ALL, ("b", "new"))
    with pytest.raises(DataError, match=r"expected numbers in 'new'.*got text"):
        numeric_part(table_encoding(new=["x"] * 4), ALL, ("b", "new"))


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_each_gap_gets_the_value_of_its_column(make):
    numbers = make([[1.0, NAN], [NAN, 5.0], [-np.inf, NAN]])
    fill_gaps(numbers, np.array([10.0, 20.0]))
    full = numbers.toarray() if sp.issparse(numbers) else numbers
    assert full.tolist() == [[1, 20], [10, 5], [10, 20]]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_with_a_gap_are_found_in_numbers_and_in_text(make):
    values = np.array([[1, NAN], [0, 5], [np.inf, 6], [4, 7]])
    made = table_encoding(make(values), kind=["x", "", "y", "z"])
    assert has_gap(made, ALL, ("a", "b"), {}).tolist() == [True, False, True, False]
    assert has_gap(made, ALL, ("a",), {"kind": ()}).tolist() == [False, True, True, False]
    assert has_gap(made, np.array([3, 1]), ("a", "b"), {"kind": ()}).tolist() == [False, True]


def test_a_recipe_leaves_out_rows_or_fills_them():
    made = table_encoding(kind=["x", "", "y", "x"])
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
    X, _ = twice.matrix(table_encoding(kind=["x", "y", "y", ""]), ALL)
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
        one_hot(table_encoding(), ALL, {"kind": ("x",)})


def test_one_hot_known_level_that_reads_as_a_gap():
    written = np.array(["x", "-", "y", "NA"])
    made = replace(table_encoding(kind=["x", "", "y", ""]), written={"kind": written})
    levels = {"kind": ("-", "x", "y")}
    found = one_hot(made, ALL, levels).toarray().tolist()
    assert found == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert has_gap(made, ALL, (), levels).tolist() == [False, False, False, True]

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import Table, prepare, read_table
from hipad.data.preprocessing import UNLABELLED
from hipad.exceptions import DataError


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

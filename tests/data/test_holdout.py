from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import (
    Options,
    Table,
    learning_rows,
    match_test,
    match_unlabelled,
    prepare,
    read_table,
    split,
)
from hipad.data.preprocessing import ColumnRecipe
from hipad.exceptions import DataError

BY_Y = Options(label="y")


def patients(n: int = 40, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    sex = rng.choice(["f", "m"], n)
    y = np.array(["ill"] * (n // 4) + ["well"] * (n - n // 4))
    return Table(X, ("a", "b", "c"), {"sex": sex, "y": y}, "test")


def test_a_split_is_stratified_complete_and_repeatable():
    prepared = prepare(patients(), label="y")
    first, same, other = (split(patients(), BY_Y, 0.3, seed=s) for s in (1, 1, 2))
    assert sorted([*first.train.rows, *first.test.rows]) == list(range(40))
    assert (first.test.y == "ill").sum() == 3
    assert (first.test.y == "well").sum() == 9
    np.testing.assert_array_equal(first.test.rows, same.test.rows)
    assert set(first.test.rows) != set(other.test.rows)
    np.testing.assert_array_equal(prepared.y[first.test.rows], first.test.y)


def test_nothing_is_learned_from_test_rows():
    table = patients()
    one = split(table, BY_Y, 0.5, seed=3)
    changed = table.numbers.copy()
    changed[one.test.rows] *= 1e6
    two = split(replace(table, numbers=changed), BY_Y, 0.5, seed=3)
    np.testing.assert_array_equal(one.train.X, two.train.X)


def test_gaps_of_test_rows_are_filled_from_training_rows():
    train = Table(np.array([[1.0], [2.0], [9.0]]), ("a",), {"y": np.array(["0", "1", "1"])}, "")
    test = Table(np.array([[np.nan], [5.0]]), ("a",), {"y": np.array(["0", "1"])}, "")
    np.testing.assert_array_equal(match_test(prepare(train, label="y"), test).X, [[2.0], [5.0]])


def test_columns_are_matched_by_name_and_further_ones_ignored():
    train = prepare(read_table(b"a,b,s,y\n1,2,u,0\n3,4,v,1\n5,7,u,1\n"), label="y")
    test = match_test(train, read_table(b"extra,y,b,s,a\n9,1,4,w,3\n9,0,2,u,1\n"))
    assert train.feature_names == ("a", "b", "s=u", "s=v")
    np.testing.assert_array_equal(test.X, [[3, 4, 0, 0], [1, 2, 1, 0]])
    assert test.y.tolist() == ["1", "0"]


def test_a_table_without_labels_is_for_prediction():
    train = prepare(read_table(b"a,y\n1,0\n3,1\n5,1\n"), label="y")
    assert match_test(train, read_table(b"a,b\n2,1\n4,1\n")).y is None


def test_merged_labels_are_merged_in_test_rows_too():
    train = prepare(read_table(b"a,y\n1,p\n3,q\n5,r\n"), label="y", positive="q")
    test = match_test(train, read_table(b"a,y\n2,q\n4,r\n6,\n"))
    assert test.y.tolist() == ["q", "not q"]
    assert test.X.shape == (2, 1)
    assert test.steps[0].count == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"a,c,y\n1,2,0\n", r"1 of them are not there \('b'\)"),
        (b"a,b,y\nu,2,0\nv,3,1\n", "expected numbers in 'a'"),
        (b"a,b,y\n1,2,7\n", "got 1 other as well: '7'"),
    ],
)
def test_other_columns_or_labels_are_refused(text, fault):
    train = prepare(read_table(b"a,b,y\n1,2,0\n3,5,1\n5,6,1\n"), label="y")
    with pytest.raises(DataError, match=fault):
        match_test(train, read_table(text))


def test_a_sparse_test_table_may_be_narrower():
    train = Table(
        sp.csr_array(np.eye(4)), ("x1", "x2", "x3", "x4"), {"label": np.array(list("0101"))}, ""
    )
    test = Table(sp.csr_array([[2.0, 3.0]]), ("x2", "x9"), {"label": np.array(["1"])}, "")
    matched = match_test(prepare(train, label="label"), test)
    np.testing.assert_array_equal(matched.X.toarray(), [[0, 2, 0, 0]])


@pytest.mark.parametrize("fraction", [0.0, 1.0, -1.0, np.nan])
def test_impossible_fractions_are_refused(fraction):
    with pytest.raises(DataError, match="test fraction"):
        split(patients(), BY_Y, fraction)


def test_a_class_of_one_row_cannot_be_split():
    with pytest.raises(DataError, match="two rows or more of class 'p'"):
        split(read_table(b"a,y\n1,p\n3,q\n5,q\n"), BY_Y)


@given(st.floats(0.01, 0.99), st.integers(0, 20), st.integers(8, 40))
def test_both_parts_have_both_classes(fraction, seed, n):
    both = split(patients(n), BY_Y, fraction, seed)
    assert set(both.train.y) == set(both.test.y) == {"ill", "well"}


def test_dropping_rows_with_gaps_drops_them_in_the_test_rows_too():
    prepared = prepare(patients(), label="y", missing="drop rows")
    test = match_test(prepared, patients(seed=1))
    assert np.isfinite(test.X).all()
    assert len(test.X) == len(test.y) == len(test.rows) < 40
    assert "dropped" in test.steps[0].what


@pytest.mark.parametrize("missing", ["median", "drop rows"])
def test_a_split_holds_the_rows_that_preparing_the_whole_would_use(missing):
    table = patients()
    table.text["y"][:3] = ""
    whole = prepare(table, label="y", missing=missing)
    parts = split(table, Options(label="y", missing=missing), 0.3, seed=4)
    rows = np.concatenate([parts.train.rows, parts.test.rows])
    np.testing.assert_array_equal(np.sort(rows), whole.rows)
    of_row = dict(zip(whole.rows.tolist(), whole.y.tolist(), strict=True))
    assert [of_row[row] for row in parts.test.rows.tolist()] == parts.test.y.tolist()


def test_a_split_prepares_one_matrix_only(monkeypatch):
    calls = []
    original = ColumnRecipe.measured

    def counted(self, table, rows):
        calls.append(len(rows))
        return original(self, table, rows)

    monkeypatch.setattr(ColumnRecipe, "measured", counted)
    split(patients(), BY_Y, 0.25)
    assert calls == [30, 10]


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c", "d"]])
def test_split_does_not_depend_on_the_positive_class(labels):
    rng = np.random.default_rng(0)
    y = np.append(rng.choice(labels, 60), ["once", "too"][: len(labels) - 2])
    table = Table(rng.standard_normal((len(y), 2)), ("u", "v"), {"y": y}, "test")
    drawn = {
        tuple(split(table, Options(label="y", positive=each), 0.3).test.rows) for each in labels
    }
    assert len(drawn) == 1


def test_split_decides_the_positive_class_by_all_rows():
    y = np.array(["a"] * 5 + ["b"] * 4)  # 2 of each are held back at 0.45: 3 and 2 are left
    table = Table(np.arange(9.0)[:, None], ("u",), {"y": y}, "test")
    assert split(table, BY_Y, 0.45).train.classes == ("a", "b") == prepare(table, label="y").classes
    assert split(table, BY_Y, 0.45, outcome="a").train.classes == ("b", "a")


def test_match_test_takes_levels_and_classes_that_read_as_gaps():
    rows = "".join(f"{i},{('none', 'much')[i % 2]},{('NA', 'ill')[i % 2]}\n" for i in range(20))
    ready = prepare(read_table(f"a,alcohol,y\n{rows}".encode()), label="y")
    assert ready.feature_names == ("a", "alcohol=much", "alcohol=none")
    test = match_test(ready, read_table(b"a,alcohol,y\n1,none,NA\n2,none,NA\n"))
    assert test.X.tolist() == [[1, 0, 1], [2, 0, 1]]
    assert test.y.tolist() == ["NA", "NA"]


def test_a_split_keeps_rows_without_a_label_for_training_only():
    table = patients()
    table.text["y"][[0, 39]] = ""
    found = split(table, BY_Y, 0.3, seed=1)
    assert found.train.unlabelled_rows.tolist() == [0, 39]
    assert sorted([*found.train.rows, *found.test.rows]) == list(range(1, 39))
    again = split(table, replace(BY_Y, use_unlabelled=False), 0.3, seed=1)
    assert again.train.unlabelled is None
    np.testing.assert_array_equal(again.test.rows, found.test.rows)


def test_match_unlabelled_reads_no_label():
    train, more = prepare(patients(), label="y"), patients(10, seed=1)
    found = match_unlabelled(train, more)
    assert found.y is None
    assert found.X.shape == (10, train.X.shape[1])
    assert "labels of the unlabelled rows, not read: 10 ('y')" in map(str, found.steps)
    X, y = learning_rows(train.X, train.y, None, found.X)
    assert X.shape[0] == len(y) == 50
    assert y[40:].tolist() == [None] * 10
    assert learning_rows(train.X, train.y, None)[0] is train.X


def test_learning_rows_may_be_sparse():
    X, y = learning_rows(sp.csr_array(np.eye(2)), np.array(["a", "b"]), np.ones((1, 2)))
    assert X.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert y.tolist() == ["a", "b", None]


@pytest.mark.parametrize("mixed", [False, True])
def test_a_split_holds_back_whole_patients_of_both_classes(mixed):
    rows = []
    for i in range(100):
        ill = (i // 5) % 2 if not mixed else i % 2
        rows.append(f"S{i // 5:02d},{i},{'' if i % 20 == 0 else 'ill' if ill else 'well'}")
    table = read_table("\n".join(["subject,x,state", *rows]).encode(), "t.csv")
    parts = split(table, Options("state"), 0.25, seed=2)
    train, test = parts.train, parts.test
    assert train.group == "subject"
    assert not set(train.groups) & set(test.groups)  # unlabelled rows of test patients included
    assert np.unique(test.groups).size == (4 if not mixed else 5)
    assert train.n_patients + np.unique(test.groups).size == 20
    assert set(test.y) == set(train.y) == {"ill", "well"}
    assert match_test(train, table).groups.size == 95


def test_one_patient_of_a_class_cannot_be_split():
    rows = [f"S{i // 10:02d},{i},{'yes' if i < 40 else 'no'}" for i in range(50)]
    table = read_table("\n".join(["subject,x,y", *rows]).encode(), "t.csv")
    with pytest.raises(DataError, match="two groups of 'subject' or more of class 'no'"):
        split(table, Options("y"))

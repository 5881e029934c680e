"""A table handed over in a folder: the same after it, or refused where a file was changed."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.data.limits import LIMITS, Limits
from hipad.data.sandbox import FACTS, load_table, save_table
from hipad.data.table import Table
from hipad.exceptions import DataError

NUMBERS = np.array([[1.5, 0.0, np.nan], [0.0, -np.inf, 1e-300]])
TEXT = {"kind": np.array(["x", ""]), "wörter": np.array(["é\n", "ab" * 50])}


def table(numbers=NUMBERS, text=TEXT):
    names = tuple(f"n{j}" for j in range(numbers.shape[1]))
    ids, symbols = ("p1", "p2"), tuple("ABC"[: len(names)])
    if numbers.shape[0] != 2:
        ids = ()
    return Table(numbers, names, text, "made here", ("a remark",), "kind", "ab12", ids, symbols)


@pytest.mark.parametrize(
    "numbers",
    [NUMBERS, NUMBERS.astype(np.float32), sp.csr_array(NUMBERS), NUMBERS[:, :0], NUMBERS[:, ::-1]],
    ids=["double", "single", "sparse", "none", "turned"],
)
@pytest.mark.parametrize("text", [TEXT, {}], ids=["with text", "without"])
def test_what_comes_is_what_was_given(tmp_path, numbers, text):
    given_table = table(numbers, text)
    save_table(given_table, tmp_path)
    came = load_table(tmp_path, LIMITS)
    dense, wanted = (t.toarray() if sp.issparse(t) else t for t in (came.numbers, numbers))
    np.testing.assert_array_equal(dense, wanted)
    assert came.numbers.dtype == numbers.dtype
    assert came.is_sparse is given_table.is_sparse
    assert {name: column.tolist() for name, column in came.text.items()} == {
        name: column.tolist() for name, column in text.items()
    }
    for name in ("number_names", "format", "remarks", "label", "sha256", "ids", "symbols"):
        assert getattr(came, name) == getattr(given_table, name)


def test_a_table_of_an_older_version_comes_back(tmp_path):
    save_table(table(), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    old = {name: fact for name, fact in facts.items() if name not in ("ids", "symbols", "about")}
    (tmp_path / FACTS).write_text(json.dumps(old))
    assert load_table(tmp_path, LIMITS).ids == ()


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8).map(lambda text: text.rstrip("\0")), min_size=1, max_size=6))
def test_any_text_comes_back(tmp_path_factory, cells):
    folder = tmp_path_factory.mktemp("handed")
    save_table(table(np.zeros((len(cells), 1)), {"t": np.array(cells, dtype=str)}), folder)
    assert load_table(folder, LIMITS).text["t"].tolist() == cells


FACT_CHANGES = {
    "more rows": {"shape": [3, 3]},
    "rows below zero": {"shape": [-2, 3]},
    "no shape": {"shape": None},
    "another width": {"shape": [3, 2]},
    "too few names": {"number_names": ["a", "b"]},
    "IDs of other rows": {"ids": ["a", "b", "c"]},
    "symbols of other columns": {"symbols": ["a"]},
    "no such column": {"about": ["nowhere"]},
    "names twice": {"number_names": ["a", "a", "b"]},
    "a name of both kinds": {"number_names": ["a", "kind", "b"]},
    "names that are no texts": {"number_names": [1, 2, 3]},
    "text columns too few": {"text_names": ["kind"]},
    "a file elsewhere": {"arrays": {"../facts.json": ["<f8", 1]}},
    "objects": {"arrays": {"numbers": ["|O", 6], "lengths": ["<i4", 4]}},
    "no lengths": {"arrays": {"numbers": ["<f8", 6]}},
    "numbers that are whole": {"arrays": {"numbers": ["<i8", 6], "lengths": ["<i4", 4]}},
    "a format that is a thing": {"format": {"a": 1}},
}


@pytest.mark.parametrize("change", FACT_CHANGES)
def test_facts_that_do_not_fit_are_refused(tmp_path, change):
    save_table(table(), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    (tmp_path / FACTS).write_text(json.dumps(facts | FACT_CHANGES[change]))
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


@pytest.mark.parametrize("name", [FACTS, "numbers", "lengths", "text"])
@pytest.mark.parametrize("way", ["gone", "cut", "longer"])
def test_files_that_do_not_fit_are_refused(tmp_path, name, way):
    save_table(table(), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    path.unlink()
    if way != "gone":
        path.write_bytes(data[:-1] if way == "cut" else data + b"}")
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


@pytest.mark.parametrize(
    ("name", "values"),
    [("indices", [0, 9, 1, 2]), ("indices", [0, -1, 1, 2]), ("indptr", [0, 5, 4])],
)
def test_indices_that_point_outside_are_refused(tmp_path, name, values):
    sparse = sp.csr_array(NUMBERS)
    assert sparse.nnz == 4
    save_table(table(sparse), tmp_path)
    np.array(values, dtype=sparse.indices.dtype).tofile(tmp_path / name)
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


def test_lengths_below_zero_are_refused(tmp_path):
    save_table(table(), tmp_path)
    np.array([103, -1, 2, 0], dtype="<i4").tofile(tmp_path / "lengths")
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)


def test_limits_hold_for_what_comes(tmp_path):
    for limits, told in [
        (Limits(rows=1), "at most 1 rows"),
        (Limits(memory_bytes=500), "for columns of text"),
    ]:
        save_table(table(), tmp_path)
        with pytest.raises(DataError, match=told):
            load_table(tmp_path, limits)


def test_load_table_columns_as_written(tmp_path):
    written = {"kind": np.array(["x", "NA"]), "n1": np.array(["none", "1"])}
    save_table(replace(table(), written=written), tmp_path)
    found = load_table(tmp_path, LIMITS).written
    assert {name: cells.tolist() for name, cells in found.items()} == {
        "kind": ["x", "NA"],
        "n1": ["none", "1"],
    }


def test_load_table_written_column_that_is_not_there(tmp_path):
    save_table(replace(table(), written={"kind": np.array(["x", "NA"])}), tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    (tmp_path / FACTS).write_text(json.dumps({**facts, "written_names": ["else"]}))
    with pytest.raises(DataError, match="damaged"):
        load_table(tmp_path, LIMITS)

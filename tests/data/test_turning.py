from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.orientation import facing, turn_back, turn_table
from hipad.data.table import Table
from hipad.exceptions import DataError
from tests.data.archives import xlsx
from tests.data.gene_files import GENES_TSV, KINDS, PROBES, SAMPLES, VALUES
from tests.data.test_recognising import csv


def test_genes_in_rows_are_turned_with_their_ids_symbols_and_classes():
    table = read_table(GENES_TSV)
    np.testing.assert_array_equal(table.numbers, VALUES.T)
    assert table.number_names == tuple(PROBES)
    assert table.ids == table.row_ids == tuple(SAMPLES)
    assert table.text["class"].tolist() == KINDS
    assert (table.label, table.turned, table.about) == ("class", True, ("class",))
    assert table.symbols[:6] == ("ABL1", "ABL1", "ABL1", "JAK1", "JAK1", "")
    assert any(remark.startswith("turned: the file has a row for") for remark in table.remarks)
    assert prepare(table, label="class").X.shape == (12, 30)


def test_a_workbook_of_genes_is_turned():
    rows = [line.split("\t") for line in GENES_TSV.decode().splitlines()]
    cells = [[cell if not cell[-1:].isdigit() or j < 2 or i == 0 else float(cell)
              for j, cell in enumerate(row)] for i, row in enumerate(rows)]  # fmt: skip
    table = read_table(xlsx(cells))
    assert table.ids == tuple(SAMPLES)
    assert table.text["class"].tolist() == KINDS
    np.testing.assert_allclose(table.numbers, VALUES.T)


@pytest.mark.parametrize("place", ["above", "below"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_row_of_classes_is_found_at_either_end(place, separator):
    rows = [separator.join([f"g{i}", *(f"{i}.{j}" for j in range(4))]) for i in range(80)]
    labels = separator.join(["diagnosis", "ill", "well", "ill", "well"])
    lines = [labels, *rows] if place == "above" else [*rows, labels]
    table = read_table(csv(separator.join(["gene", "a", "b", "c", "d"]), lines))
    assert table.text["diagnosis"].tolist() == ["ill", "well", "ill", "well"]
    assert table.numbers.shape == (4, 80)


def test_entrez_numbers_name_genes_too():
    rows = [f"{1000 + 7 * i},{i}.5,{i}.25,{i}" for i in range(40)]
    table = read_table(csv("entrez_id,GSM1,GSM2,GSM3", rows))
    assert table.number_names[:2] == ("1000", "1007")
    assert table.ids == ("GSM1", "GSM2", "GSM3")


def test_a_row_of_class_numbers_is_no_gene():
    rows = ["outcome,0,1,0,1", *(f"{i}_at,{i}.5,{i}.25,{i},{i}.75" for i in range(20))]
    table = read_table(csv("probe,a,b,c,d", rows))
    assert table.text["outcome"].tolist() == ["0", "1", "0", "1"]
    assert (table.label, table.numbers.shape) == ("outcome", (4, 20))


def test_whoever_reads_may_say_how_a_table_lies():
    left = read_table(GENES_TSV, turn=False)
    assert left.number_names == tuple(SAMPLES)
    assert not left.turned
    turned = read_table(csv("patient,a,b", [f"x{i},{i},{i * i}" for i in range(60)]), turn=True)
    assert turned.ids == ("a", "b")
    assert turned.number_names[0] == "x0"


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_turned_twice_is_as_before(n, p, seed):
    X = np.random.default_rng(seed).normal(size=(n, p))
    ids = np.array([f"gene {i}" for i in range(n)])
    table = Table(X, tuple(f"s{j}" for j in range(p)), {"ID": ids}, "made here")
    back = turn_back(turn_table(table))
    np.testing.assert_array_equal(back.numbers, X)
    assert (back.number_names, back.text["ID"].tolist()) == (table.number_names, ids.tolist())


def test_a_table_without_numbers_cannot_be_turned():
    with pytest.raises(DataError, match="cannot be turned"):
        turn_table(Table(np.zeros((2, 0)), (), {"a": np.array(["x", "y"])}, "text"))


def test_a_second_file_lies_as_the_first():
    crosswise = read_table(GENES_TSV, turn=False)
    assert set(PROBES) <= set(facing(crosswise, PROBES).number_names)
    assert facing(read_table(GENES_TSV), SAMPLES).number_names == tuple(SAMPLES)
    same = read_table(GENES_TSV)
    assert facing(same, PROBES) is same

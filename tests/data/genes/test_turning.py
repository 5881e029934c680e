from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.genes.turning import facing, seems_turned, turn_back, turn_table
from hipad.data.table import Table
from hipad.errors import DataError
from tests.data.archives import xlsx
from tests.data.gene_files import GENES_TSV, KINDS, PROBES, SAMPLES, VALUES


def csv(header: str, rows: list[str]) -> bytes:
    return "\n".join([header, *rows]).encode()


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


def genes(names: list[str], header: str, samples: list[str], *more: str) -> bytes:
    rows = [f"{name}," + ",".join(f"{i}.{j}" for j in range(len(samples)))
            for i, name in enumerate(names)]  # fmt: skip
    return csv(",".join([header, *samples]), [*more, *rows])


SYMBOLS = ["TP53", "ABL1", "BRCA1", "ACTB", "JAK2", "MYC", "HLA-A", "CD19"] * 5
GENES = {
    "symbols under nothing": genes(SYMBOLS[:8], "", ["s1", "s2", "s3"]),
    "a gene that comes twice": genes([*SYMBOLS[:8], "XIST", "RPS4Y1", "TP53"], "name", ["a", "b"]),
    "samples numbered": genes([f"f{i}" for i in range(9)], "id", ["Sample_1", "Sample_2"]),
    "a row of classes": genes([f"f{i}" for i in range(9)], "", list("abcd"), "type,x,y,x,y"),
    "as R writes it": genes([f"{i}_at" for i in range(9)], "", list("abc")).replace(b",", b"", 1),
    "a title each": csv("probe,title,GSM1,GSM2", [f"{i}_at,gene {i},{i},2.{i}" for i in range(6)]),
}


@pytest.mark.parametrize("kind", GENES)
def test_tables_of_genes_are_known_by_their_names(kind):
    table = read_table(GENES[kind])
    assert table.turned
    assert table.n_rows == len(table.ids) <= 4
    assert np.isfinite(table.numbers).all()


PATIENTS = {
    "a text label": csv("id,a,b,label", [f"p{i},{i},{i * i},{'xy'[i % 2]}" for i in range(60)]),
    "a label of numbers": csv("id,a,b,c", [f"p{i},{i},{i * i},{i % 2}" for i in range(60)]),
    "patients named": csv("patient,a,b", [f"x{i},{i},{i * i}" for i in range(60)]),
    "genes above": csv("id,TP53,KRAS2,BRCA1", [f"q{i},{i},2.{i},3.{i}" for i in range(60)]),
    "units": csv("id,age,bmi,dose", ["unit,y,kg/m2,mg", *(f"p{i},{i},2.{i},3" for i in range(9))]),
    "no IDs": csv("a,b,c", [f"{i},{i * i},{-i}" for i in range(60)]),
    "few rows": csv("name,a,b,c,d,e,f", [f"n{i},1,2,3,4,5,{i}" for i in range(4)]),
}


@pytest.mark.parametrize("kind", PATIENTS)
def test_tables_of_patients_are_left_as_they_are(kind):
    table = read_table(PATIENTS[kind])
    assert not table.turned
    plain = read_table(PATIENTS[kind], turn=False)
    np.testing.assert_array_equal(table.numbers, plain.numbers)
    assert table.names == plain.names


def test_whoever_reads_may_say_how_a_table_lies():
    left = read_table(GENES_TSV, turn=False)
    assert left.number_names == tuple(SAMPLES)
    assert not left.turned
    turned = read_table(PATIENTS["patients named"], turn=True)
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
    assert set(PROBES) < set(facing(crosswise, PROBES).number_names)
    assert facing(read_table(GENES_TSV), SAMPLES).number_names == tuple(SAMPLES)
    same = read_table(GENES_TSV)
    assert facing(same, PROBES) is same


def test_sparse_tables_are_never_guessed():
    import scipy.sparse as sp

    table = Table(sp.csr_array(np.eye(3)), ("GSM1", "GSM2", "GSM3"), {}, "made here")
    assert not seems_turned(table)

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hipad.data import read_table
from hipad.data.orientation import id_column, seems_turned
from hipad.data.table import Table


def csv(header: str, rows: list[str]) -> bytes:
    return "\n".join([header, *rows]).encode()


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


def test_sparse_tables_are_never_guessed():
    table = Table(sp.csr_array(np.eye(3)), ("GSM1", "GSM2", "GSM3"), {}, "made here")
    assert not seems_turned(table)


def test_the_column_of_names_is_a_text_or_numbers_under_a_genes_header():
    numbers = np.array([[1.0, 5], [2, 5]])
    text = {"what": np.array(["x", "y"])}
    assert id_column(Table(numbers, ("gene_id", "a"), {}, "made")) == "gene_id"
    assert id_column(Table(numbers, ("b", "a"), text, "made")) == "what"
    assert id_column(Table(numbers, ("b", "a"), {}, "made")) is None

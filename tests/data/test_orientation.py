from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.orientation import (
    LabelRows,
    facing,
    id_column,
    label_rows,
    likely_class,
    seems_turned,
    symbol_blocks,
    symbol_column,
    tidy_symbols,
    turn_back,
    turn_table,
    with_labels,
    with_symbols,
)
from hipad.data.table import Table
from hipad.exceptions import DataError
from tests.data.archives import xlsx
from tests.data.gene_files import (
    CLASSES,
    GENES_TSV,
    KINDS,
    PLATFORM,
    PROBES,
    SAMPLES,
    SERIES,
    VALUES,
    mtx,
    tenx_zip,
)
from tests.data.gene_files import SYMBOLS as SYMBOLS_SYMBOLS

# --------------------------------------------------------------------------------------------------
# Recognising.


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


# --------------------------------------------------------------------------------------------------
# Turning.


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


# --------------------------------------------------------------------------------------------------
# Describing.


def test_the_likeliest_class_is_named_so_and_has_two_values():
    text = {
        "gender": np.array(["f", "m"]),
        "disease stage": np.array(["1", "2", "3"]),
        "disease": np.array(["a", "b", ""]),
    }
    assert likely_class(text) == "disease"
    assert likely_class({"gender": text["gender"]}) is None


def test_rows_of_words_are_told_from_rows_of_numbers():
    rows = [["class", "a", "b"], *([f"g{i}", "1", "2"] for i in range(9)), ["x", "", "c"]]
    assert label_rows(rows) == [0]
    assert label_rows([["a", "b", "c"]] * 9) == []  # a table of texts


def test_cells_of_label_rows_follow_the_columns():
    found = LabelRows(["id", "s", "s", "t"], [["class", "a", "b"]])
    assert found.of(["t", "s.2"]) == {"class": ["", "b"]}


def test_classes_come_from_a_second_file_by_the_patients_ids():
    counts = read_table(tenx_zip())
    found = with_labels(counts, read_table(CLASSES))
    assert found.text["disease"].tolist() == KINDS
    assert (found.label, found.about) == ("disease", ("disease",))
    assert found.sha256 not in (counts.sha256, "")
    lacking = with_labels(counts, read_table(b"\n".join(CLASSES.splitlines()[:8])))
    assert lacking.text["disease"].tolist().count("") == 5
    assert "5 patients not in the second file" in lacking.remarks


def test_without_ids_the_order_counts():
    found = with_labels(read_table(mtx()), read_table(b"y,z\n" + b"a,c\nb,d\n" * 15))
    assert found.text["y"].tolist() == ["a", "b"] * 15


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,y\nq1,a\nq2,b\n", "patients' IDs"),
        (
            b"id,age\n" + b"".join(b"GSM%d,%d\n" % (i, i) for i in range(12)),
            "beside 'id', got 'age'",
        ),
    ],
)
def test_a_second_file_that_does_not_fit_is_refused(content, words):
    with pytest.raises(DataError, match=words):
        with_labels(read_table(tenx_zip()), read_table(content))


# --------------------------------------------------------------------------------------------------
# Symbols.


@pytest.mark.parametrize(
    "name", ["Symbol", "gene_symbols", "Gene Symbol", "GENE.SYMBOL", "pr_gene_symbol", "gene"]
)
def test_columns_of_symbols_are_known_by_their_names(name):
    assert symbol_column(["title", name, "chromosome"]) == name


def test_symbols_are_tidied():
    assert tidy_symbols(["A1BG///A2M", "", "NA", "x;y", "HLA-A"]) == ("A1BG", "", "", "x", "HLA-A")


def table(symbols: list[str]) -> Table:
    names = tuple(f"p{i}" for i in range(len(symbols)))
    return Table(np.ones((2, len(names))), names, {}, "made here", symbols=tuple(symbols))


def test_blocks_hold_the_features_of_a_symbol_and_are_bounded():
    found = symbol_blocks(table(["B", "A", "A", "", "p0", "3'UTR", "C", "C", "C"]), most=2)
    assert found == {"C": ("p6", "p7", "p8"), "A": ("p1", "p2")}
    assert symbol_blocks(table(["B", "A", "A"]), wanted={"B", "Z"}) == {"B": ("p0",)}


def test_an_annotation_file_gives_symbols_to_probes():
    series = read_table(SERIES)
    for content in (
        PLATFORM,
        b"id,symbol\n" + "".join(f"{p},{s}\n" for p, s in zip(PROBES, SYMBOLS_SYMBOLS)).encode(),  # noqa: B905
    ):
        found = with_symbols(series, read_table(content, turn=False))
        assert found.symbols == tidy_symbols(SYMBOLS_SYMBOLS)
        assert symbol_blocks(found)["ABL1"] == tuple(PROBES[:3])
        assert "29 features with a gene symbol" in found.remarks[-1]


def test_an_annotation_of_another_platform_is_refused():
    with pytest.raises(DataError, match="names of features such as '1000_at'"):
        with_symbols(read_table(SERIES), read_table(b"id,symbol\nILMN_1,ABL1\nILMN_2,X\n"))
    with pytest.raises(DataError, match="a column called symbol"):
        with_symbols(
            read_table(SERIES), read_table(b"id,what,ever\n1000_at,a,b\n1001_at,c,d\n", turn=False)
        )

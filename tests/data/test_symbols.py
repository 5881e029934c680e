from __future__ import annotations

import numpy as np
import pytest

from hipad.data import read_table
from hipad.data.orientation import symbol_blocks, symbol_column, tidy_symbols, with_symbols
from hipad.data.table import Table
from hipad.exceptions import DataError
from tests.data.gene_files import PLATFORM, PROBES, SERIES, SYMBOLS


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
        b"id,symbol\n" + "".join(f"{p},{s}\n" for p, s in zip(PROBES, SYMBOLS)).encode(),  # noqa: B905
    ):
        found = with_symbols(series, read_table(content, turn=False))
        assert found.symbols == tidy_symbols(SYMBOLS)
        assert symbol_blocks(found)["ABL1"] == tuple(PROBES[:3])
        assert "29 features with a gene symbol" in found.remarks[-1]


def test_an_annotation_of_another_platform_is_refused():
    with pytest.raises(DataError, match="names of features such as '1000_at'"):
        with_symbols(read_table(SERIES), read_table(b"id,symbol\nILMN_1,ABL1\nILMN_2,X\n"))
    with pytest.raises(DataError, match="a column called symbol"):
        with_symbols(
            read_table(SERIES), read_table(b"id,what,ever\n1000_at,a,b\n1001_at,c,d\n", turn=False)
        )

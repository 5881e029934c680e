from __future__ import annotations

import numpy as np
import pytest

from hipad.data import read_table
from hipad.exceptions import DataError
from tests.data.gene_files import GCT, GCT3, KINDS, PROBES, SAMPLES, VALUES


@pytest.mark.parametrize("content", [GCT, GCT3], ids=["1.2", "1.3"])
def test_both_versions_are_read(content):
    table = read_table(content)
    np.testing.assert_array_equal(table.numbers, VALUES.T)
    assert (table.number_names, table.ids) == (tuple(PROBES), tuple(SAMPLES))
    assert table.symbols[:6] == ("ABL1", "ABL1", "ABL1", "JAK1", "JAK1", "")
    if content is GCT3:
        assert table.text["disease"].tolist() == KINDS
        assert table.label == "disease"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"30\t12", b"31\t12", "expected 31 rows"),
        (b"30\t12", b"30\t13", "expected 15 columns"),
        (b"30\t12", b"many", "expected 2 numbers"),
        (b"30\t12", b"999999999\t12", "leave out columns"),
        (b"1003_at\t", b"1003_at", "expected 14 cells"),
        (b".", b"x", "numbers for every sample"),
    ],
)
def test_what_the_file_states_must_be_there(old, new, words):
    with pytest.raises(DataError, match=words):
        read_table(GCT[:5] + GCT[5:].replace(old, new))


def test_rows_about_samples_must_be_whole():
    with pytest.raises(DataError, match="cells in the row 'disease"):
        read_table(GCT3.replace(b"na\tna\t", b"na\t"))
    with pytest.raises(DataError, match="expected 4 numbers"):
        read_table(GCT3.replace(b"30\t12\t2\t1", b"30\t12"))

from __future__ import annotations

import json

import pytest

from hipad.cli.inputs import blocks_of, read_text
from hipad.errors import DataError
from hipad.rules import FeatureIndex

INDEX = FeatureIndex(["ABL1", "JAK1", "TP53"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.txt", "K = ABL1:JAK1  # a note\n"),
        ("b.json", json.dumps({"K": ["ABL1", "JAK1"]})),
        ("b", json.dumps({"K": [0, 1]})),
        ("sets.txt", "K\tabout\tABL1\tJAK1\n"),
    ],
)
def test_every_kind_of_file_is_told_by_its_content(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    assert blocks_of(str(path), INDEX)["K"].tolist() == [0, 1]


def test_genes_that_are_not_in_the_data_are_told(tmp_path, capsys):
    path = tmp_path / "sets.gmt"
    path.write_text("K\tabout\tABL1\tNOPE\tNOR\n")
    assert list(blocks_of(str(path), INDEX)) == ["K"]
    assert "2 genes of 1 set not in the data: NOPE and NOR" in capsys.readouterr().err


def test_a_bad_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "b.txt"
    path.write_text("K = ABL1\nL = ABL9\n")
    with pytest.raises(DataError, match=r"b\.txt: line 2, column 4: no feature"):
        blocks_of(str(path), INDEX)


def test_no_file_is_no_block_and_no_text_is_a_sentence(tmp_path):
    assert blocks_of(None, INDEX) == {}
    with pytest.raises(DataError, match="cannot be opened"):
        read_text(str(tmp_path / "none"))
    (tmp_path / "latin").write_bytes("ä".encode("latin-1"))
    with pytest.raises(DataError, match="expected text in UTF-8"):
        read_text(str(tmp_path / "latin"))

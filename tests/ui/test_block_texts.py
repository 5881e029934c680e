from __future__ import annotations

import json

import pytest

from hipad.errors import HipadError
from hipad.rules import FeatureIndex
from ui.block_texts import check_name, define, define_columns, find_members, read_blocks, resolve

INDEX = FeatureIndex(["a", "b", "c,d", "p-36=t", "GENE_1", "GENE_2", "gene"])


@pytest.mark.parametrize(
    ("definition", "columns"),
    [
        ("a", [0]),
        ("a:`c,d`", [0, 1, 2]),
        ("GENE_*", [4, 5]),
        ("/^gene/", [6]),
        ("`p-36=t`, a", [0, 3]),
        ("a\nb, GENE_?", [0, 1, 4, 5]),
    ],
)
def test_a_definition_means_columns(definition, columns):
    assert find_members(definition, INDEX).tolist() == columns


@pytest.mark.parametrize("definition", ["", " , ", "nothing_*", "/(/", "b:a", "genx"])
def test_a_definition_without_meaning_is_refused(definition):
    with pytest.raises(HipadError):
        find_members(definition, INDEX)


def test_definitions_are_read_back():
    names = INDEX.names
    assert find_members(define(names), INDEX).tolist() == list(range(7))
    assert find_members(define_columns([0, 1, 2, 5], INDEX), INDEX).tolist() == [0, 1, 2, 5]


def test_blocks_that_do_not_fit_are_told_apart():
    found, failed = resolve({"good": "a", "bad": "zzz_*"}, INDEX)
    assert list(found) == ["good"]
    assert "zzz_*" in failed["bad"]


@pytest.mark.parametrize(
    "text",
    ["K = a, b\n# a note\n", json.dumps({"K": ["a", "b"]}), "K\tabout\ta\tb\tunknown\n"],
)
def test_blocks_come_in_several_files(text):
    blocks = read_blocks(text, INDEX)
    assert find_members(blocks["K"], INDEX).tolist() == [0, 1]


@pytest.mark.parametrize("text", ["", "just words", "{", '{"K": "a"}', "[1]", "K ="])
def test_a_bad_blocks_file_is_refused(text):
    with pytest.raises(HipadError):
        read_blocks(text, INDEX)


def test_names_are_tidied():
    assert check_name("  my  `block` ") == "my block"
    with pytest.raises(HipadError):
        check_name("`")

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hipad.errors import RuleError
from hipad.rules import (
    FeatureIndex,
    block_from_list,
    block_overlaps,
    blocks_text,
    parse_blocks,
    read_gmt,
    select_features,
    suggest_blocks,
)

NAMES = ["ABL1", "ABL2", "JAK1", "p-36=t", "p-35=t", "odd, name", "a:b", "1007_s_at"]
INDEX = FeatureIndex(NAMES)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ABL1", [0]),
        ("JAK1, ABL1", [0, 2]),
        ("ABL1:JAK1", [0, 1, 2]),
        ("`ABL1`:`p-35=t`", [0, 1, 2, 3, 4]),
        ("ABL*", [0, 1]),
        ("ABL[12], ????", [0, 1, 2]),
        ("/^p-3[56]/", [3, 4]),
        ("/^p-3[56]/, /_at$/", [3, 4, 7]),
        ("`odd, name`; a:b", [5, 6]),
        ("ABL1\nJAK1\n", [0, 2]),
        ("1007_s_at", [7]),
        ("p-36=t, p-36=t", [3]),
        ("", []),
    ],
)
def test_features_are_chosen_by_name_range_glob_and_expression(text: str, columns: list[int]):
    assert select_features(text, INDEX).tolist() == columns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ABL9", "did you mean ABL1"),
        ("JAK1:ABL1", "runs backwards"),
        ("XYZ*", "no feature fits XYZ\\*"),
        ("/(/", "not a regular expression"),
        ("ABL1:nothing", "no feature or block is called nothing"),
    ],
)
def test_a_choice_that_fails_says_why(text: str, words: str):
    with pytest.raises(RuleError, match=words):
        select_features(text, INDEX)


def test_unnamed_columns_have_ranges_and_globs_too():
    index = FeatureIndex(n_features=200)
    assert select_features("x101:x150", index).tolist() == list(range(101, 151))
    assert select_features("x19?", index).tolist() == list(range(190, 200))


def test_a_blocks_file():
    text = "# kinases\nK = ABL*, JAK1  # note\n\n`my block` = `p-36=t`\n"
    blocks = parse_blocks(text, INDEX)
    assert {name: columns.tolist() for name, columns in blocks.items()} == {
        "K": [0, 1, 2],
        "my block": [3],
    }
    for broken, line in (("K = ABL1\nL ABL2", 2), ("\nK = ABL9", 2), ("K = ABL1\nK = ABL2", 2)):
        with pytest.raises(RuleError, match=f"line {line}, column") as caught:
            parse_blocks(broken, INDEX)
        assert caught.value.line == line


@given(st.dictionaries(st.sampled_from("KLM"), st.sets(st.integers(0, 7), min_size=1)))
def test_blocks_are_written_as_they_are_read(blocks: dict[str, set[int]]):
    again = parse_blocks(blocks_text(blocks, INDEX), INDEX)
    assert {name: set(columns.tolist()) for name, columns in again.items()} == blocks


def test_a_pasted_list_tells_what_is_unknown():
    columns, missing = block_from_list("ABL1\tJAK1\n`odd, name`,NOPE;1007_s_at", INDEX)
    assert columns.tolist() == [0, 2, 5, 7]
    assert missing == ("NOPE",)


def test_gene_sets():
    text = "SET_A\thttp://x\tABL1\tABL2\tNOPE\nSET_B\t\tJAK1\t\nSET_C\tnone\tNOPE\n"
    found = read_gmt(text, INDEX)
    assert {name: columns.tolist() for name, columns in found.blocks.items()} == {
        "SET_A": [0, 1],
        "SET_B": [2],
    }
    assert found.missing == {"SET_A": ("NOPE",), "SET_C": ("NOPE",)}
    with pytest.raises(RuleError, match="line 1, column 1: expected a gene set"):
        read_gmt("just words", INDEX)


def test_overlaps_are_shown():
    blocks = {
        "a": np.array([0, 1, 2]),
        "b": np.array([2, 3]),
        "c": np.array([1, 2]),
        "d": np.array([9]),
    }
    found = [(first, second, shared.tolist()) for first, second, shared in block_overlaps(blocks)]
    assert found == [("a", "c", [1, 2]), ("a", "b", [2]), ("b", "c", [2])]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_correlated_features_are_found(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300)) * (rng.random((80, 300)) < 0.1)
    for start in (20, 200):
        X[:, start : start + 10] = rng.standard_normal((80, 1)) + 0.3 * rng.standard_normal(
            (80, 10)
        )
    blocks = suggest_blocks(make(X), most_features=100)
    assert [columns.tolist() for columns in blocks.values()] == [
        list(range(20, 30)),
        list(range(200, 210)),
    ]

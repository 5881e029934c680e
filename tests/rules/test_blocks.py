from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import HipadError, RuleError
from hipad.rules import FeatureIndex, blocks_text, read_blocks

NAMES = ["ABL1", "ABL2", "JAK1", "p-36=t", "p-35=t", "odd, name", "a:b", "1007_s_at"]
INDEX = FeatureIndex(NAMES)


def columns(text: str, index: FeatureIndex = INDEX) -> dict[str, list[int]]:
    return {name: own.tolist() for name, own in read_blocks(text, index).columns.items()}


def test_lines_have_notes_patterns_and_names_in_backticks():
    text = "# kinases\nK = ABL*, JAK1  # note\n\n`my = block` = `p-36=t`\nL\t=\tABL1\n"
    assert columns(text) == {"K": [0, 1, 2], "my = block": [3], "L": [0]}
    assert read_blocks(text, INDEX).definitions["K"] == "ABL*, JAK1"


@pytest.mark.parametrize(
    "text", ["K = ABL1\nL ABL2", "\nK = ABL9", "K = ABL1\nK = ABL2", "K = ABL1\nL =", "#\n= ABL1"]
)
def test_a_mistake_is_named_with_its_line(text: str):
    with pytest.raises(RuleError, match="line 2, column") as caught:
        read_blocks(text, INDEX)
    assert caught.value.line == 2


@given(
    st.dictionaries(
        st.text("KL=#`: ä", min_size=1)
        .map(lambda n: " ".join(n.replace("`", "").split()))
        .filter(bool),
        st.sets(st.integers(0, 7), min_size=1),
    )
)
def test_blocks_are_written_as_they_are_read(blocks: dict[str, set[int]]):
    if blocks:
        again = columns(blocks_text(blocks, INDEX))
        assert {name: set(own) for name, own in again.items()} == blocks


@given(st.dictionaries(st.sampled_from("KLM"), st.sets(st.integers(0, 7), min_size=1), min_size=1))
def test_every_kind_of_file_says_the_same(blocks: dict[str, set[int]]):
    named = {name: [NAMES[j] for j in own] for name, own in blocks.items()}
    numbered = {name: list(own) for name, own in blocks.items()}
    gmt = "\n".join("\t".join([name, "about", *own]) for name, own in named.items())
    for text in (json.dumps(named), json.dumps(numbered), gmt):
        found = read_blocks(text, INDEX)
        again = read_blocks(blocks_text(found.columns, INDEX), INDEX)
        for name, own in blocks.items():
            assert set(found.columns[name].tolist()) == own == set(again.columns[name].tolist())


@pytest.mark.parametrize("members", [[2, 0, 2], [2.0, 0.0], ["JAK1", "ABL1"]])
def test_json_numbers_count_from_zero(members):
    assert columns(json.dumps({"K": members})) == {"K": [0, 2]}


def test_a_json_mask_has_one_value_per_column():
    assert columns(json.dumps({"K": [True] + [False] * 6 + [True]})) == {"K": [0, 7]}


@pytest.mark.parametrize(
    "members",
    [
        ["ABL1", 2],
        [0, None],
        ["ABL1", None],
        [True, False],
        [True, 1],
        [1.5],
        [-1],
        [8],
        [[0]],
        [{"a": 1}],
        {"a": 1},
        "ABL1",
        3,
        None,
        [],
        [float("nan")],
        ["ABL9"],
    ],
)
def test_json_of_another_kind_is_refused_in_a_sentence(members):
    with pytest.raises(RuleError) as caught:
        read_blocks(json.dumps({"K": members}), INDEX)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize(
    "text", ["", "just words", "{", "[1]", "{}", "\n", '{"K": [0], "K": [1]}', '{"": [0]}']
)
def test_a_bad_file_is_refused(text: str):
    with pytest.raises(HipadError):
        read_blocks(text, INDEX)


def test_gene_sets_count_the_genes_that_are_not_in_the_data():
    text = "SET_A\thttp://x=y\tABL1\tABL2\tNOPE\r\nSET_B\t\tJAK1\t\nSET_C\tnone\tNOPE\tNO\n"
    found = read_blocks(text, INDEX)
    assert {name: own.tolist() for name, own in found.columns.items()} == {
        "SET_A": [0, 1],
        "SET_B": [2],
    }
    assert found.missing == {"SET_A": ("NOPE",), "SET_C": ("NOPE", "NO")}
    assert found.remarks == [
        "2 genes of 2 sets not in the data: NOPE and NO",
        "1 set without any gene in the data left out",
    ]
    with pytest.raises(RuleError, match="line 2, column 1: expected a gene set"):
        read_blocks("SET_A\tx\tABL1\njust words", INDEX)
    with pytest.raises(RuleError, match="none of the genes in 1 set is a feature"):
        read_blocks("SET_A\tx\tNOPE", INDEX)


def test_a_file_may_begin_with_a_mark_of_its_encoding():
    assert columns('\ufeff{"K": [0]}') == columns("\ufeffK = ABL1") == {"K": [0]}


def test_columns_are_numbers_in_order():
    own = read_blocks("K = JAK1, ABL1", INDEX).columns["K"]
    assert own.dtype == np.int64
    assert own.tolist() == [0, 2]

from __future__ import annotations

import pytest

from hipad.exceptions import DataError, HipadError, RuleError
from hipad.rules import FeatureIndex, select_features
from hipad.rules.names import (
    LONGEST_NAME,
    MOST_BLOCKS,
    block_members,
    block_name,
    define_columns,
    resolve_definitions,
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


@pytest.mark.parametrize("definition", ["", " , ", "nothing_*", "/(/", "JAK1:ABL1", "genx"])
def test_a_definition_without_meaning_is_refused(definition):
    with pytest.raises(HipadError):
        block_members(definition, INDEX)


def test_definitions_are_read_back():
    for columns in ([0, 1, 2, 5], [3], list(range(8))):
        assert block_members(define_columns(columns, INDEX), INDEX).tolist() == columns


def test_blocks_that_do_not_fit_are_told_apart():
    found, failed = resolve_definitions({"good": "ABL1", "bad": "zzz_*"}, INDEX)
    assert list(found) == ["good"]
    assert "zzz_*" in failed["bad"]


def test_there_are_limits():
    with pytest.raises(DataError, match="at most"):
        resolve_definitions(dict.fromkeys(map(str, range(MOST_BLOCKS + 1)), "ABL1"), INDEX)
    assert block_name("x" * LONGEST_NAME)
    for name in ("`", "x" * (LONGEST_NAME + 1)):
        with pytest.raises(DataError, match="expected a name"):
            block_name(name)

from __future__ import annotations

import fnmatch
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, select_features
from hipad.rules.names import glob_columns, regex_columns

NAMES = [
    *("ABL1", "ABL2", "abl1", "JAK1_at", "1007_s_at", "x[1]", "größe", "ñ", "٣", "a b", "p-36=t"),
    *("", "a", "aa", "aaa", "{,2}", "a.b", "-", "]", "^", "_", "é", "x\u00a0y"),
]
INDEX = FeatureIndex(NAMES)

PATTERNS = [
    *(r"^ABL\d$", r"^\w+$", r"\s", r"\S\S", r"\W", r"\D", r"[\w]$", r"[^\d]", "(?i)^abl", "^$"),
    *(r"1\Z", r"^a{,2}$", r"^a{2,}$", "[]^]", "[^]a]", r"\[", "[[]", r"[\]]", r"\u00e9", "é"),
    *(r"a\.b", "(?:AB|JA)", "(?P<n>A)B", "a??b?", r"^[^\W\d_]+$|_at", "[a-c]", "[{,2}]"),
    *(r"\AA", "a.b", r"[\W]", r"[^\D]"),
    *("ß|ñ", r"[+\-*]", "(a|b)*$", ".", "", r"\bs\b", r"[\s]", r"\\", r"\x41"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_ordinary_expressions_mean_what_they_mean_in_python(pattern):
    expected = [j for j, name in enumerate(NAMES) if re.search(pattern, name)]
    if expected:
        assert regex_columns(pattern, INDEX).tolist() == expected
    else:
        with pytest.raises(RuleError, match="no feature fits"):
            regex_columns(pattern, INDEX)


ATOMS = st.sampled_from(["a", "B", ".", r"\d", r"\w", r"\s", "[a-c]", "[^1]", r"[\d_]", r"\.", "é"])
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{,2}", "{1,}", "*?"])
SEQUENCES = st.lists(st.builds(str.__add__, ATOMS, REPEATS), max_size=4).map("".join)
EXPRESSIONS = st.lists(SEQUENCES, min_size=1, max_size=3).map("|".join)
WORDS = st.text("aBc1_. éß٣-", max_size=6)


@given(EXPRESSIONS, st.lists(WORDS, min_size=1, max_size=8), st.booleans(), st.booleans())
def test_any_expression_finds_the_names_that_python_finds(body, names, begins, ends):
    pattern = f"{'^' if begins else ''}(?:{body}){'$' if ends else ''}"
    _agrees(lambda index: regex_columns(pattern, index), names, re.compile(pattern).search)


@given(st.text("aAb1*?[]!-^\\.{", max_size=8), st.lists(st.text("aAb1-^\\]!.{", max_size=5)))
def test_a_glob_finds_the_names_that_python_finds(glob, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        fits = re.compile(fnmatch.translate(glob)).match
    _agrees(lambda index: glob_columns(glob, index), names, fits)


def _agrees(find, names, fits):
    expected = [j for j, name in enumerate(names) if fits(name)]
    if expected:
        assert find(FeatureIndex(names)).tolist() == expected
    else:
        with pytest.raises(RuleError, match="no feature fits"):
            find(FeatureIndex(names))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a(?=b)", "not supported: look-ahead"),
        ("a(?!b)", "not supported: look-ahead"),
        ("(?<=a)b", "not supported: look-behind"),
        ("(?<!a)b", "not supported: look-behind"),
        (r"(a)\1", "not supported: back references"),
        ("(?P<n>a)(?P=n)", "not supported: back references"),
        ("(?>a)", "not supported: atomic groups"),
        ("(a", "is not a regular expression"),
        ("[z-a]", "is not a regular expression"),
        ("[", "is not a regular expression"),
        ("a++", "is not a regular expression"),
        ("(a{500}){500}", "too large"),
        ("((a{30}){30}){30}", "too large"),
        ("a" * 3_000, "at most 2,000 characters"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(pattern, words):
    with pytest.raises(RuleError, match=words):
        regex_columns(pattern, INDEX)


def test_a_million_names_are_searched():
    index = FeatureIndex(n_features=1_000_000)
    assert select_features("/^x99999[0-4]$/, x0", index).tolist() == [0, *range(999_990, 999_995)]


def test_names_that_are_no_text_are_searched_too():
    assert regex_columns("a", FeatureIndex(["\ud800a", "b"])).tolist() == [0]
    with pytest.raises(RuleError):
        regex_columns("\ud800(", FeatureIndex(["a"]))


def test_ranges_that_are_named_often_take_no_memory():
    index = FeatureIndex(n_features=50_000)
    text = ",".join(f"x{j}:x49999" for j in range(5_000))
    assert np.array_equal(select_features(text, index), np.arange(50_000))

from __future__ import annotations

import fnmatch
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import DataError, HipadError, RuleError
from hipad.rules import FeatureIndex, compile_rules, resolve_blocks, select_features
from hipad.rules.names import (
    LONGEST_NAME,
    MOST_BLOCKS,
    NameSuggestions,
    block_columns,
    block_members,
    block_name,
    by_beginning,
    define_columns,
    each_once,
    glob_columns,
    likeness,
    plain_name,
    range_ends,
    regex_columns,
    resolve_definitions,
    split_parts,
)

# --------------------------------------------------------------------------------------------------
# Names.


def test_names_are_found_and_missing_ones_are_not():
    index = FeatureIndex(["Glucose", 7, "BMI"])
    assert [index.position(name) for name in ("Glucose", "7", "BMI", "bmi")] == [0, 1, 2, None]
    assert index.name(1) == "7"


@pytest.mark.parametrize(("name", "position"), [("x0", 0), ("x9", 9), ("x10", None), ("x01", None)])
def test_unnamed_columns_count_from_zero(name: str, position: int | None):
    assert FeatureIndex(n_features=10).position(name) == position


def test_names_and_columns_must_agree_in_number():
    with pytest.raises(RuleError, match="expected 3 feature names, one per column, got 2"):
        FeatureIndex(["a", "b"], 3)


def test_other_case_and_other_blanks_are_found_where_one_name_fits():
    index = FeatureIndex(["Glucose", "blood pressure", "a", "A"])
    assert [index.loosely(name) for name in ("GLUCOSE", "BloodPressure", "nothing")] == [0, 1, None]
    assert index.loosely("a") is None


# --------------------------------------------------------------------------------------------------
# Definitions.


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


# --------------------------------------------------------------------------------------------------
# Members.


def test_blocks_are_given_by_number_or_name():
    index = FeatureIndex(["a", "b", "c"])
    found = resolve_blocks({"K": [2, 0], "L": ["b"], "none": []}, index)
    assert {name: columns.tolist() for name, columns in found.items()} == {
        "K": [0, 2],
        "L": [1],
        "none": [],
    }
    own = np.array([0, 1])
    assert not np.shares_memory(resolve_blocks({"K": own}, index)["K"], own)
    with pytest.raises(RuleError, match="column outside 0 to 2"):
        resolve_blocks({"K": [3]}, index)
    with pytest.raises(RuleError, match="no feature or block is called d"):
        resolve_blocks({"K": ["d"]}, index)


@pytest.mark.parametrize(
    "members",
    [
        [2, 0, 2],
        (0, 2),
        {0, 2},
        np.array([2, 0], dtype=np.uint8),
        np.array([2.0, 0.0]),
        np.array([True, False, True]),
        [True, False, True],
        ["c", "a"],
        np.array(["a", "c"]),
        np.array(["a", "c"], dtype=object),
        [np.int64(0), 2],
        iter([0, 2]),
    ],
)
def test_members_of_a_block_may_be_given_in_many_ways(members):
    index = FeatureIndex(["a", "b", "c"])
    assert resolve_blocks({"K": members}, index)["K"].tolist() == [0, 2]


@pytest.mark.parametrize(
    "members",
    [
        [0, "a"],
        ["a", None],
        [0.5],
        [float("nan")],
        [True, False],
        [True, 0, 1],
        np.array([True]),
        np.array([[0, 1], [1, 2]]),
        np.array([0.5, 1.0]),
        [3],
        [-1],
        [10**400],
        [float("inf")],
        [0, 1j],
    ],
)
def test_members_of_another_kind_are_refused_and_never_cut(members):
    with pytest.raises(RuleError, match="block K"):
        resolve_blocks({"K": members}, FeatureIndex(["a", "b", "c"]))


@pytest.mark.parametrize("members", ["ab", 5, {"a": 1}, [1.5], np.array([1.5]), ["a", None]])
def test_members_of_another_kind_are_told(members):
    with pytest.raises(RuleError, match="the names of features or the numbers of columns"):
        block_columns("K", members, FeatureIndex(["a", "b", "c"]))


def test_sorted_columns_are_given_back_as_they_are():
    columns = np.array([1, 4, 9])
    assert each_once(columns) is columns
    assert each_once(np.array([4, 1, 4])).tolist() == [1, 4]


@pytest.mark.parametrize("rule", ["K >= 2 => positive", "mean(K:a) >= 2 => positive"])
def test_a_block_in_the_place_of_a_feature_is_told_with_what_to_write(rule):
    with pytest.raises(RuleError, match=r"K is a block of features: write mean\(K\)") as caught:
        compile_rules(rule, feature_names=["a", "b"], blocks={"K": [0, 1]})
    assert caught.value.suggestion == "mean(K)"


# --------------------------------------------------------------------------------------------------
# Nearest.


def test_the_nearest_of_many_names_is_found_whatever_the_slip():
    rng = np.random.default_rng(0)
    names = [f"{''.join(rng.choice(list('ABCDEFGHKLM'), 4))}{j}_at" for j in range(5_000)]
    index = FeatureIndex(names)
    for name in names[::500]:
        assert index.similar_names(name.lower())[0] == name
        assert name in index.similar_names(name[:2] + name[3:])
        assert name in index.similar_names(name[:3] + "q" + name[3:])


def test_block_names_are_suggested_too():
    index = FeatureIndex(["a", "b"])
    assert index.similar_names("chromosome_1", also=["chromosome1"]) == ["chromosome1"]
    assert index.similar_names("zzz", also=["chromosome1"]) == []


def test_likeness_counts_a_shared_beginning_most():
    assert likeness("abl", "abl") == 1.0
    assert likeness("abl", "") == 0.0
    assert likeness("glucose", "glucose_fasting_mg") >= 0.7 > likeness("glucose", "sucrase")


def test_no_names_are_like_none():
    assert NameSuggestions([]).roughly_like("a") == []


# --------------------------------------------------------------------------------------------------
# Odd names.


def test_names_with_signs_or_blanks_are_kept_by_their_beginning():
    found = by_beginning(["IL-6", "IL-10 (serum)", "blood pressure", "plain", "12", "and"])
    assert sorted(found) == ["blood", "il"]
    assert found["il"].names == {"il-6", "il-10 (serum)"}
    assert found["il"].lengths == [13, 4]
    assert "plain" not in found
    assert "12" not in found


# --------------------------------------------------------------------------------------------------
# Lists of names: cut at commas that stand outside names and expressions.


QUOTED = st.text("ab,;:/ `\u00e9", min_size=1, max_size=6).map(
    lambda name: "`" + name.replace("`", "``") + "`"
)
PLAIN = st.text("ab*.:_\u00e9", min_size=1, max_size=6)
EXPRESSION = st.text("ab,;.^$ ", min_size=1, max_size=6).map(lambda text: f"/{text}/")


@given(
    parts=st.lists(st.one_of(QUOTED, PLAIN, EXPRESSION), max_size=6),
    comma=st.sampled_from([",", ";", " , ", ",,", "; ;"]),
)
def test_what_is_joined_comes_apart_again(parts, comma):
    assert split_parts(comma.join(parts)) == parts


@given(st.text("ab`/,;\\ :", max_size=12))
def test_any_line_ends_in_parts_or_a_sentence(line):
    try:
        parts = split_parts(line)
    except RuleError:
        assert "`" in line
    else:
        assert all(part and part == part.strip() for part in parts)


@pytest.mark.parametrize("line", ["`open", "a, `b", "``", "`a``"])
def test_a_name_that_is_not_closed_is_told(line):
    with pytest.raises(RuleError, match="has no end: close it with a backtick"):
        split_parts(line)


def test_a_slash_that_closes_nothing_is_part_of_a_name():
    assert split_parts("IgG/IgM, a/b/c") == ["IgG/IgM", "a/b/c"]
    assert split_parts(r"/a\/b,c/, d") == [r"/a\/b,c/", "d"]


@pytest.mark.parametrize(
    ("part", "ends"),
    [
        ("x1:x9", ("x1", "x9")),
        ("`a:b`:`c, d`", ("a:b", "c, d")),
        ("x1 : `y``z`", ("x1", "y`z")),
        ("x1", None),
        ("a:b:c", None),
        (":b", None),
        ("`a:b`", None),
    ],
)
def test_ranges_have_two_ends(part, ends):
    assert range_ends(part) == ends


@given(st.text("ab` :,", min_size=1, max_size=6))
def test_a_quoted_name_is_the_name(name):
    assert plain_name(" `" + name.replace("`", "``") + "` ") == name


def test_a_plain_name_loses_only_blanks():
    assert plain_name(" a b ") == "a b"
    assert plain_name("``") == "``"


# --------------------------------------------------------------------------------------------------
# Patterns.


NAMES_PATTERNS = [
    *("ABL1", "ABL2", "abl1", "JAK1_at", "1007_s_at", "x[1]", "größe", "ñ", "٣", "a b", "p-36=t"),
    *("", "a", "aa", "aaa", "{,2}", "a.b", "-", "]", "^", "_", "é", "x\u00a0y"),
]
INDEX_PATTERNS = FeatureIndex(NAMES_PATTERNS)

PATTERNS = [
    *(r"^ABL\d$", r"^\w+$", r"\s", r"\S\S", r"\W", r"\D", r"[\w]$", r"[^\d]", "(?i)^abl", "^$"),
    *(r"1\Z", r"^a{,2}$", r"^a{2,}$", "[]^]", "[^]a]", r"\[", "[[]", r"[\]]", r"\u00e9", "é"),
    *(r"a\.b", "(?:AB|JA)", "(?P<n>A)B", "a??b?", r"^[^\W\d_]+$|_at", "[a-c]", "[{,2}]"),
    *(r"\AA", "a.b", r"[\W]", r"[^\D]"),
    *("ß|ñ", r"[+\-*]", "(a|b)*$", ".", "", r"\bs\b", r"[\s]", r"\\", r"\x41"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_ordinary_expressions_mean_what_they_mean_in_python(pattern):
    expected = [j for j, name in enumerate(NAMES_PATTERNS) if re.search(pattern, name)]
    if expected:
        assert regex_columns(pattern, INDEX_PATTERNS).tolist() == expected
    else:
        with pytest.raises(RuleError, match="no feature fits"):
            regex_columns(pattern, INDEX_PATTERNS)


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
        regex_columns(pattern, INDEX_PATTERNS)


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

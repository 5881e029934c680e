"""Lists of names: cut at commas that stand outside names and expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules.names import plain_name, range_ends, split_parts

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

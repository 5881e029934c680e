from __future__ import annotations

import pytest

from hipad.rules.ast import Term
from hipad.rules.comparisons import read_share, read_signed, read_two_numbers, share_condition
from tests.rules.reading import at_start, premises, refused

# --------------------------------------------------------------------------------------------------
# Ranges.


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("18-25", ("range", 18.0, 25.0)),
        ("-5 to -2", ("range", -5.0, -2.0)),
        ("5 ± 2", ("range", 3.0, 7.0)),
        ("30 or more", (">=", 30.0, 30.0)),
        ("30 or less", ("<=", 30.0, 30.0)),
        ("45+", (">=", 45.0, 45.0)),
    ],
)
def test_two_numbers(text, found):
    cursor = at_start(text)
    kind, low, high = read_two_numbers(cursor) or pytest.fail("nothing was found")
    assert (kind, low.coefficient, high.coefficient) == found
    assert cursor.is_over


@pytest.mark.parametrize("text", ["18", "18 - a", "18 + 2", "a - 3"])
def test_what_is_no_range_is_left_where_it_was(text):
    cursor = at_start(text)
    assert read_two_numbers(cursor) is None
    assert cursor.at == 0


def test_a_number_with_its_sign_and_unit():
    term = read_signed(at_start("-2.5 mg/dL"))
    assert term is not None
    assert (term.coefficient, term.unit) == (-2.5, "mg/dL")
    assert read_signed(at_start("- a")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Age = 18-25", "Age between 18 and 25"),
        ("Age 18–25", "Age between 18 and 25"),
        ("Age in [18, 25]", "Age between 18 and 25"),
        ("Age from 18 to 25", "Age between 18 and 25"),
        ("a = 5 +- 2", "a between 3 and 7"),
        ("a in (1, 3]", "1 < a <= 3"),
        ("log2(x) between 1 and 3", "x between 2 and 8"),
    ],
)
def test_ranges_of_people(text, expected):
    assert premises(text) == [expected]
    assert premises(expected) == [expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a between 5 and 3", "write a between 3 and 5"),
        ("a in (1, 2)", "write a between 1 and 2"),
        ("a between 5", "write the range as"),
        ("a in [1, 3", "close it"),
        ("|a| between 1 and 2", "a range needs a feature or a sum"),
        ("a = 5 ± b", "write the spread"),
    ],
)
def test_ranges_without_one_meaning_are_refused(text, words):
    assert words in str(refused(text))


# --------------------------------------------------------------------------------------------------
# Shares.


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("top 10 %", (True, 10.0)),
        ("the lowest quartile", (False, 25.0)),
        ("upper tertile", (True, 100 / 3)),
        ("bottom 5 percent", (False, 5.0)),
        ("the mean", None),
        ("top 5", None),
    ],
)
def test_shares_in_words(text, found):
    assert read_share(at_start(text)) == found


@pytest.mark.parametrize(
    ("top", "share", "text"), [(True, 10.0, "x >= p90(x)"), (False, 25.0, "x <= p25(x)")]
)
def test_a_share_is_a_percentile(top, share, text):
    assert str(share_condition(Term(1.0, ("x",)), top, share)) == text


@pytest.mark.parametrize("text", ["top 0 % of x", "top 100 % of x"])
def test_a_share_of_all_or_nothing_is_refused(text):
    assert "between 0 and 100 %" in str(refused(text))

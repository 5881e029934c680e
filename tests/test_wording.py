from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hipad.utils import count, listed, number, percent, some

words = st.lists(st.text("abc", min_size=1, max_size=3), max_size=12)


@given(words, st.integers(1, 12))
def test_a_list_shows_the_first_and_counts_the_rest(items, limit):
    text = listed(items, "or", limit)
    shown = text.replace(" or ", ", ").split(", ") if text else []
    assert shown[:limit] == items[:limit]
    assert shown[limit:] == ([f"{len(items) - limit} more"] if len(items) > limit else [])


def test_lists_of_none_one_and_two():
    assert [listed([]), listed(["a"]), listed(["a", "b"])] == ["", "a", "a and b"]


def test_one_is_singular_and_large_numbers_have_commas():
    told = [count(n, "row") for n in (0, 1, 2, 12_000)]
    assert told == ["0 rows", "1 row", "2 rows", "12,000 rows"]
    assert count(2, "class", "classes") == "2 classes"


def test_numbers_are_short():
    assert (percent(0.12345), percent(1, 0), number(123456.0), number(0.5)) == (
        "12.3 %",
        "100 %",
        "1.235e+05",
        "0.5",
    )


def test_some_names_are_quoted_and_cut():
    assert some(["a'b", "c"]) == "\"a'b\" and 'c'"
    assert len(some(["x" * 100])) == 42
    assert some((str(n) for n in range(9)), 2) == "'0', '1' and 7 more"

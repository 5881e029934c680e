from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ui.data.preparation import search


@given(st.lists(st.text("aAbB ", max_size=4)), st.text("ab", max_size=2), st.integers(1, 5))
def test_a_search_finds_the_first_names_whatever_their_case(names, wanted, most):
    assert (
        search(names, f" {wanted.upper()} ", most)
        == [name for name in names if wanted in name.lower()][:most]
    )

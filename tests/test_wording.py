from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.utils import ROOT, count, listed, number, percent, some

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


# Sentences of the app that had to be read twice, and what a page must not say in their place.
FOLDERS: Final = ("ui", "pages")
UNCLEAR: Final = (
    "that you do not have", "patients hide", "truth is known", "Gaps included", "in for a while",
    "sparsity is relaxed", "Degree", "from holding", "fit them accurately",
    "can lower the objective",
    "certainly in", "least unusual", "who is least", "heard:", "with the patients", "truly",
    "half of the say", "worth asks for", "do about as well", "are of the positive class",
    "to test on",
    "Nothing found", "What was done", "a worth of", "Together they speak",
    "support no other", "Nothing odd", "needless", "flips", "crosswise", "brings? in a feature",
    "flatter", "default worth", "certaint", "What is wrong with it", "advice", "is found again",
    "told after", "set aside", "let go", "Everything is there", "fit in memory", "whoever tunes",
    "pinned", "of the draw", "speaks? (of|for)", "what the patients", "can be had back", "anew",
    "in its place", "as it was read", "mend",
)  # fmt: skip


def said(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, as a page shows them, with their lines."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    silent |= {id(p) for node in nodes if isinstance(node, ast.JoinedStr) for p in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "0" for p in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in silent or " " not in node.value.strip():
                continue
            yield node.lineno, node.value


def unclear(path: Path) -> list[str]:
    """What a module says in words that are not understood at once."""
    words = re.compile(rf"\b({'|'.join(UNCLEAR)})", re.IGNORECASE)
    return [f"{line}: {text[:90]}" for line, text in said(path) if words.search(text)]


def modules() -> list[str]:
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@pytest.mark.parametrize("name", modules())
def test_a_page_says_nothing_that_was_hard_to_understand(name):
    assert unclear(ROOT / name) == []


def test_what_was_hard_to_understand_is_found(tmp_path):
    module = tmp_path / "page.py"
    module.write_text('"""Flips, pinned."""\nst.caption(f"Together they speak of {n} patients.")\n')
    assert unclear(module) == ["2: Together they speak of 0 patients."]

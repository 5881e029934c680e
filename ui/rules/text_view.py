"""The rules as text: the toolbar, the editor, and every mistake where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

import streamlit as st

from hipad.evaluation.rule_study import Study
from hipad.exceptions import DataError, RuleError
from hipad.rules import read_rules
from hipad.rules.lexer import quote_label, quote_name
from hipad.rules.suggestions import ExampleRule, example_rules, manual_text
from hipad.utils import count
from ui.data import upload
from ui.data.preparation import search
from ui.dataset import Dataset
from ui.models import read_rules_file, rules_file
from ui.rules import rule_editor
from ui.rules.rule_editor import fixes_of
from ui.rules.rule_text import describe
from ui.settings import RULES
from ui.state import AppState
from ui.text import listing, plain

# --------------------------------------------------------------------------------------------------
# Toolbar: undo, redo, history, import and export.

VERSIONS: Final = "rules_history"
LARGEST: Final = 4 * RULES.longest  # bytes of a rules file


def show_toolbar(state: AppState) -> None:
    """Draw the row of buttons."""
    history = state.rules
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Undo",
            icon=":material/undo:",
            disabled=not history.can_undo,
            on_click=lambda: _after_typing(state, history.undo),
            key="rules_undo",
            help=f"Undo: {plain(history.edits[history.at].what)}",
        )
        after = history.edits[history.at + 1].what if history.can_redo else "nothing"
        st.button(
            "Redo",
            icon=":material/redo:",
            disabled=not history.can_redo,
            on_click=lambda: _after_typing(state, history.redo),
            key="rules_redo",
            help=f"Redo: {plain(after)}",
        )
        _history(state)
        with st.popover("Import", icon=":material/upload:", help="Load rules from a file."):
            instead = st.toggle(
                "Replace the present rules",
                True,
                key="rules_instead",
                help="Off: the rules of the file are added below the present ones.",
            )
            upload.small_file(
                state,
                "A .rules file",
                key="rules_file",
                most_bytes=LARGEST,
                help="Text with one rule per line.",
                take=lambda content, name: take(state, content, name, instead),
            )
        st.download_button(
            "Export",
            lambda: rules_file(history.text, state.blocks),
            "my.rules",
            "text/plain",
            icon=":material/download:",
            on_click="ignore",
            disabled=not history.text.strip(),
            key="rules_export",
            help="The rules with notes and blocks, as a text file.",
        )


def _after_typing(state: AppState, step: Callable[[], None]) -> None:
    """Take a step in the history; what was typed before the click may come with it, or after."""
    if state.data is not None:
        rule_editor.take_edit(state, state.data)
    step()


def _history(state: AppState) -> None:
    """Every version by the name of the edit that made it, newest first."""
    history = state.rules
    versions = {f"{n}. {edit.what}": edit for n, edit in enumerate(history.edits, 1)}
    names = list(versions)[::-1]
    now = names[len(names) - 1 - history.at]
    # The browser answers with the name it shows: a box with other names must be another box.
    key = state.fresh_key(VERSIONS, (now, names))

    def chosen() -> None:
        picked = st.session_state[key]
        if picked in versions and picked != now and state.is_drawn(VERSIONS, key):
            _after_typing(state, lambda: history.go_to(versions[picked]))

    st.selectbox(
        "Version",
        names,
        index=names.index(now),
        key=key,
        on_change=chosen,
        help="Go to any earlier or later version of the rules.",
        width=280,
    )


def take(state: AppState, content: bytes, name: str, instead: bool) -> None:
    """Rules from the bytes of a file; mistakes in them are shown where all others are."""
    if len(content) > LARGEST:
        raise DataError("expected a rules file of at most 1 MB, got a larger one: split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("expected a text file with rules, got something else") from error
    if "\0" in text or not text.strip():
        raise DataError("expected a text file with one rule per line, got no text in it")
    text, blocks = read_rules_file(text)
    now = state.rules.text.rstrip()
    text = text if instead or not now else f"{now}\n{text}"
    if len(text) > RULES.longest:
        raise DataError(
            f"expected rules of at most {RULES.longest:,} characters, got {len(text):,}: "
            "remove some"
        )
    if new := {name: own for name, own in blocks.items() if name not in state.blocks}:
        state.set_blocks({**state.blocks, **new})
    state.rules.change(text, f"import of {name[:40]}")


def change(state: AppState, text: str) -> None:
    """Take an edited text, named for what was done."""
    read = read_rules if state.data is None else state.data.read
    state.rules.change(text, describe(state.rules.text, text, read))


# --------------------------------------------------------------------------------------------------
# The text view.

MOST_ERRORS: Final = 10
AREA: Final = "rules_text"
_EXAMPLES: Final[WeakKeyDictionary[Dataset, list[ExampleRule]]] = WeakKeyDictionary()


def show(state: AppState, data: Dataset, checked: Study | None = None) -> None:
    """The editor or the text area, then the names and the language."""
    rule_editor.show(state, data, checked, _example(data).splitlines()[0])
    is_plain = rule_editor.is_plain(state)
    if is_plain:
        shown = state.rules.text
        key = state.fresh_key(AREA, (state.rules.at, shown))
        lines = shown.count("\n") + 2

        def written() -> None:
            text = st.session_state[key]
            if text != shown and state.is_drawn(AREA, key):
                change(state, text)

        st.text_area(
            rule_editor.LABEL,
            shown,
            key=key,
            height=min(max(26 * lines + 20, 170), 420),
            max_chars=RULES.longest,
            placeholder=_example(data).splitlines()[0],
            on_change=written,
            help="Write what you know. The rules are checked when you press Ctrl+Enter or click "
            "outside the field. Text after # is a note.",
        )
    names, language = st.columns(2, gap="medium")
    with names, st.expander("Names in these data", expanded=is_plain, icon=":material/search:"):
        _names(data)
    with language, st.expander("How to write a rule", icon=":material/help:"):
        st.caption("Examples with the names of your own table. Each of them can be used as it is.")
        st.code(_example(data), language=None, wrap_lines=True)
        if st.button("Manual", icon=":material/menu_book:", key="rules_manual"):
            _manual()


@st.dialog("The rule language", width="large")
def _manual() -> None:
    """The whole manual, over the page."""
    text = re.sub(r"^# .*\n+|(?<=^```)\w+$", "", manual_text(), flags=re.MULTILINE)
    st.markdown(text or "The manual is in docs/rules.md of the project.")


def _names(data: Dataset) -> None:
    """Which words a rule may use in these data."""
    negative, positive = (plain(quote_label(name)) for name in data.classes)
    signs = ("positive class", "negative class")
    by_sign = data.classes[::-1] == ("positive", "negative")
    both = zip((positive, negative), signs, strict=True)
    outcomes = (name if by_sign else f"{name} ({sign})" for name, sign in both)
    st.markdown(f"**Outcomes**: {', '.join(outcomes)}")
    blocks = [f"{plain(quote_name(b))} ({len(c):,})" for b, c in list(data.blocks.items())[:12]]
    more = f" and {len(data.blocks) - 12} more" if len(data.blocks) > 12 else ""
    st.markdown(f"**Blocks**: {', '.join(blocks) + more if blocks else 'none named yet'}")
    wanted = st.text_input(
        f"Find one of {count(data.n_features, 'feature')}",
        key="rules_find",
        placeholder="part of a name",
        help="A part of a feature's name; at most 50 are shown.",
    )
    found = search(data.feature_names, wanted) if wanted.strip() else []
    if found:
        st.code("  ".join(map(quote_name, found)), language=None, wrap_lines=True, height=110)
    elif wanted.strip():
        near = data.index.similar_names(wanted.strip())
        st.caption(
            f"No feature found. Similar names: {listing(near)}" if near else "No feature found."
        )


def _example(data: Dataset) -> str:
    """The language, in the columns, numbers, categories and classes of these data."""
    return "\n".join(rule.text for rule in examples(data))


def examples(data: Dataset) -> list[ExampleRule]:
    """Six rules on these data, made once."""
    known = _EXAMPLES.get(data)
    if known is None:
        known = _EXAMPLES[data] = example_rules(data.name_table, data.classes)
    return known


def errors(state: AppState, checked: Study, *, brief: bool = False) -> None:
    """Each mistake with its line, a mark under the column, and buttons that mend it.

    Where the editor shows all that at its place, it is enough to count them.
    """
    if not checked.errors:
        return
    usable = count(len(checked.checks), "rule")
    text = f"{count(len(checked.errors), 'line')} cannot be used yet" + (
        f"; {usable} can be used, see below." if checked.checks else "."
    )
    if brief:
        st.caption(f":material/error: {text}")
        return
    st.error(text, icon=":material/error:")
    lines = state.rules.text.splitlines()
    for n, error in enumerate(checked.errors[:MOST_ERRORS]):
        st.markdown(f":material/error: {plain(_sentence(error), 500)}")
        if error.line is not None and error.line <= len(lines):
            st.code(marked(lines[error.line - 1], error.column), language=None)
            _remedies(state, error, n)
    if len(checked.errors) > MOST_ERRORS:
        st.caption(f"And {len(checked.errors) - MOST_ERRORS:,} more.")


def _remedies(state: AppState, error: RuleError, n: int) -> None:
    """A button for each text that could stand in place of a line."""
    assert state.data is not None
    assert error.line is not None
    data, text, at = state.data, state.rules.text, error.line - 1
    lines = text.splitlines()
    fixes = state.remember(f"remedies {n}", (data, text), lambda: fixes_of(error, lines[at], data))
    if not fixes:
        return
    with st.container(horizontal=True):
        for k, fix in enumerate(fixes):
            st.button(
                plain(fix.label, 200),
                key=f"remedy_{n}_{k}",
                on_click=lambda fix=fix: change(
                    state, "\n".join([*lines[:at], fix.line, *lines[at + 1 :]])
                ),
                help="Replaces the line with this. You can undo it.",
            )


def marked(line: str, column: int | None, width: int = 90) -> str:
    """A line of text with a mark under one of its columns, cut where it is long.

    >>> print(marked("a >> 1", 4))
    a >> 1
       ^
    """
    at = max((column or 1) - 1, 0)
    start = max(0, at - width // 2)
    shown = line.replace("\t", " ")[start : start + width]
    return f"{shown}\n{' ' * (at - start)}^"


def _sentence(error: RuleError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]

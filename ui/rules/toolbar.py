"""Undo, redo, history, import and export of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from hipad.exceptions import DataError
from hipad.rules import read_rules
from ui.data import uploading
from ui.exports import read_rules_file, rules_file
from ui.fields import RULES
from ui.rules.editing import describe
from ui.rules.editor import rule_editor
from ui.state import AppState
from ui.words import plain

VERSIONS: Final = "rules_history"
LARGEST: Final = 4 * RULES.longest  # bytes of a rules file


def show(state: AppState) -> None:
    """Draw the row of buttons."""
    history = state.rules
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Undo",
            icon=":material/undo:",
            disabled=not history.can_undo,
            on_click=lambda: _after_typing(state, history.undo),
            key="rules_undo",
            help=f"Take back: {plain(history.edits[history.at].what)}",
        )
        after = history.edits[history.at + 1].what if history.can_redo else "nothing"
        st.button(
            "Redo",
            icon=":material/redo:",
            disabled=not history.can_redo,
            on_click=lambda: _after_typing(state, history.redo),
            key="rules_redo",
            help=f"Do again: {plain(after)}",
        )
        _history(state)
        with st.popover("Import", icon=":material/upload:", help="Rules from a file."):
            _import(state)
        st.download_button(
            "Export",
            lambda: rules_file(history.text, state.blocks),
            "my.rules",
            "text/plain",
            icon=":material/download:",
            on_click="ignore",
            disabled=not history.text.strip(),
            key="rules_export",
            help="The rules as a text file, notes and blocks included.",
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


def _import(state: AppState) -> None:
    instead = st.toggle(
        "In place of the present rules",
        True,
        key="rules_instead",
        help="Off: add the rules of the file below the present ones.",
    )
    uploading.small_file(
        state,
        "A .rules file",
        key="rules_file",
        most_bytes=LARGEST,
        help="Text with one rule per line.",
        take=lambda content, name: take(state, content, name, instead),
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
            "leave some out"
        )
    if new := {name: own for name, own in blocks.items() if name not in state.blocks}:
        state.set_blocks({**state.blocks, **new})
    state.rules.change(text, f"import of {name[:40]}")


def change(state: AppState, text: str) -> None:
    """Take an edited text, named for what was done."""
    read = read_rules if state.data is None else state.data.read
    state.rules.change(text, describe(state.rules.text, text, read))

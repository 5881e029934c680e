"""What a table of genes may need beside itself: a turn, classes of its patients, gene symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from hipad.data import Table, symbol_blocks, turn_back, turn_table, with_labels, with_symbols
from hipad.data.expression import MATRIX_ALONE
from hipad.data.orientation import MOST_SYMBOLS
from hipad.exceptions import DataError
from hipad.rules.lexer import quote_name
from hipad.utils import count
from ui.attempts import attempt
from ui.data import uploading
from ui.dataset import Loaded
from ui.state import AppState
from ui.words import plain

UPLOADERS: Final = ("upload_table", "label_file", "symbols_file")


def loaded_of(name: str, table: Table) -> Loaded:
    """A table of a user, with a block for each gene symbol that it knows."""
    return Loaded(name=name, table=table, blocks=definitions(symbol_blocks(table)))


def definitions(blocks: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Blocks as the text that defines them."""
    return {name: ", ".join(map(quote_name, features)) for name, features in blocks.items()}


def lacks_classes(table: Table) -> bool:
    """Whether a table holds values of genes and nothing that could be a class."""
    return not table.about and (bool(table.ids) or table.format == MATRIX_ALONE)


def is_open(table: Table) -> bool:
    """Whether the user should say something before a table is used."""
    return table.turned or (bool(table.ids) and table.label is None) or lacks_classes(table)


def ask_turn(state: AppState, loaded: Loaded) -> None:
    """Whether the file has one row per gene; formats that tell it themselves are not asked."""
    table = loaded.table
    if table.ids and not table.turned:
        return
    if table.turned:
        st.markdown(
            f"This file seems to have **one row per gene**: {count(len(table.number_names), 'row')}"
            f" such as {plain(table.number_names[0])}, {count(table.n_rows, 'column')} such as "
            f"{plain(table.ids[0])}. Turn it?"
        )
    turned = st.toggle(
        "Turn it: rows of the file are genes, columns are patients",
        table.turned,
        key=f"pending_turn_{table.sha256[:12]}",
        help="A model learns from rows that are patients and columns that are features.",
    )
    if turned != table.turned:

        def turn() -> None:
            known, before = state.memo.get("other way", ("", loaded))
            state.memo["other way"] = (table.sha256, loaded)
            if known == table.sha256 and before.table.turned is turned:  # nothing may be lost
                state.pending = before
                return
            other = turn_table(table) if turned else turn_back(table)
            state.pending = loaded_of(loaded.name, other)

        if attempt(state, turn):
            st.rerun()
        st.error(plain(state.error, 600))
        state.error = ""


def labels_file(state: AppState) -> None:
    """Classes of a pending table's patients from a second file, found by their IDs."""

    def take(labels: Table, _: str) -> None:
        assert state.pending is not None
        state.pending = replace(state.pending, table=with_labels(state.pending.table, labels))

    _beside(
        state,
        "Classes from a second file",
        key="label_file",
        help="A table with the patients' IDs in one column and their classes in another.",
        take=take,
        is_open=state.pending is not None and lacks_classes(state.pending.table),
    )


def symbols_file(state: AppState) -> None:
    """Gene symbols of the features from a second file: each becomes a block."""

    def take(annotation: Table, _: str) -> None:
        before = state.pending or state.loaded
        if before is None:
            raise DataError("expected a table whose features get symbols: load one first")
        new = with_symbols(before.table, annotation)
        blocks = loaded_of(before.name, new).blocks
        if state.pending is not None:
            state.pending = replace(before, table=new, blocks=blocks)
            return
        state.set_blocks({**state.blocks, **blocks})
        state.loaded = replace(before, table=new)
        state.notice = f"{count(len(blocks), 'gene')} became blocks, named by their symbols."

    _beside(
        state,
        "Gene symbols from a file",
        key="symbols_file",
        help="A table with names of features in one column and gene symbols in another, or a "
        "platform's annotation from GEO (.annot).",
        take=take,
    )


def more_genes(state: AppState) -> None:
    """Name genes as blocks that were too many to become blocks by themselves."""
    loaded = state.loaded
    if loaded is None or len({*loaded.table.symbols}) <= MOST_SYMBOLS:
        return
    with st.form("more_genes", border=False):
        words = st.text_input(
            "Name genes as blocks",
            key="more_genes_names",
            placeholder="ABL1, JAK2",
            help="Only the genes with most features are blocks already: name others here.",
        )
        named = st.form_submit_button("Name them")
    if named:
        found = symbol_blocks(loaded.table, wanted=set(words.replace(",", " ").split()))
        state.set_blocks({**state.blocks, **definitions(found)})
        state.notice = f"{count(len(found), 'gene')} named as blocks."
        st.rerun()


def _beside(
    state: AppState,
    label: str,
    *,
    key: str,
    help: str,
    take: Callable[[Table, str], None],
    is_open: bool = False,
) -> None:
    """A place for a second file, folded away until something happens there."""
    with st.expander(label, expanded=is_open or key in state.readings):
        uploading.table(state, label, key=key, help=help, take=take, turn=False)

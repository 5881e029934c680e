"""Upload of tables, and of files that a table of genes needs beside itself.

A table is read by a process of its own, while the page shows how far it is and can cancel it; what
is read is given to `take` at the next run of the page. Small files of text are taken at once. The
uploader keeps its key, and a file's bytes leave the server's memory as soon as they are taken: a
later run sees no file, and a new one is never mistaken for the old. What is wrong with a file
stands below the place where it was dropped, until another one comes or the data change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from hipad.data import (
    FORMATS,
    LIMITS,
    Table,
    Turn,
    symbol_blocks,
    turn_back,
    turn_table,
    with_labels,
    with_symbols,
)
from hipad.data.delimited import MATRIX_ALONE
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.orientation import MOST_SYMBOLS
from hipad.exceptions import DataError
from hipad.rules.lexer import quote_name
from hipad.utils import count
from ui.data.loading import ReadingJob
from ui.dataset import Loaded
from ui.jobs import JobStatus
from ui.server.streamlit_internals import discard_upload
from ui.state import AppState, attempt
from ui.text import plain

SOURCES: Final = ("upload_table",)  # whose files are kept, to be read in another way
EVERY: Final = 0.5  # seconds between two looks at a file that is being read
TABLE_HELP: Final = (
    f"{', '.join(FORMATS)}, up to {LIMITS.file_bytes / 2**20:,.0f} MB; reading may take up to "
    f"{LIMITS.memory_bytes / 2**30:,.3g} GB of memory and {LIMITS.seconds:,} s. The format is "
    "recognised from the content. The file stays on this computer."
)


def small_file(
    state: AppState,
    label: str,
    *,
    key: str,
    most_bytes: int,
    help: str,
    take: Callable[[bytes, str], None],
    then: str = "",
) -> None:
    """A file that is taken at once; then this page is drawn anew, or another one.

    What is wrong with it stands below, or on the other page.
    """
    file = _new_file(label, key, most_bytes, help)
    if file is None:
        return
    name, content = file
    with st.spinner(f"Taking {plain(name)}"):
        done = attempt(state, lambda: take(content, name))
    if then:
        st.switch_page(then)
    if done:
        st.rerun()
    st.error(plain(state.error, 600))
    state.error = ""


def table(
    state: AppState,
    label: str,
    *,
    key: str,
    help: str,
    take: Callable[[Table, str], None],
    turn: Turn = "auto",
    stated: FileFormat = FOUND_OUT,
) -> None:
    """A table; while it is read the page stays usable, and draws itself anew at the end."""
    reading = state.readings.get(key)
    file = _new_file(label, key, LIMITS.file_bytes, f"{help} {TABLE_HELP}".strip())
    if file is not None:
        if reading is not None:
            reading.stop()
        state.error = ""
        state.readings[key] = ReadingJob(*file, turn=turn, stated=stated)
        state.readings[key].launch()
        st.rerun()
    progress(state, key, take)


def progress(state: AppState, key: str, take: Callable[[Table, str], None]) -> None:
    """How far the reading of a file is, then what came of it."""
    reading = state.readings.get(key)
    if reading is None:
        return
    if reading.is_active:
        _watch(reading, key)
        return
    if reading.was_stopped and not reading.reason:
        st.caption(f"Reading {plain(reading.file)} was cancelled.")
        return
    if reading.shown_at < 0:
        _finish(state, reading, key, take)
        st.rerun()
    _refused(state, reading, key)


def _refused(state: AppState, reading: ReadingJob, key: str) -> None:
    """Why a file could not be used, where it was dropped."""
    if reading.shown_at != state.version:
        del state.readings[key]
        return
    stays = " Your data from before are unchanged." if state.data is not None else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.error(plain(reading.error, 1_000) + stays, icon=":material/error:")
        if st.button(
            "Dismiss", key=f"dismiss_{key}", help="Hide this message; nothing else changes."
        ):
            del state.readings[key]
            st.rerun()


def _new_file(label: str, key: str, most_bytes: int, help: str) -> tuple[str, bytes] | None:
    """Name and bytes of a file that was not taken yet."""
    file = st.file_uploader(label, key=key, max_upload_size=most_bytes // 2**20, help=help)
    if file is None or st.session_state.get(f"taken_{key}") == file.file_id:
        return None
    st.session_state[f"taken_{key}"] = file.file_id
    discard_upload(file.file_id)
    return file.name, file.getvalue()


def _watch(reading: ReadingJob, key: str) -> None:
    """How far the reading is, twice a second, and a button to cancel it."""

    def look() -> None:
        reading.seen()
        if not reading.is_active:
            st.rerun()
        waits = reading.status is JobStatus.WAITING
        words = "waiting for other files" if waits else reading.message
        st.progress(reading.progress or 0.0, f"Reading {plain(reading.file)}: {words or 'started'}")
        if st.button(
            "Cancel",
            key=f"cancel_{key}",
            icon=":material/close:",
            help="Stop reading this file; your data from before stay as they are.",
        ):
            reading.stop()
            reading.wait(2)
            st.rerun()

    st.fragment(look, run_every=EVERY)()


def _finish(
    state: AppState, reading: ReadingJob, key: str, take: Callable[[Table, str], None]
) -> None:
    """Take what was read, or keep why there is nothing."""
    read = reading.outcome
    if reading.reason:
        reading.error = (
            f"reading {reading.file} was stopped, because {reading.reason}: upload it again"
        )
    if read is not None:
        if key in SOURCES:
            state.keep_source(read.sha256, reading.source)
        with st.spinner(f"Preparing {plain(reading.file)}"):
            attempt(state, lambda: take(read, reading.file))
        reading.error, reading.outcome, reading.source = state.error, None, b""
        state.error = ""
    if reading.error:
        reading.shown_at = state.version
        st.toast(plain(reading.error, 200), icon=":material/error:")  # in view wherever one is
    else:
        del state.readings[key]


def forget(state: AppState, key: str) -> None:
    """Take away what is told about the last file of an uploader."""
    reading = state.readings.pop(key, None)
    if reading is not None:
        reading.stop()


def in_use(words: str, *, key: str, help: str) -> bool:
    """A line on the file that is in use, with a button to remove it; True when it is pressed."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/description: {words}")
        return st.button("Remove", key=key, icon=":material/delete:", help=help)


# --------------------------------------------------------------------------------------------------
# Tables of genes: orientation, classes of their patients, gene symbols.

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
            f"{plain(table.ids[0])}. Swap rows and columns?"
        )
    turned = st.toggle(
        "Swap: rows of the file are genes, columns are patients or samples",
        table.turned,
        key=f"pending_turn_{table.sha256[:12]}",
        help="The model needs one row per patient or sample and one column per feature.",
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
        help="A table with the IDs of the patients or samples in one column and their classes in "
        "another.",
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
        help="A table with feature names in one column and gene symbols in another, or a "
        "platform annotation from GEO (.annot).",
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
            help="Only the genes with the most features are blocks already. Add others here.",
        )
        named = st.form_submit_button("Add them")
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
        table(state, label, key=key, help=help, take=take, turn=False)

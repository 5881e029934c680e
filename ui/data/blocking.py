"""Name blocks of features by range, pattern, list or file."""

from __future__ import annotations

import json
from typing import Final

import pandas as pd
import streamlit as st

from hipad.exceptions import DataError, HipadError
from hipad.rules import block_overlaps, read_blocks
from hipad.rules.names import block_members, block_name
from hipad.utils import count
from ui.attempts import attempt
from ui.data import suggesting, uploading
from ui.dataset import Dataset
from ui.state import AppState
from ui.words import listing, plain

LARGEST: Final = 20 * 2**20  # bytes of a file with blocks
MOST_COMPARED: Final = 300  # blocks that are compared with each other
MOST_PAIRS: Final = 5  # of overlapping blocks that are told


def show(state: AppState) -> None:
    """Draw the blocks there are, and the ways to name another."""
    data = state.data
    if data is None:
        return
    st.caption("A block is a named group of features that rules can speak of: mean(K1), sum(K1).")
    if state.blocks:
        _table(state, data)
        _overlaps(state, data)
    else:
        st.info("No block yet. Name one below, for example all features of one gene.")
    left, right = st.columns(2, gap="large")
    with left:
        _add(state, data)
    with right:
        _from_file(state, data)
        suggesting.show(state, data)
        _remove(state)


def _table(state: AppState, data: Dataset) -> None:
    rows = [
        {
            "block": name,
            "features": len(data.blocks.get(name, ())),
            "definition": ", ".join(definition[:200].splitlines()),
            "remark": data.blocks_failed.get(name, ""),
        }
        for name, definition in list(state.blocks.items())[:200]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Blocks", key="blocks_table")


def _overlaps(state: AppState, data: Dataset) -> None:
    """Which blocks share features: a weight on these counts in the rules of both."""
    if len(data.blocks) > MOST_COMPARED:
        return
    pairs = state.remember("overlaps", data, lambda: block_overlaps(data.blocks))
    if pairs:
        told = [
            f"{plain(a)} and {plain(b)} ({count(len(shared), 'feature')})"
            for a, b, shared in pairs[:MOST_PAIRS]
        ]
        more = f" and {len(pairs) - MOST_PAIRS:,} more pairs" if len(pairs) > MOST_PAIRS else ""
        st.caption(f"Blocks that share features: {', '.join(told)}{more}.")


def _add(state: AppState, data: Dataset) -> None:
    with st.form("block_form", clear_on_submit=False):
        name = st.text_input("Name of the block", key="block_name", help="As rules will call it.")
        definition = st.text_area(
            "Its features",
            key="block_definition",
            height=100,
            placeholder="x101:x150\nGENE_*\n/^p-3[0-9]/\nGlucose, BMI",
            help="A range first:last, a pattern with * and ?, a regular expression between "
            "slashes, or names; several, one per line or with commas between. Put a name in "
            "backticks when it holds a comma, a colon or a star.",
        )
        added = st.form_submit_button("Name this block", icon=":material/add:")
    if added:
        if attempt(state, lambda: _name(state, data, name, definition)):
            st.rerun()
        st.error(plain(state.error, 600))
        state.error = ""
    elif definition.strip():
        _preview(data, definition)


def _name(state: AppState, data: Dataset, name: str, definition: str) -> None:
    name = block_name(name)
    block_members(definition, data.every)
    state.set_blocks({**state.blocks, name: definition.strip()})


def _preview(data: Dataset, definition: str) -> None:
    try:
        members = block_members(definition, data.every)
    except HipadError as error:
        st.caption(plain(error, 600))
        return
    names = [data.every.name(int(j)) for j in members[:5]]
    more = f" and {len(members) - 5:,} more" if len(members) > 5 else ""
    st.caption(f"{count(len(members), 'feature')}: {listing(names)}{more}")


def _from_file(state: AppState, data: Dataset) -> None:
    uploading.small_file(
        state,
        "Blocks from a file",
        key="blocks_file",
        most_bytes=LARGEST,
        help='Lines such as "ABL1 = 1636_g_at, 39730_at", JSON {"ABL1": ["1636_g_at"]}, or gene '
        "sets (GMT).",
        take=lambda content, _: _take(state, data, content),
    )
    if state.blocks:
        st.download_button(
            "Save the blocks",
            json.dumps(_lists(data), indent=1, ensure_ascii=False),
            "blocks.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            help="All blocks with their features, as a file to use again.",
        )


def _take(state: AppState, data: Dataset, content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("expected a text file with blocks, got something else") from error
    found = read_blocks(text, data.every)
    state.set_blocks({**state.blocks, **found.definitions})
    state.notice = ". ".join(found.remarks)


def _lists(data: Dataset) -> dict[str, list[str]]:
    blocks, name = data.blocks, data.index.name
    return {block: [name(int(j)) for j in columns] for block, columns in blocks.items()}


def _remove(state: AppState) -> None:
    if not state.blocks:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Remove a block",
            list(state.blocks)[:200],
            index=None,
            placeholder="choose one",
            key="block_removed",
            help="Its features stay; rules that speak of it will say that it is gone.",
        )
        if st.button("Remove", disabled=name is None, key="block_remove", help="Remove the block."):
            state.set_blocks({other: d for other, d in state.blocks.items() if other != name})
            st.rerun()

"""Blocks that the data suggest: features that rise and fall together, shown before use."""

from __future__ import annotations

from itertools import count as numbers
from typing import Final

import pandas as pd
import streamlit as st

from hipad.rules import suggest_blocks
from hipad.rules.names import define_columns
from hipad.utils import count
from ui.dataset import Dataset
from ui.state import AppState

MOST_SHOWN: Final = 30
KEY: Final = "suggested blocks"


def show(state: AppState, data: Dataset) -> None:
    """The button, then what was found, then the button that takes it."""
    asked = st.button(
        "Suggest blocks",
        icon=":material/lightbulb:",
        key="blocks_suggest",
        help="Looks for features that rise and fall together in the training patients.",
    )
    known, found = state.memo.get(KEY, (None, {}))
    if asked:
        with st.spinner("Comparing features"):
            found = suggestions(state, data)
        state.memo[KEY] = (data.X_train, found)
    elif known is not data.X_train:
        return
    if not found:
        st.caption("No three features rise and fall together clearly.")
        return
    _preview(data, found)
    chosen = st.multiselect(
        "Blocks to take",
        list(found),
        list(found),
        key=f"blocks_suggested_{len(state.blocks)}",
        help="Take out those that mean nothing to you; you can remove a block later, too.",
    )
    if st.button("Name these", key="blocks_take", disabled=not chosen, help="Adds the blocks."):
        state.set_blocks({**state.blocks, **{name: found[name] for name in chosen}})
        state.memo.pop(KEY, None)
        st.rerun()


def suggestions(state: AppState, data: Dataset) -> dict[str, str]:
    """Definitions of the largest groups, under names that nothing else has."""
    groups = sorted(suggest_blocks(data.X_train).values(), key=len, reverse=True)[:MOST_SHOWN]
    names = (f"B{n}" for n in numbers(1))
    free = (n for n in names if n not in state.blocks and data.every.position(n) is None)
    return {
        name: define_columns(data.kept[columns], data.every)
        for name, columns in zip(free, groups, strict=False)
    }


def _preview(data: Dataset, found: dict[str, str]) -> None:
    bare = data.with_blocks(found)
    rows = [
        {"block": name, "features": len(bare.blocks[name]), "such as": definition[:120]}
        for name, definition in found.items()
    ]
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Suggested blocks", key="blocks_suggestions"
    )
    st.caption(f"{count(len(found), 'group')} of features that rise and fall together.")

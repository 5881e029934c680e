"""The Data page."""

from __future__ import annotations

import streamlit as st

from workbench.samples import CARDS
from workbench.state import app_state

state = app_state()
st.title("Data")
for column, card in zip(st.columns(len(CARDS)), CARDS, strict=True):
    if column.button(card.title, key=f"sample_{card.key}", help=card.text):
        state.load(card.load())
        st.rerun()

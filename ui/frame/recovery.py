"""A page that the browser has lost comes back by itself instead of staying white."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

SCRIPT: Final = Path(__file__).with_name("recovery.js")
RECOVERY: Final = st.components.v2.component("hipad_recovery", js=SCRIPT.read_text("utf-8"))


def show() -> None:
    """Have the browser look after the page; nothing is drawn."""
    with st.sidebar:
        RECOVERY(key="recovery")

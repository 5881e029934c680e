"""Keep the model in sight: a name for it, and whether what follows is compared with it."""

from __future__ import annotations

import streamlit as st

from ui.models import TrainedModel
from ui.session.session_file import MOST_MODELS
from ui.settings import MODEL_NAME
from ui.state import AppState
from ui.text import plain


def show(state: AppState, model: TrainedModel, *, key: str) -> None:
    """A field and two buttons, side by side in the container around them."""
    usual = f"model {len(state.models) + 1}"
    name = st.text_input(
        "Name of this model",
        usual,
        max_chars=MODEL_NAME.longest,
        key=f"{key}_name_{len(state.models)}",
        help="Kept models can be pinned, compared and restored in the Workbench.",
        width=200,
    )
    full = is_full(state)
    for label, icon, pin, text in (
        ("Keep", ":material/bookmark_add:", False, "Keep this model under its name."),
        ("Keep and pin", ":material/keep:", True, "Compare what follows with this model."),
    ):
        if st.button(label, icon=icon, disabled=full, help=text, key=f"{key}_keep_{pin}"):
            named = model.named(" ".join(name.split())[: MODEL_NAME.longest] or usual)
            state.keep(named)
            state.pinned = named.name if pin else state.pinned
            st.toast(f"Kept as {plain(named.name)}")
            st.rerun()
    if full:
        st.caption(f"{MOST_MODELS} models are kept: forget one in the Workbench to keep another.")


def is_full(state: AppState) -> bool:
    """Whether a session holds as many models as it may."""
    return len(state.models) + len(state.waiting) >= MOST_MODELS

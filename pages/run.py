"""The Run page."""

from __future__ import annotations

import streamlit as st

from workbench.parts.empty import need_data
from workbench.state import app_state

st.title("Run")
need_data(app_state())

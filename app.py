"""HIPAD Workbench, the app: `streamlit run app.py`.

This script owns the navigation and what every page shows beside its own content.
"""

from __future__ import annotations

import streamlit as st

from workbench.logs import keep_values_out
from workbench.orphans import start_sweeping
from workbench.parts import sidebar
from workbench.state import open_session

PAGES = [
    st.Page("pages/data.py", title="Data", icon=":material/table_chart:", default=True),
    st.Page("pages/rules.py", title="Rules", icon=":material/rule:"),
    st.Page("pages/run.py", title="Run", icon=":material/play_circle:"),
    st.Page("pages/workbench.py", title="Workbench", icon=":material/tune:"),
]

keep_values_out()
start_sweeping()
st.set_page_config(page_title="HIPAD Workbench", page_icon=":material/rule:", layout="wide")
page = st.navigation(PAGES)
open_session()
sidebar.show(watch=page.title != "Run")
page.run()

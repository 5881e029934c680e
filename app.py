"""HIPAD Workbench, the app: `streamlit run app.py`.

Streamlit takes this file in two ways. Its server imports it for `app`, the web application with
what stands before it; then, for every look at a page, it runs the file as a script. The script owns
the navigation and what every page shows beside its own content.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from hipad.exceptions import HipadError

try:
    from ui import page_frame
    from ui.server.lifespan import lifespan
    from ui.server.middleware import Guard
    from ui.session import autosave, restore_prompt
    from ui.state import open_session
    from ui.workbench import live
except HipadError as error:  # a variable of the environment that cannot be used
    raise SystemExit(f"error: {error}") from None

HERE = Path(__file__).parent / "ui"
ICON = HERE / "icon.svg"  # a symbol's name would ask a font host
LOOK = HERE / "assets" / "look.css"


def show() -> None:
    """The navigation, the sidebar and the page that was asked for."""
    pages = [
        st.Page("pages/data.py", title="Data", icon=":material/table_chart:", default=True),
        st.Page("pages/rules.py", title="Rules", icon=":material/rule:"),
        st.Page("pages/run.py", title="Run", icon=":material/play_circle:"),
        st.Page("pages/workbench.py", title="Workbench", icon=":material/tune:"),
        st.Page("pages/results.py", title="Results", icon=":material/insights:"),
        st.Page("pages/patients.py", title="Patients", icon=":material/groups:"),
        st.Page("pages/report.py", title="Report", icon=":material/description:"),
        st.Page("pages/experiments.py", title="Experiments", icon=":material/science:"),
    ]
    st.set_page_config(page_title="HIPAD Workbench", page_icon=str(ICON), layout="wide")
    st.html(LOOK)
    page = st.navigation(pages)
    state = open_session()
    page_frame.show_loading(state, page.title)
    page_frame.show_sidebar(watch=page.title != "Run")
    page_frame.show_recovery(state)
    with st.container(gap=None):  # a warning that is not there takes no room
        page_frame.show_next(state, page.title)
        above = st.container(gap=None)
    page_frame.show_go_back(state)
    try:
        page.run()
    finally:  # a page may end its run early, to be drawn anew
        autosave.note(state)
    with above:
        restore_prompt.warn(state)


if __name__ == "__main__":
    show()
else:
    app = st.App(__file__, middleware=[Middleware(Guard)], lifespan=lifespan, routes=live.routes())

"""A click on another page is never lost, even while the page that is left is being drawn anew.

Streamlit draws a page in a run of its script, and answers a click with a new run, telling the
old one to stop. Both note the page that is wanted at the same place of the session. The old run
looks whether it must stop only when it draws something: if it was about to start anew, as a timer
asks for when work is done, it first notes the page that is being left, and the new run draws that.
Here a run that was told to stop notes nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

NOTING: Final = ("set_script_intent", "set_current_page_script_hash")

# Streamlit has no public way to this; the version is pinned, and a test has two runs at once.


def heed_latest_run() -> None:
    """From now on only the latest run of a session says which page is wanted."""
    for name in NOTING:
        method = getattr(PagesManager, name)
        if not hasattr(method, "__wrapped__"):
            setattr(PagesManager, name, _unless_stopped(method))


def _unless_stopped(note: Callable[..., None]) -> Callable[..., None]:
    @wraps(note)
    def noting(pages: PagesManager, *what: str, **more: str) -> None:
        if not is_stopped():
            note(pages, *what, **more)

    return noting


def is_stopped() -> bool:
    """Whether the run of this thread was told to stop."""
    context = get_script_run_ctx(suppress_warning=True)
    requests = None if context is None else context.script_requests
    return requests is not None and requests._state is ScriptRequestType.STOP

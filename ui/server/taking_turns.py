"""Runs of a page's script take their turns (`ui/turns.py`): clicks at once, timers after them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from ui.turns import TURNS

# Streamlit has no public way to this; the version is pinned, and a test has a timer wait.


def take_turns() -> None:
    """From now on timers of pages wait while somebody's click is answered."""
    run = ScriptRunner._run_script
    if not hasattr(run, "__wrapped__"):
        ScriptRunner._run_script = _in_turn(run)  # type: ignore[method-assign]


def _in_turn(run: Callable[..., None]) -> Callable[..., None]:
    @wraps(run)
    def running(runner: Any, rerun_data: Any) -> None:
        def is_wanted() -> bool:
            return bool(runner._requests._state is ScriptRequestType.CONTINUE)

        by_itself = rerun_data.is_auto_rerun and rerun_data.fragment_id_queue
        with TURNS.timer(is_wanted) if by_itself else TURNS.page():
            run(runner, rerun_data)

    return running

"""Runs of a page's script take their turns (`ui/turns.py`): clicks at once, timers after them.

Options of the web server are read at every part that a page draws, and Streamlit takes a lock for
each: whoever loses its turn while it holds the lock makes all others wait. Here they are read
without it; they do not change while the server runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from streamlit import config
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from ui.turns import TURNS

# Streamlit has no public way to this; the version is pinned, and a test has a timer wait.


def take_turns() -> None:
    """From now on timers of pages wait while somebody's click is answered."""
    if not hasattr(config.get_option, "__wrapped__"):
        config.get_option = _without_lock(config.get_option)  # type: ignore[assignment]
    run = ScriptRunner._run_script
    if not hasattr(run, "__wrapped__"):
        ScriptRunner._run_script = _in_turn(run)  # type: ignore[method-assign]


def _without_lock(get_option: Callable[[str], Any]) -> Callable[[str], Any]:
    @wraps(get_option)
    def getting(key: str) -> Any:
        found = config.get_config_options().get(key)
        return get_option(key) if found is None else found.value

    return getting


def _in_turn(run: Callable[..., None]) -> Callable[..., None]:
    @wraps(run)
    def running(runner: Any, rerun_data: Any) -> None:
        def is_wanted() -> bool:
            return bool(runner._requests._state is ScriptRequestType.CONTINUE)

        by_itself = rerun_data.is_auto_rerun and rerun_data.fragment_id_queue
        with TURNS.timer(is_wanted) if by_itself else TURNS.page():
            run(runner, rerun_data)

    return running

"""Plays stories in the browser itself: charts and the image of all features, without the server.

    player.show([story], key="run_show", ...)

The scripts in `browser/` are put together into one module of a Streamlit component. They draw on
canvases, know play, pause, step, speed, loop and a presenter mode for projectors. What a presenter
can ask of the server are actions: buttons and keys that run, pause, stop, flip a rule and heal it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import streamlit as st

from hipad.utils import one_line
from ui import charts
from ui.run.replay.story import Story

FOLDER: Final = Path(__file__).parent / "browser"
SCRIPTS: Final = ("tools.js", "chart.js", "feature_grid.js", "side.js", "player.js")


def source(*names: str) -> str:
    """Return files of the component, one after the other."""
    return "\n".join((FOLDER / name).read_text("utf-8") for name in names)


PLAYER: Final = st.components.v2.component(
    "hipad_player", js=source(*SCRIPTS), css=source("player.css")
)


def show(
    stories: Sequence[Story],
    *,
    key: str,
    label: str,
    classes: tuple[str, str],
    plays: str = "",
    both: bool = False,
    algorithm: bool = False,
    actions: Sequence[tuple[str, str]] = (),
    act: Callable[[str], None] = lambda what: None,
) -> None:
    """Draw the player.

    A story is played once by itself for each new value of `plays`; `both` sides are shown at first,
    or only the first of them. `algorithm` opens the curves that show how the result was found.
    `act` is called with the name of the action that the presenter asks for.
    """
    data: dict[str, Any] = {
        "label": label,
        "stories": [story.told() for story in stories],
        "colours": list(charts.palette()),
        "classes": [one_line(name, 24) for name in classes],
        "sides": [charts.NEGATIVE, charts.POSITIVE],
        "plays": plays,
        "both": both,
        "algorithm": algorithm,
        "actions": [[name, one_line(words, 40)] for name, words in actions],
    }

    def asked() -> None:
        act(str(st.session_state[key].get("asked", "")))

    PLAYER(key=key, data=data, on_asked_change=asked)

"""Plays stories in the browser itself: charts and the image of all features, without the server.

    player.show([story], key="run_show")

The scripts in `browser/` are put together into one module of a Streamlit component. They draw on
canvases, know play, pause, step, speed, loop and a presenter mode for projectors, and ask the
server for one thing only: the run with or without the rules, when the presenter presses R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import streamlit as st

from ui import charts
from ui.run.replay.story import Story
from ui.text import one_line

FOLDER: Final = Path(__file__).parent / "browser"
SCRIPTS: Final = ("tools.js", "chart.js", "mosaic.js", "side.js", "player.js")


def source(*names: str) -> str:
    """Files of the component, one after the other."""
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
    ask: Callable[[], None] | None = None,
    can_ask: bool = False,
) -> None:
    """Draw the player; `ask` is called when the presenter wants the run with the rules turned."""
    data: dict[str, Any] = {
        "label": label,
        "stories": [story.told() for story in stories],
        "colours": list(charts.palette()),
        "classes": [one_line(name, 24) for name in classes],
        "sides": [charts.NEGATIVE, charts.POSITIVE],
        "canAsk": can_ask,
    }
    PLAYER(key=key, data=data, on_turned_change=ask or _nothing)


def _nothing() -> None:
    return None

"""The view of the Workbench: sliders with histograms, the field of features, patients as dots.

The scripts in `browser/` are put together into one module of a Streamlit component. While a slider
is dragged they ask `live.py` for the models on the way and draw what these light up; the page runs
anew only when the slider has come to rest. Without the WebSocket, that is all that happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.rules import RuleSet
from hipad.utils import one_line
from ui import charts, feature_sheet
from ui.dataset import Dataset
from ui.models import TrainedModel
from ui.server.middleware import COOKIE
from ui.state import AppState
from ui.workbench import live, refit
from ui.workbench.live import LiveRefits, Scene
from ui.workbench.pictures import Pictures
from ui.workbench.sliders import Slider, ThresholdSlider, Value, switched

KEY: Final = "bench_live"
FOLDER: Final = Path(__file__).parent / "browser"
SCRIPTS: Final = ("tools.js", "sliders.js", "pictures.js", "view.js")
VIEW: Final = st.components.v2.component(
    "hipad_workbench",
    js="\n".join((FOLDER / name).read_text("utf-8") for name in SCRIPTS),
    css=(FOLDER / "view.css").read_text("utf-8"),
)


def show(
    state: AppState,
    data: Dataset,
    base: TrainedModel,
    shown: TrainedModel | None,
    rules: RuleSet,
    sliders: dict[str, tuple[Slider, Value]],
    notes: dict[int, str],
) -> None:
    """Draw the view: sliders where they stand, and what a model lights up, if there is one."""
    tuning = state.tuning
    cookie = st.context.cookies.get(COOKIE)
    browser = cookie if isinstance(cookie, str) else ""
    refits = state.remember("live refits", (data, browser), lambda: LiveRefits(browser))
    pictures = state.remember("pictures", (data, base), lambda: Pictures(data, base))
    own = {name: slider for name, (slider, _) in sliders.items()}
    refits.scene = Scene(data, base, dict(state.blocks), tuning.draft, own, tuning, pictures)

    def moved() -> None:
        take_move(state, data, own)

    def picked() -> None:
        value = (st.session_state.get(KEY) or {}).get("picked")
        feature_sheet.ask_cell(state, str(value), pictures.field[1])

    VIEW(
        key=KEY,
        data={
            "token": refits.token,
            "address": live.address(),
            "live": tuning.live_seconds <= refit.PATIENCE,
            "turn": tuning.turn,
            "seen": tuning.seen,
            "rules": [
                _rule(rules, position, sliders, notes.get(position, ""), pictures)
                for position in sorted({slider.position for slider in own.values()})
            ],
            "setting": pictures.setting,
            "state": None if shown is None else _lit(state, pictures, shown),
            "colours": list(charts.palette()),
            "sides": [charts.NEGATIVE, charts.POSITIVE],
        },
        on_moved_change=moved,
        on_picked_change=picked,
    )


def take_move(state: AppState, data: Dataset, sliders: dict[str, Slider]) -> None:
    """Take over where the sliders came to rest, unless that is done or they were drawn anew."""
    value, tuning = (st.session_state.get(KEY) or {}).get("moved"), state.tuning
    move = value if isinstance(value, dict) else {}
    seen = {"client": str(move.get("client"))[:64], "n": move.get("n")}
    if seen == tuning.seen or move.get("turn") != tuning.turn:
        return
    tuning.seen = seen
    try:
        values = live.read_values(move.get("values"))
        draft = live.written(tuning.draft, values, sliders, data)
        switches = {int(position): bool(on) for position, on in dict(move.get("on") or {}).items()}
        for position, on in switches.items():
            if position < 0:
                raise IndexError
            draft = switched(draft, position, on, data.read)
    except (ValueError, TypeError, IndexError):  # not from our page; DataError is a ValueError
        return
    tuning.draft, tuning.shown = draft, ""
    tuning.moved.update([*values, *(f"on_{position}" for position in switches)])


def _rule(
    rules: RuleSet,
    position: int,
    sliders: dict[str, tuple[Slider, Value]],
    note: str,
    pictures: Pictures,
) -> dict[str, Any]:
    """Return one rule with its sliders for the browser."""
    found = []
    for name, (slider, now) in sliders.items():
        if slider.position != position:
            continue
        found.append(
            {
                "name": name,
                "label": one_line(slider.label, 60),
                "low": slider.low,
                "high": slider.high,
                "step": slider.step,
                "value": np.atleast_1d(now).tolist(),
                "histogram": slider.histogram(pictures.positive)
                if isinstance(slider, ThresholdSlider)
                else [],
            }
        )
    return {
        "position": position,
        "label": one_line(rules.labels[position], 40),
        "outcome": one_line(rules[position].outcome, 30),
        "on": rules[position].enabled,
        "sliders": found,
        "note": note,
    }


def _lit(state: AppState, pictures: Pictures, model: TrainedModel) -> dict[str, Any]:
    """Return the pictures of a model, made once."""
    return state.remember("lit", (pictures, model), lambda: pictures.of(model))

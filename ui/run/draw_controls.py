"""Controls of a synthetic draw for researchers: size, seed with dice, noise, sparsity and weight.

A link names all of it, and the rules: whoever opens it sees the same draw, run in the same way.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import streamlit as st

from hipad.exceptions import DataError
from hipad.utils import number
from ui.data.loading import LoadingJob
from ui.data.samples import CARDS, NOISE, SIZES, Card, synthetic
from ui.dataset import Loaded
from ui.settings import EXACT, RunSettings, field_of
from ui.state import AppState
from ui.text import plain

SLOT: Final = "link taken"
LONGEST_RULES: Final = 4_000  # characters in a link: browsers take addresses of some 8,000
SIZE_LABELS: Final = {
    "n_train": "Patients",
    "n_features": "Features",
}


def recipe_of(state: AppState) -> dict[str, Any] | None:
    """Return how the present data were drawn; None where they are no draw."""
    loaded = state.loaded
    return None if loaded is None or "preset" not in loaded.recipe else dict(loaded.recipe)


def draw_again(state: AppState, recipe: Mapping[str, Any], settings: RunSettings) -> None:
    """Draw other patients, keep the rules as they are, and run."""
    rules = state.rules.text

    def make() -> Loaded:
        return replace(synthetic(**recipe), rules=rules, settings=settings.as_dict())

    name = f"ksvm-s-{recipe['preset']}, seed {recipe.get('seed', 0)}"
    state.begin_load(LoadingJob(name, make, runs=True))


def dice(state: AppState) -> None:
    """Draw the button that throws another seed."""
    recipe = recipe_of(state)
    if recipe is None:
        return
    seed = recipe.get("seed", 0)
    if st.button(
        f"Seed {seed}",
        icon=":material/casino:",
        key="dice",
        help="Throw the dice: other samples, drawn with another random seed, then a run.",
    ):
        draw_again(state, {**recipe, "seed": random.randint(1, 9_999)}, state.settings)
        st.rerun()


def show(state: AppState) -> None:
    """Draw the strip, for experts."""
    recipe = recipe_of(state)
    if recipe is None or not state.expert:
        return
    size = next(card.size for card in CARDS if card.key == f"ksvm-s-{recipe['preset']}")
    assert size is not None
    with st.form("draw_strip", border=True):
        columns = st.columns([2, 2, 2, 2, 2, 2, 2, 1], vertical_alignment="bottom")
        asked = dict(recipe)
        for column, (name, label) in zip(columns, SIZE_LABELS.items(), strict=False):
            allowed, now = SIZES[name], int(recipe.get(name, getattr(size, name)))
            asked[name] = column.number_input(label, allowed.low, allowed.high, now)
        seed = SIZES["seed"]
        asked["seed"] = columns[2].number_input(
            "Random seed", seed.low, seed.high, int(recipe.get("seed", 0))
        )
        noise = recipe.get("noise", size.noise)
        least = columns[3].number_input(
            "Noise from (%)", NOISE.low, NOISE.high, round(100 * noise[0])
        )
        most = columns[4].number_input("to (%)", NOISE.low, NOISE.high, round(100 * noise[1]))
        asked["noise"] = (min(least, most) / 100, max(least, most) / 100)
        lambda1 = columns[5].number_input(
            "lambda1", 0.0, None, float(state.settings.lambda1), 0.01, format="%.3f"
        )
        usual = 0.15 * int(asked["n_train"])  # what the settings fill in, see hipad.HIPADClassifier
        weighed = state.settings.patients
        weight = columns[6].number_input(
            "Weight (patients)", 0.0, None, usual if weighed == "auto" else float(weighed), 1.0
        )
        if columns[7].form_submit_button("Draw", icon=":material/play_arrow:"):
            patients = "auto" if weighed == "auto" and weight == usual else float(weight)
            settings = state.settings.changed(lambda1=float(lambda1), patients=patients)
            if float(lambda1) != state.settings.lambda1:
                settings = settings.changed(fewness=EXACT)
            draw_again(state, asked, settings)
            st.rerun()
    st.caption("A link to this screen: add it to the address of this app.")
    st.code(link_of(state), language=None)


def link_of(state: AppState) -> str:
    """Return the part of an address that restores the present draw, its settings and rules."""
    recipe, settings, rules = recipe_of(state), state.settings, state.rules.text
    if recipe is None:
        return ""
    asked: dict[str, Any] = {"sample": f"ksvm-s-{recipe['preset']}"}
    asked |= {name: recipe[name] for name in SIZES if name in recipe}
    if "noise" in recipe:
        asked["noise"] = "-".join(number(100 * share) for share in recipe["noise"])
    if settings.fewness == EXACT:
        asked["lambda1"] = settings.lambda1
    if settings.patients != "auto":
        asked["weight"] = settings.patients
    if len(rules) <= LONGEST_RULES:
        asked["rules"] = rules
    pairs = (f"{name}={_quoted(str(value))}" for name, value in asked.items())
    return f"run?{'&'.join(pairs)}"


def _quoted(text: str) -> str:
    """Return a text as an address may hold it.

    >>> _quoted("a >= 1 & b")
    'a%20%3E%3D%201%20%26%20b'
    """
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or chr(byte) in "-._~" else f"%{byte:02X}"
        for byte in text.encode()
    )


def take_link(state: AppState) -> None:
    """Load and run what the address names, on the Run page and on the first one, once a session."""
    asked = {name: str(value) for name, value in st.query_params.items()}
    if "sample" not in asked or st.session_state.get(SLOT) == asked:
        return
    try:
        card, make = _from_link(asked)
    except DataError as error:
        st.error(plain(error, 400), icon=":material/link_off:")
        return
    st.session_state[SLOT] = asked
    state.begin_load(LoadingJob(card.title, make, runs=True))
    st.rerun()


def _from_link(asked: Mapping[str, str]) -> tuple[Card, Any]:
    """Return the sample that a link names, and what makes it; DataError says what is wrong."""
    card = next((card for card in CARDS if card.key == asked["sample"]), None)
    if card is None:
        names = ", ".join(card.key for card in CARDS)
        raise DataError(f"expected a link to one of the samples {names}, got another: check it")
    controls: dict[str, Any] = {}
    for name in SIZES if card.size is not None else ():
        if name in asked:
            controls[name] = int(_number(name, asked[name], SIZES[name].low, SIZES[name].high))
    if "noise" in asked and card.size is not None:
        least, _, most = asked["noise"].partition("-")
        low, high = (_number("noise", part, NOISE.low, NOISE.high) for part in (least, most))
        controls["noise"] = (min(low, high) / 100, max(low, high) / 100)
    settings: dict[str, Any] = {}
    for name, own in (("lambda1", "lambda1"), ("weight", "patients")):
        if name in asked:
            allowed = field_of(RunSettings, own)
            settings[own] = _number(name, asked[name], allowed.low, allowed.high)
    if "lambda1" in settings:
        settings["fewness"] = EXACT
    rules = asked.get("rules")
    if rules is not None and len(rules) > LONGEST_RULES:
        raise DataError(f"expected at most {LONGEST_RULES:,} characters of rules in a link")

    def make() -> Loaded:
        loaded = partial(card.load, **controls)()
        changed = {**loaded.settings, **settings}
        return replace(loaded, settings=changed, rules=loaded.rules if rules is None else rules)

    return card, make


def _number(name: str, text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise DataError(
            f"expected {name} from {low:g} to {high:g} in the link, got another: check it"
        )
    return value

"""How much are my rules worth: learning curves, and the answer in labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from hipad.exceptions import DataError
from hipad.experiments.learning_curve import (
    SIZES,
    Worth,
    curve_tasks,
    curves,
    sizes_for,
    worth_of_rules,
)
from hipad.experiments.methods import ExperimentData
from hipad.experiments.perturbed_rules import falls
from hipad.experiments.report import Section, curve_section
from hipad.experiments.runner import Done, difference, select
from hipad.utils import listed
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment
from ui.state import AppState
from ui.text import in_row_word, plain

NAME: Final = "worth"
USUAL_SIZES: Final = (4, 8, 16, 32, 64)
FIRST_DRAWS: Final = 6
FEWEST_DRAWS: Final = 3  # for an interval


def show(state: AppState, material: ExperimentData) -> None:
    """Choices, then the curves as they grow."""
    assert state.data is not None
    rows = state.data.row_word()
    st.caption(
        f"Models learn from a few {rows} chosen at random: with your rules, without them, and as "
        f"a standard SVM (LIBSVM). They are tested on all other {rows}. This is repeated; the more "
        "repeats, the narrower the intervals."
    )
    possible = sizes_for(material, SIZES)
    draws, sizes = FIRST_DRAWS, [int(n) for n in USUAL_SIZES if n in possible]
    if state.expert:
        left, right = st.columns([1, 3])
        draws = left.number_input(
            "Repeats",
            2,
            200,
            FIRST_DRAWS,
            key="lab_draws_worth",
            help="At each size.",
        )
        sizes = right.multiselect(
            f"Labelled {rows} of each class",
            possible,
            sizes,
            key=f"lab_sizes_{state.version}",
            help="The points of the curves.",
        )
    if len(sizes) < 2:
        st.info("Choose at least two sizes to get a curve.")
        return
    sizes, options = sorted(sizes), experiment_panel.options_of(state)
    experiment_panel.show_experiment(
        state,
        NAME,
        (material.fingerprint, draws, sizes, options),
        lambda: (
            curve_tasks(material, draws=draws, sizes=sizes, options=options),
            {material.name: material},
        ),
        draw,
        title=f"What the rules are worth on {material.name}",
        rows=rows,
    )


def draw(work: Experiment) -> Sequence[Section]:
    """The sentence, a warning where it is due, the curves and their numbers."""
    found, rows = list(work.fits.found), str(work.notes["rows"])
    row = rows.removesuffix("s")
    told = curves([done for done in found if not done.failed])
    whole = whole_draws(found)
    if len(whole) not in work.memo:  # a thousand samples are drawn for it: not at every look
        work.memo.clear()
        work.memo[len(whole)] = worth_so_far(whole)
    worth = work.memo[len(whole)]
    if words := warning(found, rows):
        st.warning(words, icon=":material/warning:")
    if worth is not None:
        box = st.info if not worth.is_clear else st.success if worth.value > 0 else st.warning
        box(plain(in_row_word(str(worth), row), 300), icon=":material/fact_check:")
    elif work.job.is_active:
        st.caption(f"The verdict appears after {FEWEST_DRAWS} repeats.")
    section = curve_section("Learning curves", told, worth)
    chart, text = experiment_panel.learning_chart(told, rows)
    charts.show(chart, key="lab_learning", text=text)
    experiment_panel.section_table(section)
    return [section]


def worth_so_far(found: Sequence[Done]) -> Worth | None:
    """The answer, as soon as there are draws enough for an interval."""
    whole = whole_draws(found)
    if len({done.task.seed for done in whole}) < FEWEST_DRAWS:
        return None
    try:
        return worth_of_rules(whole)
    except DataError:  # draws of which other fits are done, where several workers are busy
        return None


def whole_draws(found: Sequence[Done]) -> list[Done]:
    """The fits of draws of which every fit is there, so that sizes and methods can be compared."""
    fits: dict[int, int] = {}
    for done in found:
        fits[done.task.seed] = fits.get(done.task.seed, 0) + (not done.failed)
    most = max(fits.values(), default=0)
    return [done for done in found if fits[done.task.seed] == most]


def warning(found: Sequence[Done], called: str) -> str:
    """Where the rules cost more than two points, beyond chance; nothing where they do not."""
    sizes = sorted({int(done.setting("rows")["labelled"]) for done in found})
    bad = []
    for n in sizes:
        rows = {"labelled": n}
        gain = difference(
            select(found, method="HIPAD", rows=rows),
            select(found, method="no rules", rows=rows),
            "balanced",
        )
        if falls(gain.value) and gain.high < 0:
            bad.append(f"{2 * n} labelled {called} ({100 * gain.value:.1f} points)")
    if not bad:
        return ""
    return (
        f"The rules reduce accuracy by more than two points with {listed(bad)}. A rule may be "
        "wrong, or a weight that you wrote may be too large: remove the weight, and it is learnt "
        "from the data. **What if a rule is wrong?** shows which rule it is."
    )

"""How much are my rules worth: learning curves, and the answer in labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.report import Section, curve_section
from hipad.experiments.runner import Done, Task, difference, select
from hipad.experiments.sensitivity import (
    SIZES,
    Worth,
    curve_tasks,
    curves,
    falls,
    sizes_for,
    worth_of_rules,
)
from hipad.utils import count, listed
from ui import charts
from ui.experiments import experiment_panel
from ui.experiments.experiments_state import Experiment, Plan
from ui.state import AppState
from ui.text import in_row_word, plain

NAME: Final = "worth"
USUAL_SIZES: Final = (4, 8, 16, 32, 64)
FIRST_DRAWS: Final = 6
FEWEST_DRAWS: Final = 3  # for an interval


def show(state: AppState, data: ExperimentData, *, begins: bool = False) -> None:
    """Choices, then the curves as they grow; `begins` at once where a talk asks for it."""
    assert state.data is not None
    rows = state.data.row_word()
    others = f"training {rows} (the test set is sealed)" if state.data.is_sealed else rows
    st.caption(
        f"Models learn from a few {rows} chosen at random: with your rules, without them, and as "
        f"a standard SVM (LIBSVM). They are tested on all other {others}. This is repeated; the "
        "more repeats, the narrower the intervals."
    )
    possible = sizes_for(data, SIZES)
    draws, sizes = FIRST_DRAWS, usual_sizes(data)
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
    asked, plan = _asked(state, data, draws, sizes)
    title = f"What the rules are worth on {data.name}"
    experiment_panel.show_experiment(
        state, NAME, asked, plan, draw, title=title, begins=begins, rows=rows
    )


def begin(state: AppState) -> None:
    """Start with the usual choices, unless that is done or under way."""
    assert state.data is not None
    data = experiment_panel.everybody(state)
    asked, plan = _asked(state, data, FIRST_DRAWS, usual_sizes(data))
    work = state.lab.at.get(NAME)
    if work is None or work.asked != asked:
        state.lab.begin(NAME, asked, plan, rows=state.data.row_word())


def usual_sizes(data: ExperimentData) -> list[int]:
    """Return the points of the curves where nobody chooses others."""
    possible = sizes_for(data, SIZES)
    return [int(n) for n in USUAL_SIZES if n in possible]


def _asked(
    state: AppState, data: ExperimentData, draws: int, sizes: list[int]
) -> tuple[object, Plan]:
    """Return what is asked for, to see whether it changed, and the plan of its fits."""
    options, sizes = experiment_panel.options_of(state), sorted(sizes)

    def plan() -> tuple[Sequence[Task], Mapping[str, ExperimentData]]:
        tasks = curve_tasks(data, draws=draws, sizes=sizes, options=options)
        return tasks, {data.name: data}

    return (data.fingerprint, draws, sizes, options), plan


def draw(work: Experiment) -> Sequence[Section]:
    """The sentence, a warning where it is due, the curves and their numbers."""
    found, rows = list(work.fits.found), str(work.notes["rows"])
    row = rows.removesuffix("s")
    found_curves = curves([done for done in found if not done.failed])
    whole = whole_draws(found)
    if len(whole) not in work.memo:  # a thousand samples are drawn for it: not at every look
        work.memo.clear()
        work.memo[len(whole)] = worth_so_far(found)
    worth = work.memo[len(whole)]
    if words := warning(found, rows):
        st.warning(words, icon=":material/warning:")
    repeats = len({done.task.seed for done in whole})
    if worth is not None:
        _figure(worth, rows, repeats)
    if worth is not None and repeats >= FEWEST_DRAWS:
        box = st.info if not worth.is_clear else st.success if worth.value > 0 else st.warning
        box(plain(in_row_word(str(worth), row), 300), icon=":material/fact_check:")
    elif work.job.is_active:
        st.caption(f"The verdict appears after {FEWEST_DRAWS} repeats.")
    section = curve_section("Learning curves", found_curves, worth)
    chart, text = experiment_panel.learning_chart(found_curves, rows)
    charts.show(chart, key="lab_learning", text=text)
    experiment_panel.section_table(section)
    return [section]


def _figure(worth: Worth, rows: str, repeats: int) -> None:
    """Draw the worth as the largest thing, which moves while repeats come in."""
    more = "more than " if worth.beyond else ""
    label = "The rules are worth" if worth.value >= 0 else "The rules cost"
    st.metric(
        label,
        f"{more}{abs(worth.value):.0f} {rows}",
        f"after {count(repeats, 'repeat')}",
        delta_color="off",
        delta_arrow="off",
        help=f"So many more labelled {rows} would do as much without the rules, beside "
        f"{worth.labelled}.",
    )


def worth_so_far(found: Sequence[Done]) -> Worth | None:
    """The answer of the draws that are done; there is an interval from `FEWEST_DRAWS` on."""
    if len({done.task.seed for done in found}) < 2:  # the first draw may not be whole
        return None
    whole = whole_draws(found)
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

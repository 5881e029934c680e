"""Label, test patients and the steps of preparation, each with its count and its switch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from hipad.data import facing
from hipad.data.roles import positive_line
from hipad.utils import count
from ui.attempts import attempt
from ui.data import companions, uploading
from ui.data.columns import choose_all, choose_column, choose_positive
from ui.dataset import Dataset, Loaded, Preparation
from ui.fields import SEED, field_of
from ui.state import AppState
from ui.words import listing, plain

GAPS: Final = {
    "median": "fill with the feature's median",
    "mean": "fill with the feature's mean",
    "zero": "fill with zero",
    "drop rows": "leave out patients with gaps",
}
MOST_REMARKS: Final = 10
UNLABELLED_FILE: Final = "unlabelled_file"
TESTS: Final = {"split": "hold some back", "file": "a second file", "none": "no test patients"}


def show(state: AppState) -> None:
    """Draw the choices; whatever changes is prepared at once, or refused with a reason."""
    loaded, data, chosen = state.loaded, state.data, state.preparation
    if loaded is None or data is None or chosen is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        wanted = _label(state, loaded, chosen)
        wanted = _test(state, loaded, wanted)
        wanted = _unlabelled(state, loaded, data, wanted)
    with right:
        st.markdown("**What was done with the table**, and how to undo it")
        wanted = _steps(state, data, wanted)
        for remark in loaded.table.remarks[:MOST_REMARKS]:
            st.caption(f"On reading: {plain(remark, 300)}.")
        if len(loaded.table.remarks) > MOST_REMARKS:
            st.caption(f"And {len(loaded.table.remarks) - MOST_REMARKS:,} more remarks on reading.")
        if state.pending is None:  # a table that waits for its class column is asked for them too
            companions.symbols_file(state)
        companions.more_genes(state)
    if wanted != chosen and attempt(state, lambda: state.prepare(wanted)):
        st.rerun()


def _key(state: AppState, name: str) -> str:
    loaded = state.loaded
    return f"prepare_{name}_{loaded.key if loaded else ''}_{state.returns}"


def _label(state: AppState, loaded: Loaded, chosen: Preparation) -> Preparation:
    label = choose_column(loaded, chosen.label, key=_key(state, "label"))
    assert state.data is not None
    now = chosen.positive if label == chosen.label else None
    now = now or (state.data.classes[1] if label == chosen.label else None)
    automatic = now if chosen.positive is None else ""  # rules may tell another one meanwhile
    key = f"{_key(state, 'positive')}_{automatic}"
    positive = choose_positive(loaded, label, now, key=key)
    if label == chosen.label:
        told = positive_line(state.data.classes, state.data.decided_by)
        st.caption(plain(told[0].upper() + told[1:] + ".", 300))
    if label == chosen.label and chosen.positive is None and positive == state.data.classes[1]:
        positive = None
    everything = choose_all(loaded, label, chosen.all_classes, key=_key(state, "all"))
    return replace(chosen, label=label, positive=positive, all_classes=everything)


def _test(state: AppState, loaded: Loaded, chosen: Preparation) -> Preparation:
    test: Any = st.segmented_control(
        "Patients to test on",
        list(TESTS),
        default=chosen.test,
        required=True,
        format_func=TESTS.__getitem__,
        key=_key(state, "test"),
        help="A model must be judged on patients it has not seen.",
    )
    if test == "split":
        allowed = field_of(Preparation, "test_fraction")
        share = st.slider(
            "Share held back for testing (%)",
            allowed.low,
            allowed.high,
            round(100 * chosen.test_fraction),
            allowed.step,
            key=_key(state, "share"),
            help="Drawn at random from each class.",
        )
        seed = st.number_input(
            "Seed of the draw",
            SEED.low,
            SEED.high,
            chosen.seed,
            key=_key(state, "seed"),
            help="Another seed holds other patients back.",
        )
        return replace(chosen, test="split", test_fraction=share / 100, seed=int(seed))
    if test == "file":
        _test_file(state, loaded, chosen)
        return chosen if loaded.test is None else replace(chosen, test="file")
    return replace(chosen, test=test or chosen.test)


def _test_file(state: AppState, loaded: Loaded, chosen: Preparation) -> None:
    given = loaded.test
    if given is not None:
        shape = f"{count(given.n_rows, 'patient')}, {count(len(given.names), 'column')}"
        if uploading.in_use(
            f"**{plain(loaded.test_name or 'test file')}**: {shape}",
            key="test_remove",
            help="Hold some of the other patients back instead.",
        ):
            without = replace(loaded, test=None, test_name="")
            attempt(state, lambda: state.prepare(replace(chosen, test="split"), without))
            st.rerun()
    uploading.table(
        state,
        "File with test patients" if given is None else "Another file with test patients",
        key="test_file",
        stated=loaded.table.reading.later,
        help="A table with the same columns. Columns it has beside them are left alone.",
        take=lambda table, name: state.prepare(
            replace(chosen, test="file"),
            replace(loaded, test=facing(table, loaded.table.names), test_name=name),
        ),
    )
    if given is None:
        st.caption("Until a file is given, the test patients stay as they were.")


def _unlabelled(state: AppState, loaded: Loaded, data: Dataset, chosen: Preparation) -> Preparation:
    """Patients whose class nobody knows: in the table, or in a file of their own."""
    if data.n_unlabelled or loaded.unlabelled is not None or not chosen.use_unlabelled:
        use = st.toggle(
            "Use patients without a label",
            chosen.use_unlabelled,
            key=_key(state, "use_unlabelled"),
            help="They say where the rules apply and how values spread. No figure is judged by "
            "them.",
        )
        chosen = replace(chosen, use_unlabelled=use)
        _account(data, "use_unlabelled", "")
    given = loaded.unlabelled
    is_open = given is not None or UNLABELLED_FILE in state.readings
    with st.expander("Patients without a label: a second file", expanded=is_open):
        if given is not None and uploading.in_use(
            f"**{plain(loaded.unlabelled_name or 'unlabelled patients')}**: "
            f"{count(given.n_rows, 'patient')}",
            key="unlabelled_remove",
            help="Learn without them.",
        ):
            without = replace(loaded, unlabelled=None, unlabelled_name="")
            attempt(state, lambda: state.prepare(chosen, without))
            st.rerun()
        uploading.table(
            state,
            "File with patients without a label",
            key=UNLABELLED_FILE,
            stated=loaded.table.reading.later,
            help="A table with the same columns; a label column in it is not read.",
            take=lambda table, name: state.prepare(
                replace(chosen, use_unlabelled=True),
                replace(loaded, unlabelled=facing(table, loaded.table.names), unlabelled_name=name),
            ),
        )
        st.caption(
            "Used for what the rules say, never for judging. Test patients are never used so."
        )
    return chosen


def _steps(state: AppState, data: Dataset, chosen: Preparation) -> Preparation:
    changes: dict[str, Any] = {}
    options = list(GAPS)
    changes["missing"] = st.selectbox(
        "Missing values",
        options,
        index=options.index(chosen.missing),
        format_func=GAPS.__getitem__,
        key=_key(state, "missing"),
        help="What is put in place of a gap is learned from the training patients alone.",
    )
    _account(data, "missing")
    for option, label, text in (
        ("one_hot", "Turn text columns into numbers", "One column of 0 and 1 for each level."),
        ("drop_constant", "Leave out constant columns", "They cannot tell patients apart."),
        ("drop_duplicates", "Leave out repeated columns", "Columns equal to an earlier one."),
    ):
        now = getattr(chosen, option)
        changes[option] = st.toggle(label, now, key=_key(state, option), help=text)
        _account(data, option)
    _account(data, "label", "")
    _account(data, "positive", "")
    return replace(chosen, **changes)


def _account(data: Dataset, option: str, nothing: str = "Nothing found.") -> None:
    """What the steps of this option did, each with its count."""
    steps = [step for step in data.steps if step.option == option]
    for step in steps:
        names = f" ({listing(list(step.names))})" if step.names else ""
        st.caption(f"{plain(step.what, 120)}: **{step.count:,}**{names}")
    if not steps and nothing:
        st.caption(nothing)

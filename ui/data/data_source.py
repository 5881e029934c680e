"""The choice of data: samples, a file of one's own, and the first screen."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from hipad.data import FORMATS, Table
from hipad.data.file_format import FOUND_OUT
from hipad.datasets import DrawSize
from hipad.exceptions import DataError
from hipad.utils import count, percent
from ui import charts
from ui.data import file_format_view, upload
from ui.data.loading import LoadingJob, first_preparation
from ui.data.preparation import choose_all, choose_column, choose_positive
from ui.data.samples import CARDS, NOISE, SIZES, Card
from ui.dataset import Loaded, Preparation
from ui.session.saved_session import restore
from ui.state import AppState, attempt
from ui.text import plain

LIKELY_CLASSES: Final = 20  # a column of more values is asked about as something that went wrong


def show(state: AppState) -> None:
    """A place to drop a file, and cards for the samples beside it."""
    if state.pending is not None:  # above the place of the file: there it is in view
        _pending(state, state.pending)
    own, samples = st.columns([2, 3], gap="large")
    with own:
        st.markdown("**Your own data**")
        with st.container(border=True, key="own_data"):
            _own_table(state)
    with samples:
        st.markdown("**Or a sample**, each with its rules")
        for pair in zip(CARDS[::2], CARDS[1::2], strict=True):
            for column, card in zip(st.columns(2), pair, strict=True):
                with column, st.container(border=True, height="stretch"):
                    _card(state, card)


def _own_table(state: AppState) -> None:
    loaded = state.loaded
    if loaded is not None and not loaded.sample and _is_removed(loaded):
        state.unload()
        st.rerun()
    upload.table(
        state,
        "Upload a table",
        key="upload_table",
        help="",
        take=lambda table, name: take_table(state, table, name),
    )
    st.markdown(
        "- One row per patient (customer, part, sample ...), or one row per gene.\n"
        "- One column says which of two or more classes a row belongs to, such as *sick* and "
        "*well*.\n"
        "- Decimal commas, gaps and several rows per patient are understood; you can check and "
        "change how the file was read.\n"
        "- The file stays on this computer."
    )
    st.caption(f"File formats: {', '.join(FORMATS)}.")


def _card(state: AppState, card: Card) -> None:
    st.markdown(f"{card.icon} **{card.title}**")
    st.caption(card.text)
    if card.size is not None:
        _size(card, card.size)
    st.button(
        "Load and run",
        key=f"show_{card.key}",
        icon=":material/play_arrow:",
        width="stretch",
        on_click=begin,
        args=(state, card),
        kwargs={"runs": True},
        help="Load this sample with its rules, fit a model at once and show the result.",
    )
    st.button(
        "Load",
        key=f"sample_{card.key}",
        width="stretch",
        on_click=begin,
        args=(state, card),
        help="Load this sample with its blocks and rules, and look around first.",
    )


def begin(state: AppState, card: Card, *, runs: bool = False) -> None:
    """Start to load a sample as its controls stand now; the frame of every page waits for it."""
    make = partial(card.load, **_chosen_size(card))
    state.begin_load(LoadingJob(card.title, make, runs=runs))


def _size(card: Card, usual: DrawSize) -> None:
    """Draw the controls of a synthetic sample."""

    def number(name: str, label: str, now: int, text: str) -> None:
        low, high = SIZES[name].low, SIZES[name].high
        st.number_input(label, low, high, now, key=_size_key(card, name), help=text)

    with st.popover("Size, seed, noise", width="stretch", help="Generate another data set."):
        number("n_train", "Training samples", usual.n_train, "The model learns from these.")
        number("n_test", "Test samples", usual.n_test, "The model is judged on these.")
        number("n_features", "Features", usual.n_features, "All columns together.")
        number("block_size", "Block size", usual.block_size, "Features in each of the four blocks.")
        number("seed", "Random seed", 0, "Another seed gives other samples.")
        st.slider(
            "Noise (% of entries)",
            NOISE.low,
            NOISE.high,
            (round(100 * usual.noise[0]), round(100 * usual.noise[1])),
            key=_size_key(card, "noise"),
            help="In each sample, this share of the features that do not matter is not zero (a "
            "random value between the two ends).",
        )


def _size_key(card: Card, name: str) -> str:
    return f"{card.key}_{name}"


def _chosen_size(card: Card) -> dict[str, Any]:
    """The size of a draw as its controls stand, those among them that are drawn."""
    if card.size is None:
        return {}
    known = {name: st.session_state.get(_size_key(card, name)) for name in (*SIZES, "noise")}
    chosen: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    if "noise" in chosen:
        low, high = chosen["noise"]
        chosen["noise"] = (low / 100, high / 100)
    return chosen


def _is_removed(loaded: Loaded) -> bool:
    return upload.in_use(
        f"**{plain(loaded.name)}**: {shape_words(loaded.table)}",
        key="upload_remove",
        help="Remove this file and its rules. You can switch back to a run and to kept models.",
    )


def shape_words(table: Table) -> str:
    """How much a file holds, and what it is."""
    features = len(table.number_names)
    return f"{count(table.n_rows, 'row')}, {count(features, 'feature')} ({plain(table.format)})"


def take_table(state: AppState, table: Table, name: str) -> None:
    """Use a table; when something is not clear, keep it until the user has said."""
    loaded = upload.loaded_of(name, table)
    if _is_read_again(state, loaded):
        return
    try:
        if state.awaiting is not None and state.awaiting.data_key == loaded.key:
            restore(state, state.awaiting, loaded)
        elif upload.is_open(table) or _has_several_classes(loaded):
            state.pending = loaded
            st.toast(f"{plain(name)} was read. Please answer a question about it.")
        else:
            state.load(loaded)
    except DataError:
        state.pending = loaded
        raise


def _has_several_classes(loaded: Loaded) -> bool:
    """Whether the likely label has three classes or more, which of them is then to be said."""
    label = first_preparation(loaded).label
    if label not in loaded.table.names:
        return False
    often = list(loaded.frequency(label).values())
    return 2 < len(often) <= LIKELY_CLASSES and 2 * len(often) <= sum(often)


def _is_read_again(state: AppState, loaded: Loaded) -> bool:
    """Whether a file is read in the way that was stated before it came, by hand or a session."""
    table, waiting = loaded.table, state.awaiting
    sha256, stated, turn = state.stated or ("", FOUND_OUT, "auto")
    if waiting is not None and waiting.data_key == loaded.key:
        sha256, stated, turn = table.sha256, waiting.file_format, "auto"
    wanted = sha256 == table.sha256 and (stated != table.reading.stated or turn != "auto")
    if not wanted or (state.stated is None and stated == table.reading.stated):
        return False
    state.stated = None
    if table.sha256 not in state.sources:
        return False
    state.pending = loaded
    file_format_view.begin(state, loaded, stated, turn)
    return True


def _pending(state: AppState, loaded: Loaded) -> None:
    """Ask what is not clear about a table that was read: how it lies, and what its label is."""
    with st.container(border=True, key="pending_box"):
        table = loaded.table
        st.markdown(f"**{plain(loaded.name)}** was read: {shape_words(table)}.")
        file_format_view.show(state, loaded)
        upload.ask_turn(state, loaded)
        label, positive, everything = _ask_label(loaded)
        upload.labels_file(state)
        upload.symbols_file(state)
        with st.container(horizontal=True):
            use = st.button(
                "Use this table",
                type="primary",
                key="pending_use",
                disabled=label is None,
                help="Work with this table from now on.",
            )
            discard = st.button(
                "Discard it", key="pending_discard", help="Go on with the data from before."
            )
        if use and label is not None:
            if attempt(state, lambda: _use(state, loaded, label, positive, everything)):
                st.rerun()
            st.error(plain(state.error, 600))
            state.error = ""
        if discard:
            state.pending, state.error = None, ""
            for key in upload.UPLOADERS:
                upload.forget(state, key)
            st.rerun()


def _use(
    state: AppState, loaded: Loaded, label: str, positive: str | None, everything: bool
) -> None:
    """Take the table that was asked about, or take up the session that waits for it."""
    if state.awaiting is not None and state.awaiting.data_key == loaded.key:
        restore(state, state.awaiting, loaded)
    else:
        state.load(loaded, Preparation(label=label, positive=positive, all_classes=everything))


def _ask_label(loaded: Loaded) -> tuple[str | None, str | None, bool]:
    """The label, the positive class, whether all are told apart; none where there are none."""
    if upload.lacks_classes(loaded.table):
        st.info("This file has no column of classes. Upload a second file with them below.")
        return None, None, False
    st.markdown("Which column should the model predict?")
    key = f"pending_{loaded.table.turned}" if loaded.table.turned else "pending"
    label = choose_column(loaded, first_preparation(loaded).label, key=key)
    positive = choose_positive(loaded, label, None, key=key)
    return label, positive, choose_all(loaded, label, True, key=key)


# --------------------------------------------------------------------------------------------------
# The first screen.

PROMISE: Final = "Write what you know. One rule can replace dozens of labelled patients."
SAMPLE: Final = "all-bcrabl"
RULES: Final = 'mean(ABL1) >= 9.5  =>  "BCR/ABL"\nmean(ABL1) <= 8    =>  NEG'
# Right answers on the other patients after learning from 16, as benchmarks/README.md has them; a
# test holds the two together.
GAINS: Final = {
    "no rules": ("HIPAD without rules", 0.711),
    "no rules, usual SVM": ("LIBSVM", 0.704),
    "with the 2 rules": ("HIPAD with rules", 0.837),
}


def show_welcome(state: AppState, *, primary: bool) -> None:
    """The promise, an example and its gain; `primary` where nothing else is more likely wanted."""
    st.subheader(PROMISE, anchor=False)
    words, picture = st.columns([1, 1], gap="large", vertical_alignment="center")
    with words:
        st.markdown(
            "Example: which leukaemias carry the BCR/ABL fusion gene? There are 12,625 gene "
            "probes, but only a few patients to learn from. An expert knows that the three probes "
            "of the gene ABL1 are raised:"
        )
        st.code(RULES, language=None)
        st.button(
            "See it work",
            key="first_example",
            type="primary" if primary else "secondary",
            icon=":material/play_arrow:",
            on_click=begin,
            args=(state, next(card for card in CARDS if card.key == SAMPLE)),
            kwargs={"runs": True},
            help="Loads this sample with its two rules, fits a model at once and shows the result.",
        )
    with picture:
        chart, text = gain()
        charts.show(chart, key="first_gain", text=text)


def _whole(share: float) -> str:
    """A share as whole percents, a half rounded up."""
    return percent(share + 1e-9, 0)


def gain() -> tuple[go.Figure, str]:
    """Right answers with and without the rules."""
    chart = charts.figure("Right answers after learning from 16 patients", x="", y="", height=190)
    names, shares = list(GAINS), [share for _, share in GAINS.values()]
    shown = [charts.rest_colour(), charts.rest_colour(), charts.current_colour()]
    chart.add_bar(
        x=shares,
        y=names,
        orientation="h",
        marker_color=shown,
        text=[_whole(share) for share in shares],
        textposition="inside",
        insidetextfont={"size": 16, "color": charts.theme_option("backgroundColor")},
    )
    chart.update_layout(margin_t=34, bargap=0.15)  # there is no legend that needs room
    chart.update_yaxes(autorange="reversed", tickfont_size=14)
    chart.update_xaxes(range=[0.5, 0.92], tickvals=[0.5, 0.6, 0.7, 0.8, 0.9])
    chart.update_xaxes(
        ticktext=["50 %", "60 %", "70 %", "80 %", "90 %"],
        title="right answers on the other 63 patients",
    )
    without, _, with_rules = (_whole(share) for share in shares)
    return chart, (
        f"Two rules raise the share of right answers (accuracy) from {without} to {with_rules}: "
        "the average over repeated random choices of 16 training patients."
    )

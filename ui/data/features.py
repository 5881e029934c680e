"""The data seen as one row per feature, and what they are like as a whole."""

from __future__ import annotations

from typing import Final, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.utils import count, percent
from ui import charts, colours
from ui.dataset import Dataset, Loaded
from ui.words import plain

MOST_ROWS: Final = 200
ORDERS: Final = {
    "as in the file": None,
    "largest spread": "sd",
    "most missing": "missing",
    "largest mean": "mean",
}


def overview(loaded: Loaded, data: Dataset) -> None:
    """What was loaded, in figures and a picture of the classes."""
    gaps = sum(loaded.missing.values())
    figures, picture = st.columns([3, 2], gap="large")
    with figures:
        st.markdown(f"#### {plain(data.name)}")
        with st.container(horizontal=True, gap="medium"):
            for label, value, text in (
                (*_size(data, "To learn from", "train"), "Patients the model is trained on."),
                (*_size(data, "To test on", "test"), "Patients the model does not see."),
                *(
                    [("Without a label", f"{data.n_unlabelled:,}", "Used for what the rules say.")]
                    if data.n_unlabelled
                    else []
                ),
                ("Features", f"{data.n_features:,}", "Columns the model may use."),
                ("Gaps", f"{gaps:,}", "Missing values among the numbers of the table."),
            ):
                st.metric(label, value, help=text, width="content")
        if loaded.about:
            st.caption(plain(loaded.about, 2_000))
    with picture:
        chart, text = class_balance(data)
        charts.show(chart, key="class_balance", text=text)


def _size(data: Dataset, label: str, part: Literal["train", "test"]) -> tuple[str, str]:
    """The patients of a part; where these have several rows, their number as well."""
    rows, _, patients = data.whom(part).rpartition(" of ")
    return f"{label} ({rows})" if rows else label, patients.split()[0]


def class_balance(data: Dataset) -> tuple[go.Figure, str]:
    """Patients of each class, to learn from and to test on."""
    rows = "patients" if data.groups is None else "rows"
    chart = charts.figure("Class balance", x=rows, y="", height=220)
    parts = {"train": "to learn from", "test": "to test on"}
    for which, name in enumerate(data.classes):
        chart.add_bar(
            x=[data.counts(part)[name] for part in parts],  # type: ignore[arg-type]
            y=list(parts.values()),
            orientation="h",
            name=charts.label(name),
            marker_color=colours.of_class(which),
        )
    chart.update_layout(barmode="stack")
    chart.update_yaxes(autorange="reversed")
    train = data.counts("train")
    share = train[data.classes[1]] / max(sum(train.values()), 1)
    return chart, (
        f"{percent(share, 0)} of the {rows} to learn from are of the positive class, "
        f"{plain(data.classes[1])}."
    )


def table(loaded: Loaded, data: Dataset) -> None:
    """A search box and the features it finds, at most MOST_ROWS of them."""
    box, block, order = st.columns([3, 2, 2])
    wanted = box.text_input(
        "Search features", key="feature_search", help="A part of the name, whatever its case."
    )
    blocks = ["all features", *list(data.blocks)[:200]]
    of_block = block.selectbox("Block", blocks, key="feature_block", help="Show one block only.")
    by = order.selectbox("Order", list(ORDERS), key="feature_order", help="Which come first.")
    found = find_features(data, wanted, of_block if of_block in data.blocks else "", ORDERS[by])
    shown = found.head(MOST_ROWS)
    st.dataframe(
        shown,
        hide_index=True,
        height=360,
        key="feature_table",
        alt="Features",
        column_config={
            name: st.column_config.NumberColumn(format="%.4g")
            for name in ("mean", "sd", "min", "max")
        },
    )
    st.caption(
        f"{count(len(shown), 'feature')} shown of {len(found):,} found and {data.n_features:,} in "
        "all. Mean, spread (sd) and range are of the patients to learn from."
    )
    if loaded.missing:
        chart, text = missing_values(loaded)
        charts.show(chart, key="missing_values", text=text)


def find_features(data: Dataset, wanted: str, block: str, by: str | None) -> pd.DataFrame:
    """The rows of the summary that a search finds, in order."""
    found = data.summary
    if block:
        found = found.iloc[data.blocks[block]]
    if wanted.strip():
        has = found["feature"].str.contains(wanted.strip(), case=False, regex=False)
        found = found[has]
    return found if by is None else found.sort_values(by, ascending=False, kind="stable")


def missing_values(loaded: Loaded) -> tuple[go.Figure, str]:
    """The features with most gaps."""
    rows = loaded.table.n_rows
    worst = sorted(loaded.missing.items(), key=lambda pair: -pair[1])[:20]
    chart = charts.figure(
        "Missing values", x="patients without a value", y="", height=90 + 22 * len(worst)
    )
    chart.add_bar(
        x=[n for _, n in worst],
        y=list(range(len(worst))),
        orientation="h",
        marker_color=colours.rest(),
        name="missing",
    )
    charts.name_rows(chart, [name for name, _ in worst])
    name, n = worst[0]
    return chart, (
        f"{count(len(loaded.missing), 'feature')} with gaps; most in {plain(name)}: "
        f"{n:,} of {rows:,} ({percent(n / rows, 0)})."
    )

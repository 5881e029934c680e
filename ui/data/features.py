"""Features on the Data page: an overview, and blocks, named or suggested."""

from __future__ import annotations

import json
from itertools import count as numbers
from typing import Final, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from hipad.exceptions import DataError, HipadError
from hipad.rules import block_overlaps, read_blocks, suggest_blocks
from hipad.rules.names import block_members, block_name, define_columns
from hipad.utils import count, percent
from ui import charts
from ui.data import upload
from ui.dataset import Dataset, Loaded
from ui.state import AppState, attempt
from ui.text import listing, plain

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
                (*_size(data, "train"), "The model learns from these."),
                (*_size(data, "test"), "The model is judged on these; it never sees them before."),
                *(
                    [
                        (
                            "Without a label",
                            f"{data.n_unlabelled:,}",
                            "They show where the rules apply; no result is measured on them.",
                        )
                    ]
                    if data.n_unlabelled
                    else []
                ),
                ("Features", f"{data.n_features:,}", "Columns the model may use."),
                ("Missing values", f"{gaps:,}", "Empty cells among the numbers of the table."),
            ):
                st.metric(label, value, help=text, width="content")
        if loaded.about:
            st.caption(plain(loaded.about, 2_000))
    with picture:
        chart, text = class_balance(data)
        charts.show(chart, key="class_balance", text=text)


def _size(data: Dataset, part: Literal["train", "test"]) -> tuple[str, str]:
    """How many a part has; where several rows belong to one, the number of rows as well."""
    label = f"{'Training' if part == 'train' else 'Test'} {data.row_word()}"
    rows, _, patients = data.whom(part).rpartition(" of ")
    return f"{label} ({rows})" if rows else label, patients.split()[0]


def class_balance(data: Dataset) -> tuple[go.Figure, str]:
    """How many rows of each class there are to learn from and to test on."""
    rows = data.row_word() if data.groups is None else "rows"
    chart = charts.figure("Classes", x=rows, y="", height=220)
    parts = {"train": "training", "test": "test"}
    for which, name in enumerate(data.classes):
        chart.add_bar(
            x=[data.counts(part)[name] for part in parts],  # type: ignore[arg-type]
            y=list(parts.values()),
            orientation="h",
            name=charts.label(name),
            marker_color=charts.class_colour(which),
        )
    chart.update_layout(barmode="stack", legend_traceorder="normal")
    chart.update_yaxes(autorange="reversed")
    train = data.counts("train")
    share = train[data.classes[1]] / max(sum(train.values()), 1)
    text = "Half" if share == 0.5 else percent(share, 0)
    positive = plain(data.classes[1])
    positive += "" if data.classes[1] == "positive" else " (the positive class)"
    return chart, f"{text} of the training {rows} are {positive}."


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
        f"all. Mean, standard deviation (sd) and range of the training {data.row_word()}."
    )
    if loaded.missing:
        chart, text = missing_values(loaded, data.row_word() if data.groups is None else "rows")
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


def missing_values(loaded: Loaded, called: str) -> tuple[go.Figure, str]:
    """The features with most gaps, in rows as they are called."""
    rows = loaded.table.n_rows
    worst = sorted(loaded.missing.items(), key=lambda pair: -pair[1])[:20]
    chart = charts.figure(
        "Missing values", x=f"{called} without a value", y="", height=130 + 22 * len(worst)
    )
    chart.add_bar(
        x=[n for _, n in worst],
        y=list(range(len(worst))),
        orientation="h",
        marker_color=charts.rest_colour(),
        name="missing",
    )
    charts.name_rows(chart, [name for name, _ in worst])
    name, n = worst[0]
    return chart, (
        f"{count(len(loaded.missing), 'feature')} with missing values; most in {plain(name)}: "
        f"{n:,} of {rows:,} ({percent(n / rows, 0)})."
    )


# --------------------------------------------------------------------------------------------------
# Blocks by range, pattern, list or file.

LARGEST: Final = 20 * 2**20  # bytes of a file with blocks
MOST_COMPARED: Final = 300  # blocks that are compared with each other
MOST_PAIRS: Final = 5  # of overlapping blocks that are told


def show_blocks(state: AppState) -> None:
    """Draw the blocks there are, and the ways to name another."""
    data = state.data
    if data is None:
        return
    st.caption(
        "A block is a named group of features. Rules can use it as a whole: mean(K1), sum(K1)."
    )
    if state.blocks:
        rows = [
            {
                "block": name,
                "features": len(data.blocks.get(name, ())),
                "definition": ", ".join(definition[:200].splitlines()),
                "remark": data.blocks_failed.get(name, ""),
            }
            for name, definition in list(state.blocks.items())[:200]
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Blocks", key="blocks_table")
        _overlaps(state, data)
    else:
        st.info("No block yet. Name one below, for example all features of one gene.")
    left, right = st.columns(2, gap="large")
    with left:
        _add(state, data)
    with right:
        upload.small_file(
            state,
            "Blocks from a file",
            key="blocks_file",
            most_bytes=LARGEST,
            help='Lines such as "ABL1 = 1636_g_at, 39730_at", JSON {"ABL1": ["1636_g_at"]}, '
            "or gene sets (GMT).",
            take=lambda content, _: _take(state, data, content),
        )
        if state.blocks:
            st.download_button(
                "Save the blocks",
                json.dumps(_lists(data), indent=1, ensure_ascii=False),
                "blocks.json",
                "application/json",
                icon=":material/download:",
                on_click="ignore",
                help="All blocks with their features, as a file that you can load again.",
            )
        show_suggestions(state, data)
        _remove(state)


def _overlaps(state: AppState, data: Dataset) -> None:
    """Which blocks share features: a weight on these counts in the rules of both."""
    if len(data.blocks) > MOST_COMPARED:
        return
    pairs = state.remember("overlaps", data, lambda: block_overlaps(data.blocks))
    if pairs:
        words = [
            f"{plain(a)} and {plain(b)} ({count(len(shared), 'feature')})"
            for a, b, shared in pairs[:MOST_PAIRS]
        ]
        more = f" and {len(pairs) - MOST_PAIRS:,} more pairs" if len(pairs) > MOST_PAIRS else ""
        st.caption(f"Blocks that share features: {', '.join(words)}{more}.")


def _add(state: AppState, data: Dataset) -> None:
    with st.form("block_form", clear_on_submit=False):
        name = st.text_input("Name of the block", key="block_name", help="Used in rules.")
        definition = st.text_area(
            "Its features",
            key="block_definition",
            height=100,
            placeholder="x101:x150\nGENE_*\n/^p-3[0-9]/\nGlucose, BMI",
            help="Names, a range first:last, a pattern with * and ?, or a regular expression "
            "between slashes. Separate several by commas or new lines. Put a name in backticks "
            "if it contains a comma, a colon or a star.",
        )
        added = st.form_submit_button("Name this block", icon=":material/add:")
    if added:
        if attempt(state, lambda: _name(state, data, name, definition)):
            st.rerun()
        st.error(plain(state.error, 600))
        state.error = ""
    elif definition.strip():
        _preview(data, definition)


def _name(state: AppState, data: Dataset, name: str, definition: str) -> None:
    name = block_name(name)
    block_members(definition, data.every)
    state.set_blocks({**state.blocks, name: definition.strip()})


def _preview(data: Dataset, definition: str) -> None:
    try:
        members = block_members(definition, data.every)
    except HipadError as error:
        st.caption(plain(error, 600))
        return
    names = [data.every.name(int(j)) for j in members[:5]]
    more = f" and {len(members) - 5:,} more" if len(members) > 5 else ""
    st.caption(f"{count(len(members), 'feature')}: {listing(names)}{more}")


def _take(state: AppState, data: Dataset, content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("expected a text file with blocks, got something else") from error
    found = read_blocks(text, data.every)
    state.set_blocks({**state.blocks, **found.definitions})
    state.notice = ". ".join(found.remarks)


def _lists(data: Dataset) -> dict[str, list[str]]:
    blocks, name = data.blocks, data.index.name
    return {block: [name(int(j)) for j in columns] for block, columns in blocks.items()}


def _remove(state: AppState) -> None:
    if not state.blocks:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Remove a block",
            list(state.blocks)[:200],
            index=None,
            placeholder="choose one",
            key="block_removed",
            help="Its features stay. Rules that use the block will show an error.",
        )
        if st.button("Remove", disabled=name is None, key="block_remove", help="Remove the block."):
            state.set_blocks({other: d for other, d in state.blocks.items() if other != name})
            st.rerun()


# --------------------------------------------------------------------------------------------------
# Suggested blocks: features that rise and fall together, shown before use.

MOST_SHOWN: Final = 30
KEY: Final = "suggested blocks"


def show_suggestions(state: AppState, data: Dataset) -> None:
    """The button, then what was found, then the button that takes it."""
    asked = st.button(
        "Suggest blocks",
        icon=":material/lightbulb:",
        key="blocks_suggest",
        help="Looks for features that rise and fall together (correlated) in the training data.",
    )
    known, found = state.memo.get(KEY, (None, {}))
    if asked:
        with st.spinner("Comparing features"):
            found = suggestions(state, data)
        state.memo[KEY] = (data.X_train, found)
    elif known is not data.X_train:
        return
    if not found:
        st.caption("No group of three or more features clearly rises and falls together.")
        return
    _preview_suggestion(data, found)
    chosen = st.multiselect(
        "Blocks to add",
        list(found),
        list(found),
        key=f"blocks_suggested_{len(state.blocks)}",
        help="Remove those that make no sense to you; you can remove a block later, too.",
    )
    if st.button("Add these", key="blocks_take", disabled=not chosen, help="Adds the blocks."):
        state.set_blocks({**state.blocks, **{name: found[name] for name in chosen}})
        state.memo.pop(KEY, None)
        st.rerun()


def suggestions(state: AppState, data: Dataset) -> dict[str, str]:
    """Definitions of the largest groups, under names that nothing else has."""
    groups = sorted(suggest_blocks(data.X_train).values(), key=len, reverse=True)[:MOST_SHOWN]
    names = (f"B{n}" for n in numbers(1))
    free = (n for n in names if n not in state.blocks and data.every.position(n) is None)
    return {
        name: define_columns(data.kept[columns], data.every)
        for name, columns in zip(free, groups, strict=False)
    }


def _preview_suggestion(data: Dataset, found: dict[str, str]) -> None:
    bare = data.with_blocks(found)
    rows = [
        {"block": name, "features": len(bare.blocks[name]), "such as": definition[:120]}
        for name, definition in found.items()
    ]
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Suggested blocks", key="blocks_suggestions"
    )
    st.caption(f"{count(len(found), 'group')} of features that rise and fall together.")

"""Pick a column or a class without a list of 50,000 options."""

from __future__ import annotations

from typing import Final

import streamlit as st

from hipad.data.roles import likely_positive
from ui.dataset import MOST_CLASSES, Loaded

MOST_OPTIONS: Final = 50


def choose_column(loaded: Loaded, now: str, *, key: str) -> str:
    """The label column: from a list where there are few, by search where there are many."""
    names = list(loaded.table.about or loaded.table.names)
    if now not in names:
        names.append(now)
    if len(names) > MOST_OPTIONS:
        wanted = st.text_input(
            "Search the label column",
            key=f"{key}_search",
            placeholder="part of a column's name",
            help="There are too many columns for a list: type a part of the name.",
        )
        names = search(names, wanted)
        names = [now, *(name for name in names if name != now)]
    return st.selectbox(
        "What is to be predicted? (label column)",
        names,
        index=names.index(now),
        key=f"{key}_label",
        help="The column that holds the class of each patient.",
    )


def choose_positive(loaded: Loaded, label: str, now: str | None, *, key: str) -> str | None:
    """The positive class, or None where the column has no usable classes."""
    frequency = loaded.frequency(label)
    labels = list(frequency)
    if not 2 <= len(labels) <= MOST_CLASSES:
        st.caption(f"This column has {len(labels):,} different values: it cannot be a label.")
        return None
    return st.selectbox(
        "Which class is positive?",
        labels,
        index=labels.index(now if now in labels else likely_positive(frequency)[0]),
        key=f"{key}_positive_{label}",
        help="The class that is looked for; all others together are the negative one.",
    )


def choose_all(loaded: Loaded, label: str, now: bool, *, key: str) -> bool:
    """Whether all classes are told apart; asked where there are three or more."""
    n_classes = len(loaded.frequency(label))
    if not 2 < n_classes <= MOST_CLASSES:
        return False
    return st.toggle(
        f"Tell all {n_classes} classes apart",
        now,
        key=f"{key}_all_{label}",
        help="On: the Run page fits a model of each class against all others, and a rule speaks of "
        "the class that it names. Off: it tells the positive class from all others together. The "
        "other pages look at the positive class either way.",
    )


def search(names: list[str], wanted: str, most: int = MOST_OPTIONS) -> list[str]:
    """The first names that contain a text, whatever its case."""
    wanted = wanted.strip().lower()
    found = (name for name in names if wanted in name.lower())
    return [name for name, _ in zip(found, range(most), strict=False)]

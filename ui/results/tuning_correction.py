"""The cross-validated figure, corrected for the number of versions that were tried."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.tuning import CorrectedFigure, corrected_figure
from hipad.exceptions import DataError
from hipad.utils import FloatArray, percent
from ui.models import TrainedModel
from ui.state import AppState

VERSIONS: Final = "results_versions"
METRIC: Final = "balanced_accuracy"


def note(state: AppState, model: TrainedModel, found: Assessment) -> None:
    """Keep the out-of-fold scores of a version of rules and settings, each version once."""
    if found.source == "cross-validated":
        versions(state)[_key(model)] = found.rows.scores


def versions(state: AppState) -> dict[Any, FloatArray]:
    """Return the scores of the versions that were judged on the present training rows."""
    kept: dict[Any, FloatArray] = state.remember(VERSIONS, None, dict)
    return kept


def _key(model: TrainedModel) -> Any:
    return model.rules, tuple(sorted(model.blocks.items())), model.own_settings


def corrected(tried: list[FloatArray], rows: ScoredRows) -> CorrectedFigure | None:
    """Return the figure of the best version, corrected for the choice; None where it has none."""
    try:
        return corrected_figure(np.column_stack(tried), rows.positive, METRIC, groups=rows.groups)
    except DataError:  # too few patients of a class to draw from
        return None


def show(state: AppState, model: TrainedModel, found: Assessment) -> None:
    """Draw the corrected figure; only of training rows, since the test set is not tuned by."""
    if found.source != "cross-validated":
        return
    tried = versions(state)
    if len(tried) > 1:
        figure = state.remember(
            "results_corrected",
            (found, len(tried)),
            lambda: corrected(list(tried.values()), found.rows),
        )
        if figure is not None:
            st.markdown(sentence(figure, found.noun, expert=state.expert))
    unjudged = state.edits - len(tried)
    if unjudged > 0:
        st.caption(
            f"{state.edits:,} versions of rules and settings were run, {len(tried):,} of them are "
            "cross-validated on this page. Whoever chose among the others by what they showed "
            "makes every figure here too good; that cannot be corrected."
        )


def sentence(figure: CorrectedFigure, noun: str, *, expert: bool) -> str:
    """Say what the best version would do on fresh patients; experts see the uncorrected figure."""
    told = figure.corrected
    words = (
        f"Corrected for the choice among {figure.versions:,} versions: **balanced accuracy "
        f"{percent(told.value)}** ({percent(told.low)} to {percent(told.high)}) is what to expect "
        f"of the best of them on new {noun}s."
    )
    return f"{words} Uncorrected: {percent(figure.uncorrected)}." if expert else words

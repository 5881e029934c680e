"""The cross-validated figure, corrected for the number of versions that were tried."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.cross_validation import CorrectedFigure, corrected_figure
from hipad.evaluation.metrics import ScoredRows
from hipad.exceptions import DataError
from hipad.utils import FloatArray, count, percent
from ui.dataset import Dataset
from ui.models import Request, TrainedModel
from ui.results import chance
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


def show(state: AppState, model: TrainedModel, data: Dataset, found: Assessment) -> None:
    """Draw the corrected figure; only of training rows, since the test set is not tuned by."""
    if found.source != "cross-validated":
        return
    tried = versions(state)
    best: float | None = found.rows.at(None).measure(METRIC).value
    if len(tried) > 1:
        figure = state.remember(
            "results_corrected",
            (found, len(tried)),
            lambda: corrected(list(tried.values()), found.rows),
        )
        best = None if figure is None else figure.corrected.value
        if figure is not None:
            text = sentence(figure, found.noun, expert=state.expert)
            if model.oriented.threshold is not None:
                text += " These are answers above score 0, without the cut-off that is kept."
            st.markdown(text)
    unjudged = state.edits - len(tried)
    if unjudged > 0:
        st.caption(
            f"{count(state.edits, 'version')} of rules and settings were run, "
            f"{len(tried):,} of them cross-validated on this page. Whoever chose among the others "
            "by what they showed makes every figure here too good; that cannot be corrected."
        )
    asked = [Request(data, rules, dict(blocks), own) for rules, blocks, own in tried]
    chance.show(state, asked, found, best)


def sentence(figure: CorrectedFigure, noun: str, *, expert: bool) -> str:
    """Say what the best version would do on fresh patients; experts see the uncorrected figure."""
    corrected = figure.corrected
    words = (
        f"Corrected for the choice among {figure.versions:,} versions: **balanced accuracy "
        f"{percent(corrected.value)}** ({percent(corrected.low)} to {percent(corrected.high)}) "
        f"is what to expect of the best of them on new {noun}s."
    )
    return f"{words} Uncorrected: {percent(figure.uncorrected)}." if expert else words

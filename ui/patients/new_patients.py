"""Answers of a model that is there for the patients of another file, without a fit.

Columns are found by their names; only those that have a weight are needed. What is unusual about
the new rows is named: values beyond all training values, levels that training has not seen, columns
that are distributed otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st
from scipy import sparse

from hipad.data import Table, facing, to_csv
from hipad.data.roles import labels_of, later_row_ids, row_groups
from hipad.evaluation.metrics import ScoredRows
from hipad.evaluation.new_rows import (
    OutOfRange,
    ShiftedColumn,
    align_columns,
    out_of_range,
    recalibrated,
    shifted_columns,
)
from hipad.exceptions import DataError
from hipad.utils import FloatArray, IntArray, count, number, one_line, percent, some
from ui.data import upload
from ui.dataset import Dataset
from ui.models import TrainedModel, model_file
from ui.patients.patient_list import MOST_ROWS
from ui.results.seal import seal_of
from ui.state import AppState, attempt
from ui.text import listing, plain

TABLE: Final = "new_patients_table"
ANSWERS: Final = "new_patients_answers"
FIGURES: Final = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "roc_auc": "ROC AUC",
    "observed_expected": "Observed / expected",
}
MOST_NAMED: Final = 5  # features in each list of what is unusual
KNOWN_SHARE: Final = 0.5  # of the rows: a file of which more are known is the one that was loaded


@dataclass(frozen=True, eq=False)
class NewAnswers:
    """What a model says of the rows of a table, and what is unusual about these.

    Attributes
    ----------
    X : array
        The rows in the columns of the model; those without a weight are zero.
    rows : array of int
        Rows of the table, counted from zero; those with a gap that cannot be filled are left out.
    names : tuple of str
        What each is called: its ID or its number.
    answers, cutoff : list of str, str
        The class that is the answer, and from where on it is the positive one.
    truth : array or None
        Its class where the table has it, else "".
    unneeded, unknown : tuple of str
        Columns of the training table that are not there and not needed, and new columns.
    levels : dict
        Values of text columns that training has not seen.
    beyond, shifted : tuples
        Columns with values outside the training range, and those distributed otherwise.
    known : float
        The share of the rows that the loaded data have as well.
    """

    X: Any
    rows: IntArray
    total: int
    names: tuple[str, ...]
    has_ids: bool
    scores: FloatArray
    risks: FloatArray
    answers: list[str]
    cutoff: str
    truth: np.ndarray | None
    groups: IntArray | None
    unneeded: tuple[str, ...]
    unknown: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    beyond: tuple[OutOfRange, ...]
    shifted: tuple[ShiftedColumn, ...]
    known: float

    def columns(self, classes: tuple[str, str]) -> dict[str, list[Any]]:
        """Return the answers as columns, for the page and for a file."""
        found: dict[str, list[Any]] = {
            **({"patient": list(self.names)} if self.has_ids else {}),
            **({} if self.has_ids and self.groups is None else {"row": (self.rows + 1).tolist()}),
            "answer": self.answers,
            f"risk of {classes[1]}": self.risks.tolist(),
            "score": self.scores.tolist(),
            "cut-off": [self.cutoff] * len(self.rows),
        }
        if self.truth is not None:
            found["actual"] = self.truth.tolist()
        return found

    @property
    def labelled(self) -> np.ndarray:
        """Which rows have a class."""
        if self.truth is None:
            return np.zeros(len(self.rows), dtype=bool)
        return np.asarray(self.truth != "")


def answered(table: Table, model: TrainedModel, data: Dataset) -> NewAnswers:
    """Apply a model to a table; DataError names the columns that it lacks."""
    recipe = data.recipe
    table = facing(table, recipe.number_names)
    columns = model.support if recipe.kept is None else recipe.kept[model.support]
    n = len(recipe.number_names)
    needed = np.sort(columns[columns < n])
    levels, at = {}, n
    for name, known in recipe.levels.items():
        if ((columns >= at) & (columns < at + len(known))).any():
            levels[name] = known
        at += len(known)
    own = [recipe.number_names[j] for j in needed]
    there = set(table.names)
    lacking = [name for name in (*own, *levels) if name not in there]
    if lacking and not (table.is_sparse and all(name in own for name in lacking)):
        raise DataError(
            f"expected a table with the columns that the model uses, got one without "
            f"{some(lacking)}: add {'it' if len(lacking) == 1 else 'them'} by the same name"
        )
    fill = None if recipe.fill is None else recipe.fill[needed]
    short = replace(recipe, number_names=tuple(own), levels=levels, fill=fill, kept=None)
    part, rows = short.matrix(table, np.arange(table.n_rows))
    if not len(rows):
        raise DataError(
            "expected a row without gaps in the columns that the model uses, got none: fill them"
        )
    X = align_columns(sparse.csr_array(part), short.feature_names, model.classifier).X
    scores = model.scores(X)
    every = {*recipe.number_names, *recipe.levels}
    ids, by = later_row_ids(table, label=data.label, group=data.group, features=every)
    has_label = data.label in there
    described = {data.label, data.group, *by}
    return NewAnswers(
        X=X,
        rows=rows,
        total=table.n_rows,
        names=tuple(str(ids[i]) if ids else str(i + 1) for i in rows.tolist()),
        has_ids=bool(ids),
        scores=scores,
        risks=model.oriented.risks(scores),
        answers=model.answers(scores),
        cutoff=model.cutoff_words,
        truth=_known_classes(table, data, rows) if has_label else None,
        groups=row_groups(table, data.group)[rows] if data.group in there else None,
        unneeded=tuple(sorted(every - there - set(own))) if not table.is_sparse else (),
        unknown=tuple(name for name in table.names if name not in every | described),
        levels=_unknown_levels(table, levels, rows),
        beyond=out_of_range(X, data.X_train, model.support),
        shifted=shifted_columns(X, data.X_train, model.support),
        known=_known_share(X, data, model.support),
    )


def _known_classes(table: Table, data: Dataset, rows: IntArray) -> np.ndarray:
    """Return the class of each row, "" where it has none of the two."""
    labels = labels_of(table, data.label, data.classes)[rows]
    return np.where(np.isin(labels, data.classes), labels, "")


def _unknown_levels(
    table: Table, levels: dict[str, tuple[str, ...]], rows: IntArray
) -> dict[str, tuple[str, ...]]:
    found = {}
    for name, known in levels.items():
        seen = set(table.as_text(name, known)[rows].tolist()) - {"", *known}
        if seen:
            found[name] = tuple(sorted(seen))
    return found


def _known_share(X: Any, data: Dataset, columns: IntArray) -> float:
    """Return the share of rows that are among the loaded ones, by the columns of the model."""
    if not columns.size:
        return 0.0

    def keys(rows: Any) -> list[bytes]:
        part = rows[:, columns]
        values = part.toarray() if sparse.issparse(part) else np.asarray(part)
        return [row.tobytes() for row in np.ascontiguousarray(values, dtype=float) + 0.0]

    parts = [data.X_train, *([] if data.X_test is None else [data.X_test])]
    there = {key for rows in parts for key in keys(rows)}
    found = keys(X)
    return sum(key in there for key in found) / len(found)


# --------------------------------------------------------------------------------------------------
# The part of the page.


def show(state: AppState, present: TrainedModel, data: Dataset) -> None:
    """Draw the upload, the choice of a model, the answers and what is unusual."""
    st.subheader("New patients", anchor=False)

    def take(table: Table, name: str) -> None:
        state.memo[TABLE] = (object(), (table, name))  # tables cannot be compared

    upload.table(
        state, "Apply a model to patients of another file", key="new_patients", take=take,
        help="Nothing is fitted, and nothing that is loaded changes. Columns are found by name.",
    )  # fmt: skip
    known = state.memo.get(TABLE)
    if known is None:
        return
    upload_key, (table, name) = known
    model = _choose(state, present)
    made: list[NewAnswers] = []

    def apply() -> None:
        made.append(
            state.remember(
                ANSWERS,
                (upload_key, model, data, model.cutoff_words),
                lambda: answered(table, model, data),
            )
        )

    if not attempt(state, apply):
        st.error(plain(state.error, 600), icon=":material/error:")
        state.error = ""
        return
    (found,) = made
    _answers(found, data, name)
    for line in unusual(found, data):
        st.markdown(f"- {line}")
    if found.labelled.any():
        _figures(state, found, model, data)


def _choose(state: AppState, present: TrainedModel) -> TrainedModel:
    choices = {"present model": present, **{one.name: one for one in state.models}}
    if len(choices) == 1:
        return present
    narrow, _ = st.columns([2, 3])
    return choices[str(narrow.selectbox("Model", list(choices), key="new_patients_model"))]


def _answers(found: NewAnswers, data: Dataset, name: str) -> None:
    columns = found.columns(data.classes)
    positive = found.answers.count(data.classes[1])
    left_out = found.total - len(found.rows)
    st.markdown(
        f"{plain(name)}: **{count(positive, data.line_word(1))} of {len(found.rows):,}** "
        f"{'is' if positive == 1 else 'are'} answered {plain(data.classes[1])} "
        f"({plain(found.cutoff)})."
        + (f" {count(left_out, 'row')} with gaps left out." if left_out else "")
    )
    shown = pd.DataFrame(
        {key: values[:MOST_ROWS] for key, values in columns.items() if key != "cut-off"}
    )
    risk = f"risk of {data.classes[1]}"
    shown[risk] *= 100
    st.dataframe(
        shown,
        hide_index=True,
        height=min(360, 40 + 35 * len(shown)),
        alt="Answers for new patients",
        column_config={
            risk: st.column_config.ProgressColumn(
                f"risk of {one_line(data.classes[1], 30)}",
                format="%.0f %%", min_value=0, max_value=100,
            )
        },
    )  # fmt: skip
    if len(found.rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} are shown; all are in the file.")
    st.download_button(
        "Answers (CSV)",
        lambda: to_csv(columns),
        "new_patients.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="new_patients_csv",
    )


def unusual(found: NewAnswers, data: Dataset) -> list[str]:
    """Say in lines what is unusual about the new rows, safe inside Markdown."""
    lines = [
        f"{plain(data.index.name(one.column))}: {count(one.rows, data.line_word(1))} beyond the "
        f"training range {number(one.low)} to {number(one.high)} (here {number(one.least)} to "
        f"{number(one.most)})."
        for one in found.beyond[:MOST_NAMED]
    ]
    if len(found.beyond) > MOST_NAMED:
        lines.append(f"{len(found.beyond) - MOST_NAMED:,} more features have such values.")
    lines += [
        f"{plain(data.index.name(one.column))} is distributed otherwise: median "
        f"{number(one.median)}, in training {number(one.training_median)}."
        for one in found.shifted[:MOST_NAMED]
    ]
    if len(found.shifted) > MOST_NAMED:
        lines.append(
            f"{len(found.shifted) - MOST_NAMED:,} more features are distributed otherwise."
        )
    for name, values in found.levels.items():
        lines.append(f"{plain(name)} has values that training has not: {listing(list(values))}.")
    if found.unneeded:
        lines.append(f"Not there, and not needed: {listing(list(found.unneeded))}.")
    if found.unknown:
        lines.append(f"New columns, not used: {listing(list(found.unknown))}.")
    return lines or ["Columns and values are as in training."]


def _figures(state: AppState, found: NewAnswers, model: TrainedModel, data: Dataset) -> None:
    """Draw how many answers are right, and offer to recalibrate."""
    if found.known > KNOWN_SHARE:
        st.info(
            f"{percent(found.known, 0)} of these rows are among the loaded data, so figures on "
            "them would not tell how good the model is. See the Results page."
        )
        return
    rows = scored(found, model, data)
    if rows.positive.all() or not rows.positive.any():
        st.caption("All of these are of one class, so there are no figures.")
        return
    st.markdown(f"**{count(len(rows), 'row')} with a known class**")
    for column, (name, title) in zip(st.columns(len(FIGURES)), FIGURES.items(), strict=True):
        one = rows.measure(name)
        is_ratio = name == "observed_expected"
        value, low, high = (
            number(v, 3) if is_ratio else percent(v) for v in (one.value, one.low, one.high)
        )
        column.metric(title, value)
        column.caption(f"{low} to {high}")
    if st.button(
        "Recalibrate the risks", icon=":material/tune:", key="new_patients_recalibrate",
        help="A new model with the same weights, whose risks fit these patients. The present one "
        "stays as it is.",
    ):  # fmt: skip
        known = found.labelled
        assert found.truth is not None
        groups = None if found.groups is None else found.groups[known]
        given = model.classifier, found.X[known], found.truth[known]

        def work() -> None:
            state.memo["new_patients_fresh"] = (found, recalibrated(*given, groups=groups))

        if not attempt(state, work):
            st.error(plain(state.error, 600))
            state.error = ""
    fresh = state.memo.get("new_patients_fresh")
    if fresh is None or fresh[0] is not found:
        return
    clf, recalibration = fresh[1]
    if recalibration.kind == "none":
        st.markdown(f"The risks are kept: {plain(recalibration.reason, 200)}.")
        return
    what = "Intercept and slope are" if recalibration.kind == "slope" else "The intercept is"
    st.markdown(
        f"{what} new, as the {plain(recalibration.reason, 200)}: log odds times "
        f"{number(recalibration.slope, 3)} plus {number(recalibration.intercept, 3)}. Answers "
        "stay, risks change. The figures above are of the model before; judge the new one by "
        "other patients."
    )
    st.download_button(
        "Recalibrated model (JSON)",
        lambda: model_file(replace(model, classifier=clf), data, seal_of(state)),
        "recalibrated.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        key="new_patients_model_file",
    )


def scored(found: NewAnswers, model: TrainedModel, data: Dataset) -> ScoredRows:
    """Return the rows whose class is known, with what the model says of them."""
    known = found.labelled
    assert found.truth is not None
    groups = None if found.groups is None else found.groups[known]
    positive = found.truth[known] == data.classes[1]
    return ScoredRows(
        positive, found.scores[known], found.risks[known], groups, model.oriented.threshold
    )

"""The list of patients: answer, risk, rules that apply, what the rules changed; one can be chosen.

Rows are those that the Results page judges the model by: of the test set where it is open, else the
training rows, with the scores of models that have not seen them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from hipad.evaluation.assessment import Assessment
from hipad.evaluation.conformal import sets_of
from hipad.rules import CompiledRule, RuleSet, compile_rules
from hipad.utils import FloatArray, IntArray, count, one_line
from ui.dataset import Dataset
from ui.models import Request
from ui.results.cannot_say import COVERAGE
from ui.results.stability_view import StabilityPair
from ui.state import AppState

MOST_ROWS: Final = 500  # shown at once
CHOSEN: Final = "patients_chosen"

Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PatientList:
    """The rows that are judged, with what the model, and one without rules, says of each."""

    found: Assessment
    data: Dataset
    rules: tuple[CompiledRule, ...]
    applies: Rows  # rules x rows

    @classmethod
    def of(cls, found: Assessment, request: Request) -> PatientList:
        """Find which rules apply to whom."""
        data = request.data
        rules = tuple(compiled_rules(request))
        X, gaps = cls.part(found, data)
        applies = [rule.fires(X, gaps) for rule in rules]
        return cls(found, data, rules, np.array(applies, dtype=bool).reshape(-1, len(found.rows)))

    @staticmethod
    def part(found: Assessment, data: Dataset) -> tuple[Any, Any]:
        """Return the rows as numbers, and which of these had no value."""
        if found.source == "test":
            return data.X_test, data.gaps_test
        return data.X_train, data.gaps_train

    @property
    def X(self) -> Any:
        return self.part(self.found, self.data)[0]

    @cached_property
    def risks(self) -> FloatArray:
        assert self.found.rows.risks is not None
        return self.found.rows.risks

    @cached_property
    def changed(self) -> Rows:
        """Whom the model without rules answers otherwise."""
        if self.found.without is None:
            return np.zeros(len(self.found.rows), dtype=bool)
        changed: Rows = self.found.rows.said != self.found.without.said
        return changed

    def matching(self, which: str) -> Rows:
        """Return the rows of one of `FILTERS`."""
        rows = self.found.rows
        if which == "wrong answers":
            return rows.said != rows.positive
        if which == "changed by the rules":
            return self.changed
        if which == "a rule applies":
            return np.asarray(self.applies.any(axis=0))
        if which == "cannot say" and self.found.p_values is not None:
            return np.asarray(sets_of(self.found.p_values, COVERAGE / 100).sum(axis=1) != 1)
        return np.ones(len(rows), dtype=bool)

    def table(self, rows: IntArray, spread: FloatArray | None) -> pd.DataFrame:
        """Return these rows as they are shown."""
        classes, said = np.array(self.data.classes, dtype=object), self.found.rows.said[rows]
        labels = [rule.label for rule in self.rules]
        columns: dict[str, Any] = {
            "ID" if self.data.ids[int(self.found.source == "test")] else "row": [
                one_line(name, 60) for name in self.found.names[rows]
            ],
            "answer": classes[said.astype(int)],
            "actual": classes[self.found.rows.positive[rows].astype(int)],
            "risk": 100 * self.risks[rows],
        }
        if spread is not None:
            columns["risk moves by"] = 100 * spread[rows]
        if labels:
            columns["rules that apply"] = [
                ", ".join(labels[k] for k in np.flatnonzero(self.applies[:, row])) for row in rows
            ]
        if self.found.without is not None:
            before = classes[(~said).astype(int)]
            columns["changed by the rules"] = np.where(
                self.changed[rows], [f"without: {one_line(name, 40)}" for name in before], ""
            )
        return pd.DataFrame(columns)


def compiled_rules(request: Request) -> list[CompiledRule]:
    """Return the rules of a model that are on, as the data understand them."""
    if not request.settings.use_rules:
        return []
    data = request.data
    rules = data.parse(request.rules)
    on = RuleSet(tuple(rule for rule in rules if rule.enabled))
    if not on:
        return []
    return list(
        compile_rules(
            on,
            feature_names=data.index,
            blocks=data.blocks,
            classes=data.classes,
            positive_chosen=True,
            values=data.values,
        )
    )


def spread_of(pair: StabilityPair | None, n: int) -> FloatArray | None:
    """Return by how much each risk moves between refits, where that was computed for these rows."""
    if pair is None or pair.own.risk.size != n:
        return None
    return pair.own.spread


# --------------------------------------------------------------------------------------------------
# Filter, sort, show, choose.

FILTERS: Final = ("all", "wrong answers", "changed by the rules", "a rule applies", "cannot say")
BY_RISK, BY_DOUBT, BY_SPREAD, BY_PLACE = (
    "highest risk", "nearest to the boundary", "least stable risk", "order of the file",
)  # fmt: skip


def choose(state: AppState, listed: PatientList, spread: FloatArray | None) -> int | None:
    """Draw the list and return the row that was chosen; None where none is."""
    found = listed.found
    filters = FILTERS if listed.rules else tuple(one for one in FILTERS if "rule" not in one)
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    which = str(
        left.segmented_control(
            "Show", filters, default=FILTERS[0], required=True, key="patients_filter",
            help=f"Cannot say: at a coverage of {COVERAGE} % in each class.",
        )
    )  # fmt: skip
    orders = [BY_RISK, BY_DOUBT, *([BY_SPREAD] if spread is not None else []), BY_PLACE]
    order = str(middle.selectbox("Order", orders, key="patients_order"))
    text = right.text_input("ID contains", key="patients_search")
    rows = shown_rows(listed, which, order, text, spread)
    st.caption(
        f"{count(rows.size, found.noun)} of {len(found.rows):,}"
        + (f", the first {MOST_ROWS:,} are shown" if rows.size > MOST_ROWS else "")
        + f". Click a {found.noun} to see why."
    )
    rows = rows[:MOST_ROWS]
    key = state.fresh_key("patients_list", (found, which, order, text, spread is None))
    event: Any = st.dataframe(
        listed.table(rows, spread),
        key=key,
        hide_index=True,
        height=360,
        on_select="rerun",
        selection_mode="single-row",
        alt=f"List of {found.noun}s",
        column_config={
            "risk": st.column_config.ProgressColumn(
                f"risk of {one_line(listed.data.classes[1], 30)}",
                format="%.0f %%", min_value=0, max_value=100,
            ),
            "risk moves by": st.column_config.NumberColumn(
                format="%.1f", help="points, on average over refits to halves of the training data"
            ),
        },
    )  # fmt: skip
    picked = event["selection"]["rows"]
    if picked and picked[0] < rows.size:
        state.memo[CHOSEN] = (found, int(rows[picked[0]]))
    known = state.memo.get(CHOSEN)
    return int(known[1]) if known is not None and known[0] is found else None


def shown_rows(
    listed: PatientList, which: str, order: str, text: str, spread: FloatArray | None
) -> IntArray:
    """Return the rows that match, in the order that is asked for."""
    keep = listed.matching(which)
    if wanted := text.strip().casefold():
        keep &= np.array([wanted in str(name).casefold() for name in listed.found.names])
    rows = np.flatnonzero(keep)
    keys = {
        BY_RISK: -listed.risks,
        BY_DOUBT: np.abs(listed.found.rows.scores),
        BY_SPREAD: np.zeros(len(keep)) if spread is None else -spread,
        BY_PLACE: np.zeros(len(keep)),
    }
    sorted_rows: IntArray = rows[np.argsort(keys[order][rows], kind="stable")]
    return sorted_rows

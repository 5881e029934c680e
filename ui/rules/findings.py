"""What is odd about the rules, whom they disagree on, and what the data would suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from hipad.evaluation.rule_study import RuleCheck, Study
from hipad.rules import BoxPoint, Finding, Overlap, Rule
from hipad.utils import count, number
from ui.dataset import Dataset
from ui.rules.editing import with_rule
from ui.rules.toolbar import change
from ui.state import AppState
from ui.words import plain

MOST_FINDINGS: Final = 12
MOST_VALUES: Final = 8
MOST_LISTED: Final = 30
SUMMARY: Final = ("mean", "min", "max")
ICONS: Final = {"warning": ":material/warning:", "note": ":material/info:"}


def show(state: AppState, checked: Study, data: Dataset) -> None:
    """Each finding with its remedy and a patient that shows it."""
    st.subheader("Findings", anchor=False)
    if not checked.is_final and not checked.findings:
        st.caption("The rules are being compared with each other ...")
    elif not checked.findings:
        st.caption("Nothing odd: no empty, needless, contradicting or weak rule.")
    for n, finding in enumerate(checked.findings[:MOST_FINDINGS]):
        sentence, remedy = (
            as_sentence(part, finding.rules) for part in spoken(finding, expert=state.expert)
        )
        icon = ICONS.get(finding.severity, ICONS["note"])
        st.markdown(f"{icon} {sentence}. *{remedy}.*")
        if finding.witness is not None and len(finding.witness):
            _witness(finding, data, n)
    if len(checked.findings) > MOST_FINDINGS:
        st.caption(f"And {len(checked.findings) - MOST_FINDINGS:,} more.")


def spoken(finding: Finding, *, expert: bool) -> tuple[str, str]:
    """What is odd and what to do, without the solver's words unless the reader wants them."""
    if expert or finding.kind != "weak":
        return finding.sentence, finding.remedy
    steps = finding.remedy.partition(", or lower lambda1")[0]
    return (
        f"{finding.rules[0]} is too weak to bring in a feature",
        f"{steps}, or allow more features on the Run page",
    )


def _witness(finding: Finding, data: Dataset, n: int) -> None:
    assert finding.witness is not None
    with st.expander(f"A patient who shows it ({plain(' and '.join(finding.rules[:2]))})"):
        st.dataframe(
            patient_table(finding.witness, data),
            hide_index=True,
            key=f"witness_{n}",
            alt="A patient who shows it",
            width="content",
        )


def patient_table(patient: BoxPoint, data: Dataset) -> pd.DataFrame:
    """A patient's values beside the average and the range; whole blocks as their mean."""
    left = np.ones(len(patient), dtype=bool)
    values = dict(zip(patient.columns.tolist(), patient.values.tolist(), strict=True))
    table = []
    for block, columns in data.blocks.items():
        if len(columns) > 1 and all(j in values for j in columns.tolist()):
            own = float(np.mean([values[j] for j in columns.tolist()]))
            left &= ~np.isin(patient.columns, columns)
            table.append(_value_row(f"mean of {block} ({len(columns)})", own, columns, data))
    table += [
        _value_row(data.index.name(int(j)), values[int(j)], np.array([j]), data)
        for j in patient.columns[left][:MOST_VALUES]
    ]
    hidden = int(left.sum()) - MOST_VALUES
    if hidden > 0:
        table.append({"feature": f"and {hidden:,} more"})
    return pd.DataFrame(table)


def _value_row(name: str, value: float, columns: np.ndarray, data: Dataset) -> dict[str, object]:
    mean, low, high = (float(data.summary[k].to_numpy()[columns].mean()) for k in SUMMARY)
    seen = f"{number(low)} to {number(high)}"
    return {"feature": name, "value": number(value), "average": number(mean), "range": seen}


def overlaps(checked: Study, data: Dataset) -> None:
    """Pairs of rules that speak of the same patients, and patients that rules get wrong."""
    st.subheader("On the patients", anchor=False)
    pairs = pair_table(checked)
    if len(pairs):
        st.dataframe(pairs, hide_index=True, key="rules_pairs", alt="Rules that meet")
    else:
        st.caption("No two rules speak of the same patient.")
    wrong = [words for check in checked.checks if (words := _wrong_words(check, data))]
    if wrong:
        with st.expander("Patients who contradict a rule"):
            st.markdown("\n".join(f"- {words}" for words in wrong[:MOST_LISTED]))
            if len(wrong) > MOST_LISTED:
                st.caption(f"And patients who contradict {len(wrong) - MOST_LISTED:,} more rules.")


def pair_table(checked: Study) -> pd.DataFrame:
    """One row per pair of rules that apply to the same patients."""
    first, test = checked.overlap, checked.overlap_test
    assert first is not None
    shared = first.together if test is None else first.together + test.together
    i, j = np.nonzero(np.triu(shared, 1))
    same = ~_opposite(first, test)[i, j]
    order = np.lexsort((-first.together[i, j], same))[:MOST_LISTED]
    table = [
        {
            "rule": first.labels[a],
            "and": first.labels[b],
            "training": int(first.together[a, b]),
            "test": 0 if test is None else int(test.together[a, b]),
            "they say": "the same" if agree else "the opposite",
        }
        for a, b, agree in zip(i[order], j[order], same[order], strict=True)
    ]
    return pd.DataFrame(table)


def _opposite(first: Overlap, test: Overlap | None) -> np.ndarray:
    """Which two rules contradict each other on some patient."""
    return np.asarray((first.conflict > 0) | (False if test is None else test.conflict > 0))


def _wrong_words(check: RuleCheck, data: Dataset) -> str:
    parts = []
    for which, (name, counts) in enumerate(
        zip(("training", "test"), (check.train, check.test), strict=True)
    ):
        if counts is not None and len(counts.wrong):
            called = data.called(which, counts.wrong[:MOST_LISTED]).tolist()
            shown = ", ".join(map(plain, called))
            more = len(counts.wrong) - MOST_LISTED
            rows = "patients" if data.ids[which] else "rows"
            parts.append(f"{name} {rows} {shown}" + (f" and {more:,} more" if more > 0 else ""))
    return f"{plain(check.label)}: {'; '.join(parts)}" if parts else ""


def suggestions(state: AppState, checked: Study) -> None:
    """Thresholds and worths that would serve better, each taken only by a click."""
    st.subheader("Suggestions", anchor=False)
    if not checked.is_final:
        st.caption("They come when the rules have been checked.")
        return
    if checked.unadvised:
        late = count(checked.unadvised, "rule")
        st.caption(f"There was no time to look for better thresholds of {late}.")
    offers = [offer for check in checked.checks if check.rule.enabled for offer in offers_of(check)]
    if not offers:
        st.caption("None: the data support no other threshold or worth clearly.")
    for n, (check, sentence, better) in enumerate(offers[:MOST_FINDINGS]):
        st.markdown(f":material/lightbulb: **{plain(check.label)}**: {as_sentence(sentence)}.")
        if st.button(
            "Use it", key=f"suggestion_{n}", help="Change the rule like this; can be undone."
        ):
            assert state.data is not None
            text = with_rule(state.rules.text, check.position, better, state.data.read)
            change(state, text)
            st.rerun()


def offers_of(check: RuleCheck) -> list[tuple[RuleCheck, str, Rule]]:
    """What would serve this rule better: a sentence, and the rule that it suggests."""
    offers = [(check, str(better), better.rule) for better in check.better]
    patients = check.needed_patients
    if patients is not None and check.rule.worth is not None:  # others are learnt: nothing to write
        worth = float(f"{1.1 * patients:.2g}")
        sentence = f"for a feature of it to enter it must be worth more than {patients:.3g} "
        offers.append((check, sentence + "patients", replace(check.rule, worth=worth)))
    return offers


def as_sentence(text: str, labels: Sequence[str] = ()) -> str:
    """With a capital letter, unless it begins with a rule's name."""
    named = text.startswith(tuple(f"{label} " for label in labels))
    return plain(text if named else text[:1].upper() + text[1:], 500)

"""Checks of the present rules in the background, and their findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, cast

import numpy as np
import pandas as pd
import streamlit as st

from hipad.estimator.problem_factory import rule_weights, shares
from hipad.evaluation.rule_study import RuleCheck, Study, StudyRows, first_look, study_rules
from hipad.exceptions import DataError, RuleError
from hipad.rules import (
    BoxPoint,
    Budget,
    CompiledRule,
    Finding,
    Overlap,
    Rule,
    RuleSet,
    compile_each,
)
from hipad.utils import count, number
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, budgeted_job
from ui.models import largest_useful, signs
from ui.rules.rule_text import with_rule
from ui.rules.text_view import change
from ui.settings import CHOSEN, FEWNESS, RunSettings
from ui.state import AppState
from ui.text import in_row_word, plain

# --------------------------------------------------------------------------------------------------
# The study of the present rules, computed anew after each edit.


def checked_rules(state: AppState, patience: float | None = None) -> Study:
    """The check of the present rules, kept until they, the data or the settings change.

    After `patience` seconds it is given as far as it has come; `is_final` says whether it is all.
    """
    job = checking(state)
    job.watch(patience)
    if job.error is not None:
        raise DataError(job.error)
    return job.outcome or read_study(*_key(state)[:2])[0]


def checking(state: AppState) -> BackgroundJob[Study]:
    """The check of the present rules, at work or done; one of an earlier text is stopped."""
    key = _key(state)
    known, job = state.memo.get("checked rules", (None, None))
    if job is None or known != key or job.was_stopped:
        if job is not None:
            job.stop()
        job = budgeted_job(lambda budget: run_study(*key, budget))
        state.memo["checked rules"] = (key, job)
        job.launch()
    job.seen()
    return cast(BackgroundJob[Study], job)


def _key(state: AppState) -> tuple[Dataset, str, RunSettings, float | None]:
    assert state.data is not None
    return state.data, state.rules.text, state.settings, known_lambda1(state)


def known_lambda1(state: AppState) -> float | None:
    """The sparsity of the next run: as set, or that of the last run; None when it is open."""
    settings, data = state.settings, state.data
    if settings.fewness in CHOSEN:
        model = state.model or state.pinned_model
        return None if model is None else float(model.classifier.lambda1_)
    if settings.fewness not in FEWNESS or data is None:
        return settings.lambda1
    key = (data, settings.standardize, settings.balanced)
    largest = state.remember("largest lambda1", key, lambda: largest_useful(data, settings))
    return FEWNESS[settings.fewness] * largest


def broken_rules(state: AppState) -> tuple[RuleError, ...]:
    """What is wrong with the rules that the next run would take; read once for each text."""
    data, text = state.data, state.rules.text
    if data is None or not state.settings.use_rules:
        return ()
    return state.remember("broken rules", (data, text), lambda: read_study(data, text)[0].errors)


def read_study(data: Dataset, text: str) -> tuple[Study, dict[int, CompiledRule]]:
    """The rules and what is wrong with them, before anything is tried."""
    return first_look(
        data.read(text),
        data.index,
        data.blocks,
        data.classes,
        values=data.values,
        positive_chosen=True,
    )


def run_study(
    data: Dataset, text: str, settings: RunSettings, lambda1: float | None, budget: Budget
) -> Iterator[Study]:
    """Read, compile and try the rules; each study says more than the one before."""
    first, compiled = read_study(data, text)
    yield first
    patients, stiffness = settings.patients, settings.stiffness
    weights = partial(rule_weights, total=data.n_patients, rule_weight=patients, rho=stiffness)
    yield from study_rules(
        first, compiled, study_rows(data, settings), lambda1=lambda1, weights=weights, budget=budget
    )


def fitting_rules(rules: RuleSet, data: Dataset) -> tuple[dict[int, CompiledRule], list[RuleError]]:
    """Each rule that fits the data by its position, and what is wrong with the others."""
    return compile_each(
        rules,
        feature_names=data.index,
        blocks=data.blocks,
        classes=data.classes,
        positive_chosen=True,
        values=data.values,
    )


def study_rows(data: Dataset, settings: RunSettings) -> StudyRows:
    """The rows as a run with these settings sees them."""
    y = signs(data.y_train, data)
    test = None
    if data.judged.part == "test" and data.y_test is not None:
        test = data.X_test, signs(data.y_test, data)
    low, high = (data.summary[k].to_numpy() for k in ("min", "max"))
    mean, scale = data.standardisation if settings.standardize else (None, None)
    return StudyRows(
        train=(data.X_train, y),
        test=test,
        lo=low,
        hi=high,
        mean=mean,
        scale=scale,
        p=shares(y, np.ones(len(y)), settings.class_weight),
        gaps=data.gaps_train,
        test_gaps=data.gaps_test,
    )


# --------------------------------------------------------------------------------------------------
# Findings, pairs of rules, and suggestions from the data.

MOST_FINDINGS: Final = 12
MOST_VALUES: Final = 8
MOST_LISTED: Final = 30
SUMMARY: Final = ("mean", "min", "max")
FIRES: Final = re.compile(r"fires on (\S+) row")  # as the library says it
ICONS: Final = {"warning": ":material/warning:", "note": ":material/info:"}


def show_findings(state: AppState, checked: Study, data: Dataset) -> None:
    """Each finding with its remedy and an example of values that show it."""
    st.subheader("Findings", anchor=False)
    if not checked.is_final and not checked.findings:
        st.caption("The rules are being compared with each other ...")
    elif not checked.findings:
        st.caption("All rules look fine.")
    for n, finding in enumerate(checked.findings[:MOST_FINDINGS]):
        sentence, remedy = (
            as_sentence(in_row_word(part, data.row_word(1)), finding.rules)
            for part in spoken(finding, expert=state.expert)
        )
        icon = ICONS.get(finding.severity, ICONS["note"])
        st.markdown(f"{icon} {sentence}. *{remedy}.*")
        if finding.witness is not None and len(finding.witness):
            assert finding.witness is not None
            example = f"Example {data.row_word(1)}"
            with st.expander(f"{example} ({plain(' and '.join(finding.rules[:2]))})"):
                st.dataframe(
                    patient_table(finding.witness, data),
                    hide_index=True,
                    key=f"witness_{n}",
                    alt=example,
                    width="content",
                )
    if len(checked.findings) > MOST_FINDINGS:
        st.caption(f"And {len(checked.findings) - MOST_FINDINGS:,} more.")


def spoken(finding: Finding, *, expert: bool) -> tuple[str, str]:
    """What is odd and what to do, without the solver's words unless the reader wants them."""
    label = finding.rules[0] if finding.rules else ""
    if finding.kind == "unseen":
        return (
            f"{label} lies outside the range of the training data, so they neither support nor "
            "contradict it",
            "if this is not what you mean, check the threshold and its unit",
        )
    if finding.kind == "average" and not expert:
        return (
            f"values between the two classes already meet the condition of {label}, so it adds no "
            "feature",
            "choose a stricter threshold",
        )
    if expert or finding.kind != "weak":
        return finding.sentence, finding.remedy
    steps = finding.remedy.partition(", or lower lambda1")[0]
    return (
        f"{label} is too weak to add a feature without support from the data",
        f"{steps}, or allow more features on the Run page",
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
    """Pairs of rules that apply to the same rows, and rows that rules get wrong."""
    rows = "rows" if data.groups is not None else data.row_word()
    st.subheader(f"Rules that apply to the same {rows}", anchor=False)
    pairs = pair_table(checked)
    if len(pairs):
        st.dataframe(pairs, hide_index=True, key="rules_pairs", alt="Rules that overlap")
    else:
        st.caption(f"No {rows.removesuffix('s')} meets two rules.")
    wrong = [words for check in checked.checks if (words := _wrong_words(check, data))]
    if wrong:
        with st.expander(f"{rows.capitalize()} that contradict a rule"):
            st.markdown("\n".join(f"- {words}" for words in wrong[:MOST_LISTED]))
            if len(wrong) > MOST_LISTED:
                st.caption(f"And {rows} that contradict {len(wrong) - MOST_LISTED:,} more rules.")


def pair_table(checked: Study) -> pd.DataFrame:
    """One row per pair of rules that apply to the same rows of the data."""
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
            **({} if test is None else {"test": int(test.together[a, b])}),
            "outcome": "the same" if agree else "the opposite",
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
            rows = data.row_word() if data.ids[which] and data.groups is None else "rows"
            parts.append(f"{name} {rows} {shown}" + (f" and {more:,} more" if more > 0 else ""))
    return f"{plain(check.label)}: {'; '.join(parts)}" if parts else ""


def suggestions(state: AppState, checked: Study) -> None:
    """Thresholds and weights that would serve better, each taken only by a click."""
    assert state.data is not None
    st.subheader("Suggestions", anchor=False)
    if not checked.is_final:
        st.caption("Suggestions appear when the rules have been checked.")
        return
    if checked.unadvised:
        late = count(checked.unadvised, "rule")
        st.caption(f"Better thresholds were not searched for {late}: that would take too long.")
    data = state.data
    row = data.row_word(1)
    offers = [
        offer for check in checked.checks if check.rule.enabled for offer in offers_of(check, row)
    ]
    if not offers:
        st.caption("No better threshold found in the data.")
    for n, (check, sentence, better) in enumerate(offers[:MOST_FINDINGS]):
        words = FIRES.sub(rf"applies to \1 {row if data.groups is None else 'row'}", sentence)
        words = as_sentence(in_row_word(words, row))
        st.markdown(f":material/lightbulb: **{plain(check.label)}**: {words}.")
        if st.button("Use it", key=f"suggestion_{n}", help="Changes the rule. You can undo this."):
            text = with_rule(state.rules.text, check.position, better, state.data.read)
            change(state, text)
            st.rerun()


def offers_of(check: RuleCheck, row: str = "patient") -> list[tuple[RuleCheck, str, Rule]]:
    """What would serve this rule better: a sentence, and the rule that it suggests."""
    offers = [(check, str(better), better.rule) for better in check.better]
    patients = check.needed_patients
    if patients is not None and check.rule.worth is not None:  # others are learnt: nothing to write
        worth = float(f"{1.1 * patients:.2g}")
        sentence = f"to add a feature on its own, it needs a weight of more than {patients:.3g} "
        offers.append((check, f"{sentence}{row}s", replace(check.rule, worth=worth)))
    return offers


def as_sentence(text: str, labels: Sequence[str] = ()) -> str:
    """With a capital letter, unless it begins with a rule's name."""
    named = text.startswith(tuple(f"{label} " for label in labels))
    return plain(text if named else text[:1].upper() + text[1:], 500)

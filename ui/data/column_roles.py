"""Roles of columns on the Data page: what each was taken for and why, changed with one click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from hipad.data import ColumnRole, Options, Role
from hipad.data.preprocessing import roles_for
from hipad.data.roles import MEANINGS, named_without_features, not_features
from ui.attempts import attempt
from ui.data.columns import MOST_OPTIONS, search
from ui.dataset import Dataset
from ui.state import AppState
from ui.words import plain

MOST_SHOWN: Final = 12  # columns that stand there at once; more are folded away
CHOICES: Final = (Role.FEATURE, Role.ID, Role.GROUP, Role.FOLLOW_UP, Role.LEFT_OUT)
HELP: Final = " ".join(f"{role}: {MEANINGS[role]}." for role in CHOICES)


def roles_of(state: AppState) -> dict[str, ColumnRole]:
    """The roles of the columns, with what is to be asked; made once for each preparation."""
    loaded, chosen = state.loaded, state.preparation
    if loaded is None or chosen is None:
        return {}
    key = (loaded.key, loaded.table.n_rows, chosen.label, chosen.positive, chosen.decided)
    return state.remember(
        "column roles",
        key,
        lambda: roles_for(loaded.table, Options(**chosen.options()), questions=True),
    )


def open_questions(state: AppState) -> list[str]:
    """The columns that the model may use although it is not sure that it should."""
    roles = roles_of(state)
    return [name for name, one in roles.items() if one.question and one.role is Role.FEATURE]


def show(state: AppState) -> None:
    """Questions first, then every column that is no plain feature, then a way to all others."""
    data = state.data
    if state.loaded is None or data is None or state.preparation is None:
        return
    roles = roles_of(state)
    for name, one in roles.items():
        if one.question:
            _question(state, name, one)
    st.markdown(_summary(data, roles))
    listed = [name for name, one in roles.items() if one.role is not Role.OUTCOME]
    for name in listed[:MOST_SHOWN]:
        _column(state, name, roles[name])
    if len(listed) > MOST_SHOWN:
        with st.expander(f"{len(listed) - MOST_SHOWN:,} more columns"):
            for name in listed[MOST_SHOWN:]:
                _column(state, name, roles[name])
    _other(state, roles)


def before_run(state: AppState) -> None:
    """On the page of a run: what is still open about the columns that it would use."""
    questions = open_questions(state)
    if not questions:
        return
    roles = roles_of(state)
    told = " ".join(f"{plain(roles[name].question, 200)}" for name in questions[:3])
    st.warning(f"{told} If not, the figures below flatter the model.", icon=":material/help:")
    st.page_link("pages/data.py", label="Decide on the Data page", icon=":material/arrow_forward:")


def beside_rules(state: AppState, errors: Sequence[object]) -> None:
    """On the Rules page: columns that rules name, and that are no features by their role."""
    roles = roles_of(state) if errors else {}
    for name in named_without_features(errors, roles)[:MOST_SHOWN]:
        st.info(
            f"**{plain(name, 60)}** is no feature, as its role is {roles[name].role}. Rules speak "
            "of features: give it that role on the **Data** page.",
            icon=":material/label:",
        )


def decide(state: AppState, name: str, role: Role) -> None:
    """Give a column a role, and prepare the data anew."""
    chosen = state.preparation
    assert chosen is not None
    roles = {**chosen.roles, name: role}
    if role is Role.GROUP:
        others = [n for n, r in chosen.decided.items() if r is Role.GROUP and n != name]
        roles |= dict.fromkeys(others, Role.ID)
    exclude = tuple(column for column in chosen.exclude if column != name)
    state.prepare(replace(chosen, roles=roles, exclude=exclude))


def _summary(data: Dataset, roles: dict[str, ColumnRole]) -> str:
    """What the columns come to, in a sentence."""
    if data.group:
        tested = f", {data.whom('test')} to test on" if data.y_test is not None else ""
        return (
            f"Rows with the same **{plain(data.group)}** are of one patient: "
            f"{data.whom('train')} to learn from{tested}. A patient's rows are never on both sides."
        )
    if not_features(roles):
        return "Every row counts as a patient of its own. These columns are no features:"
    return "Every row counts as a patient of its own, and every other column is a feature."


def _question(state: AppState, name: str, one: ColumnRole) -> None:
    with st.container(
        border=True,
        horizontal=True,
        vertical_alignment="center",
        key=f"role_question_{state.version}_{name[:80]}",
    ):
        used = "The model may use it now." if one.role is Role.FEATURE else "It is left out now."
        with st.container():
            st.markdown(f":material/help: **{plain(one.question, 300)}**")
            st.caption(plain(f"{one.reason[0].upper()}{one.reason[1:]}. {used}", 300))
        yes = st.button("Yes, use it", key=f"role_yes_{state.version}_{name[:80]}")
        no = st.button("No, leave it out", key=f"role_no_{state.version}_{name[:80]}")
    kept_out = one.role if one.role is not Role.FEATURE else Role.LEFT_OUT
    if (yes or no) and attempt(
        state, lambda: decide(state, name, Role.FEATURE if yes else kept_out)
    ):
        st.rerun()


def _column(state: AppState, name: str, one: ColumnRole) -> None:
    """A column, its role and the reason; a click on another role takes it."""
    left, middle, right = st.columns([2, 5, 4], vertical_alignment="center", gap="small")
    left.markdown(f"**{plain(name, 60)}**")
    picked = middle.segmented_control(
        f"Role of {name[:60]}",
        CHOICES,
        default=one.role,
        required=True,
        format_func=str,
        key=f"role_{state.version}_{name[:80]}_{one.role}",
        label_visibility="collapsed",
        help=None,
    )
    right.caption(plain(one.reason, 200))
    if picked is not None and picked is not one.role:
        wanted = Role(picked)
        if attempt(state, lambda: decide(state, name, wanted)):
            st.rerun()


def _other(state: AppState, roles: dict[str, ColumnRole]) -> None:
    """Any other column: found by its name, and given a role."""
    loaded, chosen = state.loaded, state.preparation
    assert loaded is not None
    assert chosen is not None
    names = [name for name in loaded.table.names if name not in roles]
    with st.expander("Give another column a role", icon=":material/label:"):
        if len(names) > MOST_OPTIONS:
            wanted = st.text_input(
                "Search a column", key="role_search", placeholder="part of a column's name"
            )
            names = search(names, wanted)
        left, right = st.columns([2, 5], vertical_alignment="bottom")
        name = left.selectbox(
            "Column", names, index=None, key=f"role_other_{state.version}", help=HELP
        )
        picked = right.segmented_control(
            "Its role",
            [role for role in CHOICES if role is not Role.FEATURE],
            format_func=str,
            key=f"role_other_role_{state.version}",
            disabled=name is None,
        )
        if name is not None and picked is not None:
            role = Role(picked)
            if attempt(state, lambda: decide(state, name, role)):
                st.rerun()
        decided = chosen.decided
        if decided and st.button(
            "Forget what I decided", key=f"role_forget_{state.version}", help="Guess all roles."
        ):
            guessed = replace(chosen, roles={}, exclude=())
            if attempt(state, lambda: state.prepare(guessed)):
                st.rerun()

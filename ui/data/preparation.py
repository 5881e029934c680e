"""Preparation on the Data page: roles of columns, label, test patients and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from hipad.data import ColumnRole, Options, Role, facing
from hipad.data.preprocessing import roles_for
from hipad.data.roles import (
    MEANINGS,
    NAMES_PATIENTS,
    likely_positive,
    named_without_features,
    not_features,
    positive_line,
)
from hipad.utils import count
from ui.data import upload
from ui.dataset import MOST_CLASSES, ROW, ROW_WORDS, Dataset, Loaded, Preparation
from ui.settings import SEED, field_of
from ui.state import AppState, attempt
from ui.text import listing, plain

# --------------------------------------------------------------------------------------------------
# Columns and classes, without a list of 50,000 options.

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
        help="The column with the class of each row, such as sick or well.",
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
        help="The class you are looking for. All other classes together are the negative one.",
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
        help="On: the Run page fits one model for each class against all others, and a rule counts "
        "for the class that it names. Off: one model tells the positive class from all others. "
        "The other pages show the positive class in both cases.",
    )


def search(names: list[str], wanted: str, most: int = MOST_OPTIONS) -> list[str]:
    """The first names that contain a text, whatever its case."""
    wanted = wanted.strip().lower()
    found = (name for name in names if wanted in name.lower())
    return [name for name, _ in zip(found, range(most), strict=False)]


# --------------------------------------------------------------------------------------------------
# Roles of columns, with the reason for each.

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


def show_column_roles(state: AppState) -> None:
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
    text = " ".join(f"{plain(roles[name].question, 200)}" for name in questions[:3])
    st.warning(f"{text} If not, the results below look too good.", icon=":material/help:")
    st.page_link("pages/data.py", label="Decide on the Data page", icon=":material/arrow_forward:")


def beside_rules(state: AppState, errors: Sequence[object]) -> None:
    """On the Rules page: columns that rules name, and that are no features by their role."""
    roles = roles_of(state) if errors else {}
    for name in named_without_features(errors, roles)[:MOST_SHOWN]:
        st.info(
            f"**{plain(name, 60)}** cannot be used in a rule, because its role is "
            f"{roles[name].role}. Make it a feature on the **Data** page.",
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
        tested = f", {data.whom('test')} for testing" if data.y_test is not None else ""
        one = data.row_word(1)
        return (
            f"Rows with the same **{plain(data.group)}** belong to one {one}: "
            f"{data.whom('train')} for training{tested}. Rows of one {one} are never used for both."
        )
    one = data.row_word(1)
    each = "Every row stands alone" if one == ROW else f"Every row is a {one} of its own"
    if not_features(roles):
        return f"{each}. These columns are not used as features:"
    return f"{each}, and every other column is a feature."


def _question(state: AppState, name: str, one: ColumnRole) -> None:
    with st.container(
        border=True,
        horizontal=True,
        vertical_alignment="center",
        key=f"role_question_{state.version}_{name[:80]}",
    ):
        used = "The model uses it now." if one.role is Role.FEATURE else "It is left out now."
        with st.container():
            st.markdown(f":material/help: **{plain(one.question, 300)}**")
            st.caption(plain(f"{one.reason[0].upper()}{one.reason[1:]}. {used}", 300))
        yes = st.button("Yes, use it", key=f"role_yes_{state.version}_{name[:80]}")
        groups = NAMES_PATIENTS in one.question
        told = "No, group rows by it" if groups else "No, leave it out"
        no = st.button(told, key=f"role_no_{state.version}_{name[:80]}")
    kept_out = one.role if one.role is not Role.FEATURE else Role.LEFT_OUT
    kept_out = Role.GROUP if groups else kept_out
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
            "Reset all roles",
            key=f"role_forget_{state.version}",
            help="Back to the roles that were found automatically.",
        ):
            guessed = replace(chosen, roles={}, exclude=())
            if attempt(state, lambda: state.prepare(guessed)):
                st.rerun()


# --------------------------------------------------------------------------------------------------
# Label, test patients, and steps of preparation with their counts and switches.

GAPS: Final = {
    "median": "fill with the feature's median",
    "mean": "fill with the feature's mean",
    "zero": "fill with zero",
    "drop rows": "leave out rows with missing values",
}
MOST_REMARKS: Final = 10
UNLABELLED_FILE: Final = "unlabelled_file"
TESTS: Final = {"split": "part of this table", "file": "from a second file", "none": "none"}


def show(state: AppState) -> None:
    """Draw the choices; whatever changes is prepared at once, or refused with a reason."""
    loaded, data, chosen = state.loaded, state.data, state.preparation
    if loaded is None or data is None or chosen is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        _row_word(state, data)
        wanted = _label(state, loaded, chosen)
        wanted = _test(state, loaded, data, wanted)
        wanted = _unlabelled(state, loaded, data, wanted)
    with right:
        st.markdown(
            f"**Clean-up steps** (click to undo)  \nCounts are of the training {data.line_word()}."
        )
        wanted = _steps(state, data, wanted)
        for remark in loaded.table.remarks[:MOST_REMARKS]:
            st.caption(f"While reading: {plain(remark, 300)}.")
        if len(loaded.table.remarks) > MOST_REMARKS:
            st.caption(f"And {len(loaded.table.remarks) - MOST_REMARKS:,} more remarks.")
        if state.pending is None:  # a table that waits for its class column is asked for them too
            upload.symbols_file(state)
        upload.more_genes(state)
    if wanted != chosen and attempt(state, lambda: state.prepare(wanted)):
        st.rerun()


def _row_word(state: AppState, data: Dataset) -> None:
    """What one row of the table is; only words change with it."""
    key = state.fresh_key("row_word", data)

    def called() -> None:
        if state.is_drawn("row_word", key):
            state.call_rows(st.session_state[key])

    st.selectbox(
        "One row is a ..." if data.groups is None else "Rows of a group belong to one ...",
        ROW_WORDS,
        index=ROW_WORDS.index(data.unit),
        key=key,
        on_change=called,
        help="The pages use this word. Results do not change.",
        width=240,
    )


def _key(state: AppState, name: str) -> str:
    loaded = state.loaded
    return f"prepare_{name}_{loaded.key if loaded else ''}_{state.returns}"


def _label(state: AppState, loaded: Loaded, chosen: Preparation) -> Preparation:
    label = choose_column(loaded, chosen.label, key=_key(state, "label"))
    assert state.data is not None
    now = chosen.positive if label == chosen.label else None
    now = now or (state.data.classes[1] if label == chosen.label else None)
    automatic = now if chosen.positive is None else ""  # rules may tell another one meanwhile
    key = f"{_key(state, 'positive')}_{automatic}"
    positive = choose_positive(loaded, label, now, key=key)
    if label == chosen.label:
        line = positive_line(state.data.classes, state.data.decided_by)
        st.caption(plain(line[0].upper() + line[1:] + ".", 300))
    if label == chosen.label and chosen.positive is None and positive == state.data.classes[1]:
        positive = None
    everything = choose_all(loaded, label, chosen.all_classes, key=_key(state, "all"))
    return replace(chosen, label=label, positive=positive, all_classes=everything)


def _test(state: AppState, loaded: Loaded, data: Dataset, chosen: Preparation) -> Preparation:
    test: Any = st.segmented_control(
        f"Test {data.row_word()}",
        list(TESTS),
        default=chosen.test,
        required=True,
        format_func=TESTS.__getitem__,
        key=_key(state, "test"),
        help=f"A model must be judged on {data.row_word()} that it has not seen.",
    )
    if test == "split":
        allowed = field_of(Preparation, "test_fraction")
        left, right = st.columns(2)
        share = left.number_input(
            "Share for testing (%)",
            100 * allowed.low,
            100 * allowed.high,
            round(100 * chosen.test_fraction, 3),
            5.0,
            format="%.4g",
            key=_key(state, "share"),
            help="Chosen at random within each class.",
        )
        seed = right.number_input(
            "Random seed",
            SEED.low,
            SEED.high,
            chosen.seed,
            key=_key(state, "seed"),
            help=f"Another seed chooses other test {data.row_word()}.",
        )
        fraction = round(share / 100, 5)
        return replace(chosen, test="split", test_fraction=fraction, seed=int(seed))
    if test == "file":
        _test_file(state, loaded, data, chosen)
        return chosen if loaded.test is None else replace(chosen, test="file")
    return replace(chosen, test=test or chosen.test)


def _test_file(state: AppState, loaded: Loaded, data: Dataset, chosen: Preparation) -> None:
    given = loaded.test
    rows = data.row_word()
    if given is not None:
        shape = f"{count(given.n_rows, 'row')}, {count(len(given.names), 'column')}"
        if upload.in_use(
            f"**{plain(loaded.test_name or 'test file')}**: {shape}",
            key="test_remove",
            help="Test on a part of the first table instead.",
        ):
            without = replace(loaded, test=None, test_name="")
            attempt(state, lambda: state.prepare(replace(chosen, test="split"), without))
            st.rerun()
    upload.table(
        state,
        f"File with test {rows}" if given is None else f"Another file with test {rows}",
        key="test_file",
        stated=loaded.table.reading.later,
        help="A table with the same columns. Further columns are ignored.",
        take=lambda table, name: state.prepare(
            replace(chosen, test="file"),
            replace(loaded, test=facing(table, loaded.table.names), test_name=name),
        ),
    )
    if given is None:
        st.caption(f"Until a file is uploaded, the test {rows} stay as they were.")


def _unlabelled(state: AppState, loaded: Loaded, data: Dataset, chosen: Preparation) -> Preparation:
    """Rows whose class nobody knows: in the table, or in a file of their own."""
    rows = data.row_word()
    if data.n_unlabelled or loaded.unlabelled is not None or not chosen.use_unlabelled:
        use = st.toggle(
            f"Use {rows} without a label",
            chosen.use_unlabelled,
            key=_key(state, "use_unlabelled"),
            help="They show where the rules apply and how values are distributed. No result is "
            "measured on them.",
        )
        chosen = replace(chosen, use_unlabelled=use)
        _account(data, "use_unlabelled", "")
    given = loaded.unlabelled
    is_open = given is not None or UNLABELLED_FILE in state.readings
    with st.expander(f"Add {rows} without a label from a second file", expanded=is_open):
        if given is not None and upload.in_use(
            f"**{plain(loaded.unlabelled_name or f'unlabelled {rows}')}**: "
            f"{count(given.n_rows, 'row')}",
            key="unlabelled_remove",
            help="Learn without them.",
        ):
            without = replace(loaded, unlabelled=None, unlabelled_name="")
            attempt(state, lambda: state.prepare(chosen, without))
            st.rerun()
        upload.table(
            state,
            f"File with {rows} without a label",
            key=UNLABELLED_FILE,
            stated=loaded.table.reading.later,
            help="A table with the same columns. A label column in it is ignored.",
            take=lambda table, name: state.prepare(
                replace(chosen, use_unlabelled=True),
                replace(loaded, unlabelled=facing(table, loaded.table.names), unlabelled_name=name),
            ),
        )
        st.caption(
            f"They help to learn from the rules; no result is measured on them. Test {rows} are "
            "never used in this way."
        )
    return chosen


def _steps(state: AppState, data: Dataset, chosen: Preparation) -> Preparation:
    changes: dict[str, Any] = {}
    options = list(GAPS)
    changes["missing"] = st.selectbox(
        "Missing values",
        options,
        index=options.index(chosen.missing),
        format_func=GAPS.__getitem__,
        key=_key(state, "missing"),
        help="The median and the mean are those of the training data.",
    )
    _account(data, "missing")
    for option, label, text in (
        ("one_hot", "Turn text columns into numbers", "One column of 0 and 1 for each value."),
        ("drop_constant", "Leave out constant columns", "They cannot tell the classes apart."),
        ("drop_duplicates", "Leave out repeated columns", "Columns equal to an earlier one."),
    ):
        now = getattr(chosen, option)
        changes[option] = st.toggle(label, now, key=_key(state, option), help=text)
        _account(data, option)
    _account(data, "label", "")
    _account(data, "positive", "")
    return replace(chosen, **changes)


def _account(data: Dataset, option: str, nothing: str = "Nothing to fix.") -> None:
    """What the steps of this option did, each with its count."""
    steps = [step for step in data.steps if step.option == option]
    for step in steps:
        names = f" ({listing(list(step.names))})" if step.names else ""
        st.caption(f"{plain(step.what, 120)}: **{step.count:,}**{names}")
    if not steps and nothing:
        st.caption(nothing)

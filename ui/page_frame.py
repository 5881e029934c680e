"""What stands around every page: sidebar, next step, glossary, empty states and messages."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from hipad.data import LIMITS
from hipad.rules import read_rules
from hipad.utils import count
from ui.data import upload
from ui.data.loading import LoadingJob
from ui.jobs import SCHEDULER, BackgroundJob, poll
from ui.models import TrainedModel, rules_file
from ui.rules.checks import broken_rules
from ui.session import restore_prompt
from ui.session.session_file import session_of
from ui.session.study_session import reopen_file
from ui.state import AppState, app_state, attempt
from ui.text import plain

# --------------------------------------------------------------------------------------------------
# Empty states and messages.


def need_data(state: AppState) -> bool:
    """True when there are data; otherwise say where to get some."""
    if state.data is not None:
        return True
    st.info(
        "No data yet. Upload a table or choose a sample on the **Data** page.",
        icon=":material/table_chart:",
    )
    restore_prompt.show(state)
    st.page_link("pages/data.py", label="Go to Data", icon=":material/arrow_forward:")
    return False


def need_rules(state: AppState) -> bool:
    """True when there is a rule; otherwise say where to write one."""
    if read_rules(state.rules.text).rules:
        return True
    st.info("No rule yet. Write what you know on the **Rules** page.", icon=":material/edit_note:")
    st.page_link("pages/rules.py", label="Go to Rules", icon=":material/arrow_forward:")
    return False


def show_problem(state: AppState) -> None:
    """Why the last thing the user asked for could not be done, and what else there is to know."""
    if state.awaiting is not None:
        st.info(
            f"This session needs the file {plain(state.awaiting.data_name)}. Upload this file "
            "again: a session file does not contain the data.",
            icon=":material/upload_file:",
        )
    if state.notice:
        st.info(plain(state.notice, 300))
        state.notice = ""
    if not state.error:
        return
    stays = " Your data from before are unchanged." if state.data is not None else ""
    st.error(plain(state.error, 1_000) + stays, icon=":material/error:")


# --------------------------------------------------------------------------------------------------
# Glossary.


def glossary(row: str = "patient") -> dict[str, str]:
    """What the words of the pages mean; `row` is what the data call one of their rows."""
    return {
        "Rule": "What you know, written as a condition and the class that follows from it: "
        "*mean(ABL1) >= 9.5 => BCR/ABL*.",
        "Weight of a rule": f"A rule with a weight of 5 {row}s counts as much as 5 labelled "
        f"{row}s who agree with it. You can write a weight (*worth 5 patients*); otherwise it is "
        "learnt from the data, see Trust.",
        "Trust": "How probable it is that a rule helps (posterior probability). It starts at "
        "about one half for all rules together. It rises when models with the rule predict "
        f"labelled {row}s they have not seen better than models without it, and falls when they "
        "predict them worse. The final model is an average over models with and without the "
        "rules, weighted by these probabilities. A weight that you write is used as written.",
        "Effect of a rule": "Found by fitting the model again without the rule. *Changes the "
        "model*: the model without the rule is different. *Adds nothing*: it is the same. "
        f"*Outvoted*: the model contradicts the rule for most {row}s that the rule applies to.",
        f"Typical {row}": f"The most ordinary {row} the rule applies to. If the margin is above "
        f"0, the model agrees with the rule about this {row}.",
        "Margin": f"How clearly the model agrees with a rule about one {row}: above 0 it agrees, "
        f"below 0 it disagrees. The *least* margin is that of the {row}, within the range of the "
        f"data, about whom it agrees least; above 0 the rule holds for every {row}.",
        "Block": "A named group of features that rules can use as a whole, such as all probes of "
        "one gene.",
        "Right answers": f"The share of {row}s that the model puts into the correct class "
        "(accuracy), with a 95 % confidence interval.",
        "Area under ROC": f"How well the scores separate the classes: the chance that a {row} of "
        "the positive class gets a higher score than one of the negative class. 50 % is guessing, "
        "100 % is perfect.",
        "Positive class": "The class you are looking for. A score above 0 stands for it. It has "
        "the same colour on every page.",
        "Cross-validated": f"Each training {row} is judged by a model that has learnt neither "
        f"from this {row} nor from rows of the same group. Cross-validated figures also become "
        "too good when you tune by them; the corrected one does not.",
        "Reference model": "The kept model that all others are compared with.",
        "Changed answers": f"The {row}s to which a model gives another answer than the reference "
        "model.",
    }


def show_glossary(row: str = "patient") -> None:
    """A button that opens the list."""
    with st.popover(
        "Glossary", type="tertiary", icon=":material/menu_book:", help="What the terms here mean."
    ):
        for word, meaning in glossary(row).items():
            st.markdown(f"**{word}.** {meaning}")


# --------------------------------------------------------------------------------------------------
# The next step, in one line; the way to every page is the sidebar.

PAGES: Final = {
    "Data": "pages/data.py",
    "Rules": "pages/rules.py",
    "Run": "pages/run.py",
    "Workbench": "pages/workbench.py",
    "Results": "pages/results.py",
    "Patients": "pages/patients.py",
}


def show_next(state: AppState, here: str) -> None:
    """A sentence on what to do next, a link to where that is done, and the glossary."""
    words, page = next_step(state)
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        key="next_step",
        gap="small",
    ):
        if page and page != here:
            st.page_link(PAGES[page], label=words, icon=":material/arrow_forward:")
        else:
            st.caption(words, width="content")
        show_glossary("patient" if state.data is None else state.data.row_word(1))


def next_step(state: AppState) -> tuple[str, str]:
    """What to do next, in a sentence, and the page for it; no page where there is nothing to do."""
    job = state.job
    if state.data is None:
        return "Next: upload your own data or choose a sample.", "Data"
    if broken(state):
        return "Next: correct the rules. At least one line cannot be used.", "Rules"
    if job is not None and job.is_active:
        return "The model is being fitted.", "Run"
    if state.model is None:
        if state.rules.text.strip():
            return "Next: fit the model.", "Run"
        return "Next: write what you know as a rule, or fit a model without rules.", "Rules"
    if not state.request().made(state.model):
        return "Next: fit the model again. Rules or settings have changed.", "Run"
    if not state.models:
        return "Next: keep this model, then change its thresholds in the Workbench.", "Workbench"
    if "shown: Results" not in state.memo:
        return "Next: see how good the model is.", "Results"
    return "Done: compare, tune or export the model.", ""


def broken(state: AppState) -> bool:
    """Whether a line of the rules cannot be used."""
    if state.data is not None:
        return bool(broken_rules(state))
    text = state.rules.text
    return state.remember("rules read", text, lambda: bool(read_rules(text).errors))


# --------------------------------------------------------------------------------------------------
# Data that are loading: every page waits for them, so that none shows older ones.

LOOK: Final = (0.1, 0.5)  # seconds between two looks, at first and later


def show_loading(state: AppState, here: str) -> None:
    """Wait for the newest load and take it; whoever asked for a run on the Data page sees it.

    Looking in again and again lets a newer click, or the way to another page, end this wait at
    once; the load itself goes on.
    """
    loading = state.loading
    if loading is None:
        return
    with st.spinner(f"Loading {plain(loading.sample)}"):
        pulse = st.empty()
        pause, longest = LOOK
        while not _arrived(loading, pause):
            pause = min(1.2 * pause, longest)
            pulse.empty()
    done = attempt(state, lambda: state.take(loading))
    pulse.empty()  # a run of the script that was ended meanwhile goes no further
    if done and loading.runs and here == "Data":
        st.switch_page("pages/run.py")
    if state.error and here != "Data":
        st.error(plain(state.error, 600), icon=":material/error:")


def _arrived(loading: LoadingJob, seconds: float) -> bool:
    """Wait a moment for data; others are drawn meanwhile."""
    with SCHEDULER.resting():
        return loading.wait(seconds)


# --------------------------------------------------------------------------------------------------
# Undo of a change of data or patients.


def show_go_back(state: AppState) -> None:
    """One line and two buttons while there is something to go back to."""
    if not state.pasts:
        return
    past = state.pasts[-1]
    with st.container(horizontal=True, vertical_alignment="center", key="going_back"):
        st.markdown(f":material/undo: {plain(past.why, 120)}. {plain(past.words, 160)}.")
        st.button(
            "Switch back",
            key="go_back",
            on_click=state.go_back,
            help="Brings back data, rules, run and models as they were. Your present work is "
            "saved in the same way.",
        )
        st.button(
            "Discard",
            key="let_go",
            type="tertiary",
            on_click=state.let_go,
            help="Delete the earlier work. This cannot be undone.",
        )


# --------------------------------------------------------------------------------------------------
# Recovery: a page that the browser has lost is loaded again; other data begin at the top.

SCRIPT: Final = Path(__file__).parent / "assets" / "recovery.js"
RECOVERY: Final = st.components.v2.component("hipad_recovery", js=SCRIPT.read_text("utf-8"))


def show_recovery(state: AppState) -> None:
    """Have the browser look after the page, and begin at its top with other data."""
    with st.sidebar:
        RECOVERY(key="recovery", data={"arrivals": state.arrivals})


# --------------------------------------------------------------------------------------------------
# Sidebar.


def show_sidebar(*, watch: bool) -> None:
    """Draw it; `watch` is False on the page that looks at the job itself."""
    state = app_state()
    with st.sidebar:
        _data(state)
        if watch:
            job = state.job
            if job is not None:
                poll(job, lambda: _job_line(job))
        restore_prompt.show_refitting(state)
        with st.expander("Session", icon=":material/save:"):
            _session(state)


def _data(state: AppState) -> None:
    if state.data is None:
        st.caption("No data loaded")
        return
    features = count(state.data.n_features, "feature")
    st.caption(f"{plain(state.data.name)}: {state.data.whom('train')}, {features}")


def _job_line(job: BackgroundJob[TrainedModel]) -> None:
    steps = sum(record.phase > 0 for record in job.history)
    st.caption(f"Run: {job.status}, {count(steps, 'step')}")


def _session(state: AppState) -> None:
    """Work that is kept by itself, and sessions as files."""
    restore_prompt.controls(state)
    if state.data is not None:
        st.download_button(
            "Save session",
            lambda: session_of(state).to_json(),
            "session.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
            help="Saves choices, blocks, rules, settings and models in one file, without the data.",
        )
        st.download_button(
            "Share the rules",
            lambda: rules_file(state.rules.text, state.blocks),
            "shared.rules",
            "text/plain",
            icon=":material/share:",
            on_click="ignore",
            width="stretch",
            disabled=not state.rules.text.strip(),
            help="The rules and the blocks they use, as text. No data are in it.",
        )
    upload.small_file(
        state,
        "Reopen a session or a study (session.json, .hipad)",
        key="session_file",
        most_bytes=LIMITS.file_bytes,
        help="A session.json that you saved here, or a study of the Report page. Tables are "
        "uploaded on the Data page.",
        take=lambda content, _: reopen_file(state, content),
        then="pages/data.py",
    )

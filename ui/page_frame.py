"""What stands around every page: sidebar, steps, glossary, empty states and messages."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from hipad.rules import read_rules
from hipad.utils import count
from ui.data import upload
from ui.data.loading import LoadingJob
from ui.jobs import SCHEDULER, BackgroundJob, poll
from ui.models import TrainedModel, rules_file
from ui.rules.checks import broken_rules
from ui.session import restore_prompt
from ui.session.saved_session import reopen
from ui.session.session_file import LARGEST, session_of
from ui.state import AppState, app_state, attempt
from ui.text import plain

# --------------------------------------------------------------------------------------------------
# Empty states and messages.


def need_data(state: AppState) -> bool:
    """True when there are data; otherwise say where to get some."""
    if state.data is not None:
        return True
    st.info(
        "No data yet. Go to **Data** and click a sample, or upload a table.",
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
            f"The session was made with {plain(state.awaiting.data_name)}. Upload this file again "
            "to take it up: data are not part of a session file.",
            icon=":material/upload_file:",
        )
    if state.notice:
        st.info(plain(state.notice, 300))
        state.notice = ""
    if not state.error:
        return
    stays = " What was there before is still there." if state.data is not None else ""
    st.error(plain(state.error, 1_000) + stays, icon=":material/error:")


# --------------------------------------------------------------------------------------------------
# Glossary.

TERMS: Final = {
    "Rule": "What you know, written as a condition and the class that follows from it: "
    "*mean(ABL1) >= 9.5 => BCR/ABL*.",
    "Worth": "How many patients' evidence a rule counts for. A rule worth 5 patients weighs as "
    "much as 5 patients who agree with it. Left open, it is learnt: see Trust.",
    "Trust": "The probability that a rule belongs into the model. It begins at about one half (all "
    "rules together) and is raised or lowered by how much better, or worse, models with the rule "
    "predict labelled patients whom they have not seen. The model is an average of models with and "
    "without the rules, by these probabilities. A weight that you write is used as written.",
    "Effect of a rule": "What a fit without the rule says. The rule *changes the model* if that "
    "fit is another one, and *adds nothing* if it is the same. It is *outvoted* if the model says "
    "the opposite of the rule about most patients whom it covers.",
    "Typical patient": "Of all patients that a rule speaks of, the one who is least unusual "
    "otherwise. Above 0 the model agrees with the rule about this patient.",
    "Worst case": "Of all patients that a rule speaks of, within the range of the data, "
    "the one about whom the model agrees least. Above 0 the rule holds for everybody.",
    "Block": "A named group of features that rules can speak of, such as all probes of one gene.",
    "Right answers": "The share of patients who are put in their own class, with an interval that "
    "holds the true share in 95 of 100 such samples.",
    "Area under ROC": "The chance that a patient of the positive class gets a higher score than "
    "one of the negative class; a half is guessing.",
    "Positive class": "The class that a score above 0 stands for. It has the same colour on every "
    "page, and weights that speak for it have that colour too.",
    "Training patients, crosswise": "Each training patient is judged by a model that has not seen "
    "them or anybody of their group. Unlike figures on test patients, these do not flatter whoever "
    "tunes by looking at test patients.",
    "Pinned": "The kept model that all others are compared with.",
    "Flip": "A patient whose answer differs from that of the pinned model.",
}


def show_glossary() -> None:
    """A button that opens the list."""
    with st.popover(
        "Words", type="tertiary", icon=":material/menu_book:", help="What the words here mean."
    ):
        for word, meaning in TERMS.items():
            st.markdown(f"**{word}.** {meaning}")


# --------------------------------------------------------------------------------------------------
# Steps of the app.

PAGES: Final = {
    "Data": "pages/data.py",
    "Rules": "pages/rules.py",
    "Run": "pages/run.py",
    "Workbench": "pages/workbench.py",
    "Results": "pages/results.py",
    "Patients": "pages/patients.py",
}


def show_steps(state: AppState, here: str) -> None:
    """The pages of the way with marks, and a sentence for what is missing."""
    done = done_steps(state)
    with st.container(horizontal=True, vertical_alignment="center", key="steps", gap="small"):
        for number, (name, path) in enumerate(PAGES.items(), start=1):
            mark = "check_circle" if name in done else "radio_button_unchecked"
            st.page_link(
                path,
                label=f"**{number} {name}**" if name == here else f"{number} {name}",
                icon=f":material/{mark}:",
                help="Done" if name in done else "Not done yet",
            )
        show_glossary()
        st.caption(next_step(state))


def done_steps(state: AppState) -> set[str]:
    """The steps that have something to show."""
    done = {"Data"} if state.data is not None else set()
    done |= {"Rules"} if done and state.rules.text.strip() and not broken(state) else set()
    done |= {"Run"} if state.model is not None else set()
    done |= {"Workbench"} if state.models else set()
    if done and state.model is not None:
        done |= {name for name in ("Results", "Patients") if f"shown: {name}" in state.memo}
    return done


def next_step(state: AppState) -> str:
    """What to do next, in a sentence."""
    job = state.job
    if state.data is None:
        return "Next: choose data, a sample or a file of your own."
    if broken(state):
        return "Next: mend the rules; a line of them cannot be used."
    if job is not None and job.is_active:
        return "The run is under way."
    if state.model is None:
        known = state.rules.text.strip()
        return "Next: run." if known else "Next: write what you know as a rule, or run without."
    if not state.request().made(state.model):
        return "Next: run again; rules or settings have changed since."
    if not state.models:
        return "Next: keep this model, and move its thresholds in the Workbench."
    return "Everything is there: compare, tune, take the model away."


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
        st.markdown(
            f":material/undo: Set aside, as {plain(past.why)}: **{plain(past.words, 120)}**"
        )
        st.button(
            "Undo: go back",
            key="go_back",
            on_click=state.go_back,
            help="Data, rules, run and models as they were. What is there now is set aside.",
        )
        st.button(
            "Let go",
            key="let_go",
            type="tertiary",
            on_click=state.let_go,
            help="Forget what was set aside.",
        )


# --------------------------------------------------------------------------------------------------
# Recovery: a page that the browser has lost is loaded again.

SCRIPT: Final = Path(__file__).parent / "assets" / "recovery.js"
RECOVERY: Final = st.components.v2.component("hipad_recovery", js=SCRIPT.read_text("utf-8"))


def show_recovery() -> None:
    """Have the browser look after the page; nothing is drawn."""
    with st.sidebar:
        RECOVERY(key="recovery")


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
            help="Choices, blocks, rules, settings and models in one file. The data are not in it.",
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
            help="The rules and the blocks they speak of, as text, without patients.",
        )
    upload.small_file(
        state,
        "Reopen a session",
        key="session_file",
        most_bytes=LARGEST,
        help="A file saved here before. Data of your own must be uploaded again.",
        take=lambda content, _: reopen(state, content),
        then="pages/data.py",
    )

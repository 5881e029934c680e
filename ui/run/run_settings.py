"""Settings of a run in a clinician's words, with the solver's behind a switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from math import log10
from typing import Any

import streamlit as st

from hipad.estimator.parameters import CHOICES
from hipad.evaluation.metrics import few_features_sentence
from ui.settings import AUTOMATIC, CHOSEN, EXACT, FEWEST, FEWNESS, RunSettings, field_of
from ui.state import AppState


@dataclass
class Panel:
    """Widgets that show a setting and write it back; `version` renews them with the data."""

    settings: RunSettings
    version: int

    def key(self, name: str) -> str:
        return f"setting_{name}_{self.version}"

    def set(self, **values: Any) -> None:
        self.settings = self.settings.changed(**values)

    def toggle(self, name: str, label: str, text: str) -> None:
        now = getattr(self.settings, name)
        self.set(**{name: st.toggle(label, now, key=self.key(name), help=text)})

    def choice(
        self, name: str, label: str, text: str, names: Mapping[str, str] | None = None
    ) -> None:
        """One of some words; without names those of the classifier's parameter."""
        names = CHOICES[name] if names is None else names
        options, now = list(names), getattr(self.settings, name)
        chosen = st.selectbox(
            label,
            options,
            index=options.index(now),
            format_func=lambda option: names.get(option, option),
            key=self.key(name),
            help=text,
        )
        self.set(**{name: chosen})

    def number(self, name: str, label: str, text: str, **more: Any) -> None:
        allowed, now = field_of(RunSettings, name), getattr(self.settings, name)
        value = st.number_input(
            label, allowed.low, allowed.high, now, key=self.key(name), help=text, **more
        )
        self.set(**{name: value})

    def amount(
        self, name: str, label: str, unit: str, usual: float, text: str, automatic: str
    ) -> None:
        """A number, or "auto"; `automatic` says what the program does then."""
        now = getattr(self.settings, name)
        left_alone = st.toggle(
            f"{label}: auto", now == "auto", key=self.key(f"{name}_auto"), help=automatic
        )
        if left_alone:
            st.caption(automatic)
            self.set(**{name: "auto"})
            return
        value = usual if now == "auto" else float(now)
        low, high = field_of(RunSettings, name).low, field_of(RunSettings, name).high
        value = st.number_input(unit, low, high, value, 1.0, key=self.key(name), help=text)
        self.set(**{name: float(value)})


def show(state: AppState) -> None:
    """Draw the settings and write what the user chooses to the state."""
    panel = Panel(state.settings, state.version)
    first, second = st.columns(2)
    with first:
        _fewness(panel, state)
        panel.choice(
            "scope",
            "A rule applies to",
            "Every patient who meets it, whatever the other features are; or only one who is "
            "average in all others, which asks less of the model.",
        )
    with second:
        panel.toggle(
            "use_rules", "Use the rules", "Switch off to see what the data say on their own."
        )
        panel.amount(
            "patients",
            "Weight of a rule",
            "in patients",
            20.0,
            "For how many labelled patients a rule counts. A rule that names its own weight keeps "
            "it; 0 switches the others off.",
            "Learnt from held-out patients: they show how far each rule can be trusted.",
        )
        state.expert = st.toggle(
            "Expert",
            state.expert,
            key=f"expert_{state.version}",
            help="Show the solver's own words: lambda1, lambda2, stiffness, engine, limits.",
        )
    if state.expert:
        _expert(panel)
    state.settings = panel.settings


def _fewness(panel: Panel, state: AppState) -> None:
    names = {
        AUTOMATIC: AUTOMATIC,
        FEWEST: "fewest among the equally good",
        **{name: name for name in FEWNESS},
    }
    if state.expert or panel.settings.fewness == EXACT:
        names[EXACT] = "lambda1 as set below" if state.expert else "as set before"
    panel.choice(
        "fewness",
        "How few features?",
        "Fewer features are easier to explain. Automatic: tries nine levels by cross-validation "
        "and picks a middle one among the equally good. Fewest among the equally good: the fewest "
        "features whose error is within one standard error of the least.",
        names,
    )
    path = () if state.model is None else state.model.classifier.path_
    if panel.settings.fewness in CHOSEN and (few := few_features_sentence(path)):
        st.caption(f"The last run: {few}")


def _expert(panel: Panel) -> None:
    first, second = st.columns(2)
    with first:
        panel.number(
            "lambda1",
            "lambda1 (sparsity)",
            "Weight of the sum of absolute weights; larger means fewer features.",
            step=0.01,
            format="%.4f",
            disabled=panel.settings.fewness != EXACT,
        )
        panel.amount(
            "lambda2",
            "lambda2 (ridge)",
            "lambda2",
            10.0,
            "Weight of the squared weights; larger: smaller weights, shared by alike features.",
            "Chosen with lambda1 on held-out patients; 10 where lambda1 is given.",
        )
        panel.amount(
            "stiffness",
            "Stiffness",
            "rho",
            10.0,
            "How closely the weights must follow a rule (rho); it also shrinks all weights.",
            "Set automatically from each rule's weight.",
        )
        _scaling(panel)
    with second:
        panel.choice("method", "Method", "Which algorithm runs.")
        panel.choice(
            "engine", "Engine of phase 2", "What solves phase 2.", _engines(panel.settings.engine)
        )
        panel.choice(
            "switch", "Phase 1 ends when", "When phase 2 takes over.", CHOICES["phase1_stop"]
        )
        _limits(panel)


def _engines(now: str) -> dict[str, str]:
    """The engines that are installed, and the one that is chosen."""
    every = CHOICES["phase2_solver"]
    return {
        name: words
        for name, words in every.items()
        if name in ("ipm", now) or find_spec(name) is not None
    }


def _scaling(panel: Panel) -> None:
    panel.toggle(
        "standardize",
        "Scale the features",
        "Mean 0 and deviation 1 for each feature, so that lambda1 treats all alike. Of thousands "
        "of features, those that hardly vary beside the others count less.",
    )
    panel.toggle(
        "balanced",
        "Balance the classes",
        "Both classes count equally, however many patients each has.",
    )
    panel.toggle(
        "calibrate",
        "Calibrate the scores",
        "Put the average training patient of each class at +1 and at -1.",
    )


def _limits(panel: Panel) -> None:
    allowed = field_of(RunSettings, "tolerance")
    exponent = st.slider(
        "Tolerance (power of ten)",
        allowed.low,
        allowed.high,
        round(log10(panel.settings.tolerance)),
        key=panel.key("tolerance"),
        help="Residuals at which phase 1 counts as converged: 10 to this power.",
    )
    panel.set(tolerance=10.0**exponent)
    panel.amount(
        "mu",
        "Penalties mu",
        "mu",
        1.0,
        "All of mu1 to mu6 start here; balancing then moves them.",
        "Scaled to the data.",
    )
    panel.number(
        "max_sweeps",
        "Most sweeps of phase 1",
        "The run ends here, and says so, if it has not converged before.",
        step=100,
    )

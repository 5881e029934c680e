"""A session with the pima sample and, if wanted, a model of it, without a page."""

from __future__ import annotations

from functools import cache

from ui.data.samples import clinical
from ui.models import TrainedModel
from ui.settings import EXACT
from ui.state import AppState
from ui.workbench.comparison import Comparison, Side


def session() -> AppState:
    """A new session with the sample's rules and blocks."""
    state = AppState()
    state.load(clinical("pima"))
    return state


@cache
def fitted() -> tuple[AppState, TrainedModel]:
    """A session whose model is pinned; tests must not change it."""
    state = session()
    state.settings = state.settings.changed(fewness=EXACT, lambda1=0.05)
    model = state.request().fit().named("first")
    state.keep(model)
    state.pinned = "first"
    return state, model


def compared(rules: str) -> Comparison:
    """The first model, and one with these rules; without any, the same one again."""
    state, model = fitted()
    other = model if not rules else state.request(rules=rules).fit(like=model)
    return Comparison(*(Side.of(own, state.data) for own in (model, other)))

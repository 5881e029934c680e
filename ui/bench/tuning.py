"""The models of the workbench: the pinned one, and the one that the sliders ask for."""

from __future__ import annotations

import time
from typing import Final

from hipad.rules import CompiledRule
from ui.bench.holding import held_trust, is_learnt
from ui.bench.sides import Comparison, Side
from ui.models import Request, TrainedModel
from ui.rules.checks import fitting_rules
from ui.rules.rule_text import describe
from ui.settings import EXACT
from ui.state import AppState

PATIENCE: Final = 3.0  # seconds a move of a slider may take without being asked for


def follow_rules(state: AppState) -> None:
    """Begin anew with the sliders when the rules were changed elsewhere."""
    tuning = state.tuning
    if tuning.base != state.rules.text:
        tuning.base = tuning.draft = state.rules.text
        tuning.turn += 1


def pinned(state: AppState) -> TrainedModel | None:
    """The pinned model; without one, the last run is kept and pinned.

    While the models of a kept work are fitted again, the one that was pinned is waited for.
    """
    run = unkept_run(state)
    if state.pinned_model is None and run is not None and not is_refitting(state):
        state.keep(run.named("first run"))
        state.pinned = "first run"
    return state.pinned_model


def is_refitting(state: AppState) -> bool:
    """Whether a pinned model is on its way."""
    work = state.refitting
    return work is not None and work.job.is_active and bool(work.pinned) and bool(state.waiting)


def asked(state: AppState, base: TrainedModel) -> Request:
    """The fit that the sliders ask for: as the pinned model, with its sparsity and its trust.

    Where the trust in a rule must be learnt anew, so is the sparsity.
    """
    data, draft = state.data, state.tuning.draft
    assert data is not None
    trust = state.remember(
        "held trust", (base, data, draft), lambda: held_trust(base, data, data.read(draft).rules)
    )
    used, settings = base.classifier, base.settings.changed(use_rules=True)
    chosen_by = None
    if trust != "auto" or not is_learnt(base):
        chosen_by = base.own_settings.changed(use_rules=True)
        settings = settings.changed(
            fewness=EXACT, lambda1=float(used.lambda1_), lambda2=float(used.lambda2_)
        )
    return state.request(
        rules=draft, settings=settings, trust=trust, name="sliders", chosen_by=chosen_by
    )


def retuned(state: AppState, base: TrainedModel) -> Request:
    """The sliders' rules with everything chosen anew, so that fits can be compared fairly."""
    settings = base.own_settings.changed(use_rules=True)
    return state.request(rules=state.tuning.draft, settings=settings, name="sliders")


def must_ask(state: AppState, base: TrainedModel) -> bool:
    """Whether the sliders have moved and a refit takes so long that it should be asked for."""
    if is_at_rest(state, base):
        return False
    known = state.memo.get("tuned")
    is_new = known is None or known[0] != fit_key(asked(state, base))
    return is_new and state.tuning.seconds > PATIENCE


def tuned(state: AppState, base: TrainedModel) -> TrainedModel:
    """The model that the sliders ask for, fitted from the last one when they have moved.

    Raises HipadError when the rules cannot be used.
    """
    if is_at_rest(state, base):
        return state.remember("at rest", base, lambda: base.named("sliders"))
    request, tuning = asked(state, base), state.tuning

    def fit() -> TrainedModel:
        begun = time.perf_counter()
        tuning.model = request.fit(like=tuning.model or base)
        tuning.seconds = time.perf_counter() - begun
        return tuning.model

    return state.remember("tuned", fit_key(request), fit)


def is_at_rest(state: AppState, base: TrainedModel) -> bool:
    """Whether the sliders ask for the pinned model itself."""
    same = state.request(rules=state.tuning.draft, settings=base.settings)
    return base.settings.use_rules and same.made(base)


def fit_key(request: Request) -> tuple[object, ...]:
    """What a fit depends on."""
    return request.data, request.rules, request.settings, request.trust


def compared(state: AppState, base: TrainedModel, other: TrainedModel) -> Comparison:
    """The two side by side; each is asked about the patients once."""
    data = state.data
    assert data is not None
    old = state.remember("pinned side", (base, data), lambda: Side.of(base, data))
    new = state.remember("other side", (other, data), lambda: Side.of(other, data))
    return state.remember("comparison", (old, new), lambda: Comparison(old, new))


def present_rules(state: AppState) -> list[CompiledRule]:
    """The rules that are on, as the sliders have them; those that do not fit are left out."""
    data, draft = state.data, state.tuning.draft
    assert data is not None

    def compile_draft() -> list[CompiledRule]:
        found, _ = fitting_rules(data.read(draft).rules, data)
        return [rule for rule in found.values() if rule.rule.enabled]

    return state.remember("draft rules", (data, draft), compile_draft)


def unkept_run(state: AppState) -> TrainedModel | None:
    """The model of the last run, if it is final and not among the kept ones."""
    model = state.model
    if model is None or state.job is None or not state.job.is_final:
        return None
    known = any(model.classifier is other.classifier for other in state.models)
    return None if known else model


def apply(state: AppState) -> None:
    """Write the sliders' values to the rules; Undo on the Rules page takes it back."""
    tuning = state.tuning
    assert state.data is not None
    done = describe(tuning.base, tuning.draft, state.data.read)
    state.rules.change(tuning.draft, f"workbench: {done}")
    tuning.base = tuning.draft


def reset(state: AppState) -> None:
    """Put the sliders back to the rules."""
    tuning = state.tuning
    tuning.draft = tuning.base
    tuning.turn += 1


def restore(state: AppState, model: TrainedModel) -> None:
    """Take up rules, blocks and settings of a kept model, and look at it."""
    state.rules.change(model.rules, f"rules of {model.name}")
    state.set_blocks(model.blocks)
    state.settings = model.settings
    state.tuning.shown = ""
    state.version += 1  # widgets that show settings are drawn anew
    follow_rules(state)

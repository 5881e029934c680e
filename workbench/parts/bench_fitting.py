"""The models of the workbench: the pinned one, and the one that the sliders ask for."""

from __future__ import annotations

from hipad.rules import CompiledRule
from workbench.models import Model, Request
from workbench.parts.bench_comparing import Comparison, Side
from workbench.parts.rules_checking import compile_each
from workbench.parts.rules_editing import describe, read_rules
from workbench.settings import EXACT
from workbench.state import AppState


def follow_rules(state: AppState) -> None:
    """Begin anew with the sliders when the rules were changed elsewhere."""
    tuning = state.tuning
    if tuning.base != state.rules.text:
        tuning.base = tuning.draft = state.rules.text
        tuning.turn += 1


def pinned(state: AppState) -> Model | None:
    """The pinned model; without one, the last run is kept and pinned."""
    found = state.pinned_model
    if found is None and state.job is not None and state.job.is_final and state.model is not None:
        found = state.model.named("first run")
        state.keep(found)
        state.pinned = found.name
    return found


def asked(state: AppState, base: Model) -> Request:
    """The fit that the sliders ask for: as the pinned model, with its sparsity, with the rules."""
    settings = base.settings.changed(
        fewness=EXACT, lambda1=float(base.classifier.lambda1_), use_rules=True
    )
    return state.request(rules=state.tuning.draft, settings=settings, name="sliders")


def tuned(state: AppState, base: Model) -> Model:
    """The model that the sliders ask for, fitted from the last one when they have moved.

    Raises HipadError when the rules cannot be used.
    """
    request = asked(state, base)
    tuning = state.tuning

    def fit() -> Model:
        tuning.model = request.fit(like=tuning.model or base)
        return tuning.model

    key = (request.data, request.rules, request.settings)
    return state.remember("tuned", key, fit)


def compared(state: AppState, base: Model, other: Model) -> Comparison:
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
        found, _ = compile_each(read_rules(draft), data)
        return [rule for rule in found.values() if rule.rule.enabled]

    return state.remember("draft rules", (data, draft), compile_draft)


def apply(state: AppState) -> None:
    """Write the sliders' values to the rules; Undo on the Rules page takes it back."""
    tuning = state.tuning
    state.rules.change(tuning.draft, f"workbench: {describe(tuning.base, tuning.draft)}")
    tuning.base = tuning.draft


def reset(state: AppState) -> None:
    """Put the sliders back to the rules."""
    tuning = state.tuning
    tuning.draft = tuning.base
    tuning.turn += 1


def restore(state: AppState, model: Model) -> None:
    """Take up rules, blocks and settings of a kept model, and look at it."""
    state.rules.change(model.rules, f"rules of {model.name}")
    state.set_blocks(model.blocks)
    state.settings = model.settings
    state.tuning.shown = ""
    state.version += 1  # widgets that show settings are drawn anew
    follow_rules(state)

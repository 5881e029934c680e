"""The same run with the rules and without them, side by side."""

from __future__ import annotations

from typing import Final, cast

from ui.jobs import BackgroundJob
from ui.models import TrainedModel
from ui.state import AppState

SLOT: Final = "other run"
WITH, WITHOUT = "With the rules", "Without the rules"


def other_run(state: AppState) -> BackgroundJob[TrainedModel] | None:
    """The run that stands beside the present one: the same with the rules turned."""
    beside, kept = state.memo.get(SLOT, (None, None))
    return cast(BackgroundJob[TrainedModel], kept[0]) if kept and beside is state.job else None


def titles(state: AppState) -> tuple[str, str]:
    """What the present run and the one beside it are called."""
    _, (_, other_has_rules) = state.memo[SLOT]
    return (WITHOUT, WITH) if other_has_rules else (WITH, WITHOUT)


def launch_both(state: AppState, *, speed: float | None = None) -> None:
    """Start the run, and beside it the same with the rules turned."""
    state.launch(speed=speed)
    launch_other(state)


def launch_other(state: AppState) -> None:
    """Start the run with the rules turned, beside the present one."""
    if state.job is None:
        state.launch()
    leave_other(state)
    has_rules = not state.settings.use_rules
    turned = state.settings.changed(use_rules=has_rules)
    job = state.request(settings=turned).job()
    state.memo[SLOT] = (state.job, (job, has_rules))
    job.launch()


def leave_other(state: AppState) -> None:
    """Forget the run beside, and end it if it works."""
    _, kept = state.memo.pop(SLOT, (None, None))
    if kept:
        kept[0].stop()

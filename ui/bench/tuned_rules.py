"""What the workbench remembers from one slider move to the next."""

from __future__ import annotations

from dataclasses import dataclass

from ui.models import TrainedModel


@dataclass
class Tuning:
    """The rules as the sliders of the workbench have them."""

    base: str = ""  # the text that the sliders began with
    draft: str = ""  # the text with their values
    turn: int = 0  # grows whenever the sliders must be drawn anew
    model: TrainedModel | None = None  # the last one fitted to a draft, from which the next starts
    seconds: float = 0.0  # what that fit took
    shown: str = ""  # a kept model to look at in place of the sliders'

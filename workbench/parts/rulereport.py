"""How the rules fare in a model, one row a rule."""

from __future__ import annotations

from workbench.dataset import Dataset
from workbench.models import Model


def show(model: Model, data: Dataset) -> None:
    """Draw the table of rules."""

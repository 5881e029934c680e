"""One fit of an experiment: what is done, with which data and seed; plain enough for a JSON file.

    Task("contest", "ksvm-s-10k", seed=3, settings={"method": "HIPAD"})

A task's key depends on all that its figures depend on: the task itself, its data and the version of
this library. Whoever finds the key in a results file need not do the task again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hipad import __version__

Figures = dict[str, Any]
"""What a fit found: numbers, texts, and lists of numbers."""


@dataclass(frozen=True)
class Task:
    """One independent fit; `kind` names the function that does it, `data` the rows it is given."""

    kind: str
    data: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The task as a results file keeps it."""
        return {
            "kind": self.kind,
            "data": self.data,
            "seed": self.seed,
            "settings": dict(self.settings),
        }

    def key(self, fingerprint: str) -> str:
        """What tells this task, on data with this fingerprint, from every other.

        >>> Task("a", "d").key("x") == Task("a", "d").key("x") != Task("a", "d", seed=1).key("x")
        True
        """
        told = {**self.plain(), "rows": fingerprint, "version": __version__}
        text = json.dumps(told, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Done:
    """A finished task: its figures, the processor time it took, or the sentence of its error."""

    task: Task
    key: str
    figures: Figures = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.error)

    def figure(self, name: str) -> float:
        """One number; nan where this fit has none."""
        value = self.figures.get(name)
        return math.nan if value is None else float(value)

    def setting(self, name: str) -> Any:
        """One setting of the task; None where it has none of this name."""
        return self.task.settings.get(name)

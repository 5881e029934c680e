"""A fitted model with what is known of it, and how one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.settings import RunSettings


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier, what it was fitted with, and how it does."""

    name: str
    classifier: Any
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    data_key: str

    def named(self, name: str) -> Model:
        return replace(self, name=name)

"""A session as one JSON file: everything but the data, which are told by their hash.

Models are saved as what they were fitted with, and fitted again when the session is reopened: a
file never brings weights of its own, and the same data give the same model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, get_args

from hipad.data import Missing
from hipad.errors import DataError
from workbench.blocks import check_name
from workbench.dataset import Loaded, Preparation
from workbench.models import Model
from workbench.settings import EXACT, RunSettings

KIND: Final = "hipad-workbench-session"
VERSION: Final = 1
LARGEST: Final = 50 * 2**20  # bytes
MOST_MODELS: Final = 50


@dataclass(frozen=True)
class Recipe:
    """What a kept model was fitted with."""

    name: str
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings


@dataclass(frozen=True)
class Session:
    """What a session file holds."""

    data_name: str
    data_key: str
    preparation: Preparation
    rules: str
    blocks: Mapping[str, str]
    settings: RunSettings
    sample: str = ""
    draw: Mapping[str, Any] = field(default_factory=dict)  # controls of a synthetic sample
    models: tuple[Recipe, ...] = ()
    pinned: str = ""

    def to_json(self) -> str:
        """The text of the file."""
        content = {"kind": KIND, "version": VERSION, **asdict(self)}
        return json.dumps(content, indent=1, ensure_ascii=False)


def session_of(state: Any) -> Session:
    """The present session; there must be data."""
    loaded: Loaded | None = state.loaded
    if loaded is None or state.preparation is None:
        raise DataError("expected data in the session, there are none: load a sample or a file")
    return Session(
        data_name=loaded.name,
        data_key=loaded.key,
        preparation=state.preparation,
        rules=state.rules.text,
        blocks=dict(state.blocks),
        settings=state.settings,
        sample=loaded.sample,
        draw=dict(loaded.recipe),
        models=tuple(recipe_of(model) for model in state.models),
        pinned=state.pinned,
    )


def recipe_of(model: Model) -> Recipe:
    """What makes this model again, without the search for lambda1."""
    settings = model.settings.changed(fewness=EXACT, lambda1=float(model.classifier.lambda1_))
    return Recipe(model.name, model.rules, dict(model.blocks), settings)


def read_session(content: bytes) -> Session:
    """Read a session file; DataError says what is wrong with it."""
    if len(content) > LARGEST:
        raise DataError(f"expected a session file of at most {LARGEST // 2**20} MB, got more")
    try:
        raw = json.loads(content.decode("utf-8"))
        if not isinstance(raw, dict) or raw.get("kind") != KIND:
            raise DataError("expected a session file of this app, got another file")
        if raw.get("version") != VERSION:
            raise DataError(f"expected a session file of version {VERSION}, got another version")
        return _session(raw)
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"expected a session file of this app, got a damaged one ({type(error).__name__})"
        ) from error


def _session(raw: dict[str, Any]) -> Session:
    models = raw["models"]
    if len(models) > MOST_MODELS:
        raise DataError(f"expected at most {MOST_MODELS} models in a session, got {len(models)}")
    draw = {str(name): _draw_value(value) for name, value in raw["draw"].items()}
    return Session(
        data_name=_text(raw["data_name"]),
        data_key=_text(raw["data_key"]),
        preparation=_preparation(raw["preparation"]),
        rules=_text(raw["rules"]),
        blocks=_blocks(raw["blocks"]),
        settings=RunSettings.from_dict(raw["settings"]),
        sample=_text(raw["sample"]),
        draw=draw,
        models=tuple(
            Recipe(
                name=_text(model["name"])[:40],
                rules=_text(model["rules"]),
                blocks=_blocks(model["blocks"]),
                settings=RunSettings.from_dict(model["settings"]),
            )
            for model in models
        ),
        pinned=_text(raw["pinned"]),
    )


def _preparation(raw: dict[str, Any]) -> Preparation:
    usual = Preparation(label="")
    known = {f.name: getattr(usual, f.name) for f in fields(Preparation)}
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in raw.items()
    }
    for name, value in values.items():
        expected = (str, type(None)) if name == "positive" else type(known[name])
        if not isinstance(value, expected):
            raise TypeError(name)
    found = Preparation(**values)
    if found.missing not in get_args(Missing) or found.test not in ("split", "file", "none"):
        raise ValueError("preparation")
    return found


def _blocks(raw: dict[str, Any]) -> dict[str, str]:
    return {check_name(name): _text(definition) for name, definition in raw.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _draw_value(value: object) -> Any:
    if isinstance(value, list):
        return tuple(float(part) for part in value)
    if not isinstance(value, int | float | str):
        raise TypeError("draw")
    return value

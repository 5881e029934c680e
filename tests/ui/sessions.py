"""Damaged and doctored session files, the same ones for the same seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hipad.exceptions import DataError
from ui.dataset import Preparation
from ui.session.session_file import ModelRecipe, Session, read_session
from ui.settings import RunSettings

PIMA = Session(
    data_name="pima",
    data_key="another",
    preparation=Preparation("Diagnosis", "diabetic", test_fraction=0.3, seed=3),
    rules="Glucose >= 150 => diabetic  # naïve\nmean(K) <= 20 => healthy",
    blocks={"K": "BMI, Age"},
    settings=RunSettings(fewness="exact", lambda1=0.05, patients=20.0, mu=1.0),
    sample="pima",
    models=(ModelRecipe("first", "", {}, RunSettings(fewness="exact")),),
    pinned="first",
)
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, 3.0, -0.0, 1e-7, 1e-320, 10**6, 10**6 + 1, 10**11, 10**400,
    float("nan"), float("inf"), float("-inf"), "", "auto", "x", "\ud800", "\0", "\n", "=1+1",
    "a" * 200_000, "5", "NaN", [], [1], [[]], {}, {"a": 1}, {"": ""}, [0.2, 0.1], [0.1, 0.2],
    "exact", "automatic", "file", "none", "drop rows", "Age", "https://evil.example", "/(a+)+$/",
)  # fmt: skip


def doctored(n: int, seed: int) -> Iterator[bytes]:
    """Files of whole JSON with one to three fields replaced, left out, added or doubled."""
    draw = random.Random(seed)
    whole = json.loads(PIMA.to_json())
    for _ in range(n):
        content = copy.deepcopy(whole)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            _change(content, draw)
        yield json.dumps(content).encode()


def readable(n: int, seed: int) -> Iterator[tuple[bytes, Session]]:
    """Those of them that are taken as sessions all the same."""
    for content in doctored(n, seed):
        with suppress(DataError):
            yield content, read_session(content)


def _change(content: dict[str, Any], draw: random.Random) -> None:
    place = draw.choice(list(_places(content)))
    name = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
    deed = draw.random()
    if deed < 0.75:
        place[name] = copy.deepcopy(draw.choice(ODD))
    elif deed < 0.85:
        del place[name]
    elif isinstance(place, dict):
        place[draw.choice(("extra", "\ud800", "", "seed"))] = copy.deepcopy(draw.choice(ODD))
    else:
        place.extend(copy.deepcopy(place) * draw.choice((1, 60)))


def _places(value: Any) -> Iterator[Any]:
    """Every object and list that holds something."""
    if isinstance(value, dict | list) and value:
        yield value
        for part in list(value.values()) if isinstance(value, dict) else value:
            yield from _places(part)

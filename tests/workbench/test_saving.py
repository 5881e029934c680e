from __future__ import annotations

import json

import pytest

from hipad.errors import DataError
from workbench.dataset import Preparation
from workbench.saving import Recipe, Session, read_session
from workbench.settings import RunSettings

SESSION = Session(
    data_name="mine.csv",
    data_key="abc",
    preparation=Preparation("outcome", "yes", exclude=("id",), test_fraction=0.3),
    rules='a >= 1 => "yes"  # naïve',
    blocks={"K": "a:b"},
    settings=RunSettings(patients=20.0, fewness="few"),
    draw={"noise": (0.1, 0.2), "seed": 3},
    models=(Recipe("first", "", {}, RunSettings()),),
    pinned="first",
)


def test_a_session_is_read_back_as_it_was():
    assert read_session(SESSION.to_json().encode()) == SESSION


def test_a_session_holds_nothing_of_the_data():
    assert set(json.loads(SESSION.to_json())) == {"kind", "version", *SESSION.__dataclass_fields__}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 99),
        ("rules", 5),
        ("settings", {"lambda1": "rm -rf"}),
        ("settings", {"unknown": 1}),
        ("settings", {"lambda2": float("nan")}),
        ("preparation", {"label": 3}),
        ("preparation", {"label": "y", "missing": "guess"}),
        ("blocks", {"": "a"}),
        ("models", [{}]),
        ("models", {"name": "x"}),
        ("draw", {"seed": None}),
    ],
)
def test_a_damaged_session_is_refused_in_a_sentence(field, value):
    content = {**json.loads(SESSION.to_json()), field: value}
    with pytest.raises(DataError):
        read_session(json.dumps(content).encode())


def test_deeply_nested_json_is_refused():
    with pytest.raises(DataError):
        read_session(b"[" * 200_000)

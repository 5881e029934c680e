from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.data.preprocessing import ColumnRecipe
from hipad.estimator.model_io import Origin, read_model, save_model
from hipad.estimator.serialization import checksum
from hipad.exceptions import DataError, HipadError
from tests.data.mutations import mutations

EXTREMES = (
    None, True, "", "nan", "x" * 300, "\ud800", 0, -1, 1, 2.5, 1e308, -1e308, 10**12,
    2**63, 10**400, [], {}, [[]], [None], ["nan"], [0, 0], {"a": 1}, "<U1000000000", "O", "<f8,<f8",
)  # fmt: skip


@pytest.fixture(scope="module")
def document(tmp_path_factory) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(24) % 2, "well", "ill")
    X = rng.standard_normal((24, 5)) + np.where(y == "well", 1.0, -1.0)[:, None]
    rules = "mean(K) >= 1 => well\nx3 <= -2 => ill\nK is raised in well\nx4 does not matter"
    clf = HIPADClassifier(rules, blocks={"K": [0, 1]}, lambda1=0.05, solver={"max_iter": 30}).fit(
        X, y
    )
    numbers = tuple(f"x{j}" for j in range(3))
    recipe = ColumnRecipe(numbers, {"sex": ("f", "m")}, np.zeros(3), np.arange(5))
    path = tmp_path_factory.mktemp("model") / "m.json"
    save_model(clf, path, origin=Origin("outcome", ("ill", "well"), recipe))
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    loaded["content"]["history"] = loaded["content"]["history"][:1]
    return loaded


def write(document: dict[str, Any], path, **changed: Any) -> None:
    """The document with a checksum that fits what it became."""
    content = {**document["content"], **changed}
    whole = {**document, "content": content, "checksum": checksum(content)}
    path.write_text(json.dumps(whole), "utf-8")


def test_statements_of_earlier_versions_are_read(document, tmp_path):
    earlier = [
        {("felt" if name == "influential" else name): value for name, value in record.items()}
        for record in document["content"]["knowledge_report"]
    ]
    assert any("felt" in record for record in earlier)
    for name, records in (("old", earlier), ("new", document["content"]["knowledge_report"])):
        write(document, tmp_path / f"{name}.json", knowledge_report=records)
    old, new = (read_model(tmp_path / f"{name}.json").classifier for name in ("old", "new"))
    assert old.knowledge_report_ == new.knowledge_report_


def test_the_document_itself_is_read(document, tmp_path):
    write(document, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").origin is not None


def test_a_file_from_before_there_were_risks_is_read(document, tmp_path):
    old = {name: value for name, value in document["content"].items() if name != "risks"}
    settings = {name: v for name, v in old["settings"].items() if name != "prevalence"}
    write({**document, "content": old}, tmp_path / "m.json", settings=settings)
    clf = read_model(tmp_path / "m.json").classifier
    assert clf.predict(np.zeros((1, 5))).shape == (1,)
    with pytest.raises(HipadError, match="fit it again"):
        clf.predict_proba(np.zeros((1, 5)))


def weights(indices, values):
    return {"coefficients": {"indices": indices, "values": values}}


def classes(values, dtype="<U4"):
    return {"classes": {"dtype": dtype, "values": values}}


def risks(**changed):
    curve = {"prevalence": 0.5, "slope": 1.0, "intercept": 0.0, "at": [], "log_odds": []}
    return {"risks": {**curve, **changed}}


IMPOSSIBLE = {
    "weight not a number": weights([0], [float("nan")]),
    "weight as text": weights([0], ["nan"]),
    "weight without bound": weights([0], [float("inf")]),
    "index too large": weights([5], [1.0]),
    "index negative": weights([-1], [1.0]),
    "index doubled": weights([1, 1], [1.0, 2.0]),
    "index not whole": weights([1.5], [1.0]),
    "index as truth": weights([True], [1.0]),
    "weights too few": weights([0, 1], [1.0]),
    "features beyond memory": {"n_features": 10**12, "feature_names": None},
    "features none": {"n_features": 0},
    "features not whole": {"n_features": 5.0},
    "features negative": {"n_features": -5},
    "names too few": {"feature_names": ["a"]},
    "names not text": {"feature_names": [1, 2, 3, 4, 5]},
    "one class": classes(["ill", "ill"]),
    "three classes": classes(["a", "b", "c"]),
    "classes turned": classes(["well", "ill"]),
    "classes cut": classes(["ill", "well"], "<U1"),
    "class objects": classes(["ill", {}], "O"),
    "class type huge": classes(["ill", "well"], "<U1000000000"),
    "class type of records": classes([1, 2], "<f8,<f8"),
    "class type bytes": classes(["ill", "well"], "V10"),
    "class not a number": classes([0.0, "nan"], "<f8"),
    "intercept": {"intercept": float("inf")},
    "lambda1": {"lambda1": -1.0},
    "rules not text": {"rules": 5},
    "compiled rules that are none": {"compiled": {"rules": [{}], "statements": []}},
    "compiled rules not in a list": {"compiled": {"rules": 3, "statements": []}},
    "block outside": {"blocks": {"K": [0, 9]}},
    "block doubled": {"blocks": {"K": [0, 0]}},
    "block nested": {"blocks": {"K": [[0]]}},
    "hash": {"data_sha256": 7},
    "no settings": {"settings": {}},
    "risk that falls": risks(slope=-1.0),
    "risk of no number": risks(slope="nan"),
    "risk without bound": risks(intercept="inf"),
    "prevalence of all": risks(prevalence=1.0),
    "prevalence of no number": risks(prevalence="nan"),
    "points that fall": risks(at=[0.0, 1.0], log_odds=[1.0, 0.0]),
    "points turned": risks(at=[1.0, 0.0], log_odds=[0.0, 1.0]),
    "one point": risks(at=[1.0], log_odds=[0.0]),
    "points too few": risks(at=[0.0, 1.0], log_odds=[0.0]),
    "point of no number": risks(at=[0.0, "nan"], log_odds=[0.0, 1.0]),
    "risks of a stranger": risks(stranger=1),
    "risks of nothing": {"risks": {}},
    "risks as text": {"risks": "high"},
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_a_model_that_no_fit_gives_is_refused(kind, document, tmp_path):
    write(document, tmp_path / "m.json", **IMPOSSIBLE[kind])
    with pytest.raises(DataError, match=r"m\.json: ") as caught:
        read_model(tmp_path / "m.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lambda2", 0), ("tol", 0), ("tol", "nan"), ("max_iter", 0), ("method", "other"),
        ("engine", None), ("lambda1", "manual"), ("calibrate", 1), ("standardize", "yes"),
        ("class_weight", [["ill", -1.0]]), ("class_weight", 3), ("stranger", 1),
        ("prevalence", 0), ("prevalence", "rare"),
    ],
)  # fmt: skip
def test_settings_that_fit_would_refuse_are_refused(name, value, document, tmp_path):
    settings = {**document["content"]["settings"], name: value}
    write(document, tmp_path / "m.json", settings=settings)
    with pytest.raises(DataError):
        read_model(tmp_path / "m.json")


@pytest.mark.parametrize(
    "changed",
    [
        {"kept": [0, 1, 2, 3, 9]}, {"kept": [0, 0, 1, 2, 3]}, {"kept": [0]}, {"fill": [0.0]},
        {"fill": ["nan", 0.0, 0.0]}, {"levels": {"sex": []}}, {"levels": {"sex": ["m", "f"]}},
    ],
)  # fmt: skip
def test_a_recipe_for_other_columns_is_refused(changed, document, tmp_path):
    origin = copy.deepcopy(document["content"]["origin"])
    origin["recipe"] |= changed
    write(document, tmp_path / "m.json", origin=origin)
    with pytest.raises(DataError):
        read_model(tmp_path / "m.json")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    return [place for key in keys for place in [(value, key), *places(value[key])]]


def damage(content: dict[str, Any], draw: random.Random) -> None:
    container, key = draw.choice(places(content))
    how = draw.randrange(4)
    if how == 0:
        del container[key]
    elif how == 1 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif how == 2:
        other, place = draw.choice(places(content))
        container[key] = copy.deepcopy(other[place])
    else:
        container[key] = draw.choice(EXTREMES)


def test_damaged_models_are_read_and_work_or_are_refused(document, tmp_path):
    draw, path, rows = random.Random(0), tmp_path / "m.json", np.zeros((2, 5))
    read = refused = 0
    for _ in range(500):
        content = copy.deepcopy(document["content"])
        for _ in range(draw.randint(1, 3)):
            damage(content, draw)
        write({**document, "content": content}, path)
        try:
            model = read_model(path).classifier
            read += 1
        except DataError:
            refused += 1
            continue
        if model.n_features_in_ == 5:
            with contextlib.suppress(ValueError):  # names of a frame may be asked for
                assert np.isfinite(model.decision_function(rows)).all()
        assert all(record.text in str(record) or record.lines for record in model.rule_report_)
    assert min(read, refused) > 15


def test_models_with_damaged_bytes_are_refused(document, tmp_path):
    path = tmp_path / "m.json"
    for data in mutations(json.dumps(document).encode(), 500, seed=3):
        path.write_bytes(data)
        with contextlib.suppress(DataError):
            read_model(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "magic"}, {"columns": [0, 9]}, {"columns": [0, 0]}, {"weights": [1.0]},
        {"contrary": 7}, {"contrary": -1}, {"features": []}, {"columns": [0, -1]},
    ],
)  # fmt: skip
def test_a_forged_statement_is_refused(changed, document, tmp_path):
    first, *others = document["content"]["knowledge_report"]
    write(document, tmp_path / "m.json", knowledge_report=[{**first, **changed}, *others])
    with pytest.raises(DataError):
        read_model(tmp_path / "m.json")


def test_a_file_from_before_there_were_statements_is_read(document, tmp_path):
    old = {name: v for name, v in document["content"].items() if name != "knowledge_report"}
    write({**document, "content": old}, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").classifier.knowledge_report_ == []

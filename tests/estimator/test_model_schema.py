from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from hipad import HIPADClassifier
from hipad.data import read_table
from hipad.estimator.model_io import Origin, load_model, model_schema, save_model
from hipad.estimator.serialization import checksum, schema_of

EXPORTED = Path(__file__).resolve().parents[2] / "docs" / "model.schema.json"
RULES = """
first: mean(K) >= 1 and x3 > p75(x3) => ill worth 4 patients  # a note
x1 raises the risk of ill
"""


def fitted(n_classes: int = 2, **options) -> HIPADClassifier:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 5))
    score = X[:, 0] + 0.3 * rng.normal(size=48)
    classes = np.array(["well", "ill", "worse"][:n_classes])
    y = classes[np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))]
    options = {"lambda1": 0.05, "lambda2": 1.0, "blocks": {"K": [0, 1]}} | options
    return HIPADClassifier(**options).fit(X, y)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(model_schema())


def saved(clf: HIPADClassifier, path: Path, origin: Origin | None = None) -> dict:
    save_model(clf, path, origin=origin)
    return json.loads(path.read_text("utf-8"))


def test_model_schema_is_a_schema():
    Draft202012Validator.check_schema(model_schema())


def test_model_schema_is_the_exported_one():
    assert json.loads(EXPORTED.read_text("utf-8")) == model_schema(), (
        "write it anew: python -m hipad schema > docs/model.schema.json"
    )


@pytest.mark.parametrize(
    "clf",
    [
        pytest.param(lambda: fitted(rules=RULES), id="rules and a feature prior"),
        pytest.param(lambda: fitted(), id="no rules"),
        pytest.param(lambda: fitted(lambda1="auto", lambda2="auto", rules=RULES), id="a path"),
        pytest.param(lambda: fitted(3, rules="x0 >= 1 => worse"), id="three classes"),
    ],
)
def test_model_schema_accepts_saved_models(clf, validator, tmp_path):
    model = clf()
    model.predict_proba(np.zeros((1, 5)))  # learns the calibration, which is saved too
    document = saved(model, tmp_path / "model.json")
    assert [error.message for error in validator.iter_errors(document)] == []


def test_model_schema_accepts_the_origin_of_a_table(validator, tmp_path):
    rows = "".join(f"{k};{k % 5},5;{'ill' if k % 3 else 'well'}\n" for k in range(40))
    table = tmp_path / "table.csv"
    table.write_text(f"a;b;label\n{rows}", "utf-8")
    assert read_table(table).reading.found.decimal == ","
    from hipad.cli.main import main

    words = ["fit", str(table), "--label", "label", "--lambda1", "0.05", "--lambda2", "1"]
    assert main([*words, "--model", str(tmp_path / "model.json")]) == 0
    document = json.loads((tmp_path / "model.json").read_text("utf-8"))
    assert document["content"]["origin"] is not None
    assert [error.message for error in validator.iter_errors(document)] == []


def changed(document: dict, change) -> dict:
    document = json.loads(json.dumps(document))
    change(document["content"])
    document["checksum"] = checksum(document["content"])
    return document


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("coefficients"),
        lambda content: content["coefficients"].update(values=["1"]),
        lambda content: content.update(lambda1=-1),
        lambda content: content["certificate"].pop("gap"),
        lambda content: content["rule_report"][0].update(label=3),
        lambda content: content.update(n_features=0),
        lambda content: content["blocks"].update(K=[0, 0]),
        lambda content: content["compiled"]["rules"][0].update(d=["one"]),
    ],
)
def test_model_schema_refuses_what_loading_refuses(change, validator, tmp_path):
    document = saved(fitted(rules=RULES), tmp_path / "model.json")
    wrong = changed(document, change)
    assert not validator.is_valid(wrong)
    (tmp_path / "wrong.json").write_text(json.dumps(wrong), "utf-8")
    with pytest.raises(ValueError, match=r"expected|damaged"):
        load_model(tmp_path / "wrong.json")


def test_schema_of_other_types_is_an_error():
    with pytest.raises(TypeError, match="complex"):
        schema_of(complex, {})

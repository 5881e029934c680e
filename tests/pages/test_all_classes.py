"""Several classes in the app: all of them told apart, or one against the rest."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hipad.estimator.model_io import read_model
from hipad.exceptions import RuleError
from hipad.rules import parse_rules
from ui.results import seal
from ui.run import all_classes


def flowers(n=90):
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 3
    X = rng.standard_normal((n, 4)) + 2.0 * (kind[:, None] == np.arange(4))
    names = ["rose", "tulip", "daisy"]
    lines = ["a,b,c,d,kind"]
    lines += [f"{','.join(f'{v:.3f}' for v in x)},{names[k]}" for x, k in zip(X, kind, strict=True)]
    return "\n".join(lines).encode()


@pytest.fixture
def several(app):
    app.go("data").upload("flowers.csv", flowers())
    return app.click("pending_use")


def run(app):
    app.go("run").click("all_run")
    all_classes.job_of(app.state).wait(300)
    return app.run()


def test_all_classes_are_told_apart_and_rules_name_theirs(several, tmp_path):
    app = several
    assert app.state.preparation.all_classes
    app.state.rules.change("a >= 1 => rose\nb >= 1 => tulip\nc <= 0 => not daisy", "typed")
    run(app)
    found = all_classes.job_of(app.state).outcome
    assert found.part == "cross-validated"
    assert len(found.answers) == len(app.state.data.y_train)
    assert found.right.value > 0.8
    assert found.right.effective < found.right.n
    assert found.confusion.to_numpy().sum() == found.right.n
    text = app.text()
    assert "the model got" in text
    assert "each training row is answered by a model fitted without it" in text
    assert "What the rules did" in text
    labels = {name: [r.text for r in one.rule_report_]
              for name, one in found.classifier.class_models_.items()}  # fmt: skip
    assert [len(labels[name]) for name in ("daisy", "rose", "tulip")] == [3, 2, 2]

    path = tmp_path / "m.json"
    path.write_text(all_classes._model_file(app.state.data, found))
    stored = read_model(path)
    assert stored.origin.classes == ("daisy", "rose", "tulip")
    seal.open_for(app.state, "the rules are final")
    assert "These are the test rows" in app.run().text()
    opened = all_classes.judged(replace(app.state.data, is_sealed=False), found.classifier)
    assert opened.part == "test"
    np.testing.assert_array_equal(stored.classifier.predict(app.state.data.X_test), opened.answers)
    assert json.loads(path.read_text())["version"] == 3
    answers = all_classes._answers(app.state.data, found).splitlines()
    assert answers[0].endswith("risk of daisy,risk of rose,risk of tulip")
    assert len(answers) == found.right.n + 1


def test_a_class_may_be_told_from_the_rest_and_rules_may_name_the_others(several):
    app = several
    app.at.toggle(key=next(t.key for t in app.at.toggle if "_all_" in t.key)).set_value(False)
    app.run()
    assert not app.state.preparation.all_classes
    assert app.state.data.every_label is None
    positive = app.state.data.classes[1]
    other = next(n for n in ("rose", "tulip", "daisy") if n != positive)
    app.state.rules.change(f"a >= 1 => {other}", "typed")
    app.finish()
    (record,) = app.state.model.classifier.rule_report_
    assert record.sign == (
        -1.0 if app.state.model.oriented.classifier.classes_[1] == positive else 1.0
    )


def test_words_mean_the_positive_class():
    rules = parse_rules(
        "x0 >= 1 => positive\nx1 >= 1 => negative\nx2 >= 1 => b\nx3 raises the risk"
    )
    named = all_classes.named_classes(rules, ("a", "b", "c"), "c")
    assert [rule.outcome for rule in named] == ["c", "not c", "b"]
    assert named.statements[0].outcome == "c"


def test_a_rule_that_names_no_class_is_told(several):
    app = several
    app.state.rules.change("a >= 1 => oak", "typed")
    run(app)
    assert "oak" in app.text()
    with pytest.raises(RuleError, match="oak"):
        all_classes.fit_of(app.state.request())

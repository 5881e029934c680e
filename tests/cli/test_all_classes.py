"""Three classes at the command line: fit, predict, and what takes two classes only."""

from __future__ import annotations

import numpy as np
import pytest

from hipad import load_model
from hipad.cli import main
from tests.cli.commands import rows_of


@pytest.fixture
def pets(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["a,b,c,colour,pet"]
    for i in range(60):
        x = rng.standard_normal(3) + 2.0 * (np.arange(3) == i % 3)
        lines.append(
            f"{x[0]:.3f},{x[1]:.3f},{x[2]:.3f},{'rg'[i % 2]},{('dog', 'cat', 'owl')[i % 3]}"
        )
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(lines))
    return path


def fit_all(pets, tmp_path):
    rules = tmp_path / "pets.rules"
    rules.write_text("a >= 2 => dog\nb >= 2 => cat\n")
    target = tmp_path / "model.json"
    words = ["fit", pets, "--label", "pet", "--rules", rules, "--model", target, "--lambda1", 0.02]
    assert main([*map(str, words), "--split", "0.3", "--open-test", "final"]) == 0
    return target


@pytest.fixture
def target(pets, tmp_path):
    return fit_all(pets, tmp_path)


def test_all_classes_are_fitted_and_told(pets, tmp_path, capsys):
    target = fit_all(pets, tmp_path)
    told = capsys.readouterr().out
    assert "classes: cat, dog, owl; each is told from all others" in told
    assert "in 3 models, one for each class against the rest" in told
    assert "certificate (the worst of all classes): solved" in told
    assert "  owl: 5 features at lambda1 0.02; solved, at most " in told
    assert "test: " in told
    assert "rule 1" in told
    assert load_model(target).classes_.tolist() == ["cat", "dog", "owl"]


def test_predict_gives_scores_and_risks_of_each_class(target, pets, capsys):
    capsys.readouterr()
    assert main(["predict", str(target), str(pets)]) == 0
    shown = capsys.readouterr()
    answers = rows_of(shown.out)
    names = ["cat", "dog", "owl"]
    for row in answers:
        risks = [float(row[f"risk of {name}"]) for name in names]
        scores = [float(row[f"score of {name}"]) for name in names]
        assert sum(risks) == pytest.approx(1.0)
        assert row["class"] == names[int(np.argmax(scores))]
    assert "of 60 right" in shown.err
    assert "owl" in shown.err
    assert main(["predict", str(target), str(pets), "--prevalence", "0.3"]) != 0
    assert "expected no --prevalence for a model of 3 classes" in capsys.readouterr().err


def test_one_class_against_the_rest_and_rules_that_name_the_others(pets, tmp_path, capsys):
    rules, model = tmp_path / "r.rules", tmp_path / "one.json"
    rules.write_text("a >= 2 => dog\nb >= 2 => cat\n")
    words = ["fit", pets, "--label", "pet", "--rules", rules, "--model", model, "--lambda1", 0.02]
    assert main([*map(str, words), "--positive", "dog"]) == 0
    assert "positive class: dog" in capsys.readouterr().out
    found = load_model(model)
    assert found.classes_.tolist() == ["dog", "not dog"]
    assert found.coef_[0, 0] < 0 < found.coef_[0, 1]


@pytest.mark.parametrize("command", ["check", "next"])
def test_what_takes_two_classes_says_so(command, target, pets, tmp_path, capsys):
    words = {
        "check": ["check", tmp_path / "pets.rules", "--data", pets, "--model", target],
        "next": ["next", target, "--data", pets],
    }[command]
    assert main(list(map(str, words))) != 0
    assert "expected a model of two classes, got one of 3" in capsys.readouterr().err


def test_a_rule_of_no_class_is_refused_by_its_line(pets, tmp_path, capsys):
    rules = tmp_path / "r.rules"
    rules.write_text("a >= 2 => dog\nb >= 2 => fish\n")
    words = ["fit", pets, "--label", "pet", "--rules", rules, "--model", tmp_path / "m.json"]
    assert main(list(map(str, words))) != 0
    shown = capsys.readouterr()
    assert "line 2" in shown.err + shown.out
    assert "fish" in shown.err + shown.out
    assert not (tmp_path / "m.json").exists()

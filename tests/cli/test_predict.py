from __future__ import annotations

import json

import numpy as np
import pytest

from hipad import HIPADClassifier, load_model
from hipad.cli import main
from hipad.estimator.model_io import read_model, save_model
from tests.cli.commands import fit, rows_of


def test_predict_prepares_new_rows_as_training_did(small, tmp_path, capsys):
    _, target = fit(small, tmp_path)
    new = tmp_path / "new.csv"
    new.write_text("kind,sugar,age,same,beside\na,,50,7,1\nunknown,99,50,7,2\n")
    out = tmp_path / "answers.csv"
    assert main(["predict", str(target), str(new), "--out", str(out)]) == 0
    answers = rows_of(out.read_text())
    assert len(answers) == 2
    assert answers[1]["class"] == "yes"
    assert "2 of 2 rows" in capsys.readouterr().err


def test_predict_takes_a_model_of_the_library(tmp_path, capsys):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.0]])
    HIPADClassifier(lambda1=0.01).fit(X, [0, 1, 0, 1]).save(tmp_path / "m.json")
    np.savez(tmp_path / "x.npz", X=X)
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "x.npz")]) == 0
    assert [row["class"] for row in rows_of(capsys.readouterr().out)] == ["0", "1", "0", "1"]


def test_the_positive_class_is_the_users_whatever_its_place_in_the_alphabet(
    small, tmp_path, capsys
):
    rules = tmp_path / "r.rules"
    rules.write_text("sugar <= 4 => positive\n")
    code, target = fit(small, tmp_path, "--rules", rules, "--positive", "no")
    assert code == 0
    assert str(load_model(target).rules) == "sugar <= 4 => no"
    main(["predict", str(target), str(small)])
    answers = rows_of(capsys.readouterr().out.split("saved:")[-1].split("\n", 1)[1])
    assert all((float(row["score of no"]) > 0) == (row["class"] == "no") for row in answers)
    by_score = sorted(answers, key=lambda row: float(row["score of no"]))
    risks = [float(row["risk of no"]) for row in by_score]
    assert risks == sorted(risks)
    assert 0 < risks[0] < risks[-1] < 1


def test_risks_are_at_the_prevalence_that_is_given(small, tmp_path, capsys):
    _, target = fit(small, tmp_path)
    found = []
    for share in ((), ("--prevalence", "0.01")):
        capsys.readouterr()
        assert main(["predict", str(target), str(small), *share]) == 0
        found.append(list(rows_of(capsys.readouterr().out)))
    (column,) = (name for name in found[0][0] if name.startswith("risk of"))
    assert all(float(b[column]) < float(a[column]) for a, b in zip(*found, strict=True))
    assert [row["class"] for row in found[0]] == [row["class"] for row in found[1]]
    assert main(["predict", str(target), str(small), "--prevalence", "2"]) != 0
    assert "prevalence" in capsys.readouterr().err


def test_output_may_stream(small, tmp_path, capsys):
    _, model = fit(small, tmp_path)
    capsys.readouterr()
    assert main(["predict", str(model), str(small)]) == 0
    answers = capsys.readouterr().out
    assert main(["predict", str(model), str(small), "--out", "/dev/stdout"]) == 0
    assert capsys.readouterr().out == answers
    code = main(["fit", str(small), "--label", "ill", "--model", "/dev/stdout", "--lambda1", "0.1"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["format"] == "hipad-model"


def test_predict_reads_a_file_with_the_meaning_of_training(small, tmp_path, capsys):
    text = small.read_text().replace("age,", "age;").replace(",", ";").replace(".", ",")
    small.write_text(text.replace("\n", "\n999;5,5;a;7;yes\n", 1))
    code, target = fit(small, tmp_path, "--column-gap", "age=999")
    assert code == 0
    new = tmp_path / "new.csv"
    new.write_text("kind,sugar,age,same\na,9.5,999,7\na,9.5,,7\n")
    capsys.readouterr()
    assert main(["predict", str(target), str(new)]) == 0
    one, other = rows_of(capsys.readouterr().out)
    assert one["score of yes"] == other["score of yes"]


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_answers_follow_the_risk_threshold_and_name_it(small, tmp_path, capsys, positive):
    _, target = fit(small, tmp_path, "--positive", positive)
    stored = read_model(target)
    stored.classifier.set_risk_threshold(0.9, positive=positive)
    save_model(stored.classifier, target, origin=stored.origin)
    capsys.readouterr()
    assert main(["predict", str(target), str(small)]) == 0
    printed = capsys.readouterr()
    answers = list(rows_of(printed.out))
    column = f"answer ({positive} from risk 90 % on)"
    assert "class" not in answers[0]
    said = [row[column] == positive for row in answers]
    assert said == [float(row[f"risk of {positive}"]) >= 0.9 for row in answers]
    assert said != [float(row[f"score of {positive}"]) > 0 for row in answers]
    truth = [row["ill"] for row in rows_of(small.read_text())]
    right = sum(one == (label == positive) for one, label in zip(said, truth, strict=True))
    assert f"{right} of {len(said)} right" in printed.err

"""Roles of columns on the command line: rows of one patient, numeric IDs, times of follow-up."""

from __future__ import annotations

import numpy as np
import pytest

from hipad.cli import main
from hipad.estimator.model_io import read_model


def written(path, columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def visits(tmp_path):
    """107 rows of 18 patients whose values tell who it is and nothing of the disease."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(18), np.r_[np.full(17, 6), 5])
    own = rng.normal(size=(18, 3))[groups] + 0.1 * rng.normal(size=(107, 3))
    ill = np.arange(18) % 4 > 0
    columns = {"subject": [f"S{i + 1:02d}" for i in groups]}
    columns |= {f"m{j}": own[:, j].round(3) for j in range(3)}
    return written(
        tmp_path / "visits.csv", {**columns, "disease": np.where(ill, "yes", "no")[groups]}
    )


@pytest.fixture
def recurrences(tmp_path):
    """A numeric ID, and a time of follow-up that ends with the outcome."""
    rng = np.random.default_rng(4)
    n = 120
    again = np.arange(n) % 3 == 0
    columns = {
        "id": rng.permutation(900_000)[:n] + 84_000,
        "age": rng.integers(30, 80, n),
        "grade": rng.integers(1, 4, n),
        "nodes": rng.poisson(2 + 2 * again),
        "time": (rng.exponential(60, n) * np.where(again, 0.3, 1.5)).round(1),
        "status": np.where(again, "recurrence", "censored"),
    }
    return written(tmp_path / "recurrences.csv", columns)


def fit(table, label, tmp_path, *more):
    model = tmp_path / "model.json"
    code = main(
        ["fit", str(table), "--label", label, "--model", str(model), "--lambda1", "0.05", *more]
    )
    return code, model


def features_of(model):
    return set(read_model(model).origin.recipe.feature_names)


def test_rows_of_one_patient_are_held_out_together_and_counted_as_patients(
    visits, tmp_path, capsys
):
    code, model = fit(visits, "disease", tmp_path, "--split", "0.25", "--open-test", "final")
    out = capsys.readouterr().out
    assert code == 0
    assert features_of(model) == {"m0", "m1", "m2"}
    assert "role: subject: group (18 different values in 107 rows" in out
    told = next(line for line in out.splitlines() if line.startswith("test: "))
    n_test = int(told.split(" of ")[1].split()[0])
    assert 1 < int(told.split(" rows of ")[1].split()[0]) < 6
    assert "patients right" in told
    low, high = (float(part) for part in told.split("(")[1].split(")")[0].split(" to "))
    assert high - low > 30  # 27 independent rows would claim less
    assert n_test in range(23, 31)
    main(["predict", str(model), str(visits), "--out", str(tmp_path / "answers.csv")])
    assert "107 rows of 18 patients right" in capsys.readouterr().err


def test_an_id_and_a_time_of_follow_up_are_no_features_until_one_says_so(
    recurrences, tmp_path, capsys
):
    code, model = fit(recurrences, "status", tmp_path)
    out = capsys.readouterr().out
    assert code == 0
    assert features_of(model) == {"age", "grade", "nodes"}
    assert "role: id: ID" in out
    assert "question: time seems to be a time of follow-up: is it known before" in out
    code, model = fit(recurrences, "status", tmp_path, "--feature", "time", "--exclude", "age")
    out = capsys.readouterr().out
    assert features_of(model) == {"grade", "nodes", "time"}
    assert "question" not in out


def test_check_asks_what_a_run_should_know(recurrences, tmp_path, capsys):
    rules = tmp_path / "some.rules"
    rules.write_text("nodes >= 3 => recurrence\n")
    assert main(["check", str(rules), "--data", str(recurrences), "--label", "status"]) == 0
    out = capsys.readouterr().out
    assert "role: id: ID (different in every row)" in out
    assert "--exclude 'time' leaves it out" in out
    rules.write_text("time >= 30 => censored\n")
    assert main(["check", str(rules), "--data", str(recurrences), "--label", "status"]) != 0
    assert "'time' is no feature, as its role is follow-up time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--group", "subjekt"], "did you mean 'subject'"),
        (["--id", "subject", "--group", "subject"], "one role of 'subject'"),
        (["--feature", "nothing_like_it"], "expected --feature to be a column"),
    ],
)
def test_roles_that_cannot_be_are_refused_in_a_sentence(visits, tmp_path, capsys, given, told):
    code, _ = fit(visits, "disease", tmp_path, *given)
    assert code == 1
    assert told in capsys.readouterr().err


def test_a_group_that_is_named_replaces_the_guess(visits, tmp_path, capsys):
    fit(visits, "disease", tmp_path, "--feature", "subject")
    out = capsys.readouterr().out
    assert "patients to learn from" not in out
    code, model = fit(visits, "disease", tmp_path, "--group", "subject")
    assert code == 0
    assert read_model(model).origin.group == "subject"

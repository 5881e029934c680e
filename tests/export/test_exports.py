"""A model in any other form gives the risks that it gives here."""

from __future__ import annotations

import io
import math
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from hipad import HIPADClassifier
from hipad.cli import main
from hipad.data.preprocessing import ColumnRecipe
from hipad.estimator.model_io import Origin, StoredModel, read_model
from hipad.exceptions import DataError
from hipad.export import EXPORTS, ScoringFormula, export_model
from hipad.export.formats import to_onnx, to_sql, to_workbook
from hipad.export.scoring import CategoryTerm, NumberTerm, RiskKnots, RiskLine


def agrees(truth: dict[str, np.ndarray], score: object, risk: object) -> None:
    np.testing.assert_allclose(np.array(score, float), truth["score"], atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(np.array(risk, float), truth["risk"], atol=1e-9, rtol=1e-7)


def test_formula_is_the_model(formula, rows, truth):
    assert {term.column for term in formula.categories} >= {"kind"}
    agrees(truth, [formula.score(row) for row in rows], [formula.probability(row) for row in rows])


def test_both_kinds_of_curves_and_both_orders_of_classes_are_tried(model, formula):
    assert isinstance(formula.risk, RiskKnots)
    assert (str(model.classifier.classes_[1]) == formula.classes[1]) == (formula.classes[0] == "no")


def run_sql(query: str, rows: list[dict[str, object]]) -> list[sqlite3.Row]:
    with sqlite3.connect(":memory:") as db:
        db.row_factory = sqlite3.Row
        db.create_function("EXP", 1, lambda x: None if x is None else math.exp(x))
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in rows[0])
        db.execute(f"CREATE TABLE patients ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO patients VALUES ({marks})", [[*row.values()] for row in rows])
        return db.execute(query).fetchall()


def test_sql_gives_the_same(model, formula, rows, truth):
    found = run_sql(to_sql(formula), rows)
    agrees(truth, [row["score"] for row in found], [row["risk"] for row in found])
    positive = formula.classes[1]
    assert [row["answer"] == positive for row in found] == truth["answer"].tolist()


def test_sql_of_thousands_of_features_is_not_too_deep():
    terms = tuple(NumberTerm(f"x{j}", 0.001 * j, 0.0) for j in range(1900))
    wide = ScoringFormula("y", ("a", "b"), terms, (), 1.0, RiskLine(1.0, 0.0))
    (row,) = run_sql(to_sql(wide), [{f"x{j}": 1.0 for j in range(1900)}])
    assert row["score"] == pytest.approx(1.0 + 0.001 * sum(range(1900)))


def test_sql_gives_no_answer_where_the_model_gives_none():
    kinds = CategoryTerm("k", (("u", 1.0),), answers_gaps=False)
    strict = ScoringFormula("y", ("a", "b"), (NumberTerm("x", 1.0, None),), (kinds,), 0.0, None)
    rows = [{"x": 1.0, "k": "u"}, {"x": None, "k": "u"}, {"x": 1.0, "k": None}, {"x": -3, "k": "v"}]
    found = run_sql(to_sql(strict), rows)
    assert [row["answer"] for row in found] == ["b", None, None, "a"]
    assert [strict.score(row) for row in rows] == [2.0, None, None, -3.0]


def test_onnx_gives_the_same(model, formula, rows, truth):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(export_model(model, "onnx"))
    given = session.get_modelmeta().custom_metadata_map
    numbers, texts = given["numbers"].split("\n"), given["categories"].split("\n")
    feed = {
        "numbers": np.array(
            [[np.nan if row[name] is None else row[name] for name in numbers] for row in rows],
            dtype=np.float64,
        ),
        "categories": np.array([[row[name] or "" for name in texts] for row in rows], dtype=object),
    }
    score, risk, answer = session.run(["score", "risk", "answer"], feed)
    agrees(truth, score.ravel(), risk.ravel())
    assert (answer.ravel() == formula.classes[1]).tolist() == truth["answer"].tolist()


def test_pmml_gives_the_same(model, rows, truth, tmp_path):
    evaluator = pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("reading PMML needs Java")
    path = tmp_path / "model.pmml"
    path.write_text(str(export_model(model, "pmml")), "utf-8")
    backend = evaluator.make_backend("jpype")
    reader = evaluator.make_evaluator(str(path), backend=backend).verify()
    found = [reader.evaluate(row) for row in rows]
    agrees(truth, [row["hipad_score"] for row in found], [row["hipad_risk"] for row in found])


def computed(workbook: bytes, rows: list[dict[str, object]], tmp_path: Path) -> list[list[object]]:
    """Type rows into a workbook and compute its formulas with an independent program."""
    openpyxl, formulas = pytest.importorskip("openpyxl"), pytest.importorskip("formulas")
    book = openpyxl.load_workbook(io.BytesIO(workbook))
    sheet = book["rows"]
    names = [cell.value for cell in sheet[1]]
    for i, row in enumerate(rows):
        for j, name in enumerate(names[3:], start=4):
            if row[name] is not None:
                sheet.cell(2 + i, j).value = row[name]
    path = tmp_path / "typed.xlsx"
    book.save(path)
    cells = formulas.ExcelModel().loads(str(path)).finish().calculate()
    key = f"'[{path.name}]ROWS'!"
    return [[cells[f"{key}{c}{2 + i}"].value[0, 0] for c in "ABC"] for i in range(len(rows))]


def compare_workbook(formula, rows, truth, tmp_path):
    found = computed(to_workbook(formula, rows=len(rows)), rows, tmp_path)
    few = {name: values[: len(rows)] for name, values in truth.items()}
    agrees(few, [row[2] for row in found], [row[1] for row in found])
    assert [row[0] == formula.classes[1] for row in found] == few["answer"].tolist()


def test_a_spreadsheet_gives_the_same(formula, rows, truth, tmp_path):
    compare_workbook(formula, rows[:12], truth, tmp_path)


@pytest.mark.long
def test_a_spreadsheet_gives_the_same_on_all_rows(formula, rows, truth, tmp_path):
    compare_workbook(formula, rows, truth, tmp_path)


def test_names_in_a_workbook_are_text(formula):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(to_workbook(formula, rows=1)))
    heads = {cell.value: cell.data_type for sheet in book for cell in sheet[1] if cell.value}
    assert heads["=cmd"] == "s"


def test_the_card_shows_names_as_text(model):
    card = str(export_model(model, "card"))
    assert "<c>" not in card
    assert "## Limits" in card


@pytest.mark.parametrize("form", EXPORTS)
def test_the_command_writes_every_form(form, model, tmp_path, capsys):
    pytest.importorskip("onnx" if form == "onnx" else "hipad")
    source = tmp_path / "model.json"
    model.classifier.save(source)
    stored = read_model(source)
    target = tmp_path / f"out{EXPORTS[form].ending}"
    assert main(["export", str(source), "--to", form, "--out", str(target)]) == 0
    expected = export_model(stored, form)
    if form != "xlsx":  # whose properties hold the time
        expected = expected.encode() if isinstance(expected, str) else expected
        assert target.read_bytes() == expected
    assert "saved" in capsys.readouterr().err


LINE = ScoringFormula("y", ("a", "b"), (NumberTerm("x", 2.0, 1.0),), (), 0.5, RiskLine(3.0, -1.0))
LINE_ROWS: list[dict[str, object]] = [{"x": None}, {"x": 0.25}, {"x": -100.0}]
LINE_RISKS = expit(np.clip(3.0 * (0.5 + 2.0 * np.array([1.0, 0.25, -100.0])) - 1.0, -36, 36))


def test_a_line_of_risks_is_the_same_in_onnx_and_in_a_spreadsheet(tmp_path):
    found = computed(to_workbook(LINE, rows=3), LINE_ROWS, tmp_path)
    assert found[0] == ["", "", ""]  # a row in which nothing was typed is nobody
    np.testing.assert_allclose([row[1] for row in found[1:]], LINE_RISKS[1:], rtol=1e-9)
    onnxruntime = pytest.importorskip("onnxruntime")
    feed = {"numbers": np.array([[np.nan], [0.25], [-100.0]])}
    (risks,) = onnxruntime.InferenceSession(to_onnx(LINE)).run(["risk"], feed)
    np.testing.assert_allclose(risks.ravel(), LINE_RISKS, rtol=1e-9, atol=1e-12)


def test_an_unknown_form_is_refused(model):
    with pytest.raises(DataError, match="expected one of sql"):
        export_model(model, "pickle")


def test_a_model_of_three_classes_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    HIPADClassifier(lambda1=0.05).fit(X + y[:, None], y).save(tmp_path / "m.json")
    with pytest.raises(DataError, match="expected a model of two classes, got one of 3"):
        export_model(read_model(tmp_path / "m.json"), "sql")


@given(
    slope=st.floats(0.01, 50), intercept=st.floats(-20, 20), score=st.floats(-100, 100)
)  # fmt: skip
def test_risks_are_those_of_the_line(slope, intercept, score):
    one = ScoringFormula("y", ("a", "b"), (), (), score, RiskLine(slope, intercept))
    expected = expit(np.clip(slope * score + intercept, -36, 36))
    assert one.probability({}) == pytest.approx(expected, rel=1e-12)
    (row,) = run_sql(to_sql(one), [{"x": 0.0}])
    assert row["risk"] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("positive", [0, 1])
def test_a_risk_threshold_is_that_of_the_positive_class(positive, tmp_path):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3)), np.array(["ill", "well"])
    y = labels[(X[:, 0] + rng.normal(size=40) > 0).astype(int)]
    classes = (str(labels[1 - positive]), str(labels[positive]))
    clf = HIPADClassifier(lambda1=0.02).fit(X, y)
    clf.set_risk_threshold(0.8, positive=classes[1])
    recipe = ColumnRecipe(("a", "b", "c"), {})
    formula = ScoringFormula.of(StoredModel(clf, Origin("outcome", classes, recipe)))
    assert formula.threshold == pytest.approx(0.8, abs=1e-12)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    said = [formula.probability(row) >= formula.threshold for row in rows]
    assert said == (clf.predict(X) == classes[1]).tolist()
    assert 0 < sum(said) < 40

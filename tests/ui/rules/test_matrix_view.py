from __future__ import annotations

import csv
import io

import numpy as np

from hipad.rules import compile_rules, matrix_picture, picture
from ui.data.samples import clinical
from ui.rules.matrix_view import as_csv, draw, row_words
from ui.state import AppState

RULES = compile_rules("a: x0 + 2*x1 >= 3 => positive\nb: x2 <= 1 => negative", n_features=3)


def test_a_condition_is_a_sum_in_words():
    first, second = picture(RULES)
    assert "x1" in row_words(first)
    assert row_words(second).endswith("≤ 1 gives negative")


def test_conditions_read_as_they_were_written_and_literally_for_experts():
    shown = matrix_picture(RULES)
    heat, bounds = draw(shown, literal=False).data
    assert [list(row) for row in heat.text] == [["1", "2", ""], ["", "", "1"]]
    assert [row[0] for row in bounds.text] == ["≥ 3", "≤ 1"]
    heat, bounds = draw(shown, literal=True).data
    assert [list(row) for row in heat.text] == [["-1", "-2", ""], ["", "", "1"]]
    assert [row[0] for row in bounds.text] == ["-3", "1"]


def test_colour_is_value_and_sign_of_what_helps():
    heat = draw(matrix_picture(RULES), literal=False).data[0]
    literal = draw(matrix_picture(RULES), literal=True).data[0]
    assert np.nan_to_num(heat.z).tolist() == [[0.5, 1.0, 0.0], [0.0, 0.0, -1.0]]
    assert np.array_equal(heat.z, literal.z, equal_nan=True)


def test_the_symbols_are_told_under_the_pointer_and_names_are_no_markup():
    rules = compile_rules("`<b>x` >= 3 => positive", feature_names=["<b>x"])
    heat, bounds = draw(matrix_picture(rules), literal=True).data
    assert "B<sub>1,j</sub> = -1 for &lt;b&gt;x" in heat.customdata[0][0]
    assert bounds.customdata[0][0].startswith("d<sub>1</sub> = -3")


def test_fifty_thousand_features_stay_a_small_picture():
    blocks = {"all": np.arange(50_000)}
    rules = compile_rules("mean(all) >= 1 => positive", n_features=50_000, blocks=blocks)
    scale = np.linspace(1, 2, 50_000)
    chart = draw(matrix_picture(rules, blocks=blocks, scale=scale), literal=True)
    assert len(chart.to_json()) < 100_000


def test_the_file_holds_every_entry():
    state = AppState()
    state.load(clinical("pima"))
    rules = compile_rules(
        "Glucose + BMI >= 150 => diabetic", feature_names=state.data.index,
        classes=state.data.classes,
    )  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(as_csv(rules, state.data))))
    told = {(line["part"], line["feature"]): float(line["value"]) for line in lines}
    assert told == {("B", "Glucose"): -1.0, ("B", "BMI"): -1.0, ("d", ""): -150.0}

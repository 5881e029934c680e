from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.data import Table
from hipad.estimator.problem_factory import default_weight
from hipad.rules import compile_rules, read_rules
from tests.ui.pima import fitted
from ui.data.loading import build
from ui.dataset import Loaded, Preparation
from ui.workbench.sliders import (
    number_sides,
    round_step,
    switched,
    threshold_sliders,
    tidy,
    weight_sliders,
)


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("Glucose >= 130 => diabetic", "Glucose at least", 125.0),
        ("130 >= Glucose => diabetic", "Glucose at most", 125.0),
        ("BMI between 20 and 30 => healthy", "BMI between", (22.0, 28.0)),
        ("Age - 2*BMI + 1 <= 0.5 => diabetic", "Age - 2*BMI + 1 at most", 1.0),
    ],
)
def test_a_slider_moves_its_number_and_no_other(text, label, expected):
    (slider,) = threshold_sliders(text, fitted()[0].data)
    assert slider.label == label
    assert slider.low <= np.min(slider.value(read_rules(text).rules)) <= slider.high
    written = slider.write(f"{text}\nAge >= 7 => diabetic  # kept", expected)
    assert written.endswith("Age >= 7 => diabetic  # kept")
    assert slider.value(read_rules(written).rules) == expected


def test_the_range_of_a_slider_holds_what_was_seen():
    data = fitted()[0].data
    (slider,) = threshold_sliders("Glucose + 2*BMI >= 3 => diabetic", data)
    sugar, bmi = (data.X_train[:, data.index.position(name)] for name in ("Glucose", "BMI"))
    values = sugar + 2 * bmi
    assert slider.low < 3 < values.max() < slider.high
    assert slider.step < (values.max() - values.min()) / 20


def test_conditions_without_a_number_of_their_own_have_no_slider():
    assert threshold_sliders("Glucose >= BMI => diabetic\nAge >= => x", fitted()[0].data) == []
    (falling,) = read_rules("5 >= a >= 1 => y").rules
    assert number_sides(falling.conditions[0]) == ()


def test_the_worth_slider_reaches_all_patients_and_twice_the_worth():
    first, second = weight_sliders("a >= 1 => yes\nb >= 1 => yes worth 900 patients", 200)
    assert first.high == 200
    assert second.high == 1800
    assert "worth 30 patients" in first.write("a >= 1 => yes", 30.0)
    assert first.value(read_rules("a >= 1 => yes").rules, "auto", 200) == default_weight(
        "auto", 200
    )


def test_a_switch_changes_one_rule():
    assert switched("a >= 1 => yes\nb >= 2 => no", 1, False) == "a >= 1 => yes\noff b >= 2 => no"


@pytest.mark.parametrize("size", [0.00037, 0.9, 1.0, 4.99, 73.0, 1e6])
def test_a_step_is_round_and_not_above_its_size(size):
    step = round_step(size)
    assert size / 2.5 <= step <= size * (1 + 1e-9)
    assert f"{step:.0e}"[0] in "125"
    assert tidy(7 * step, step) == pytest.approx(7 * step)


def binary_data():
    """Pima with a feature that is 0 or 1."""
    data = fitted()[0].data
    X = data.X_train.copy()
    X[:, data.index.position("Pregnancies")] = np.arange(len(X)) % 2
    return replace(data, X_train=X, gaps_seen=None)


@pytest.mark.parametrize(
    "text", ["Pregnancies >= 1 => diabetic", "Pregnancies <= 0 => healthy", "1 > Pregnancies => x"]
)
def test_a_binary_feature_has_two_stops(text):
    (slider,) = threshold_sliders(text.replace("=> x", "=> healthy"), binary_data())
    assert (slider.low, slider.high, slider.step) == (0.0, 1.0, 1.0)
    assert "0" in slider.write(text, 0.3).split("=>")[0]
    assert "1" in slider.write(text, 0.8).split("=>")[0]


def test_a_threshold_between_the_values_of_a_binary_feature_keeps_its_place():
    (slider,) = threshold_sliders("Pregnancies >= 0.5 => diabetic", binary_data())
    assert slider.stops == ()
    assert slider.low < 0.5 < slider.high
    assert slider.value(read_rules("Pregnancies >= 0.5 => diabetic").rules) == 0.5


def test_the_histogram_counts_every_training_patient_by_class():
    data = fitted()[0].data
    (slider,) = threshold_sliders("Glucose >= 130 => diabetic", data)
    positive = data.y_train == data.classes[1]
    negative_bars, positive_bars = slider.histogram(positive)
    assert (sum(negative_bars), sum(positive_bars)) == ((~positive).sum(), positive.sum())
    values = data.X_train[:, data.index.position("Glucose")]
    edges = np.linspace(slider.low, slider.high, len(positive_bars) + 1)
    assert positive_bars == np.histogram(values[positive], edges)[0].tolist()


def test_a_rule_of_several_rows_shows_the_row_that_decides():
    data = fitted()[0].data
    (slider,) = threshold_sliders("min(Glucose, Insulin) >= 20 => diabetic", data)
    columns = [data.index.position(name) for name in ("Glucose", "Insulin")]
    assert slider.seen == pytest.approx(data.X_train[:, columns].min(axis=1))


def heights():
    """Rows with a height in cm."""
    cm = np.linspace(150, 200, 40)
    text = {"state": np.where(np.arange(40) % 2, "ill", "well")}
    table = Table(np.column_stack([cm, cm[::-1]]), ("height_cm", "other"), text, "h", sha256="h")
    return build(Loaded("h", table), Preparation(label="state", positive="ill"), {}), cm


def test_a_threshold_with_a_unit_keeps_it_and_its_slider_is_in_that_unit():
    data, cm = heights()
    text = "height_cm >= 1.8 m => ill"
    (slider,) = threshold_sliders(text, data)
    assert slider.label == "height_cm at least, in m"
    assert slider.seen == pytest.approx(data.X_train[:, 0] / 100)
    assert slider.low < cm.min() / 100 < 1.8 < cm.max() / 100 < slider.high < 3
    written = slider.write(text, 1.7)
    assert "1.7 m" in written
    (rule,) = compile_rules(
        written, feature_names=data.index, classes=data.classes, values=data.values
    )
    assert abs(rule.d[0]) == pytest.approx(170)


def test_a_range_whose_ends_are_in_two_units_has_no_slider():
    data, _ = heights()
    assert threshold_sliders("160 cm <= height_cm <= 1.8 m => ill", data) == []
    assert len(threshold_sliders("height_cm between 1.6 and 1.8 m => ill", data)) == 1

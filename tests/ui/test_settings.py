from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.estimator.serialization import rebuild
from ui.dataset import Preparation
from ui.settings import Number, Percent, Power, RunSettings, field_of

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(anything)
def test_a_number_is_within_its_bounds_or_refused(value):
    for field in (Number(0, 9), Number(0.5, 9.0), Number(0.5, 9.0, auto=True)):
        try:
            found = field.read(value)
        except ValueError:
            continue
        assert found == value
        assert found == "auto" or field.low <= found <= field.high
        assert isinstance(found, type(field.low) | str)
        assert not isinstance(value, bool)


@given(st.integers(1, 19))
def test_shares_are_those_that_a_slider_can_show(step):
    assert Percent(5, 95, 5).read(step / 20) == step / 20
    with pytest.raises(ValueError, match="steps of"):
        Percent(5, 95, 5).read(step / 20 - 0.01 if step > 1 else 0.07)


@given(st.integers(-12, -2))
def test_powers_are_those_that_a_slider_can_show(exponent):
    assert Power(-12, -2).read(float(f"1e{exponent}")) == 10.0**exponent
    with pytest.raises(ValueError, match="power of ten"):
        Power(-12, -2).read(2 * 10.0**exponent)


def test_every_number_of_a_form_has_bounds_and_a_usual_value_within_them():
    for kind, usual in ((RunSettings, RunSettings()), (Preparation, Preparation("y"))):
        for each in fields(kind):
            value = getattr(usual, each.name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert field_of(kind, each.name).read(value) == value


def test_an_error_names_the_field():
    values = {**RunSettings().as_dict(), "max_sweeps": 0}
    with pytest.raises(ValueError, match=r"^max_sweeps: expected a whole number from 1 to"):
        rebuild(RunSettings, values)


def test_the_defaults_are_those_of_the_classifier():
    usual, ours = HIPADClassifier().get_params(), RunSettings()
    assert ours.fewness == "automatic"
    assert usual["lambda1"] == "auto"
    given = HIPADClassifier(**ours.parameters).get_params()
    layers = {"solver", "selection", "rule_settings"}
    assert {name: usual[name] for name in set(usual) - layers} == {
        name: given[name] for name in set(given) - layers
    }
    assert set(HIPADClassifier().get_params(deep=False)) - set(ours.parameters) <= {
        "rules", "blocks", "lambda1", "prevalence",
        "max_features", "cv", "random_state", "n_jobs", "rule_trust", "loss",
    }  # fmt: skip


def test_classes_that_are_not_balanced_have_no_weights():
    assert RunSettings(balanced=False).parameters["class_weight"] is None


def test_settings_are_read_back():
    settings = RunSettings(patients=12.5, method="exact", balanced=False)
    assert RunSettings.from_dict(settings.as_dict()) == settings

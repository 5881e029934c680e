from __future__ import annotations

from hipad import HIPADClassifier
from ui.settings import RunSettings


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
        "max_features", "cv", "random_state", "n_jobs", "rule_trust",
    }  # fmt: skip


def test_classes_that_are_not_balanced_have_no_weights():
    assert RunSettings(balanced=False).parameters["class_weight"] is None


def test_settings_are_read_back():
    settings = RunSettings(patients=12.5, method="exact", balanced=False)
    assert RunSettings.from_dict(settings.as_dict()) == settings

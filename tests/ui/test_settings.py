from __future__ import annotations

from hipad import HIPADClassifier
from ui.settings import RunSettings


def test_the_defaults_are_those_of_the_classifier():
    usual, ours = HIPADClassifier().get_params(), RunSettings()
    assert ours.fewness == "automatic"
    assert usual["lambda1"] == "auto"
    assert {name: usual[name] for name in ours.parameters} == ours.parameters
    assert set(usual) - set(ours.parameters) <= {
        "rules", "blocks", "lambda1", "anchored", "prevalence",
        "max_features", "cv", "random_state", "n_jobs", "rule_trust",
    }  # fmt: skip


def test_classes_that_are_not_balanced_have_no_weights():
    assert RunSettings(balanced=False).parameters["class_weight"] is None


def test_settings_are_read_back():
    settings = RunSettings(patients=12.5, method="exact", balanced=False)
    assert RunSettings.from_dict(settings.as_dict()) == settings

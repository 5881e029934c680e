from __future__ import annotations

from hipad import HIPADClassifier
from ui.settings import RunSettings


def test_the_defaults_are_those_of_the_classifier():
    usual, ours = HIPADClassifier().get_params(), RunSettings()
    assert ours.fewness == "automatic"
    assert usual["lambda1"] == "auto"
    renamed = {"tolerance": "tol", "max_sweeps": "max_iter"}
    apart = {"mu", "fewness", "lambda1", "balanced", "use_rules"}
    for name, value in ours.as_dict().items():
        if name not in apart:
            assert usual[renamed.get(name, name)] == value, name
    assert usual["class_weight"] == "balanced"
    assert ours.balanced


def test_settings_are_read_back():
    settings = RunSettings(patients=12.5, method="exact", balanced=False)
    assert RunSettings.from_dict(settings.as_dict()) == settings

"""Options under the names of earlier versions."""

from __future__ import annotations

import argparse

import pytest

from hipad.cli.experiments import add_tune_options
from hipad.cli.inputs import OLD_NAMES
from hipad.cli.main import COMMANDS, OLD_COMMANDS, main
from hipad.cli.models import add_fit_options, build

VALUES = {
    "--patients": ["7"],
    "--stiffness": ["2.5"],
    "--engine": ["osqp"],
    "--switch": ["paper"],
}


def classifier(*words):
    parser = argparse.ArgumentParser()
    add_fit_options(parser)
    return build(parser.parse_args(["data.csv", "--model", "m.json", *words]), "", {})


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_option_warns_and_is_the_new_one(old):
    with pytest.warns(FutureWarning, match=f"write {OLD_NAMES[old]}"):
        found = classifier(old, *VALUES[old])
    assert found.get_params() == classifier(OLD_NAMES[old], *VALUES[old]).get_params()
    assert found.get_params() != classifier().get_params()


def test_layers_are_set_by_flat_options():
    found = classifier("--scope", "typical", "--no-calibrate", "--choice", "one_se").get_params()
    assert found["rule_settings__scope"] == "typical"
    assert found["selection__calibrate"] is False
    assert found["selection__choice"] == "one_se"


def test_tune_takes_the_old_option():
    parser = argparse.ArgumentParser()
    add_tune_options(parser)
    with pytest.warns(FutureWarning, match="--rho"):
        given = parser.parse_args(["data.csv", "--stiffness", "auto", "3"])
    assert given.rho == ["auto", "3"]


@pytest.mark.parametrize("old", OLD_COMMANDS)
def test_an_old_command_warns_and_is_the_new_one(old, capsys):
    new = OLD_COMMANDS[old]
    assert new in COMMANDS
    with pytest.warns(FutureWarning, match=f"write hipad {new}"), pytest.raises(SystemExit):
        main([old, "--help"])
    assert f"usage: hipad {new}" in capsys.readouterr().out

"""A study file as a session: it opens with its data, its cut-off and its records, or says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.exceptions import DataError
from hipad.reporting.study_file import read_study, write_study
from tests.pages.own_table import table
from ui.data.upload import loaded_of
from ui.report.study import study_of
from ui.results.seal import open_for
from ui.session.study_session import reopen_file, session_of_study, settings_of, study_file
from ui.settings import EXACT, RunSettings
from ui.state import AppState

RULES = "marker >= 1.5 => ill"


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A session with a table of its own, a model with a cut-off, and an opened test set."""
    from hipad.data import read_table

    path = tmp_path_factory.mktemp("data") / "own.csv"
    path.write_bytes(table())
    state = AppState()
    state.load(loaded_of("own.csv", read_table(path)))
    state.rules.change(RULES, "mine")
    state.settings = state.settings.changed(fewness=EXACT, lambda1=0.05, lambda2=1.0)
    state.launch()
    assert state.job.wait(60)
    state.model.classifier.set_risk_threshold(0.3, positive="ill")
    open_for(state, "final")
    return state


def opened(content):
    state = AppState()
    reopen_file(state, content)
    assert state.job.wait(60)
    return state


def test_a_study_with_its_data_opens_as_it_was(worked):
    state = opened(study_file(worked, worked.model, with_data=True))
    assert state.rules.text == RULES
    assert state.settings == worked.settings
    assert state.edits == worked.edits
    assert list(state.seals.values()) == list(worked.seals.values())
    assert np.array_equal(state.model.weights, worked.model.weights)
    assert state.model.oriented.threshold == pytest.approx(0.3)
    assert study_of(state, state.model) == study_of(worked, worked.model)


def test_a_study_without_its_data_waits_for_them(worked):
    state = AppState()
    reopen_file(state, study_file(worked, worked.model, with_data=False))
    assert state.awaiting.data_key == worked.loaded.key
    assert state.awaiting.models[0].cutoff == pytest.approx(0.3)


@pytest.mark.parametrize("fewness", ["automatic", "fewest", "few"])
def test_settings_of_a_study_are_those_of_the_app(worked, fewness):
    own = RunSettings(fewness=fewness, patients=5.0, balanced=False, scope="training")
    study = study_of(worked, replace(worked.model, settings=own))
    found = settings_of(study)
    assert found.changed(lambda1=own.lambda1) == own


def test_what_the_app_cannot_show_is_refused(worked):
    study = study_of(worked, worked.model)
    with pytest.raises(DataError, match="cv"):
        settings_of(replace(study, parameters={**study.parameters, "cv": 7}))
    with pytest.raises(DataError, match="names its table"):
        session_of_study(replace(study, tables=()))
    with pytest.raises(DataError, match="damaged"):
        reopen_file(AppState(), write_study(study)[:-30])


def test_the_file_holds_rows_only_where_that_is_asked_for(worked):
    assert not read_study(study_file(worked, worked.model, with_data=False)).tables
    (role,) = read_study(study_file(worked, worked.model, with_data=True)).tables
    assert role == "table"

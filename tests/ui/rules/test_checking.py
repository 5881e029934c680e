from __future__ import annotations

import numpy as np
import pytest

from hipad.designs import standardisation
from tests.ui.pima import fitted, session
from ui.rules.checks import checked_rules, checking, known_lambda1, study_rows


def test_a_check_is_kept_until_the_text_changes():
    state = session()
    first = checked_rules(state)
    assert first.is_final
    assert checked_rules(state) is first
    job = checking(state)
    state.rules.change("Age >= 50 => diabetic", "another")
    assert checking(state) is not job
    assert job.stop_requested.is_set()
    assert [check.label for check in checked_rules(state).checks] == ["rule 1"]


def test_lambda1_is_open_before_a_run_and_known_when_set():
    state = session()
    state.settings = state.settings.changed(fewness="automatic")
    assert known_lambda1(state) is None
    few, many = (
        known_lambda1_of(state, state.settings.changed(fewness=word)) for word in ("few", "many")
    )
    assert few > many > 0
    assert known_lambda1_of(state, state.settings.changed(fewness="exact", lambda1=0.7)) == 0.7


def known_lambda1_of(state, settings):
    state.settings = settings
    return known_lambda1(state)


def test_patients_are_seen_as_a_fit_sees_them():
    state, model = fitted()
    seen = study_rows(state.data, model.settings)
    mean, scale = standardisation(state.data.X_train)
    assert seen.mean == pytest.approx(mean)
    assert seen.scale == pytest.approx(scale)
    assert seen.p.sum() == pytest.approx(1)
    assert seen.p[seen.train[1] > 0].sum() == pytest.approx(0.5)
    plain = study_rows(state.data, model.settings.changed(standardize=False, balanced=False))
    assert plain.mean is None
    assert np.ptp(plain.p) == 0

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.evaluation.cross_validation import fold_parts
from hipad.exceptions import HipadError
from hipad.rules import Budget
from tests.ui.pima import fitted, session
from ui.session.session_file import recipe_of
from ui.settings import AUTOMATIC, EXACT
from ui.workbench import refit
from ui.workbench.cross_validation import FoldFits, fold_fits, progress, request_of, words


def test_training_patients_are_judged_by_models_that_have_not_seen_them():
    state, model = fitted()
    request = request_of(model, state.data)
    *on_the_way, last = fold_fits(request, Budget(60))
    assert sorted({found.done for found in on_the_way}) == [0, 1, 2, 3, 4]
    assert not any(progress(found, state.data).judgement for found in on_the_way)
    right = progress(last, state.data).judgement.accuracy
    assert right.n == len(state.data.y_train)
    own = model.oriented.judge(state.data.X_train, state.data.y_train, part="training").accuracy
    assert right.k <= own.k + 0.05 * own.n


def test_a_model_that_holds_values_is_judged_with_values_of_each_fold():
    state = session()
    rows = np.random.default_rng(0).permutation(len(state.data.y_train))[:60]
    state.data = state.data.with_training(np.sort(rows))
    base = state.request().fit().named("first")
    state.keep(base)
    state.pinned = "first"
    refit.follow_rules(state)
    state.tuning.draft = state.tuning.draft.replace("126", "130")
    assert state.tuning.draft != state.tuning.base
    moved = refit.refitted(state, base)
    assert moved.settings.fewness == EXACT
    assert isinstance(moved.trust, tuple)
    request = request_of(moved, state.data)
    assert (request.settings, request.trust, request.rules) == (
        base.settings,
        "auto",
        state.tuning.draft,
    )
    found = next(part for part in fold_fits(request, Budget(120)) if part.done)
    learnt, held = found.parts[0]
    data = state.data
    alone = HIPADClassifier(
        data.parse(request.rules), blocks=data.blocks, **base.settings.parameters
    )
    gaps = data.gaps_seen.take(learnt) if data.gaps_seen else None
    run = alone.fit_iter(
        data.X_train[learnt],
        data.y_train[learnt],
        feature_names=data.index,
        gaps=gaps,
        interactive=False,
    )
    expected = run.to_end().finish().decision_function(data.X_train[held])
    assert found.scores[held] == pytest.approx(expected, abs=1e-6)
    again = recipe_of(moved).request(data)
    assert request_of(again.model(moved.classifier), data).settings == base.settings
    forgotten = replace(moved, chosen_by=None)
    assert request_of(forgotten, data).settings.fewness == AUTOMATIC


def test_a_spent_budget_ends_it_and_it_goes_on_from_there():
    state, model = fitted()
    request = request_of(model, state.data)
    found = list(fold_fits(request, Budget(0)))
    assert all(progress(part, state.data).judgement is None for part in found)
    begun = next(part for part in fold_fits(request, Budget(60)) if part.done == 3)
    rest = list(fold_fits(request, Budget(60), begun))
    assert min(part.done for part in rest) == 3
    whole = list(fold_fits(request, Budget(60)))[-1]
    assert np.array_equal(rest[-1].scores, whole.scores)


def test_rows_of_one_patient_are_judged_together():
    state, model = fitted()
    n = len(state.data.y_train)
    grouped = replace(state.data, group="who", groups=np.arange(n) // 3)
    *_, last = fold_fits(request_of(model, grouped), Budget(60))
    right = progress(last, grouped).judgement.accuracy
    assert (right.n, right.patients) == (n, -(-n // 3))


def test_too_few_patients_are_told():
    state, model = fitted()
    request = request_of(model, state.data)
    few = replace(request.data, X_train=request.data.X_train[:1], y_train=request.data.y_train[:1])
    with pytest.raises(HipadError, match="two patients or groups"):
        list(fold_fits(replace(request, data=few), Budget(1)))


def test_no_figure_is_shown_before_all_folds_are_done():
    state, model = fitted()
    work = FoldFits(request_of(model, state.data))
    assert words(work) == "waiting ..."
    for found in fold_fits(work.request, Budget(60)):
        work.job.outcome = progress(found, state.data)
        assert ("% right" in words(work)) == found.is_done
    assert len(fold_parts(state.data.y_train, None)) == found.total


def test_a_halted_judgement_goes_on_where_it_was():
    state, model = fitted()
    work = FoldFits(request_of(model, state.data))
    work.halt()
    assert not work.is_open
    assert words(work) == "not started"
    work.go_on()
    work.job.watch(60)
    assert "% right" in words(work)
    assert not work.is_open

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hipad.utils import count, percent
from ui.data.samples import clinical, synthetic
from ui.run.replay.mosaic import Mosaic
from ui.run.replay.relaxing import RelaxedPath, beside, judged_parts, story_of_path
from ui.settings import AUTOMATIC
from ui.state import AppState


@pytest.fixture(scope="module")
def state():
    state = AppState()
    state.load(synthetic("10k", n_train=30, n_test=40, n_features=200, block_size=5))
    return state


@pytest.fixture(scope="module")
def path(state):
    path = RelaxedPath.of(state.request())
    path.job.wait(60)
    return path


def test_features_enter_as_sparsity_is_relaxed(path):
    sizes = [point.features.size for point in path.points]
    values = [point.lambda1 for point in path.points]
    assert values == sorted(values, reverse=True)
    assert sizes[0] == 0 < sizes[1]
    assert sizes[-1] > 10
    assert path.job.outcome == path.points


def test_a_point_is_the_model_at_its_lambda1(state, path):
    point = path.points[len(path.points) // 2]
    model = fitted(state, point.lambda1)
    assert point.features.tolist() == model.support.tolist()
    assert point.wrong == model.judgement.accuracy.n - model.judgement.accuracy.k


def fitted(state, lambda1):
    settings = state.settings.changed(fewness="exact", lambda1=lambda1)
    return state.request(settings=settings, trust=None).fit()


def test_the_story_ends_with_the_last_model_and_marks_the_run(state, path):
    model = fitted(state, path.points[2].lambda1)
    story = story_of_path(path, Mosaic.of(state.data, None), state.data, model)
    assert story.moves.inside[-1] == path.points[-1].features.size
    assert story.marks == [(pytest.approx(2.0), "your run")]
    assert "test patients" in story.headline
    assert len(story.charts) == 2
    size, error = model.support.size, path.points[2].error
    assert story.aside == f"; your run: {percent(error)} with {count(size, 'feature')}"


def test_a_run_that_was_chosen_says_so(state):
    model = fitted(state, 0.1)
    chosen = replace(model, settings=model.settings.changed(fewness=AUTOMATIC))
    assert beside(chosen).startswith("; your run, chosen by cross-validation: ")
    seen = replace(model, judgement=replace(model.judgement, part="training"))
    assert beside(seen) == ""


def test_lambda1_is_told_to_experts_only(state, path):
    mosaic = Mosaic.of(state.data, None)
    plain, expert = (
        story_of_path(path, mosaic, state.data, None, expert=expert) for expert in (False, True)
    )
    assert plain.words[0] == f"Degree 1 of {len(path.points)}"
    assert "lambda1" in expert.words[0]
    assert [words for _, words in plain.ticks] == ["few allowed", "many allowed"]
    assert "λ1" in expert.ticks[0][1]


def test_a_lambda1_beyond_the_path_has_no_mark(state, path):
    mosaic = Mosaic.of(state.data, None)
    assert story_of_path(path, mosaic, state.data, fitted(state, 1e6)).marks == []


def test_without_test_patients_each_is_judged_by_a_model_that_did_not_see_it():
    state = AppState()
    state.load(clinical("pima"))
    data = replace(state.data, X_test=None, y_test=None)
    whole, *folds = judged_parts(data)
    assert whole is data
    assert sum(len(fold.y_test) for fold in folds) == len(data.y_train)
    assert all(len(fold.y_test) + len(fold.y_train) == len(data.y_train) for fold in folds)
    assert all(fold.judged.part == "test" for fold in folds)


def test_data_that_no_feature_goes_with_are_a_sentence(state):
    flat = replace(state.data, X_train=np.zeros((30, 200)))
    path = RelaxedPath.of(replace(state.request(), data=flat))
    path.job.wait(60)
    assert "no feature would ever enter" in path.job.error

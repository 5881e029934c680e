from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ui.data.samples import clinical, synthetic
from ui.run.replay.feature_grid import FeatureGrid
from ui.run.replay.path_animation import SparsityPath, judged_parts, path_story
from ui.state import AppState


@pytest.fixture(scope="module")
def state():
    state = AppState()
    state.load(synthetic("10k", n_train=30, n_test=40, n_features=200, block_size=5))
    return state


def sides(state):
    off = state.settings.changed(use_rules=False)
    return [state.request(), state.request(settings=off)]


@pytest.fixture(scope="module")
def path(state):
    path = SparsityPath.of(sides(state))
    path.job.wait(60)
    return path


def test_features_enter_as_lambda1_falls_on_both_sides(path):
    assert len(path.points) == 2
    for points in path.points:
        sizes = [point.features.size for point in points]
        values = [point.lambda1 for point in points]
        assert values == sorted(values, reverse=True)
        assert sizes[0] == 0
        assert sizes[-1] > 10
    with_rules, without = path.points
    assert [p.lambda1 for p in with_rules] == [p.lambda1 for p in without]


def test_a_point_is_the_model_at_its_lambda1(state, path):
    point = path.points[0][len(path.points[0]) // 2]
    model = fitted(state, point.lambda1)
    assert point.features.tolist() == model.support.tolist()
    assert point.right == model.judgement.accuracy.k


def fitted(state, lambda1):
    settings = state.settings.changed(fewness="exact", lambda1=lambda1)
    return state.request(settings=settings, trust=None).fit()


def test_the_story_goes_from_many_features_to_the_model(state):
    model = fitted(state, 0.3)
    path = SparsityPath.of(sides(state), 0.3)
    path.job.wait(60)
    story = path_story(path.points[0], model, FeatureGrid.of(state.data, None), state.data)
    sizes = story.moves.inside.tolist()
    assert sizes[0] == max(sizes) == path.points[0][-1].features.size
    assert sizes[-1] == model.support.size
    assert story.right[-1] == model.judgement.accuracy.k
    assert path.points[0][0].lambda1 == pytest.approx(0.3)
    assert story.words[-1] == "The model"
    assert "test samples" in story.judged


def test_a_path_at_work_shows_no_frame_yet(state, path):
    grid = FeatureGrid.of(state.data, None)
    story = path_story(path.points[0], None, grid, state.data, live=True, state="3 of 24")
    assert list(story.places) == []
    assert story.live


def test_lambda1_is_told_to_experts_only(state, path):
    grid = FeatureGrid.of(state.data, None)
    plain, expert = (
        path_story(path.points[0], None, grid, state.data, expert=expert)
        for expert in (False, True)
    )
    assert plain.words[0].startswith(f"Step 1 of {len(path.points[0])}: ")
    assert plain.words[0].endswith("features allowed")
    assert "lambda1" in expert.words[0]


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
    path = SparsityPath.of([replace(state.request(), data=flat)])
    path.job.wait(60)
    assert "no feature would ever enter" in path.job.error

from __future__ import annotations

import pytest

from hipad.estimator.path import PathPoint
from ui.run import sparsity_chart


def path(best: int, taken: int, sizes: tuple[int, ...] = (2, 5, 40)) -> list[PathPoint]:
    """Three models of each lambda2; the marked ones are those of the largest."""
    return [
        PathPoint(
            lambda1=1.0 / (1 + size),
            lambda2=lambda2,
            loss=0.5,
            accuracy=0.8 if size == taken else 0.9,
            support_size=size,
            best=lambda2 == 10.0 and size == best,
            chosen=lambda2 == 10.0 and size == taken,
        )
        for lambda2 in (10.0, 1.0, 0.1)
        for size in sizes
    ]


def test_a_line_for_each_lambda2_and_both_marks():
    figure, _ = sparsity_chart.chart(path(best=40, taken=5))
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [line.name for line in lines] == [
        "ridge: low", "ridge: medium", "ridge: high",
    ]  # fmt: skip
    assert all(list(line.x) == [2, 5, 40] for line in lines)
    marks = {trace.name: (list(trace.x), list(trace.y)) for trace in figure.data[3:]}
    assert marks == {"least error": ([40], [0.9]), "this model": ([5], [0.8])}


def test_the_words_tell_the_best_and_the_one_taken():
    text = sparsity_chart.chart(path(best=40, taken=5))[1]
    assert text.startswith("9 models compared by cross-validation")
    assert "was at 40 features (90.0 % of held-out patients right" in text
    assert "The model has 5 (80.0 %)" in text
    assert sparsity_chart.chart(path(best=5, taken=5))[1].endswith("The model is that one.")


@pytest.mark.parametrize(("sizes", "kind"), [((2, 5, 41), "log"), ((2, 3, 4), None)])
def test_far_apart_numbers_of_features_are_drawn_by_their_ratio(sizes, kind):
    figure, _ = sparsity_chart.chart(path(best=2, taken=2, sizes=sizes))
    assert figure.layout.xaxis.type == kind


def test_models_without_features_are_left_out_and_experts_see_lambda2():
    figure, text = sparsity_chart.chart(path(best=5, taken=5, sizes=(0, 5, 40)), expert=True)
    assert text.startswith("6 models")
    assert figure.data[0].name == "lambda2 = 0.1"
    assert 0 not in figure.data[0].x

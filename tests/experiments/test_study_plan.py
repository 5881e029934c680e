"""Plans: parts of figures, curves, the patients that a target needs, and the whole of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.runner import Done, ResultsCache, Task, perform
from hipad.experiments.study_plan import (
    FIGURES,
    CurveFit,
    Curves,
    Target,
    needed_by_method,
    plan_curves,
    plan_sizes,
    plan_tasks,
    study_plan,
)
from tests.experiments.small import table

# --------------------------------------------------------------------------------------------------
# Figures and their parts.


def scored(seed: int = 0, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    return np.round(rng.normal(size=n) + positive, 1), positive  # with ties


@pytest.mark.parametrize(
    ("figure", "oracle"),
    [
        ("auroc", lambda s, y: roc_auc_score(y, s)),
        ("balanced", lambda s, y: balanced_accuracy_score(y, s > 0)),
        ("sensitivity", lambda s, y: np.mean(s[y] > 0)),
        ("specificity", lambda s, y: np.mean(s[~y] <= 0)),
    ],
)
def test_figures_are_those_of_scikit_learn(figure, oracle):
    scores, positive = scored()
    value, _ = FIGURES[figure].parts(scores, positive)
    assert value == pytest.approx(oracle(scores, positive), abs=1e-12)


@pytest.mark.parametrize("figure", FIGURES)
def test_parts_are_the_derivative_by_the_weight_of_a_patient(figure):
    scores, positive = scored()
    many = 200  # copies of all patients, and one patient more
    value, parts = FIGURES[figure].parts(scores, positive)
    assert parts.sum() == pytest.approx(0.0, abs=1e-12)
    for patient in (0, 1, 7):
        more, others = np.tile(scores, many), np.tile(positive, many)
        heavier, _ = FIGURES[figure].parts(
            np.append(more, scores[patient]), np.append(others, positive[patient])
        )
        assert many * (heavier - value) == pytest.approx(parts[patient], abs=2e-3)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("auroc=0.8", Target("auroc", 0.8)),
        ("AUC = 80 %", Target("auroc", 0.8)),
        ("sensitivity=0.85+-0.05", Target("sensitivity", 0.85, 0.05)),
        ("sensitivity=0.85 ± 5%", Target("sensitivity", 0.85, 0.05)),
    ],
)
def test_targets_are_read(text, target):
    found = Target.read(text)
    assert (found.figure, found.value) == (target.figure, pytest.approx(target.value))
    assert found.margin == (None if target.margin is None else pytest.approx(target.margin))


@pytest.mark.parametrize(
    "text", ["", "0.8", "auroc", "auroc=0.4", "auroc=1", "f1=0.8", "auroc=0..8", "auroc=0.8+-0.6"]
)
def test_other_targets_are_refused(text):
    with pytest.raises(DataError, match="expected"):
        Target.read(text)


def test_patients_to_measure_a_share_and_an_area():
    # Buderer: 1.96^2 0.85 0.15 / 0.05^2 = 196 patients with the event
    assert Target("sensitivity", 0.85, 0.05).to_measure(0.2) == 980
    assert Target("specificity", 0.85, 0.05).to_measure(0.2) == 245
    n = Target("auroc", 0.8, 0.05).to_measure(0.5)
    assert n is not None
    # Hanley and McNeil's table for an area of 0.8: a standard error of 0.0255 from 150 of each
    assert n == pytest.approx(300 * (0.0255 / (0.05 / 1.96)) ** 2, rel=0.03)


# --------------------------------------------------------------------------------------------------
# Curves.

SIZES = (16, 32, 64, 128, 256)


@given(
    a=st.floats(0.3, 1.5), b=st.floats(0.5, 8.0), c=st.sampled_from([0.5, 1.0]),
    n=st.floats(20, 800),
)  # fmt: skip
def test_the_patients_that_a_curve_needs_are_found_again(a, b, c, n):
    def area(size: float) -> float:
        return float(norm.cdf(1.0 / (a + b * size**-c)))

    means = np.array([[area(size) for size in SIZES]])
    if means[0, 0] < 0.55 or area(n) > 0.999 or area(2 * n) - area(n) < 1e-3:
        return  # next to guessing or perfect, or flat: nothing to tell patients apart by
    fit = CurveFit.of(SIZES, means, np.full(5, 1e-4), 0.5)
    (found,) = fit.reach(area(n), 1.0, 1e9)
    assert found == pytest.approx(n, rel=0.25)


def known(means: list[float], error: float, floor: float = 0.5) -> Curves:
    variance = np.full(len(means), error**2)
    return Curves(
        ("no rules",), SIZES, np.array([means]), variance, np.diag(variance), 20, floor
    )  # fmt: skip


def test_a_target_within_the_curve_has_a_closed_interval():
    (found,) = needed_by_method(known([0.70, 0.76, 0.80, 0.83, 0.85], 0.002), 0.80)
    assert found.low < 64 < found.high < 128
    assert found.value == pytest.approx(64, rel=0.15)
    assert "95 % interval" in str(found)


def test_a_target_above_the_curve_is_open():
    (found,) = needed_by_method(known([0.70, 0.76, 0.78, 0.79, 0.79], 0.002), 0.95)
    assert math.isinf(found.low)
    assert str(found).startswith("more than 1,024 (the curve levels off near 0.")


def test_a_target_that_the_fewest_reach_needs_at_most_these():
    (found,) = needed_by_method(known([0.90, 0.91, 0.92, 0.92, 0.92], 0.002), 0.7)
    assert str(found) == "at most 16 (95 % interval at most 16 to at most 16)"


@settings(max_examples=15)
@given(st.floats(0.62, 0.9), st.floats(0.001, 0.05))
def test_a_higher_target_never_needs_fewer(target, more):
    curves = known([0.70, 0.76, 0.80, 0.83, 0.85], 0.01)
    (one,), (other,) = (needed_by_method(curves, value) for value in (target, target + more))
    assert one.low <= other.low
    assert one.value <= other.value
    assert one.high <= other.high
    assert one.low <= one.high


def test_the_variance_of_a_curve_is_that_of_tables():
    """Linear scores: the variance over tables of the mean figure is what one table says of it."""
    rng = np.random.default_rng(0)
    said, means = [], []
    for _ in range(60):
        y = np.where(np.arange(90) % 2 == 0, 1.0, -1.0)
        X = rng.normal(size=(90, 3)) + 0.6 * y[:, None]
        data = ExperimentData("d", X, y)
        found = []
        for seed in range(6):
            for size in (12, 24, 44):
                draw = data.draw(seed, train=size)
                w = draw.X_train.T @ draw.y_train
                task = Task("plan", "d", seed, {"method": "no rules", "rows": {"train": size}})
                assert draw.test_rows is not None
                figures = {
                    "tested": draw.test_rows.tolist(), "scores": (draw.X_test @ w).tolist()
                }  # fmt: skip
                found.append(Done(task, f"{seed} {size}", figures))
        curves = plan_curves(data, found, "auroc")
        said.append(curves.draws_part + np.diag(curves.patients_part))
        means.append(curves.means[0])
    ratio = np.mean(said, axis=0) / np.var(means, axis=0, ddof=1)
    assert np.all(ratio > 0.6)
    assert np.all(ratio < 2.2)


# --------------------------------------------------------------------------------------------------
# A whole plan.

OPTIONS = {"lambda1": 0.1, "lambda2": 1.0}


@pytest.mark.filterwarnings("ignore:rule_weight has no effect")
def test_a_plan_of_a_table_goes_on_where_it_stopped(tmp_path):
    data = table(90)
    sizes = (12, 20, 40)
    tasks = plan_tasks(data, draws=3, sizes=sizes, options={**OPTIONS, "rule_weight": 5.0})
    file = tmp_path / "fits.jsonl"
    data_by_name = {data.name: data}
    first = []
    for done in perform(tasks, data_by_name, ResultsCache(file)):
        first.append(done)
        if len(first) == 10:
            break
    found = list(perform(tasks, data_by_name, ResultsCache(file)))
    assert len(found) == len(tasks) == 18
    assert [done.seconds for done in found[:10]] == [done.seconds for done in first]
    plan = study_plan(data, found, Target.read("auroc=0.9+-0.05"))
    assert {one.method for one in plan.needed} == {"HIPAD", "no rules"}
    assert plan.criteria is not None
    assert plan.criteria.parameters == 8
    assert plan.criteria.n in [int(n) for n in (plan.criteria.shrinkage, plan.criteria.optimism,
                                                plan.criteria.overall_risk)]  # fmt: skip
    text = plan.paragraph()
    assert "90 patients" in text
    assert f"{plan.to_measure:,} patients that the model has not seen" in text
    assert "with the rules" in text
    assert "BMJ 2020;368:m441" in text


def test_sizes_go_up_to_half_of_the_table():
    sizes = plan_sizes(table(90))
    assert sizes[-1] == 45
    assert sizes[0] >= 12  # four of the class of a third
    with pytest.raises(DataError, match="expected at least 20 labelled patients of each class"):
        plan_sizes(table(30))


def test_too_few_draws_are_refused():
    data = table(90)
    done = Done(Task("plan", "small", 0, {"method": "no rules", "rows": {"train": 12}}), "k")
    with pytest.raises(DataError, match="expected at least 3 draws"):
        plan_curves(data, [done], "auroc")

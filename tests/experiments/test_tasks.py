from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from hipad.exceptions import DataError
from hipad.experiments.runner import (
    Done,
    ProgressEstimate,
    ResultsCache,
    Task,
    difference,
    mean_of,
    select,
)

# --------------------------------------------------------------------------------------------------
# Task.


def test_a_key_tells_tasks_and_data_apart():
    task = Task("contest", "d", 1, {"method": "HIPAD", "rows": {"train": 5}})
    same = Task("contest", "d", 1, {"rows": {"train": 5}, "method": "HIPAD"})
    assert task.key("rows") == same.key("rows")
    others = [
        Task("contest", "d", 2, task.settings),
        Task("contest", "e", 1, task.settings),
        Task("contest", "d", 1, {"method": "HIPAD"}),
    ]
    assert len({task.key("rows"), *(other.key("rows") for other in others)}) == 4
    assert task.key("rows") != task.key("other rows")


def test_settings_that_json_cannot_keep_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Task("contest", "d", settings={"a": math.nan}).key("")


def test_a_missing_figure_is_nan():
    done = Done(Task("contest", "d"), "k", {"accuracy": 0.5, "area": None})
    assert done.figure("accuracy") == 0.5
    assert math.isnan(done.figure("area"))
    assert math.isnan(done.figure("support"))


# --------------------------------------------------------------------------------------------------
# Ledger.


def done(key: str, **more: object) -> Done:
    return Done(Task("contest", "d", 3, {"method": "HIPAD"}), key, {"accuracy": 0.75}, 1.5, **more)


def test_what_is_added_is_found_again(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    ResultsCache(path).add(done("a"))
    again = ResultsCache(path)
    again.add(done("b"))
    assert ResultsCache(path).found == {"a": done("a"), "b": done("b")}


@pytest.mark.parametrize("torn", range(1, 60, 7))
def test_a_torn_last_line_is_cut_off_and_the_rest_is_kept(tmp_path, torn):
    path = tmp_path / "results.jsonl"
    cache = ResultsCache(path)
    cache.add(done("a"))
    cache.add(done("b"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-torn])
    again = ResultsCache(path)
    assert set(again.found) == {"a"}
    again.add(done("b"))
    assert path.read_bytes() == whole


def test_a_failed_fit_is_tried_again(tmp_path):
    cache = ResultsCache(tmp_path / "results.jsonl")
    cache.add(done("a", error="ValueError: no"))
    assert "a" not in cache
    cache.add(done("a"))
    assert "a" in ResultsCache(tmp_path / "results.jsonl")


def test_another_file_is_not_touched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n")
    with pytest.raises(DataError, match="not a results file"):
        ResultsCache(path)
    assert path.read_text() == "my notes\n"
    with pytest.raises(DataError, match="expected a results file"):
        ResultsCache(tmp_path)


def test_a_line_that_is_no_fit_is_passed_over(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultsCache(path).add(done("a"))
    with path.open("a") as file:
        file.write('[1, 2]\nnonsense\n{"key": "b"}\n')
    assert set(ResultsCache(path).found) == {"a"}


def test_without_a_path_it_remembers():
    cache = ResultsCache()
    cache.add(done("a"))
    assert "a" in cache
    assert cache["a"] == done("a")


# --------------------------------------------------------------------------------------------------
# Pace.


def test_fits_that_were_found_tell_nothing_of_the_pace():
    pace = ProgressEstimate(10)
    pace.add(again=True)
    assert pace.seconds_left is None
    assert str(pace) == "1 of 10 fits"


def test_the_rest_is_estimated_from_those_that_were_made():
    pace = ProgressEstimate(10)
    pace.begun -= 20
    for _ in range(2):
        pace.add(again=False)
    assert 75 < pace.seconds_left < 90
    assert "left" in str(pace)
    assert pace.share == 0.2


# --------------------------------------------------------------------------------------------------
# Summing.


def done_summing(seed: int, method: str, value: float, error: str = "") -> Done:
    task = Task("contest", "d", seed, {"method": method})
    return Done(task, f"{method}{seed}", {"accuracy": value}, error=error)


def test_the_interval_is_students():
    values = np.random.default_rng(0).random(9)
    found, oracle = mean_of(values), ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert found.value == pytest.approx(values.mean())


def test_too_few_values_have_no_interval():
    assert math.isnan(mean_of([0.5]).low)
    assert math.isnan(mean_of([]).value)
    assert mean_of([0.5, math.nan]).n == 1


def test_differences_are_paired_by_draw():
    ours = [done_summing(seed, "a", seed + 0.1) for seed in (2, 0, 1)]
    theirs = [done_summing(seed, "b", float(seed)) for seed in (0, 1, 2, 3)]
    found = difference(ours, theirs, "accuracy")
    assert found.value == pytest.approx(0.1)
    assert found.high - found.low < 1e-9


def test_failed_fits_are_left_out():
    fits = [
        done_summing(0, "a", 0.5),
        done_summing(1, "a", 0.7, error="no"),
        done_summing(0, "b", 0.5),
    ]
    assert [one.task.seed for one in select(fits, method="a")] == [0]

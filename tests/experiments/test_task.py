import math

import pytest

from hipad.experiments.tasks import Done, Task


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

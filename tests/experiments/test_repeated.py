from __future__ import annotations

import pytest

from hipad.exceptions import DataError
from hipad.experiments import report as repeated
from hipad.experiments.report import data_folder, gather, told
from hipad.experiments.tasks import Done


def test_a_plan_has_the_lines_of_what_was_asked_for():
    plan = gather(["ksvm-s-10k", "figure1"], None, 2)
    assert [entry.name for entry in plan.synthetic] == ["ksvm-s-10k"]
    assert not plan.real
    assert len(plan.tasks) == 2 * 3 + 1
    assert {task.data for task in plan.tasks} <= set(plan.materials)


def test_a_plan_that_is_not_done_has_a_table_already():
    plan = gather(["ksvm-s-10k"], None, 1)
    done = [Done(plan.tasks[0], "a", {"accuracy": 0.99, "support": 100, "fit_seconds": 0.1})]
    (section,) = told(done, plan)
    assert section.title == "Table 2: rules on synthetic data"
    assert section.rows[0][:3] == ["ksvm-s-10k", "HIPAD", "99.0"]


def test_without_a_folder_table_one_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv(repeated.DATA, raising=False)
    monkeypatch.setattr(repeated, "ROOT", tmp_path / "project")
    with pytest.raises(DataError, match="table 1 needs real data sets"):
        data_folder(None)
    assert data_folder(str(tmp_path)) == tmp_path

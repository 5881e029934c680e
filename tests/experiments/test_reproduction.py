from __future__ import annotations

import numpy as np
import pytest

from hipad.exceptions import DataError
from hipad.experiments import report as repeated
from hipad.experiments.report import data_folder, gather, repeat_sections
from hipad.experiments.reproduction import (
    TABLE1,
    TABLE2,
    FewRows,
    available,
    early_support,
    real_data,
    synthetic_data,
    table_lines,
    table_tasks,
)
from hipad.experiments.runner import Done

# --------------------------------------------------------------------------------------------------
# Paper.


def test_a_folder_of_libsvm_files_is_read(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{1 - 2 * (i % 2)} 1:{rng.random():.3f} 3:{rng.random():.3f}" for i in range(40)]
    (tmp_path / "colon-cancer").write_text("\n".join(lines) + "\n")
    (tmp_path / "unknown").write_text("1 1:2\n")
    found = real_data(tmp_path)
    assert set(found) == {"colon-cancer"}
    assert found["colon-cancer"].X.shape == (40, 3)
    assert sorted(set(found["colon-cancer"].y)) == [-1, 1]


def test_npz_files_bring_their_split(tmp_path):
    X, y = np.eye(6, dtype=np.float32), np.array([1, -1, 1, -1, 1, -1])
    np.savez(tmp_path / "leukemia.npz", X=X, y=y, train_idx=np.arange(4), test_idx=[4, 5])
    assert real_data(tmp_path)["leukemia"].draw(0).X_test.shape == (2, 6)


def test_a_folder_without_data_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match="none of the data sets"):
        real_data(tmp_path)
    with pytest.raises(DataError, match="which is none"):
        real_data(tmp_path / "absent")


def test_a_stand_in_gives_way_to_the_real_set():
    names = [entry.name for entry in available(TABLE1, ["rcv1", "rcv1-vw", "farm-ads"])]
    assert names == ["rcv1", "farm-ads"]


def test_lines_stand_beside_the_paper():
    tasks = table_tasks(TABLE2[:1])
    assert len(tasks) == 30
    found = [
        Done(task, str(k), {"accuracy": 0.995, "support": 190, "fit_seconds": 0.1, "found": 190})
        for k, task in enumerate(tasks)
    ]
    ours, admm, libsvm = table_lines(TABLE2, found)
    assert ours.reaches
    assert ours.paper == (99.0, 200, 1.99)
    assert (admm.method, libsvm.method) == ("ADMM", "LIBSVM")
    larger = [Done(d.task, d.key, {**d.figures, "support": 250}) for d in found]
    assert not table_lines(TABLE2, larger)[0].reaches


def test_a_method_may_keep_as_many_features_as_it_kept_in_the_paper():
    tasks = table_tasks([entry for entry in TABLE1 if entry.name == "leukemia"])
    most = {
        task.settings["method"]: task.settings.get("options", {}).get("max_features")
        for task in tasks
    }
    assert most == {"HIPAD": 393, "ADMM": 717, "LIBSVM": None}


def test_synthetic_data_are_made_at_both_sizes():
    assert list(synthetic_data()) == ["ksvm-s-10k", "ksvm-s-50k"]


# --------------------------------------------------------------------------------------------------
# Repeated.


def test_a_plan_has_the_lines_of_what_was_asked_for():
    plan = gather(["ksvm-s-10k", "figure1"], None, 2)
    assert [entry.name for entry in plan.synthetic] == ["ksvm-s-10k"]
    assert not plan.real
    assert len(plan.tasks) == 2 * 3 + 1
    assert {task.data for task in plan.tasks} <= set(plan.data_by_name)


def test_a_plan_that_is_not_done_has_a_table_already():
    plan = gather(["ksvm-s-10k"], None, 1)
    done = [Done(plan.tasks[0], "a", {"accuracy": 0.99, "support": 100, "fit_seconds": 0.1})]
    (section,) = repeat_sections(done, plan)
    assert section.title == "Table 2: rules on synthetic data"
    assert section.rows[0][:3] == ["ksvm-s-10k", "HIPAD", "99.0"]


def test_without_a_folder_table_one_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv(repeated.DATA, raising=False)
    monkeypatch.setattr(repeated, "ROOT", tmp_path / "project")
    with pytest.raises(DataError, match="table 1 needs real data sets"):
        data_folder(None)
    assert data_folder(str(tmp_path)) == tmp_path


# --------------------------------------------------------------------------------------------------
# Figure.


def test_the_support_settles_before_the_admm_converges():
    found = early_support(FewRows(), 0)
    sizes = found["support_sizes"]
    assert found["settled"] < found["converged"] == len(sizes)
    assert sizes[found["settled"] :] == [sizes[-1]] * (len(sizes) - found["settled"])
    assert 1 <= found["paper"] <= found["converged"]
    assert 1 <= found["ours"] <= found["converged"]

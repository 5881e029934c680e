import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hipad.errors import HipadError
from hipad.experiments import workers
from hipad.experiments.ledger import Ledger
from hipad.experiments.task import Done, Task
from hipad.experiments.workers import LostWorker, perform
from tests.experiments.small import table

ROOT = Path(__file__).resolve().parents[2]
FIXED = {"lambda1": 0.1, "lambda2": 1.0}


def tasks(n: int = 6) -> list[Task]:
    settings = {"method": "HIPAD", "rows": {"labelled": 8}, "options": FIXED}
    return [Task("contest", "small", seed, settings) for seed in range(n)]


def numbers(outcomes: list[Done]) -> dict[str, dict[str, float]]:
    """All that was found but the times."""
    return {
        done.key: {name: value for name, value in done.figures.items() if "seconds" not in name}
        for done in outcomes
    }


@pytest.fixture(scope="module")
def alone() -> dict[str, dict[str, float]]:
    return numbers(list(perform(tasks(), {"small": table()}, Ledger())))


def test_two_processes_give_the_same_numbers_and_survive_a_death(alone):
    from joblib.externals.loky import reusable_executor

    found = []
    for done in perform(tasks(), {"small": table()}, Ledger(), workers=2):
        found.append(done)
        if len(found) == 1:
            processes = list(reusable_executor._executor._processes)
            os.kill(processes[0], signal.SIGKILL)
    assert numbers(found) == alone
    assert len(found) == 6


def test_a_cluster_gives_the_same_numbers_and_survives_a_death(alone):
    distributed = pytest.importorskip("distributed")
    found = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        for done in perform(
            tasks(), {"small": table()}, Ledger(), scheduler=cluster.scheduler_address
        ):
            found.append(done)
            if len(found) == 1:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    assert numbers(found) == alone


def test_a_worker_that_dies_with_the_data_of_others_loses_nothing(alone, monkeypatch):
    made, spread = [], workers._spread

    def dying(missing, *others):
        made.append(len(missing))
        outcomes = spread(missing, *others)
        yield next(outcomes)
        if len(made) < 3:
            raise LostWorker
        yield from outcomes

    monkeypatch.setattr(workers, "_spread", dying)
    assert numbers(list(perform(tasks(), {"small": table()}, Ledger()))) == alone
    assert made == [6, 5, 4]


def test_too_many_deaths_are_told(monkeypatch):
    def dying(*_):
        raise LostWorker
        yield

    monkeypatch.setattr(workers, "_spread", dying)
    with pytest.raises(HipadError, match="6 worker processes died"):
        list(perform(tasks(1), {"small": table()}, Ledger()))


def test_a_finished_fit_is_never_repeated(tmp_path, alone, monkeypatch):
    path = tmp_path / "results.jsonl"
    run = perform(tasks(), {"small": table()}, Ledger(path))
    for _ in range(4):
        next(run)
    run.close()  # as Ctrl-C does
    made = []
    monkeypatch.setattr(
        "hipad.experiments.workers.do",
        lambda task, key, material: made.append(key) or Done(task, key, {"made": 1.0}),
    )
    found = list(perform(tasks(), {"small": table()}, Ledger(path)))
    assert len(made) == 2
    kept = numbers([done for done in found if done.key not in made])
    assert kept == {key: alone[key] for key in kept}


def test_a_killed_program_goes_on_where_it_was(tmp_path, alone):
    path = tmp_path / "results.jsonl"
    script = (
        "from pathlib import Path; import os, signal\n"
        "from hipad.experiments.ledger import Ledger\n"
        "from hipad.experiments.workers import perform\n"
        "from tests.experiments.small import table\n"
        "from tests.experiments.test_workers import tasks\n"
        f"run = perform(tasks(), {{'small': table()}}, Ledger(Path({str(path)!r})))\n"
        "for _ in range(3): next(run)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    ledger = Ledger(path)
    assert len(ledger.found) == 3
    assert numbers(list(perform(tasks(), {"small": table()}, ledger))) == alone


def test_a_bad_fit_does_not_end_the_others():
    bad = Task("contest", "small", 0, {"method": "HIPAD", "rows": {"labelled": 8}, "rules": "??"})
    found = list(perform([bad, *tasks(1)], {"small": table()}, Ledger()))
    assert [done.failed for done in found] == [True, False]
    assert found[0].error.startswith("RuleError: ")


def test_stop_is_asked_between_fits():
    asked = iter([False, False, True])
    found = list(perform(tasks(), {"small": table()}, Ledger(), stop=lambda: next(asked)))
    assert len(found) == 2


def test_a_scheduler_that_does_not_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr("hipad.experiments.workers.ANSWER", "1s")
    pytest.importorskip("distributed")
    with pytest.raises(HipadError, match="no Dask scheduler answered"):
        list(perform(tasks(1), {"small": table()}, Ledger(), scheduler="tcp://127.0.0.1:9"))

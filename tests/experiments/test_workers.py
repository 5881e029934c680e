import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hipad.exceptions import HipadError
from hipad.experiments import runner
from hipad.experiments.runner import Done, LostWorker, ResultsCache, Task, perform
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
    return numbers(list(perform(tasks(), {"small": table()}, ResultsCache())))


def test_two_processes_give_the_same_numbers_and_survive_a_death(alone):
    from joblib.externals.loky import reusable_executor

    found = []
    for done in perform(tasks(), {"small": table()}, ResultsCache(), workers=2):
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
            tasks(), {"small": table()}, ResultsCache(), scheduler=cluster.scheduler_address
        ):
            found.append(done)
            if len(found) == 1:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    assert numbers(found) == alone


def test_a_worker_that_dies_with_the_data_of_others_loses_nothing(alone, monkeypatch):
    made, spread = [], runner._spread

    def dying(missing, *others):
        made.append(len(missing))
        outcomes = spread(missing, *others)
        yield next(outcomes)
        if len(made) < 3:
            raise LostWorker
        yield from outcomes

    monkeypatch.setattr(runner, "_spread", dying)
    assert numbers(list(perform(tasks(), {"small": table()}, ResultsCache()))) == alone
    assert made == [6, 5, 4]


def test_too_many_deaths_are_told(monkeypatch):
    def dying(*_):
        raise LostWorker
        yield

    monkeypatch.setattr(runner, "_spread", dying)
    with pytest.raises(HipadError, match="6 worker processes died"):
        list(perform(tasks(1), {"small": table()}, ResultsCache()))


def test_a_finished_fit_is_never_repeated(tmp_path, alone, monkeypatch):
    path = tmp_path / "results.jsonl"
    run = perform(tasks(), {"small": table()}, ResultsCache(path))
    for _ in range(4):
        next(run)
    run.close()  # as Ctrl-C does
    made = []
    monkeypatch.setattr(
        "hipad.experiments.runner.do",
        lambda task, key, data: made.append(key) or Done(task, key, {"made": 1.0}),
    )
    found = list(perform(tasks(), {"small": table()}, ResultsCache(path)))
    assert len(made) == 2
    kept = numbers([done for done in found if done.key not in made])
    assert kept == {key: alone[key] for key in kept}


def test_a_killed_program_goes_on_where_it_was(tmp_path, alone):
    path = tmp_path / "results.jsonl"
    script = (
        "from pathlib import Path; import os, signal\n"
        "from hipad.experiments.runner import ResultsCache\n"
        "from hipad.experiments.runner import perform\n"
        "from tests.experiments.small import table\n"
        "from tests.experiments.test_workers import tasks\n"
        f"run = perform(tasks(), {{'small': table()}}, ResultsCache(Path({str(path)!r})))\n"
        "for _ in range(3): next(run)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    cache = ResultsCache(path)
    assert len(cache.found) == 3
    assert numbers(list(perform(tasks(), {"small": table()}, cache))) == alone


def test_a_bad_fit_does_not_end_the_others():
    bad = Task("contest", "small", 0, {"method": "HIPAD", "rows": {"labelled": 8}, "rules": "??"})
    found = list(perform([bad, *tasks(1)], {"small": table()}, ResultsCache()))
    assert [done.failed for done in found] == [True, False]
    assert found[0].error.startswith("RuleError: ")


def test_stop_is_asked_between_fits():
    asked = iter([False, False, True])
    found = list(perform(tasks(), {"small": table()}, ResultsCache(), stop=lambda: next(asked)))
    assert len(found) == 2


def test_a_scheduler_that_does_not_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr("hipad.experiments.runner.ANSWER", "1s")
    pytest.importorskip("distributed")
    with pytest.raises(HipadError, match="no Dask scheduler answered"):
        list(perform(tasks(1), {"small": table()}, ResultsCache(), scheduler="tcp://127.0.0.1:9"))


ORPHANS = """
import sys, time
sys.path[:0] = [{root!r}]
from joblib import Parallel, delayed, parallel_config
from hipad.experiments import runner
from hipad.experiments.runner import Task
from tests.experiments.small import table
from tests.experiments.test_workers import tasks
from hipad.experiments.runner import ResultsCache
for done in runner.perform(tasks(6), {{"small": table()}}, ResultsCache(), workers=2):
    from joblib.externals.loky import reusable_executor
    print(*reusable_executor._executor._processes, flush=True)
    time.sleep(1000)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_end_when_their_parent_is_killed():
    code = ORPHANS.format(root=str(ROOT))
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    found = [int(word) for word in parent.stdout.readline().split()]
    assert len(found) == 2
    assert all(Path(f"/proc/{pid}").exists() for pid in found)
    parent.kill()
    parent.wait()
    end = time.monotonic() + 60  # they look every two seconds; a busy machine may be slow
    while any(is_running(pid) for pid in found) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(is_running(pid) for pid in found)


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that only waits to be buried is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_never_ends_for_itself_or_a_living_parent(monkeypatch):
    ended: list[int] = []
    monkeypatch.setattr(runner.os, "_exit", ended.append)
    runner.end_with(os.getpid())
    assert runner._is_alive(os.getppid())
    assert not runner._is_alive(-1)
    runner._watch(-1)
    assert ended == [1]

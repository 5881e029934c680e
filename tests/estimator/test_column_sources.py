"""One model whatever the data come as: an array, a store, .bed, .npy, a memmap or a Dask array."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hipad import HIPADClassifier, load_model
from hipad.dask_design import open_columns
from hipad.data.column_store import open_columns as open_file
from hipad.data.column_store import write_store
from hipad.exceptions import DataError
from hipad.streamed_design import Stopped
from tests.data.test_plink import write_bed

N, M = 40, 2_600
RULES = "rs3 >= 1 => positive\nmean(rs5:rs9) >= 1 => positive"
LITTLE = "3MB"  # holds fewer columns than there are
SETTINGS = {
    "given lambda1": {"lambda1": 0.36, "rule_trust": None},
    "unscaled": {"lambda1": 0.3, "standardize": False, "rule_trust": None},
    "chosen lambda1": {"selection": {"n_lambda1": 3, "ridges": (1.0,)}, "rule_trust": None},
    "defaults": {},
}


@pytest.fixture(scope="module")
def genotypes(tmp_path_factory):
    """A .bed file with gaps, and its numbers with gaps filled by the mean of the column."""
    rng = np.random.default_rng(1)
    y = np.arange(N) % 2
    share = np.full((N, M), 0.3)
    share[y == 1, :12] = 0.7
    X = rng.binomial(2, share).astype(np.int8)
    gaps = rng.random((N, M)) < 0.01
    X[gaps] = -127
    path = write_bed(tmp_path_factory.mktemp("bed") / "x.bed", X)
    holes = np.where(gaps, np.nan, X.astype(float))
    whole = np.where(gaps, np.nanmean(holes, axis=0), holes)
    return path, pd.DataFrame(whole, columns=[f"rs{j}" for j in range(M)]), y


@pytest.fixture(scope="module")
def fitted(genotypes):
    """The models of the array, by settings and rules."""
    _, table, y = genotypes
    known = {}

    def fit(name, rules):
        if (name, rules) not in known:
            known[name, rules] = HIPADClassifier(rules, **SETTINGS[name]).fit(table, y)
        return known[name, rules]

    return fit


@pytest.fixture(scope="module")
def cluster():
    """Two workers in processes of their own."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def assert_same(one, other):
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=0, atol=1e-8)
    assert one.lambda1_ == pytest.approx(other.lambda1_, rel=1e-10)
    assert one.support_.size > 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "rules", "memory"),
    [
        ("given lambda1", RULES, LITTLE),
        ("unscaled", RULES, "1GB"),
        ("unscaled", None, LITTLE),
        ("chosen lambda1", None, LITTLE),
        pytest.param("defaults", RULES, LITTLE, marks=pytest.mark.long),
        pytest.param("defaults", RULES, "1GB", marks=pytest.mark.long),
    ],
)
def test_genotypes_give_the_model_of_an_array(genotypes, fitted, name, rules, memory):
    path, _, y = genotypes
    clf = HIPADClassifier(rules, **SETTINGS[name]).fit(open_columns(path, memory=memory), y)
    assert_same(clf, fitted(name, rules))
    assert (len(clf.columns_) < M) == (memory == LITTLE)
    assert clf.n_passes_ <= (60 if name == "defaults" else 15)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form", ["store", "npy", "memmap", "array"])
def test_other_forms_give_the_model_of_an_array(genotypes, fitted, form, tmp_path):
    path, table, y = genotypes
    bare = table.to_numpy()
    if form == "store":
        source = write_store(tmp_path / "x.columns", open_file(path))
    elif form == "memmap":
        source = np.memmap(tmp_path / "x.raw", dtype=np.float64, mode="w+", shape=bare.shape)
        source[:] = bare
    elif form == "npy":
        np.save(tmp_path / "x.npy", np.asfortranarray(bare))
        source = tmp_path / "x.npy"
    else:
        source = bare
    clf = HIPADClassifier(**SETTINGS["given lambda1"])
    clf.fit(open_columns(source, memory=LITTLE), y)
    assert_same(clf, fitted("given lambda1", None))
    assert len(clf.columns_) < M


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form", ["array", "file"])
def test_two_dask_workers_give_the_model_of_an_array(genotypes, fitted, cluster, form):
    import dask.array as da

    path, table, y = genotypes
    array = da.from_array(table.to_numpy(), chunks=(N, 700))
    where = {"memory": LITTLE, "scheduler": cluster.scheduler_address}
    if form == "array":
        source = open_columns(array, names=list(table.columns), **where)
    else:
        source = open_columns(path, **where)
    rules = RULES if form == "array" else None
    clf = HIPADClassifier(rules, **SETTINGS["given lambda1"]).fit(source, y)
    assert_same(clf, fitted("given lambda1", rules))
    assert len(clf.columns_) < M


def test_a_worker_that_is_killed_does_not_change_the_model(genotypes, fitted, cluster):
    path, _, y = genotypes
    source = open_columns(path, memory=LITTLE, scheduler=cluster.scheduler_address)
    clf = HIPADClassifier(**SETTINGS["given lambda1"])
    run = clf.fit_iter(source, y, interactive=False)
    killed = []

    def kill(passes):
        if not killed:
            nanny = next(iter(cluster.workers.values()))
            killed.append(nanny.pid)
            nanny.process.process.kill()

    run.screening.on_block = kill
    assert_same(run.to_end().finish(), fitted("given lambda1", None))
    assert killed


def test_a_fit_on_a_cluster_is_stopped_within_two_seconds(cluster):
    """A pass of one second a chunk."""
    import dask.array as da

    def slow(block):
        time.sleep(1.0)
        return block

    array = da.ones((N, 4000), chunks=(N, 40)).map_blocks(slow, dtype=float)
    source = open_columns(array, scheduler=cluster.scheduler_address)
    source.connection.client  # noqa: B018, connected before the clock runs
    run = HIPADClassifier(lambda1=0.3).fit_iter(source, np.arange(N) % 2, interactive=False)
    threading.Timer(0.5, run.stop).start()
    start = time.monotonic()
    with pytest.raises(Stopped, match="stopped before the first model"):
        run.to_end().finish()
    assert time.monotonic() - start < 2.5 + 2.0  # the timer, two seconds, and a loaded machine
    client = cluster.get_client()
    for _ in range(100):
        if not any(client.processing().values()):
            break
        time.sleep(0.1)
    assert not any(client.processing().values())


def test_a_scheduler_that_does_not_answer_is_an_error_before_any_work(genotypes, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("hipad.dask_design.ANSWER", "0.2s")
    source = open_columns(genotypes[0], scheduler="tcp://127.0.0.1:1")
    with pytest.raises(Exception, match="no Dask scheduler answered"):
        HIPADClassifier(lambda1=0.3).fit(source, genotypes[2])


def test_ranges_in_rules_mean_all_columns_between(genotypes):
    """Also those that nothing else brings into memory."""
    path, table, y = genotypes
    rules = "rs2000 >= 1 => positive\nrs2020 >= 1 => positive\nmean(rs2000:rs2020) >= 1 => positive"
    own = SETTINGS["given lambda1"]
    clf = HIPADClassifier(rules, **own).fit(open_columns(path, memory=LITTLE), y)
    assert_same(clf, HIPADClassifier(rules, **own).fit(table, y))
    assert set(range(2000, 2021)) <= set(clf.columns_.tolist())


def test_rules_that_name_more_columns_than_memory_holds_are_refused(genotypes, monkeypatch):
    monkeypatch.setattr("hipad.estimator.screening.LEAST_COLUMNS", 20)
    source = open_columns(genotypes[0], memory="1KB")
    with pytest.raises(DataError, match="rules and blocks that name at most 40 columns"):
        HIPADClassifier("mean(rs1:rs900) >= 1 => positive").fit(source, genotypes[2])


def test_too_little_memory_for_the_model_is_an_error(genotypes, monkeypatch):
    monkeypatch.setattr("hipad.estimator.screening.LEAST_COLUMNS", 20)
    source = open_columns(genotypes[0], memory="1KB")
    with pytest.raises(DataError, match="allow more memory"):
        HIPADClassifier(lambda1=0.01).fit(source, genotypes[2])


def test_a_stopped_fit_leaves_no_thread(genotypes):
    run = HIPADClassifier().fit_iter(open_columns(genotypes[0], memory=LITTLE), genotypes[2])
    run.screening.on_block = lambda passes: run.stop()
    with pytest.raises(Stopped):
        run.to_end().finish()
    assert not [one for one in threading.enumerate() if one.name.startswith("hipad-read")]


def test_answers_of_a_model_need_its_columns_only(genotypes, tmp_path):
    path, table, y = genotypes
    clf = HIPADClassifier(lambda1=0.36).fit(open_columns(path, memory=LITTLE), y)
    scores = clf.decision_function(table.to_numpy())
    np.testing.assert_allclose(clf.decision_function(path), scores, atol=1e-9)
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.decision_function(path), scores, atol=1e-9)
    other = write_bed(tmp_path / "y.bed", np.zeros((3, 2), dtype=np.int8))
    with pytest.raises(DataError, match="expected columns called 'rs"):
        loaded.decision_function(other)


@pytest.mark.parametrize("what", ["missing", "cut", "labels"])
def test_files_that_do_not_fit_are_refused_before_any_pass(genotypes, tmp_path, monkeypatch, what):
    path, _, y = genotypes
    copy = Path(tmp_path / "x.bed")
    for suffix in (".bed", ".bim", ".fam"):
        copy.with_suffix(suffix).write_bytes(path.with_suffix(suffix).read_bytes())
    if what == "missing":
        copy.with_suffix(".bim").unlink()
    elif what == "cut":
        copy.write_bytes(copy.read_bytes()[:-1])
    monkeypatch.setattr("hipad.data.plink.BedSource.block", lambda *_: pytest.fail("was read"))
    with pytest.raises(DataError, match=r"cannot be opened|the file is cut|one per row of X"):
        HIPADClassifier().fit(copy, y[1:] if what == "labels" else y)

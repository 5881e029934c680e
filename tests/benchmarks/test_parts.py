"""The measurements run: on toy sizes, with nothing timed."""

from __future__ import annotations

import importlib
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import __main__ as command
from benchmarks import (
    curves,
    doubt,
    fewlabels,
    knowledge,
    real,
    risks,
    rule_tables,
    rules,
    speed,
    trust,
    units,
    worth,
)
from benchmarks.data import at_prevalence, labelled, rest_of, sample_table
from benchmarks.reporting import mean_and_error, table, verdict, write_section
from benchmarks.rivals import Hipad, Liblinear, Libsvm, Sgd
from hipad.datasets import make_ksvm_s
from hipad.experiments.runner import Done
from hipad.experiments.sensitivity import curve_tasks
from hipad.rules import compile_rules, parse_rules
from hipad.rules.compiler import compile_knowledge


@pytest.fixture(scope="module")
def data():
    return make_ksvm_s("10k", seed=0, n_train=40, n_test=60, n_features=300, block_size=10)


@pytest.mark.parametrize("part", command.present())
def test_every_part_can_be_run(part):
    assert callable(importlib.import_module(f"benchmarks.{part}").run)


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["swiftness"])
    assert "swiftness" in capsys.readouterr().err


@pytest.mark.parametrize(
    "rival",
    [Libsvm(), Libsvm(scale=True), Libsvm(C=None), Liblinear(), Sgd(0.01, 0.1)],
    ids=lambda rival: rival.name,
)
def test_rivals_stand_behind_one_signature(rival):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 20)
    X = rng.standard_normal((40, 5)) + np.outer(y, [2, 1, 0, 0, 0]) + 7
    model = rival.fit(X, y)
    assert model.accuracy(X, y) > 0.9
    assert model.support_size <= 5
    assert np.isfinite(model.objective(X, y, 0.1, 0.1))


def test_the_exact_mode_has_the_least_objective(data):
    settings = {"lambda1": 0.05, "lambda2": 0.5, "standardize": False, "method": "exact"}
    settings |= {"class_weight": None, "selection": {"calibrate": False}}
    X, y = data.X_train, data.y_train
    ours = Hipad(settings=settings).fit(X, y).objective(X, y, 0.05, 0.5)
    assert ours <= Sgd(0.05, 0.5).fit(X, y).objective(X, y, 0.05, 0.5)


def test_a_refit_reuses_the_data(data):
    first = speed.classifier(data).fit(data.X_train, data.y_train)
    edited = data.rules.replace(*speed.EDITED)
    assert edited != data.rules
    assert speed.refit(data, edited, first)._data is first._data


def test_passes_are_counted_and_the_design_is_left_as_it_was(data):
    before = speed.SparseDesign._raw_correlate
    with speed.counted_passes() as count:
        speed.classifier(data).fit(data.X_train, data.y_train)
    assert count.products > 0
    assert speed.SparseDesign._raw_correlate is before


def test_the_hundred_rules_mean_something():
    setting = rules.make_setting(2_000, 10)
    parsed = parse_rules(setting.text)
    compiled = compile_rules(
        parsed, feature_names=setting.names, blocks=setting.blocks, classes=(-1, 1)
    )
    assert len(parsed) == len(compiled) == 10


@pytest.mark.long
def test_a_few_labels_are_compared():
    scores = fewlabels.compare(sample_table("pima"), 8, 1, "AUC")
    assert set(scores) == {rival.name for rival in fewlabels.rivals(sample_table("pima"))}
    assert all(0 <= values[0] <= 1 for values in scores.values())


def test_rules_alone_tie_where_none_fires():
    assert curves.judged(np.array([-1, -1, 1, 1]), np.zeros(4)) == (0.5, 0.5)
    assert curves.judged(np.array([-1, -1, 1, 1]), np.array([-1, 0, 0, 1])) == (0.875, 0.75)


def test_flipped_rules_say_the_opposite():
    data = rule_tables.rule_table("exact", 0)
    right, flipped = (
        rule_tables.compiled(one) for one in (data, rule_tables.with_flipped_rules(data))
    )
    assert [rule.sign for rule in flipped] == [-rule.sign for rule in right]


def test_irrelevant_rules_say_nothing_and_nothing_is_lost():
    data = rule_tables.rule_table("redundant", 0)
    shuffled = rule_tables.with_irrelevant_rules(data, np.random.default_rng(0))
    assert np.array_equal(shuffled.X[:, -1], data.X[:, 0])
    assert abs(np.corrcoef(shuffled.X[:, 0], data.y)[0, 1]) < 0.1
    assert abs(np.corrcoef(data.X[:, 0], data.y)[0, 1]) > 0.5


@pytest.mark.parametrize("name", rule_tables.FAMILIES)
def test_rules_of_a_family_are_right_more_often_than_not(name):
    data = rule_tables.rule_table(name, 1)
    for rule in rule_tables.compiled(data):
        fires = rule.fires(data.X)
        assert np.mean(data.y[fires] == rule.sign) > 0.5
    assert name != "rare" or np.mean(fires) < 0.07


def test_a_cell_of_trust_holds_every_way(monkeypatch):
    monkeypatch.setattr(rule_tables, "ROWS", 300)
    cell = trust.one_cell("redundant", 4, 0)
    assert set(cell) == {"none", "alone", "right", "irrelevant", "flipped"}
    assert all(-1 <= value <= 1 for value in cell.values())
    text = trust.size_table({("redundant", 4): [cell, cell]}, ["redundant"], 4)
    assert "redundant" in text


def test_harm_is_told_from_noise():
    assert "harms" in curves.said(np.array([-0.1, -0.11, -0.1]))
    assert "noise" in curves.said(np.array([-0.1, 0.2, -0.1]))
    assert "helps" in curves.said(np.array([0.1, 0.11, 0.1]))


def test_folds_that_share_rows_are_not_taken_for_independent():
    differences = np.array([0.1, -0.1, 0.1, -0.1])
    naive, corrected = (real.paired(differences, share) for share in (0.0, 0.25))
    assert float(corrected.split()[-1]) > float(naive.split()[-1])


def test_draws_keep_the_prevalence_and_leave_the_rest():
    y = np.repeat([-1, 1], [65, 35])
    counts = at_prevalence(y, 8)
    rows = labelled(y, counts, np.random.default_rng(0))
    assert counts == (5, 3)
    assert (y[rows] == 1).sum() == 3
    assert np.array_equal(np.union1d(rows, rest_of(y, rows)), np.arange(100))


def test_a_section_is_replaced_and_nothing_else(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- speed -->\nold\n<!-- /speed -->\nafter\n")
    write_section("speed", "new \\1", readme)
    assert readme.read_text() == "before\n<!-- speed -->\nnew \\1\n<!-- /speed -->\nafter\n"


def test_tables_and_verdicts():
    assert table(["a", "b"], [[1, "x"]]) == "| a | b |\n| --- | --- |\n| 1 | x |"
    assert "met" in verdict(0.3, 0.5, at_least=False)
    assert "missed" in verdict(0.3, 0.5)
    assert mean_and_error([1.0, 3.0], 1) == "2.0 ± 1.0"


def test_statements_of_all_ways_are_understood():
    data = sample_table("pima")
    texts = knowledge.said(data)
    for way in knowledge.WAYS:
        known = compile_knowledge(
            texts[way], feature_names=data.names, blocks=data.blocks, classes=(-1, 1)
        )
        assert bool(known.features) == (way not in ("without", "rules"))
    columns = [data.names.index(name) for name in knowledge.irrelevant(data)]
    areas = np.array([roc_auc_score(data.y, data.X[:, j]) for j in columns])
    assert np.max(np.abs(areas - 0.5)) < 0.15


def test_the_picture_of_what_rules_are_worth_has_a_panel_for_each_data_set():
    data = worth.data_named("pima")
    tasks = curve_tasks(data, draws=3, sizes=(4, 8), methods=("HIPAD", "no rules"))
    found = [Done(task, str(k), {"balanced": 0.7 + 0.001 * k}) for k, task in enumerate(tasks)]
    texts = "about 7 (2 to 51)", "more than 248"
    panels = [
        worth.panel(name, text, found) for name, text in zip(("<one>", "two"), texts, strict=True)
    ]
    picture = worth.beside(panels)
    assert picture.count("<polyline") == 4
    assert "&lt;one&gt;" in picture
    ElementTree.fromstring(picture)


def test_a_rule_of_ksvm_s_is_shifted_and_flipped():
    versions = doubt.versions_of(worth.data_named("ksvm-s-10k"))
    assert [version.label for version in versions] == [*map(str, range(1, 9)), "flipped"]
    assert versions[3].rules.startswith("mean(K1) >= 4 => positive")
    assert versions[-1].rules.startswith("mean(K1) >= 4 => negative")


def test_risks_of_few_rows_are_near_the_prevalence_where_nothing_is_known():
    found = [risks.few_draw("sparse", 20, 0.15, draw) for draw in range(3)]
    own = np.mean([np.mean((r - y) ** 2) for r, y, _ in found])
    prevalence = np.mean([np.mean((q - y) ** 2) for _, y, q in found])
    assert own <= prevalence + 0.004
    X, y = risks.few_sample("skewed", np.random.default_rng(0), 200, 0.05)
    assert X.shape == (200, 62)
    assert y.sum() == 10


def test_a_marker_is_found_and_other_units_change_nothing():
    assert units.marker_accuracy(300, 0) >= units.RIGHT
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 20)
    X = rng.standard_normal((40, 5)) + np.outer(y, [1, 1, 0, 0, 0]) + 7
    assert "met" in units.units_row("toy", [(X, y, X, y)])[1]

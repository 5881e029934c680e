"""Rules come back from a model file as they were compiled, whatever their text says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hipad import HIPADClassifier, load_model
from hipad.estimator.serialization import (
    StoredPriors,
    checksum,
    knowledge_of,
    plain,
    rebuild,
    stored_knowledge,
)
from hipad.exceptions import DataError, RuleError
from hipad.experiments.methods import ExperimentData, contest, rules_for
from hipad.experiments.runner import Done, Task, do
from hipad.experiments.sensitivity import (
    PerturbedRule,
    curve_tasks,
    strangers_to,
    sweep_tasks,
    threshold_versions,
    thresholds_of,
    thresholds_seen,
    worth_of_rules,
    worth_versions,
    wrong_versions,
)
from hipad.rules import FeatureIndex, parse_rules
from hipad.rules import parser as parsing
from hipad.rules.compiler import compile_knowledge
from hipad.rules.lexer import MISSING, RESERVED, VAGUE
from tests import test_docs

USUAL = """
yes no current never former its the than over above equal positive negative I II 1 2 3.5 p90 median
mean sd z top any all none Normal HIGH mild severe male other Unknown raises matters keep ignore
when with plus of per mg patients high-risk wild+type a=b 10% it's don't N/A <1 >5
""".split()  # noqa: SIM905
LEVELS = [*sorted(RESERVED | VAGUE | MISSING), *USUAL, "high risk", "not known", "`odd`", "a, b"]
QUOTED = {*RESERVED, "of", "plus", "when", "with", "per", "the", "than", "over", "above", "equal"}
PLAIN = [level for level in (*sorted(VAGUE | MISSING), *USUAL) if level.isalpha()]


def in_a_rule(level):
    """A level as a user writes it in a rule: bare where it is a word of no other use."""
    return level if level in PLAIN and level not in QUOTED else "`" + level.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def table():
    """One category for each level, with this level and another."""
    rng = np.random.default_rng(0)
    n = 60
    flags = rng.integers(0, 2, (n, len(LEVELS))).astype(float)
    columns = {"age": rng.normal(50, 10, n)}
    for k, level in enumerate(LEVELS):
        columns |= {f"g{k}={level}": flags[:, k], f"g{k}=rest": 1 - flags[:, k]}
    score = columns["age"] - 50 + 10 * flags[:, :3].sum(axis=1) + rng.normal(0, 4, n)
    return pd.DataFrame(columns), np.where(score > np.median(score), "ill", "well")


@pytest.fixture(scope="module")
def rules():
    return "\n".join(f"g{k} = {in_a_rule(level)} => ill" for k, level in enumerate(LEVELS))


@pytest.fixture(scope="module")
def fitted(table, rules):
    """Rules of no worth are compiled and kept as others are, and fitted at once."""
    return HIPADClassifier(rules, lambda1=0.0, rule_weight=0.0).fit(*table)


def same_knowledge(one, other):
    assert len(one.rules) == len(other.rules)
    for mine, his in zip(one.rules, other.rules, strict=True):
        assert (mine.B != his.B).nnz == 0
        assert np.array_equal(mine.d, his.d)
        assert (mine.sign, mine.label, mine.outcome) == (his.sign, his.label, his.outcome)
        assert (mine.rule, mine.settled) == (his.rule, his.settled)
        assert (mine.sources, mine.remarks) == (his.sources, his.remarks)
        assert (str(mine.rule), mine.resolved_text) == (str(his.rule), his.resolved_text)
    for mine, his in zip(one.statements, other.statements, strict=True):
        assert (mine.statement, mine.kind, mine.outcome) == (his.statement, his.kind, his.outcome)
        assert np.array_equal(mine.columns, his.columns)


def test_load_model_takes_every_level_name(fitted, table, tmp_path, monkeypatch):
    fitted.save(tmp_path / "m.json")
    monkeypatch.setattr(parsing, "_BY_ITSELF", {})
    monkeypatch.setattr(parsing, "_read", lambda *_: pytest.fail("a text was parsed"))
    loaded = load_model(tmp_path / "m.json")
    assert np.array_equal(loaded.predict(table[0]), fitted.predict(table[0]))
    same_knowledge(fitted._knowledge, loaded._knowledge)
    assert [str(r) for r in loaded.rule_report_] == [str(r) for r in fitted.rule_report_]
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "m.json").read_text()


def test_save_model_takes_rules_given_as_a_list(table, rules, tmp_path):
    lines = rules.splitlines()[:60]
    HIPADClassifier(lines, lambda1=0.0, rule_weight=0.0).fit(*table).save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert len(parse_rules(loaded.rules)) == len(loaded._knowledge.rules) == 60


def test_experiments_take_every_level_name(table, rules):
    frame, y = table
    names = tuple(frame.columns)
    text = rules_for(rules, FeatureIndex(names), {}, ("well", "ill"))
    signs = np.where(y == "ill", 1.0, -1.0)
    data = ExperimentData("t", frame.to_numpy(), signs, names, rules=text, labels=("well", "ill"))
    context = {"feature_names": names, "classes": ("well", "ill"), "values": data.X}
    strangers = strangers_to(data, np.random.default_rng(0))
    for k in (0, len(LEVELS) - 1):
        versions = wrong_versions(text, k, ("well", "ill"), strangers)
        for version in [*versions, *worth_versions(text, k, [3.0])]:
            assert len(compile_knowledge(version.rules, **context).rules) == len(LEVELS)
    for method in ("HIPAD", "hard rules", "rules alone"):
        rows, options = {"labelled": 12}, {"lambda1": 0.3}
        figures = contest(data, 0, method=method, rows=rows, options=options)
        assert 0 <= figures["accuracy"] <= 1


@pytest.mark.parametrize("text", [*test_docs.lines("rules"), *test_docs.lines("statements")])
def test_load_model_takes_every_documented_rule(text, tmp_path):
    classes = ("NEG", "BCR/ABL") if "BCR/ABL" in text else test_docs.CLASSES
    frame = pd.DataFrame(test_docs.X, columns=test_docs.NAMES)
    y = np.array(classes)[(test_docs.X[:, 1] > 100).astype(int)]
    settings = {"blocks": test_docs.BLOCKS, "lambda1": 0.0, "rule_trust": None}
    clf = HIPADClassifier(text, **settings).fit(frame, y)
    clf.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert np.array_equal(loaded.predict(frame), clf.predict(frame))
    same_knowledge(clf._knowledge, loaded._knowledge)


HEARD_BEFORE = {"fired": 9.0, "right": 7.0, "trust": 0.8, "shared": True}
RULE_OF_TODAY = "age >= 60 => ill"


def experiment_data(text):
    """The documented features with this rule, as a page hands them to an experiment."""
    classes = ("NEG", "BCR/ABL") if "BCR/ABL" in text else test_docs.CLASSES
    rules = rules_for(text, test_docs.INDEX, test_docs.BLOCKS, classes)
    y = np.where(test_docs.X[:, 1] > 100, 1.0, -1.0)
    own = tuple(test_docs.NAMES), test_docs.BLOCKS, rules
    return ExperimentData("t", test_docs.X, y, *own, labels=classes)


DOCUMENTED = [*test_docs.lines("rules"), *test_docs.lines("statements")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=[] if n % 6 == 0 else pytest.mark.long)
        for n, text in enumerate(DOCUMENTED)
    ],
)
def test_experiments_take_every_documented_rule(text):
    data = experiment_data(text)
    own = {"rows": {"labelled": 8}, "options": {"lambda1": 0.3}, "draws": 1}
    written = [PerturbedRule("as written", 0.0, data.rules)]
    tasks = sweep_tasks(data, written, methods=["HIPAD", "hard rules"], **own)
    tasks += curve_tasks(data, draws=1, sizes=[8], methods=["rules alone"])
    if rules := parse_rules(data.rules):
        k = len(rules) - 1
        strangers = strangers_to(data, np.random.default_rng(0))
        names = data.blocks, data.feature_names
        _, *wrong = wrong_versions(data.rules, k, data.labels, strangers, *names)
        versions = [*wrong, *worth_versions(data.rules, k, [3.0])]
        for at in thresholds_of(data.rules, k)[-1:]:
            try:
                seen = thresholds_seen(data, k, at, n=2)
            except RuleError as error:
                assert "has no range to sweep: sweep its worth" in str(error)  # noqa: PT017
            else:
                assert np.isfinite(seen).all()
                versions += threshold_versions(data.rules, k, seen[:1], at)
        tasks += sweep_tasks(data, versions, methods=["HIPAD"], **own)
    done = [do(task, str(n), data) for n, task in enumerate(tasks)]
    assert [each.error for each in done if each.failed] == []
    assert all(0 <= each.figure("accuracy") <= 1 for each in done)


def test_load_model_of_version_1_needs_no_rules_that_can_be_read(fitted, table, tmp_path):
    fitted.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    content = document["content"]
    del content["compiled"]
    content["rules"] = "g0 is abnormal => ill"
    del content["members"], content["settings"]["rule_trust"]
    for record in content["rule_report"]:
        del record["effect"], record["trust"]
        record["pull"] = {**record.pop("gradient"), "felt": False}
        record["knobs"] = {**record.pop("weights"), "heard": HEARD_BEFORE}
        del record["knobs"]["evidence"]
    old = {**document, "version": 1, "checksum": checksum(content)}
    (tmp_path / "old.json").write_text(json.dumps(old))
    loaded = load_model(tmp_path / "old.json")
    assert np.array_equal(loaded.predict(table[0]), fitted.predict(table[0]))
    assert len(loaded.rule_report_) == len(fitted.rule_report_)
    assert loaded.rule_report_[0].effect is None
    assert loaded.rule_report_[0].trust is None
    assert (loaded.rule_report_[0].evidence.fired, loaded.rule_report_[0].evidence.right) == (
        9.0,
        7.0,
    )
    assert loaded.members_ == ()


def test_load_model_of_version_2_from_before_trust_was_the_default(table, tmp_path):
    fitted = HIPADClassifier(RULE_OF_TODAY, lambda1=0.1, lambda2=1.0).fit(*table)
    fitted.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    content = document["content"]
    for member in content["members"]:
        del member["cut"], member["on_rows"]
    for record in content["rule_report"]:
        record["pull"] = record.pop("gradient")
        record["knobs"] = {**record.pop("weights"), "automatic": True, "heard": HEARD_BEFORE}
        del record["knobs"]["evidence"]
    old = {**document, "version": 2, "checksum": checksum(content)}
    (tmp_path / "old.json").write_text(json.dumps(old))
    loaded = load_model(tmp_path / "old.json")
    assert np.array_equal(loaded.predict_proba(table[0]), fitted.predict_proba(table[0]))
    assert [one.share for one in loaded.members_] == [one.share for one in fitted.members_]
    assert {(one.cut, one.on_rows) for one in loaded.members_} == {(None, False)}
    assert [one.trust for one in loaded.rule_report_] == [one.trust for one in fitted.rule_report_]


INDEX = FeatureIndex(n_features=6)
TEXT = (
    "a: mean(x0:x2) between 1 and 2 and x3 > 1 mg => positive worth 5 patients  # why\nx5 matters"
)


@pytest.fixture
def stored():
    known = compile_knowledge(TEXT, n_features=6)
    return json.loads(json.dumps(plain(stored_knowledge(known))))


def test_knowledge_of_is_what_was_stored(stored):
    known = compile_knowledge(TEXT, n_features=6)
    again = knowledge_of(rebuild(StoredPriors, stored), INDEX)
    same_knowledge(known, again)
    assert again.features.certain.tolist() == [5]
    assert stored["rules"][0]["text"].endswith("worth 5 patients  # why")


@pytest.mark.parametrize(
    "changed",
    [
        {"sign": 0.5},
        {"d": [1.0]},
        {"columns": [0, 1, 2, 0, 1, 2, 6]},
        {"values": ["nan"] * 7},
        {"row_ends": [3, 2, 7]},
        {"sources": []},
    ],
)
def test_knowledge_of_refuses_what_no_fit_stores(changed, stored):
    stored["rules"][0] |= changed
    with pytest.raises(DataError, match="damaged: expected"):
        knowledge_of(rebuild(StoredPriors, stored), INDEX)


def test_worth_of_rules_says_what_failed():
    found = [
        Done(Task("contest", "t", seed, {"method": method, "rows": {"labelled": n}}),
             f"{method}{seed}{n}", {"balanced": 0.5}, error="RuleError: no" * (method == "HIPAD"))
        for seed in range(3) for method in ("HIPAD", "no rules") for n in (4, 8)
    ]  # fmt: skip
    with pytest.raises(
        DataError, match="HIPAD on t: 6 of 6 fits failed, the first with: RuleError"
    ):
        worth_of_rules(found)

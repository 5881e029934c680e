"""A fit depends on its inputs alone: not on what came before it, nor on the order of anything."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hipad import HIPADClassifier
from hipad.datasets import load_sample, make_ksvm_s
from hipad.solvers import Status


class Case(NamedTuple):
    """Data with rules; columns are named, so that their order can change."""

    X: np.ndarray
    y: np.ndarray
    rules: str
    names: tuple[str, ...]
    blocks: dict[str, tuple[str, ...]] | None
    parameters: dict[str, Any]

    def start(self, like=None, rows=None, columns=None, weights=None, quick=True, **changes):
        rows = np.arange(len(self.y)) if rows is None else rows
        columns = np.arange(len(self.names)) if columns is None else columns
        settings = {**self.parameters, **changes}
        clf = HIPADClassifier(settings.pop("rules", self.rules), blocks=self.blocks, **settings)
        whole = len(rows) == len(self.y) and (np.diff(rows) == 1).all()
        X = self.X if whole and (np.diff(columns) == 1).all() else self.X[np.ix_(rows, columns)]
        names = [self.names[j] for j in columns]
        return clf.fit_iter(
            X,
            self.y[rows],
            warm_start_from=like,
            feature_names=names,
            sample_weight=weights,
            interactive=not quick,
        )

    def fit(self, like=None, **how):
        watch = self.start(like, **how)
        for _ in watch:
            pass
        return watch.finish()


def sample(name, n, seed, **parameters):
    found = load_sample(name)
    rows = np.random.default_rng(seed).permutation(len(found.y))[:n]
    names = found.feature_names
    blocks = {block: tuple(names[j] for j in own) for block, own in found.blocks.items()}
    X = np.asarray(found.X[rows], dtype=float)
    return Case(X, found.y[rows], found.rules, names, blocks, parameters)


def ksvm(**parameters):
    data = make_ksvm_s("10k", seed=1, n_features=1200, n_train=60)
    names = tuple(f"x{j}" for j in range(1200))
    blocks = {block: tuple(names[j] for j in own) for block, own in data.blocks.items()}
    X = data.X_train.toarray()
    return Case(X, data.y_train, data.rules, names, blocks, {"standardize": False, **parameters})


def drawn(seed, **parameters):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(14, 50)), int(rng.integers(4, 120))
    y = (rng.random(n) < rng.uniform(0.3, 0.7)).astype(int)
    y[:4] = 0, 0, 1, 1
    X = rng.standard_normal((n, m))
    X[:, :3] += 0.8 * y[:, None]
    rules = ["", "x0 >= 1 => 1", "x0 >= 1.5 => 1\nx1 <= -1 => 0 worth 2 patients"][seed % 3]
    own = {
        "lambda1": float(rng.choice([0.02, 0.1, 0.3])),
        "lambda2": float(rng.choice([0.5, 10.0])),
        "class_weight": [None, "balanced"][seed % 2],
        "selection": {"calibrate": bool(rng.random() < 0.5)},
    }
    return Case(X, y, rules, tuple(f"x{j}" for j in range(m)), None, {**own, **parameters})


CASES = {
    "pima": lambda: sample("pima", 60, 0, lambda1=0.1),
    "pima, auto": lambda: sample("pima", 40, 1),
    "pima, as the optimum has it": lambda: sample(
        "pima", 200, 2, lambda1=0.03, selection={"calibrate": False}
    ),
    "all-bcrabl": lambda: sample("all-bcrabl", 30, 0, lambda1=0.1, rule_trust=None),
    "all-bcrabl, auto": lambda: sample("all-bcrabl", 24, 1, lambda2=1.0, cv=3),
    "ksvm-s": lambda: ksvm(lambda1=0.1),
    "ksvm-s, exact": lambda: ksvm(lambda1=0.1, method="exact"),
    "ksvm-s, admm": lambda: ksvm(lambda1=0.1, method="admm", selection={"calibrate": False}),
}

LONG = ("all-bcrabl, auto", "pima, auto")
NAMES = [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in CASES]


@cache
def case(name):
    made = CASES[name]()
    return made, made.fit()


def same(one, other, columns=None):
    """Equal support, weights to 1e-6 of the largest, lambda1, certificate."""
    found = other.coef_[0]
    if columns is not None:
        found = np.empty_like(other.coef_[0])
        found[columns] = other.coef_[0]
    largest = max(np.abs(one.coef_).max(), 1e-12)
    assert np.array_equal(one.coef_[0] != 0, found != 0)
    assert one.lambda1_ == other.lambda1_
    np.testing.assert_allclose(found, one.coef_[0], rtol=0, atol=1e-6 * largest)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-6, atol=1e-6)
    for clf in (one, other):
        assert clf.certificate_.status is Status.SOLVED
        assert clf.certificate_.is_optimal(1e-8)
        assert clf.certificate_.undecided == 0


def check_starts(given, cold):
    """Watched, warm from others, there and back."""
    watched = given.fit(quick=False)
    same(cold, watched)
    sparser = given.fit(like=watched, quick=False, lambda1=2 * cold.lambda1_ + 0.01)
    same(cold, given.fit(like=sparser, quick=False))
    fuller = given.fit(like=cold, quick=False, lambda1=0.3 * cold.lambda1_)
    same(cold, given.fit(like=fuller, quick=False))
    if given.rules:
        dearer = given.fit(like=watched, quick=False, rule_weight=13.0)
        same(cold, given.fit(like=dearer, quick=False))
        without = given.fit(like=dearer, quick=False, rules="")
        same(given.fit(rules=""), without)
        same(cold, given.fit(like=without, quick=False))


def check_orders(given, cold, rng):
    rows, columns = rng.permutation(len(given.y)), rng.permutation(len(given.names))
    same(cold, given.fit(rows=rows))
    same(cold, given.fit(columns=columns), columns)


def check_weights(given, rng):
    twice = rng.choice(len(given.y), 3, replace=False)
    weights = np.ones(len(given.y))
    weights[twice] = 2.0
    rows = np.r_[np.arange(len(given.y)), twice]
    same(given.fit(weights=weights), given.fit(rows=rows))


@pytest.mark.parametrize("name", NAMES)
def test_where_a_fit_starts_does_not_matter(name):
    check_starts(*case(name))


@pytest.mark.parametrize("name", NAMES)
def test_order_does_not_matter(name):
    check_orders(*case(name), np.random.default_rng(0))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_weight_two_is_two_rows(name):
    check_weights(case(name)[0], np.random.default_rng(0))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["hipad", "hipad", "exact", "admm"]))
@example(3616, "admm")  # rows on their margin have many prices, and no feature is in
def test_random_problems_have_one_answer(seed, method):
    check_random(seed, method=method, rule_trust=None)


@settings(max_examples=2)
@given(st.integers(0, 5_000).map(lambda k: 3 * k + 1))
def test_random_problems_have_one_answer_where_trust_is_learnt(seed):
    check_random(seed, selection={"calibrate": True}, cv=2)


def check_random(seed, **parameters):
    given = drawn(seed, **parameters)
    cold, rng = given.fit(), np.random.default_rng(seed)
    check_starts(given, cold)
    check_orders(given, cold, rng)
    check_weights(given, rng)


def test_the_curve_of_both_phases_is_one():
    """Loss, rules and ridge do not jump where phase 2 begins."""
    given = case("pima")[0]
    history = given.fit(quick=False).history_
    last = next(r for r in reversed(history) if r.phase == 1)
    second = [r for r in history if r.phase == 2]
    assert last.shared < last.objective
    assert all(r.shared == r.objective for r in second)
    assert all(abs(r.shared - last.shared) < 0.2 * last.shared for r in second)


@pytest.mark.parametrize("quick", [True, False])
def test_an_earlier_fit_whose_rules_have_other_conditions_leads_to_the_same_model(quick):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.standard_normal((30, 5)) + 0.7 * y[:, None]
    one, two = (
        HIPADClassifier(f"{premise} => 1 worth 5 patients", lambda1=0.1)
        for premise in ("x0 >= 1", "x0 >= 1 and x1 >= 0")
    )
    earlier = one.fit_iter(X, y, interactive=not quick).to_end().finish()
    like = two.fit_iter(X, y, warm_start_from=earlier, interactive=not quick).to_end().finish()
    np.testing.assert_allclose(like.coef_, two.fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("start", ["itself", "another lambda1", "written weights", "several"])
def test_a_warm_start_does_not_matter_where_trust_is_learnt_at_a_given_lambda1(start):
    """Every candidate begins with the rows and multipliers of the most probable one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)).round(2)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    rules = "x0 >= 1 => positive"

    def fit(rules=rules, lambda1=0.1, **how):
        clf = HIPADClassifier(rules, lambda1=lambda1, lambda2=2.0)
        return clf.fit_iter(X, y, interactive=False, **how).to_end().finish()

    cold = fit()
    assert sum(member.share > 0 for member in cold.members_) > 1
    earlier = {
        "itself": lambda: cold,
        "another lambda1": lambda: fit(lambda1=0.02),
        "written weights": lambda: fit(rules=f"{rules} worth 40 patients"),
        "several": lambda: [fit(rules=f"{rules} worth 2 patients"), cold, fit(rules=())],
    }[start]()
    warm = fit(warm_start_from=earlier)
    same(cold, warm)
    for one, other in zip(cold.members_, warm.members_, strict=True):
        assert other.certificate.status is Status.SOLVED
        assert one.support_size == other.support_size

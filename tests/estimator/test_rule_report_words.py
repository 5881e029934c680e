"""Every word that a report says of a rule, against refits that know nothing of the report."""

import numpy as np
import pytest

from hipad import HIPADClassifier
from hipad.rules import compile_rules

FITS = 200
FEATURES = 6


def drawn(seed):
    """A small table with one to three rules: right, flipped or on noise; some have a weight."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 20))
    y = np.arange(2 * count) % 2
    X = rng.normal(size=(2 * count, FEATURES))
    X[:, :2] += 1.4 * (y[:, None] - 0.5)
    lines = []
    for _ in range(rng.integers(1, 4)):
        column, threshold = rng.integers(FEATURES), rng.choice([0.3, 0.8, 1.5])
        relation, outcome = (">=", 1) if rng.random() < 0.5 else ("<=", 0)
        number = threshold if relation == ">=" else -threshold
        outcome = 1 - outcome if rng.random() < 0.4 else outcome
        weight = " worth 3 patients" if rng.random() < 1 / 6 else ""
        lines.append(f"x{column} {relation} {number} => {outcome}{weight}")
    lambda1 = "auto" if rng.random() < 0.3 else 0.05
    return X, y, list(dict.fromkeys(lines)), {"lambda1": lambda1}


def direction(clf):
    weights = clf.coef_[0] * clf._data.design.scale
    return weights / max(np.linalg.norm(weights), 1e-300)


def says_the_opposite(clf, rule, X):
    """Whether the model decides against the rule for most of the rows that the rule covers."""
    covered = X[rule.fires(X)]
    return 2 * np.mean(rule.sign * clf.decision_function(covered) < 0) > 1


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_report_says_what_refits_confirm(part):
    words = []
    for seed in range(part, FITS, 4):
        X, y, lines, settings = drawn(seed)
        clf = HIPADClassifier("\n".join(lines), **settings).fit(X, y)
        rules = compile_rules("\n".join(lines), n_features=FEATURES, classes=(0, 1), values=X)
        for i, (record, rule) in enumerate(zip(clf.rule_report_, rules, strict=True)):
            others = "\n".join(lines[:i] + lines[i + 1 :])
            same = {} if clf.members_ else {"lambda1": clf.lambda1_, "lambda2": clf.lambda2_}
            without = HIPADClassifier(others or None, **{**settings, **same}).fit(X, y)
            gap = np.abs(direction(clf) - direction(without)).max()
            word = record.effect.word
            words.append(word)
            if word == "outvoted" and rule.fires(X).any():
                assert says_the_opposite(clf, rule, X), (seed, i)
            if word == "changes the model":
                assert gap > 1e-7, (seed, i)
            if word == "adds nothing":
                assert gap < 1e-5, (seed, i)
    assert {"changes the model", "outvoted"} <= set(words)

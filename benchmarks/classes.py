"""Three and five classes: accuracy beside tuned LinearSVC and LogisticRegression, and with rules.

scikit-learn's bundled tables, all defaults for us. The rivals choose C, and whether columns are
scaled, by five inner folds. Then few rows with rules: as they are, and with each naming the next
class instead of its own. Every draw is kept in a file among the temporary ones: a run that was
stopped goes on where it ended, and `--draws` adds to it.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.reporting import Options, mean_and_error, progress, table
from hipad import HIPADClassifier
from hipad.rules import RuleSet, parse_rules

LEDGER = Path(tempfile.gettempdir()) / "hipad-classes.jsonl"
STRENGTHS = tuple(10.0**k for k in range(-4, 4))
GOAL = -0.01  # of the accuracy: how far below the better rival we may be
MOST_TEST_ROWS = 800
IRIS_RULES = """
`petal length (cm)` <= 2.5 => setosa
`petal length (cm)` >= 5.2 => virginica
`petal width (cm)` >= 1.8 => virginica
`petal length (cm)` >= 3 and `petal length (cm)` <= 4.6 => versicolor
"""
WINE_RULES = """
proline >= 900 => class_0
color_intensity <= 3.5 => class_1
flavanoids <= 1.2 => class_2
"""


@dataclass(frozen=True)
class Case:
    """A table with class names, how many rows are learnt from, and its rules."""

    X: pd.DataFrame
    y: np.ndarray
    n_train: int
    rules: str = ""


def _bunch(found: Any, n_train: int, rules: str = "", keep: tuple[int, ...] = ()) -> Case:
    rows = np.isin(found.target, keep) if keep else np.ones(found.target.size, dtype=bool)
    names = np.asarray(found.target_names).astype(str)
    X = pd.DataFrame(np.asarray(found.data)[rows], columns=list(map(str, found.feature_names)))
    return Case(X, names[found.target[rows]], n_train, rules)


def _diabetes(n_classes: int) -> Case:
    """The progression of diabetes in as many grades of equal size."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    grades = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y, side="right")
    return Case(X, np.array([f"grade {grade}" for grade in grades]), 200)


CASES: dict[str, Callable[[], Case]] = {
    "iris (3 classes)": lambda: _bunch(load_iris(), 90),
    "wine (3 classes)": lambda: _bunch(load_wine(), 90),
    "digits 0 to 4 (5 classes)": lambda: _bunch(load_digits(), 150, keep=(0, 1, 2, 3, 4)),
    "digits 5 to 9 (5 classes)": lambda: _bunch(load_digits(), 150, keep=(5, 6, 7, 8, 9)),
    "diabetes (3 grades)": lambda: _diabetes(3),
    "diabetes (5 grades)": lambda: _diabetes(5),
}
RULE_CASES: dict[str, Callable[[], Case]] = {
    f"{name}, {n} rows": lambda make=make, n=n, rules=rules: _bunch(make(), n, rules)
    for name, make, rules in (("iris", load_iris, IRIS_RULES), ("wine", load_wine, WINE_RULES))
    for n in (9, 15, 30)
}


def run(options: Options) -> str:
    """Two tables: without rules beside the rivals, and with rules of few rows."""
    draws = options.count(10)
    kept = _kept()
    with LEDGER.open("a", encoding="utf-8") as ledger:
        for draw in range(draws):
            for name, cell in (
                *((n, plain_cell) for n in CASES),
                *((n, rule_cell) for n in RULE_CASES),
            ):
                if (name, draw) in kept or not options.wants(name):
                    continue
                kept[name, draw] = cell(name, draw)
                ledger.write(json.dumps([name, draw, kept[name, draw]]) + "\n")
                ledger.flush()
                progress(f"{name}, draw {draw}: {kept[name, draw]}")
    found = {
        name: [kept[name, draw] for draw in range(draws) if (name, draw) in kept]
        for name in (*CASES, *RULE_CASES)
    }
    return "\n\n".join([_plain_table(found), _rule_table(found)])


def plain_cell(name: str, draw: int) -> dict[str, float]:
    """Accuracy of all on one draw of a table."""
    case = CASES[name]()
    X, fresh, y, truth = _split(case, draw)
    scores = {"ours": _score(HIPADClassifier(), X, y, fresh, truth)}
    for rival, model in (
        ("LinearSVC", LinearSVC(max_iter=5000)),
        ("LogisticRegression", LogisticRegression(max_iter=2000)),
    ):
        scores[rival] = _score(tuned(model), X, y, fresh, truth)
    return scores


def rule_cell(name: str, draw: int) -> dict[str, float]:
    """Accuracy without rules, with them, and with each naming the next class."""
    case = RULE_CASES[name]()
    X, fresh, y, truth = _split(case, draw)
    rules = parse_rules(case.rules.strip())
    ways = {"no rules": None, "rules": rules, "flipped": next_class(rules, sorted(set(case.y)))}
    return {way: _score(HIPADClassifier(said), X, y, fresh, truth) for way, said in ways.items()}


def tuned(model: Any) -> GridSearchCV:
    """A rival with C and scaling chosen by inner folds."""
    pipe = make_pipeline(StandardScaler(), model)
    step = pipe.steps[-1][0]
    grid = {"standardscaler": [StandardScaler(), "passthrough"], f"{step}__C": STRENGTHS}
    return GridSearchCV(pipe, grid, cv=5)


def next_class(rules: RuleSet, classes: list[str]) -> RuleSet:
    """The rules, each with the class after its own."""
    lines = []
    for rule in rules:
        other = classes[(classes.index(rule.outcome) + 1) % len(classes)]
        lines.append(str(rule).rsplit("=>", 1)[0] + f"=> {other}")
    return parse_rules("\n".join(lines))


def _split(case: Case, draw: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    X, fresh, y, truth = train_test_split(
        case.X, case.y, train_size=case.n_train, stratify=case.y, random_state=draw
    )
    return X, fresh[:MOST_TEST_ROWS], y, truth[:MOST_TEST_ROWS]


def _score(model: Any, X: Any, y: np.ndarray, fresh: Any, truth: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(model.fit(X, y).score(fresh, truth))


def _kept() -> dict[tuple[str, int], dict[str, float]]:
    if not LEDGER.exists():
        return {}
    lines = [json.loads(line) for line in LEDGER.read_text("utf-8").splitlines()]
    return {(name, draw): cell for name, draw, cell in lines}


def _plain_table(found: dict[str, list[dict[str, float]]]) -> str:
    rivals = ("LinearSVC", "LogisticRegression")
    rows = []
    for name in CASES:
        if not found[name]:
            continue
        scores = {way: np.array([cell[way] for cell in found[name]]) for way in ("ours", *rivals)}
        behind = scores["ours"].mean() - max(scores[rival].mean() for rival in rivals)
        word = "met" if behind >= GOAL else "**missed**"
        rows.append(
            [
                name,
                len(found[name]),
                *map(mean_and_error, scores.values()),
                f"{behind:+.3f} ({word})",
            ]
        )
    return table(["table", "draws", "ours", *rivals, "to the better (goal >= -0.01)"], rows)


def _rule_table(found: dict[str, list[dict[str, float]]]) -> str:
    ways = ("no rules", "rules", "flipped")
    rows = [
        [name, len(found[name]), *(mean_and_error([c[way] for c in found[name]]) for way in ways)]
        for name in RULE_CASES
        if found[name]
    ]
    return table(["table", "draws", *ways], rows)

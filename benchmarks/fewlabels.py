"""Few labels: what rules add to 8 or 16 labelled patients, all of them and each alone.

pima          8 labelled patients at the prevalence of all, area under the curve on the rest
all-bcrabl    16 labelled patients at the prevalence of all, accuracy on the rest
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import Table, at_prevalence, labelled, rest_of, sample_table
from benchmarks.reporting import Options, mean_and_error, progress, table, verdict
from benchmarks.rivals import Hipad, Libsvm, LinearModel, Rival
from hipad.rules import parse_rules

CASES = (("pima", 8, 20, "AUC", 0.80), ("all-bcrabl", 16, 60, "accuracy", 0.84))
HIGH, LOW = "Glucose >= 126 => positive", "Glucose < 126 => negative"
ONE_THRESHOLD = {"HIPAD, Glucose >= 126 alone": HIGH, "HIPAD, both sides of 126": f"{HIGH}\n{LOW}"}
GOALS = {
    "HIPAD, only high_risk": 0.78,
    "HIPAD, only low_risk": 0.78,
    **dict.fromkeys(ONE_THRESHOLD, 0.77),
}


def run(options: Options) -> str:
    """Both cases as one table."""
    rows = []
    for name, size, draws, metric, goal in CASES:
        if not options.wants(name):
            continue
        data = sample_table(name)
        scores = compare(data, size, options.count(draws), metric)
        goals = GOALS | {"HIPAD with rules": goal}
        rows += [
            [name, f"{size} labelled", metric, rival, mean_and_error(values), judged(values, given)]
            for rival, values in scores.items()
            for given in [goals.get(rival)]
        ]
    return table(["data", "training", "metric", "classifier", "mean over draws", "goal"], rows)


def judged(values: list[float], goal: float | None) -> str:
    """Whether the mean meets its goal, where there is one."""
    return "" if goal is None else verdict(float(np.mean(values)), goal)


def compare(data: Table, size: int, draws: int, metric: str) -> dict[str, list[float]]:
    """The metric on the rest of the patients, for every rival and draw."""
    scores: dict[str, list[float]] = {rival.name: [] for rival in rivals(data)}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        rows = labelled(data.y, at_prevalence(data.y, size), rng)
        rest = rest_of(data.y, rows)
        for rival in rivals(data):
            model = rival.fit(data.X[rows], data.y[rows])
            scores[rival.name].append(judge(model, data, rest, metric))
        text = ", ".join(f"{name} {values[-1]:.3f}" for name, values in scores.items())
        progress(f"{data.name} draw {draw}: {text}")
    return scores


def rivals(data: Table) -> list[Rival]:
    """With all rules, each alone, without, and LIBSVM on columns as they are and standardised."""
    settings = {"blocks": data.blocks}
    rules = parse_rules(data.rules)
    single = {f"HIPAD, only {n}": str(r) for n, r in zip(rules.labels, rules, strict=True)}
    single |= ONE_THRESHOLD if data.name == "pima" else {}
    return [
        Hipad("HIPAD with rules", data.rules, data.names, settings),
        *(Hipad(name, text, data.names, settings) for name, text in single.items()),
        Hipad("HIPAD without rules"),
        Libsvm(),
        Libsvm(scale=True),
    ]


def judge(model: LinearModel, data: Table, rows: np.ndarray, metric: str) -> float:
    """Area under the curve, or accuracy, on some rows."""
    if metric == "AUC":
        return float(roc_auc_score(data.y[rows], model.scores(data.X[rows])))
    return model.accuracy(data.X[rows], data.y[rows])

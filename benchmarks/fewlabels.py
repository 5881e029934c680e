"""Few labels: what two rules add to 8 or 16 labelled patients.

pima          8 labelled patients at the prevalence of all, area under the curve on the rest
all-bcrabl    16 labelled patients at the prevalence of all, accuracy on the rest
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import Table, at_prevalence, labelled, rest_of, sample_table
from benchmarks.reporting import Options, mean_and_error, progress, table, verdict
from benchmarks.rivals import Hipad, Libsvm, LinearModel, Rival

CASES = (("pima", 8, 20, "AUC", 0.79), ("all-bcrabl", 16, 15, "accuracy", 0.84))


def run(options: Options) -> str:
    """Both cases as one table."""
    rows = []
    for name, size, draws, metric, goal in CASES:
        if not options.wants(name):
            continue
        data = sample_table(name)
        scores = compare(data, size, options.count(draws), metric)
        with_rules = np.mean(scores["HIPAD with rules"])
        rows += [
            [name, f"{size} labelled", metric, rival, mean_and_error(values)]
            for rival, values in scores.items()
        ]
        rows.append([name, "", "", "goal with rules", verdict(float(with_rules), goal)])
    return table(["data", "training", "metric", "classifier", "mean over draws"], rows)


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
        told = ", ".join(f"{name} {values[-1]:.3f}" for name, values in scores.items())
        progress(f"{data.name} draw {draw}: {told}")
    return scores


def rivals(data: Table) -> list[Rival]:
    """With rules, without, and LIBSVM on standardised columns."""
    settings = {"blocks": data.blocks}
    return [
        Hipad("HIPAD with rules", data.rules, data.names, settings),
        Hipad("HIPAD without rules"),
        Libsvm(),
        Libsvm(scale=True),
    ]


def judge(model: LinearModel, data: Table, rows: np.ndarray, metric: str) -> float:
    """Area under the curve, or accuracy, on some rows."""
    if metric == "AUC":
        return float(roc_auc_score(data.y[rows], model.scores(data.X[rows])))
    return model.accuracy(data.X[rows], data.y[rows])

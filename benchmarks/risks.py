"""Are risks what happens? Calibration on fresh patients.

population    15 % positives, 600 labelled rows, 40 features of which 5 tell the classes apart;
              20 draws, 20,000 fresh rows each
pima          64 labelled patients at the prevalence of all, the rest is fresh; with and without
              rules
rivals        the uncalibrated way: a sigmoid on the model's own training scores
few           20 to 600 labelled rows, 5, 15 and 50 % positives, two populations: sparse has 500
              features of which 8 tell the classes apart, skewed has 60 in correlated blocks of
              five, log-normal, of which three blocks tell, and two markers; 20 draws, 4,000 fresh
              rows each. The Brier score is held against that of telling everybody the prevalence

The slope is that of the outcome on the log odds of the risk by logistic regression: 1 where risks
are right, less where they are too sure. The share is the mean risk over the observed share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from benchmarks.data import at_prevalence, labelled, rest_of, sample_table
from benchmarks.reporting import Options, mean_and_error, progress, table
from hipad import HIPADClassifier

SHARE, LABELLED, FRESH = 0.15, 600, 20_000
SLOPE, MEAN = (0.85, 1.15), (0.9, 1.1)
ROWS, SHARES = (20, 50, 150, 600), (0.05, 0.15, 0.5)
WORSE, POOLED, JUDGED_FROM = 0.002, (0.8, 1.25), 150  # goals of few rows

Risks = Callable[[Any], np.ndarray]


class Calibrated(NamedTuple):
    """How the risks of one draw stand to what happened."""

    slope: float
    ratio: float
    loss: float


def run(options: Options) -> str:
    """Both sources as one table."""
    rows = []
    for name, study, draws in (("population", population, 20), ("pima", pima, 20)):
        if options.wants(name):
            found: dict[str, list[Calibrated]] = {}
            for draw in range(options.count(draws)):
                for kind, figures in study(draw).items():
                    found.setdefault(kind, []).append(figures)
                    progress(f"{name} {draw} {kind}: {figures}")
            rows += [_line(name, kind, figures) for kind, figures in found.items()]
    header = ["data", "risks", "slope on fresh rows", "mean risk / share", "log loss"]
    parts = [table(header, rows)] if rows else []
    if options.wants("few"):
        parts.append(few_rows(options))
    return "\n\n".join(parts)


def _line(name: str, kind: str, figures: list[Calibrated]) -> list[str]:
    slopes, ratios, losses = (np.array(column) for column in zip(*figures, strict=True))
    slopes, flat = slopes[np.isfinite(slopes)], int(np.sum(np.isnan(slopes)))
    judged = name == "population" and kind.startswith("HIPAD")
    return [
        name, kind,
        mean_and_error(slopes)
        + (_goal(slopes, SLOPE) if judged else "")
        + (f"; {flat} with the same risk for all" if flat else ""),
        mean_and_error(ratios) + (_goal(ratios, MEAN) if judged else ""),
        mean_and_error(losses),
    ]  # fmt: skip


def _goal(values: np.ndarray, between: tuple[float, float]) -> str:
    low, high = between
    met = low <= values.mean() <= high
    return f" (goal {low:g} to {high:g}: {'met' if met else '**missed**'})"


def population(draw: int) -> dict[str, Calibrated]:
    """Normal classes whose means differ in five features."""
    rng = np.random.default_rng(draw)
    (X, y), (fresh, truth) = _sample(rng, LABELLED), _sample(rng, FRESH)
    given = {"lambda1": 0.01, "lambda2": 0.1}
    models = {
        "HIPAD, automatic": HIPADClassifier(),
        "HIPAD, given values": HIPADClassifier(**given),
        "HIPAD, given values, no class weights": HIPADClassifier(**given, class_weight=None),
    }
    found = {
        kind: judged(clf.fit(X, y).predict_proba(fresh)[:, 1], truth)
        for kind, clf in models.items()
    }
    sure = on_training(models["HIPAD, given values"], X, y)(fresh)
    return found | {"given values, sigmoid on training scores": judged(sure, truth)}


def _sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = (rng.random(n) < SHARE).astype(int)
    shift = np.r_[np.full(5, 0.7), np.zeros(35)]
    return rng.standard_normal((n, 40)) + y[:, None] * shift, y


def pima(draw: int) -> dict[str, Calibrated]:
    """64 labelled patients, with rules and without."""
    data = sample_table("pima")
    rows = labelled(data.y, at_prevalence(data.y, 64), np.random.default_rng(draw))
    rest, y = rest_of(data.y, rows), (data.y > 0).astype(int)
    found = {}
    for kind, rules in (("HIPAD with rules", data.rules), ("HIPAD without rules", None)):
        clf = HIPADClassifier(rules, blocks=data.blocks)
        run = clf.fit_iter(data.X[rows], data.y[rows], feature_names=data.names, interactive=False)
        clf = run.to_end().finish()
        found[kind] = judged(clf.predict_proba(data.X[rest])[:, 1], y[rest])
    sure = on_training(clf, data.X[rows], y[rows])(data.X[rest])
    return found | {"sigmoid on training scores": judged(sure, y[rest])}


def few_rows(options: Options) -> str:
    """Brier scores beside the prevalence's, and calibration pooled over the draws."""
    rows = []
    for kind in ("sparse", "skewed"):
        for n in ROWS[: 2 if options.quick else None]:
            for share in SHARES:
                draws = options.count(20)
                found = [few_draw(kind, n, share, draw) for draw in range(draws)]
                rows.append([kind, n, f"{100 * share:g} %", *_of_cell(n, found)])
                progress(f"few: {rows[-1]}")
    header = ["population", "rows", "positives", "Brier - prevalence's, x 1,000"]
    return table([*header, "slope, pooled", "log loss - prevalence's, x 1,000"], rows)


def few_draw(kind: str, n: int, share: float, draw: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Risks of fresh rows, their classes, and the share of positives in training."""
    rng = np.random.default_rng([draw, n, int(100 * share), kind == "sparse"])
    (X, y), (fresh, truth) = few_sample(kind, rng, n, share), few_sample(kind, rng, 4000, share)
    return HIPADClassifier().fit(X, y).predict_proba(fresh)[:, 1], truth, float(y.mean())


def few_sample(
    kind: str, rng: np.random.Generator, n: int, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a population with exactly this share of positives, at least one."""
    y = (rng.permutation(n) < max(round(n * share), 1)).astype(int)
    if kind == "sparse":
        X = rng.standard_normal((n, 500))
        X[:, :8] += 0.5 * y[:, None]
        return X, y
    blocks = rng.standard_normal((n, 12))
    blocks[:, :3] += 0.6 * y[:, None]
    X = np.exp(0.7 * (0.8 * np.repeat(blocks, 5, axis=1) + 0.6 * rng.standard_normal((n, 60))))
    markers = rng.random((n, 2)) < np.where(y, 0.5, 0.2)[:, None]
    return np.hstack([X, markers]), y


def _of_cell(n: int, found: list[tuple[np.ndarray, np.ndarray, float]]) -> list[str]:
    def excess(loss: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
        return np.array([loss(r, y) - loss(np.full(y.size, q), y) for r, y, q in found])

    brier = excess(lambda risks, y: float(np.mean((risks - y) ** 2)))
    losses = excess(lambda risks, y: float(log_loss(y, risks)))
    risks, truth = (np.concatenate([one[k] for one in found]) for k in (0, 1))
    slope, asked = judged(risks, truth).slope, n >= JUDGED_FROM
    met = np.isnan(slope) or POOLED[0] <= slope <= POOLED[1]
    return [
        mean_and_error(1000 * brier, 1) + ("" if brier.mean() <= WORSE else " **missed**"),
        f"{slope:.2f}" + (" **missed**" if asked and not met else ""),
        mean_and_error(1000 * losses, 1),
    ]


def on_training(clf: HIPADClassifier, X: np.ndarray, y: np.ndarray) -> Risks:
    """What risks would be if the model's scores on its own patients were believed."""
    model = LogisticRegression(C=1e6).fit(clf.decision_function(X)[:, None], y)
    return lambda rows: model.predict_proba(clf.decision_function(rows)[:, None])[:, 1]


def judged(risks: np.ndarray, truth: np.ndarray) -> Calibrated:
    """Slope, mean and loss of risks against what happened."""
    risks = np.clip(risks, 1e-12, 1 - 1e-12)
    odds = logit(risks)[:, None]
    flat = np.ptp(odds) < 1e-9
    slope = np.nan if flat else LogisticRegression(C=1e6).fit(odds, truth).coef_[0, 0]
    return Calibrated(float(slope), float(risks.mean() / truth.mean()), log_loss(truth, risks))

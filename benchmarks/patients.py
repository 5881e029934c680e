"""Several rows of one patient: are figures what fresh patients would show?

Populations of 5 rows a patient. Each patient has values of its own (deviation 1), around which its
rows scatter (deviation 1); 3 of 12 features tell the classes apart. The outcome is one for all rows
of a patient, or differs between them.

hold-out      a quarter of 48 patients held back, as the Data page and `hipad fit --split` do it
crosswise     5 folds of the 48 patients, each fold with values of its own where they are chosen;
              the model that is judged by fresh patients is that of all rows

Values of lambda1 and lambda2 are chosen by each fit, or given (far cheaper, so with more draws).
Each is judged by 1,000 fresh patients. `coverage` is how often the 95 % interval holds what fresh
patients show. The rows without groups are what the same figures were if nobody knew of patients.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.reporting import Options, progress, table
from hipad import HIPADClassifier
from hipad.data import Options as Preparation
from hipad.data import Role, Table, split
from hipad.evaluation.cross_validation import cross_validate
from hipad.evaluation.metrics import judge

PATIENTS, ROWS, FEATURES, TELLING, FRESH = 48, 5, 12, 3, 1_000
CLASSES = ("well", "ill")
VALUES = {"automatic": {}, "given": {"lambda1": 0.1, "lambda2": 1.0}}
DRAWS = {"automatic": 40, "given": 300}
GAP, COVERAGE = 2.0, (93.0, 97.0)


class Figure(NamedTuple):
    """One figure of one draw, with its interval, and what fresh patients show."""

    value: float
    low: float
    high: float
    fresh: float


class Rows(NamedTuple):
    """Rows of a population, their classes and their patients."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray


def population(rng: np.random.Generator, patients: int, *, per_patient: bool) -> Rows:
    """Patients with rows that are alike; their outcome is one, or differs between rows."""
    groups = np.repeat(np.arange(patients), ROWS)
    ill = rng.random(patients) < 0.5 if per_patient else np.zeros(patients, bool)
    own = ill[groups]
    if not per_patient:
        leaning = rng.normal(size=patients)[groups]
        own = leaning + rng.normal(size=groups.size) > 0
    shift = np.r_[np.full(TELLING, 0.8), np.zeros(FEATURES - TELLING)]
    shared = rng.normal(size=(patients, FEATURES))[groups]
    X = shared + rng.normal(size=shared.shape) + own[:, None] * shift
    return Rows(X, np.where(own, CLASSES[1], CLASSES[0]), groups)


def hold_out(
    rows: Rows, fresh: Rows, values: dict[str, float], *, grouped: bool, seed: int
) -> Figure:
    """The figure of patients, or rows, that were held back."""
    names = tuple(f"x{j}" for j in range(FEATURES))
    text = {"class": rows.y, "subject": np.array([f"S{g:03d}" for g in rows.groups])}
    roles = {} if grouped else {"subject": Role.LEFT_OUT}
    parts = split(
        Table(rows.X, names, text, "made"), Preparation("class", CLASSES[1], roles=roles), seed=seed
    )
    train, test = parts.train, parts.test
    clf = HIPADClassifier(**values).fit(train.X, train.y, groups=train.groups)
    return _judged(_scores(clf, test.X), test.y, test.groups, clf, fresh)


def crosswise(rows: Rows, fresh: Rows, values: dict[str, float], *, grouped: bool) -> Figure:
    """The figure of all rows, each by a model that has not seen it, or its patient."""
    groups = rows.groups if grouped else None
    clf = HIPADClassifier(**values).fit(rows.X, rows.y, groups=groups)
    right = cross_validate(clf, rows.X, rows.y, groups=groups).judge(CLASSES).accuracy
    return Figure(right.value, *right.interval, _fresh(clf, fresh))


def _scores(clf: HIPADClassifier, X: Any) -> np.ndarray:
    sign = 1.0 if clf.classes_[1] == CLASSES[1] else -1.0
    scores: np.ndarray = sign * clf.decision_function(X)
    return scores


def _judged(scores: Any, y: Any, groups: Any, clf: HIPADClassifier, fresh: Rows) -> Figure:
    right = judge(scores, y, CLASSES, part="test", groups=groups).accuracy
    return Figure(right.value, *right.interval, _fresh(clf, fresh))


def _fresh(clf: HIPADClassifier, fresh: Rows) -> float:
    return judge(_scores(clf, fresh.X), fresh.y, CLASSES, part="test").accuracy.value


def figures(
    draw: int, values: dict[str, float], *, per_patient: bool
) -> Iterator[tuple[str, Figure]]:
    """All figures of one draw, by their names."""
    rng = np.random.default_rng(draw)
    rows = population(rng, PATIENTS, per_patient=per_patient)
    fresh = population(rng, FRESH, per_patient=per_patient)
    for grouped, name in ((True, "by patients"), (False, "by rows")):
        yield f"hold-out {name}", hold_out(rows, fresh, values, grouped=grouped, seed=draw)
        yield f"crosswise {name}", crosswise(rows, fresh, values, grouped=grouped)


def summary(found: list[Figure]) -> tuple[float, float, float]:
    """Points by which a figure is above fresh patients, its error, and the coverage in percent."""
    gaps = 100 * np.array([one.value - one.fresh for one in found])
    held = np.mean([one.low <= one.fresh <= one.high for one in found])
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(gaps.size)), 100 * float(held)


Study = dict[tuple[str, str, str], list[Figure]]


def run(options: Options) -> str:
    """Both populations, with values that fits choose and with given ones, as one table."""
    found: Study = {}
    for choice, values in VALUES.items():
        for per_patient, outcome in ((True, "one a patient"), (False, "differs between rows")):
            for draw in range(options.count(DRAWS[choice])):
                for kind, figure in figures(draw, values, per_patient=per_patient):
                    found.setdefault((outcome, choice, kind), []).append(figure)
                progress(f"{outcome}, {choice}: {draw + 1} draws")
    return told(found)


def told(found: Study) -> str:
    """The table of all figures."""
    lines = []
    for (outcome, choice, kind), own in sorted(found.items(), key=lambda pair: pair[0][::-1]):
        gap, error, held = summary(own)
        ours = "by patients" in kind
        met = _goal(abs(gap) <= GAP) if ours else ""
        kept = _goal(COVERAGE[0] <= held <= COVERAGE[1]) if ours else ""
        fresh = 100 * float(np.mean([one.fresh for one in own]))
        above = f"{gap:+.1f} ± {error:.1f}{met}"
        held_ = f"{held:.1f} %{kept}"
        lines.append([kind, outcome, choice, len(own), f"{fresh:.1f} %", above, held_])
    head = ["figure", "outcome", "values", "draws", "fresh patients", "points above", "coverage"]
    return table(head, lines)


def _goal(met: bool) -> str:
    return " (goal met)" if met else " (goal **missed**)"

"""Learning curves: with rules, without, and the rules alone, from 4 labelled rows a class on.

"Rules alone" learns nothing: a rule votes for its outcome where it fires, the score of a row is the
sum of the votes, and a row without votes, or with as many for as against, is a tie. A tie counts
one half in the balanced accuracy and in the area under the curve (AUC) alike.

The rules are the experts' of the literature. Those of promoters are its theory with one mismatch
forgiven, and its negation; nothing in them was fitted to the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import Table, available, labelled, real_table, rest_of, sample_table
from benchmarks.reporting import Options, mean_and_error, progress, table
from benchmarks.rivals import Hipad
from hipad.rules import compile_rules, rules_alone

SIZES = (4, 8, 16, 32, 64)
FEWEST_TEST_ROWS = 5  # of each class, for a size to be measured
AGE = "Age >= 45 => positive"
WPBC = """
lymph_nodes >= 5 and tumor_size >= 4 => positive
lymph_nodes = 0 and tumor_size <= 1.9 => negative
"""
PROMOTERS = """
at least 4 of (`p-36=t`, `p-35=t`, `p-34=g`, `p-33=a`, `p-32=c`) => positive  # minus_35
at least 2 of (`p-12=t`, `p-11=a`, `p-7=t`) => positive                       # minus_10
at least 2 of (`p-45=a`, `p-44=a`, `p-41=a`) => positive                      # conformation
at most 1 of (`p-36=t`, `p-35=t`, `p-34=g`, `p-33=a`, `p-32=c`) => negative   # no minus_35
"""


@dataclass(frozen=True)
class Curve:
    """Scores of one way on one table and size: one number per draw."""

    way: str
    auc: np.ndarray
    balanced: np.ndarray


def run(options: Options) -> str:
    """Two tables for all data, one for the weak rule."""
    draws = options.count(20)
    found = [
        (data, size, curves(data, ways(data), size, draws))
        for data in tables()
        if options.wants(data.name)
        for size in sizes(data, options)
    ]
    parts = [
        "Area under the curve on the rest of the rows:",
        overview(found, "auc"),
        "Balanced accuracy on the rest of the rows:",
        overview(found, "balanced"),
    ]
    if pima := [(size, known) for data, size, known in found if data.name == "pima"]:
        parts += [
            f"A weak rule, `{AGE}` (right on half of the patients that it fires on), at its "
            "default worth; difference in AUC, paired by draw:",
            weak_rule(pima),
        ]
    return "\n\n".join(parts)


def tables() -> Iterator[Table]:
    """The data with their experts' rules."""
    yield sample_table("pima")
    yield sample_table("all-bcrabl")
    for name, rules in (("wpbc60", WPBC), ("promoters", PROMOTERS)):
        if available(name):
            yield real_table(name, rules)
        else:
            progress(f"{name} is not here: left out")


def sizes(data: Table, options: Options) -> list[int]:
    """Labelled rows a class that leave enough to be judged on."""
    most = min(int(np.sum(data.y == sign)) for sign in (-1, 1)) - FEWEST_TEST_ROWS
    return [size for size in SIZES if size <= most][: 2 if options.quick else None]


def ways(data: Table) -> dict[str, Table | None]:
    """Name of each way to the table with its rules; None for the rules alone."""
    known: dict[str, Table | None] = {
        "with rules": data,
        "without": replace(data, rules=""),
        "rules alone": None,
    }
    if data.name == "pima":
        known["Age rule only"] = replace(data, rules=AGE)
        known["rules and Age"] = replace(data, rules=f"{data.rules}\n{AGE}")
    return known


def curves(data: Table, known: dict[str, Table | None], size: int, draws: int) -> dict[str, Curve]:
    """Every way on the same draws."""
    scores: dict[str, list[tuple[float, float]]] = {way: [] for way in known}
    for draw in range(draws):
        rows = labelled(data.y, (size, size), np.random.default_rng([draw, size]))
        rest = rest_of(data.y, rows)
        for way, given in known.items():
            values = votes(data, rest) if given is None else learned(given, rows, rest)
            scores[way].append(judged(data.y[rest], values))
        text = ", ".join(f"{way} {found[-1][0]:.3f}" for way, found in scores.items())
        progress(f"{data.name}, {size} a class, draw {draw}: {text}")
    return {way: Curve(way, *np.array(found).T) for way, found in scores.items()}


def learned(data: Table, rows: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Decision values of HIPAD with everything at its default."""
    ours = Hipad("HIPAD", data.rules or None, data.names, {"blocks": data.blocks})
    return ours.fit(data.X[rows], data.y[rows]).scores(data.X[rest])


def votes(data: Table, rest: np.ndarray) -> np.ndarray:
    """The rules alone."""
    rules = compile_rules(data.rules, feature_names=data.names, blocks=data.blocks, classes=(-1, 1))
    return rules_alone(rules, data.X[rest])


def judged(y: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """AUC and balanced accuracy; a score of zero counts one half."""
    right = 0.5 + 0.5 * np.sign(scores) * y
    balanced = np.mean([right[y == sign].mean() for sign in (-1, 1)])
    return float(roc_auc_score(y, scores)), float(balanced)


def overview(found: Sequence[tuple[Table, int, dict[str, Curve]]], metric: str) -> str:
    """One row for each table and size."""
    rows = []
    for data, size, known in found:
        values = {way: getattr(curve, metric) for way, curve in known.items()}
        gain = values["with rules"] - values["without"]
        shown = [mean_and_error(values[way]) for way in ("with rules", "without", "rules alone")]
        rows.append([data.name, size, *shown, said(gain)])
    header = ["data", "labelled a class", "with rules", "without", "rules alone", "rules add"]
    return table(header, rows)


def weak_rule(found: Sequence[tuple[int, dict[str, Curve]]]) -> str:
    """What the weak rule changes, alone and beside the good ones."""
    rows = [
        [
            size,
            said(known["Age rule only"].auc - known["without"].auc),
            said(known["rules and Age"].auc - known["with rules"].auc),
        ]
        for size, known in found
    ]
    return table(["labelled a class", "Age rule against no rule", "added to the two rules"], rows)


def said(differences: np.ndarray) -> str:
    """Mean paired difference, and whether it is beyond two standard errors."""
    mean, size = float(differences.mean()), differences.size
    error = float(differences.std(ddof=1) / np.sqrt(size)) if size > 1 else float("nan")
    word = "helps" if mean > 2 * error else "**harms**" if mean < -2 * error else "within noise"
    return f"{mean:+.3f} ± {error:.3f}, {word}"

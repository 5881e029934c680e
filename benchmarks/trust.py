"""What rules bring and cost where their weight is learnt: right, irrelevant and flipped rules.

Balanced accuracy on the rest of each table with 4, 8, 16, 48 and all (up to 200) labelled rows a
class, all defaults: without rules, the rules alone (a tie counts one half), with the rules, with
rules on shuffled columns, and with every outcome flipped. Every draw is kept in a file among the
temporary ones: a run that was stopped goes on where it ended, and `--draws` adds to it.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.curves import judged
from benchmarks.data import Table, labelled, rest_of
from benchmarks.reporting import Options, mean_and_error, progress, table
from benchmarks.rule_tables import (
    compiled,
    rule_table,
    table_names,
    with_flipped_rules,
    with_irrelevant_rules,
)
from hipad import HIPADClassifier
from hipad.estimator.calibration import says_positive
from hipad.rules import rules_alone

SIZES = (4, 8, 16, 48, 200)
MOST_TEST_ROWS = 1500
TRAINING = 0.7  # of a class at most
LEDGER = Path(tempfile.gettempdir()) / "hipad-trust.jsonl"
Cell = dict[str, float]


def run(options: Options) -> str:
    """A table for each number of labelled rows, and the means over all tables."""
    names = [name for name in table_names() if options.wants(name)]
    sizes = SIZES[:2] if options.quick else SIZES
    found = measured(names, sizes, options.count(20))
    parts = [means_table(found, names, sizes)]
    parts += [size_table(found, names, size) for size in sizes]
    return "\n\n".join(parts)


def measured(
    names: Sequence[str], sizes: Sequence[int], draws: int
) -> dict[tuple[str, int], list[Cell]]:
    """Every cell on every draw; what an earlier run kept is not fitted again."""
    kept = dict(_kept())
    with LEDGER.open("a", encoding="utf-8") as ledger:
        for draw in range(draws):
            for size in sizes:
                for name in names:
                    if (name, size, draw) in kept:
                        continue
                    cell = one_cell(name, size, draw)
                    kept[name, size, draw] = cell
                    ledger.write(json.dumps([name, size, draw, cell]) + "\n")
                    ledger.flush()
                    text = ", ".join(f"{key} {value:.3f}" for key, value in cell.items())
                    progress(f"{name}, {size} a class, draw {draw}: {text}")
    return {
        (name, size): [kept[name, size, draw] for draw in range(draws)]
        for name in names
        for size in sizes
    }


def _kept() -> Iterator[tuple[tuple[str, int, int], Cell]]:
    if LEDGER.exists():
        for line in LEDGER.read_text("utf-8").splitlines():
            name, size, draw, cell = json.loads(line)
            yield (name, size, draw), cell


def one_cell(name: str, size: int, draw: int) -> Cell:
    """Balanced accuracies of one draw."""
    whole, rng = rule_table(name, draw), np.random.default_rng([draw, size, 5])
    counts = [min(size, int(TRAINING * np.count_nonzero(whole.y == sign))) for sign in (-1, 1)]
    train = labelled(whole.y, (counts[0], counts[1]), rng)
    test = rest_of(whole.y, train)
    test = rng.permutation(test)[:MOST_TEST_ROWS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right, none = fitted(whole, train, test)
        flipped, _ = fitted(with_flipped_rules(whole), train, test)
        irrelevant, beside = fitted(with_irrelevant_rules(whole, rng), train, test)
    return {
        "none": none,
        "alone": judged(whole.y[test], rules_alone(compiled(whole), whole.X[test]))[1],
        "right": right,
        "irrelevant": irrelevant - beside,
        "flipped": flipped - none,
    }


def fitted(data: Table, train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """Balanced accuracy with the rules, and of the candidate without them."""
    run = HIPADClassifier(data.rules, blocks=data.blocks).fit_iter(
        data.X[train], data.y[train], feature_names=data.names, interactive=False
    )
    clf = run.to_end().finish()
    none = run.members[0]
    if none.hipad is None:
        none.hipad = run._fit(none, interactive=False)
        none.hipad.run()
    model = none.model
    scores = data.X[test][:, model.features] @ model.coef + model.intercept
    return (
        balanced(clf.decision_function(data.X[test]), data.y[test]),
        balanced(scores, data.y[test]),
    )


def balanced(scores: np.ndarray, y: np.ndarray) -> float:
    """Balanced accuracy."""
    right = says_positive(scores) == (y > 0)
    return float(np.mean([right[y == sign].mean() for sign in (-1, 1)]))


def means_table(
    found: dict[tuple[str, int], list[Cell]], names: Sequence[str], sizes: Sequence[int]
) -> str:
    """The means over all tables, in points, with the error over tables and draws."""
    rows = []
    for size in sizes:
        cells = [_points(found[name, size]) for name in names]
        gains = np.array([cell["right"] - cell["none"] for cell in cells])
        rows.append([
            _size(size), f"{np.mean([cell['none'] for cell in cells]):.1f}",
            f"{np.mean([cell['alone'] for cell in cells]):.1f}",
            _mean(gains), _mean([cell["irrelevant"] for cell in cells]),
            _mean([cell["flipped"] for cell in cells]),
        ])  # fmt: skip
    head = ["labelled a class", "without rules", "rules alone"]
    return table([*head, "right rules", "irrelevant rules", "flipped rules"], rows)


def size_table(found: dict[tuple[str, int], list[Cell]], names: Sequence[str], size: int) -> str:
    """One line for each table; bold where right rules end more than a point below the better of
    rules and data, beyond two errors.
    """
    rows = []
    for name in names:
        cell = _points(found[name, size])
        better = max(("none", "alone"), key=lambda key: float(cell[key].mean()))
        behind = cell["right"] - cell[better]
        error = behind.std(ddof=1) / np.sqrt(behind.size) if behind.size > 1 else np.inf
        below = behind.mean() + 2 * error < -1.0
        text = mean_and_error(behind, 1)
        rows.append([
            name, f"{cell['none'].mean():.1f}", f"{cell['alone'].mean():.1f}",
            f"{cell['right'].mean():.1f}", f"**{text}**" if below else text,
            mean_and_error(cell["irrelevant"], 1), mean_and_error(cell["flipped"], 1),
        ])  # fmt: skip
    head = [f"{_size(size)} a class", "without rules", "rules alone", "right rules"]
    head += ["beside the better of both", "irrelevant", "flipped"]
    return table(head, rows)


def _points(cells: Sequence[Cell]) -> dict[str, np.ndarray]:
    return {key: 100 * np.array([cell[key] for cell in cells]) for key in cells[0]}


def _mean(values: Sequence[np.ndarray] | np.ndarray) -> str:
    """The mean over tables and draws; its error is that over draws, tables as they are."""
    draws = np.mean(np.asarray(values), axis=0)
    sign = "+" if draws.mean() >= 0 else ""
    return sign + mean_and_error(draws, 1)


def _size(size: int) -> str:
    return str(size) if size < SIZES[-1] else "all"

"""Tune: try settings by cross-validation on your own table, with the rules as second criterion.

    hipad tune DATA --label COLUMN --rules FILE --lambda2 0.1 1 10 --worth auto 5 20

Every combination is judged on each fold in turn. Of the settings that are as good as the best, the
one is chosen that keeps most rules, and then the one with the fewest features. At the end stands an
honest estimate: the choice made anew without each fold, and judged on it.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hipad.cli.experimenting import (
    add_material_options,
    add_work_options,
    hand_out,
    material_of,
    outcomes_of,
)
from hipad.errors import DataError
from hipad.experiments.handouts.tuning_sections import tuning_sections
from hipad.experiments.searches.grid_points import SCORES, honest_estimate, tuned
from hipad.experiments.searches.tuned import tune_tasks


def add_options(parser: argparse.ArgumentParser) -> None:
    """Table, rules, grid, folds."""
    add_material_options(parser, needs_rules=False)
    own = parser.add_argument_group("grid")
    own.add_argument("--count", type=int, default=10, metavar="N", help="values of lambda1 (10)")
    own.add_argument("--lambda1", type=float, nargs="+", metavar="VALUE", help="or these values")
    own.add_argument("--lambda2", type=float, nargs="+", default=[0.1, 1.0, 10.0], metavar="VALUE")
    own.add_argument("--worth", nargs="+", default=["auto"], metavar="PATIENTS", help="of a rule")
    own.add_argument("--stiffness", nargs="+", default=["auto"], metavar="VALUE")
    folds = parser.add_argument_group("folds")
    folds.add_argument("--folds", type=int, default=5, help="stratified folds (5)")
    folds.add_argument("--repeats", type=int, default=1, help="other folds, so many times (1)")
    folds.add_argument("--score", choices=SCORES, default="balanced")
    folds.add_argument("--quick", action="store_true", help="without the honest estimate")
    add_work_options(parser)


def run(options: argparse.Namespace) -> int:
    """Fit the grid, print the choice."""
    if options.folds < 2 or options.repeats < 1:
        raise DataError("expected --folds of 2 or more and --repeats of 1 or more")
    material = material_of(options)
    grid = {
        "lambda1": options.lambda1 or options.count,
        "lambda2": options.lambda2,
        "patients": amounts("--worth", options.worth),
        "stiffness": amounts("--stiffness", options.stiffness),
    }
    tasks = tune_tasks(
        material,
        grid,
        folds=options.folds,
        repeats=options.repeats,
        honest=not options.quick,
        score=options.score,
    )
    found = outcomes_of(tasks, {material.name: material}, options)
    title, honest = f"Settings for {material.name}", honest_estimate(found, options.score)
    hand_out(title, tuning_sections(title, tuned(found), honest, options.score), found, options)
    return 1 if any(done.failed for done in found) else 0


def amounts(option: str, given: list[str]) -> list[Any]:
    """Numbers of 0 or more, and the word auto.

    >>> amounts("--worth", ["auto", "5"])
    ['auto', 5.0]
    """
    values: list[Any] = []
    for text in given:
        try:
            values.append("auto" if text == "auto" else float(text))
        except ValueError:
            raise DataError(f"expected numbers or auto for {option}, got {text!r}") from None
        if values[-1] != "auto" and not 0 <= values[-1] < np.inf:
            raise DataError(f"expected 0 or more for {option}, got {text}")
    return values

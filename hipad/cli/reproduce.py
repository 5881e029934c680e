"""Repeat the paper: its tables and its figure, beside the figures that it printed.

table1: HIPAD, ADMM and LIBSVM on the real data sets that are there. table2: the same with rules on
ksvm-s, ten draws of each size. figure1: the early convergence of the support. All parameters are
chosen on the training rows, among models with at most as many features as in the paper. Seconds are
processor time of one fit at the chosen parameters.
"""

from __future__ import annotations

import argparse

from hipad.cli.experimenting import add_work_options, hand_out, outcomes_of
from hipad.errors import DataError
from hipad.experiments.handouts.repeated import PARTS, SYNTHETIC, gather, told


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which part of the paper, on which data, how often."""
    parser.add_argument("experiment", choices=(*PARTS, "all", *SYNTHETIC))
    parser.add_argument(
        "--data", metavar="FOLDER", help="data sets of table 1, as NPZ or LIBSVM files"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="draws (10; fewer of large data)")
    add_work_options(parser)


def run(options: argparse.Namespace) -> int:
    """Fit everything, then print the tables beside the paper's."""
    if options.seeds is not None and options.seeds < 1:
        raise DataError(f"expected --seeds of 1 or more, got {options.seeds}")
    parts = PARTS if options.experiment == "all" else (options.experiment,)
    plan = gather(parts, options.data, options.seeds)
    found = outcomes_of(plan.tasks, plan.materials, options)
    sections = told(found, plan)
    hand_out("The HIPAD paper, repeated", sections, found, options)
    return 1 if any(done.failed for done in found) else 0

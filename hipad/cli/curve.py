"""Learning curves on your own table: with rules, without, the rules alone, and LIBSVM.

For several numbers of labelled rows, rows are drawn at random, models are fitted to them, and all
other rows are tested. At the end stands what the rules are worth in labelled patients.
"""

from __future__ import annotations

import argparse

from hipad.cli.experimenting import (
    add_material_options,
    add_work_options,
    hand_out,
    material_of,
    outcomes_of,
)
from hipad.errors import DataError
from hipad.experiments.curves import SIZES, curve_tasks, curves, worth_of_rules
from hipad.experiments.handouts.sections import curve_section


def add_options(parser: argparse.ArgumentParser) -> None:
    """Table, rules, sizes, draws."""
    add_material_options(parser, needs_rules=True)
    parser.add_argument("--draws", type=int, default=20, help="draws at each size (20)")
    told = " ".join(map(str, SIZES))
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), help=f"labelled per class ({told})"
    )
    add_work_options(parser)


def run(options: argparse.Namespace) -> int:
    """Draw, fit, test, print."""
    if options.draws < 2 or min(options.sizes) < 2:
        raise DataError("expected --draws and --sizes of 2 or more: a curve needs several of each")
    material = material_of(options)
    sizes = sorted(set(options.sizes))
    tasks = curve_tasks(material, draws=options.draws, sizes=sizes)
    found = outcomes_of(tasks, {material.name: material}, options)
    section = curve_section(
        f"Learning curves of {material.name}", curves(found), worth_of_rules(found)
    )
    hand_out(section.title, [section], found, options)
    return 0

"""What if a rule is wrong: sweep its threshold, its worth or its outcome, and see when it harms.

    hipad doubt DATA --label COLUMN --rules FILE --rule 1 --thresholds 100 126 150

Every version of the rule is fitted with its weight as it is (learnt where none is written), as a
certainty, and left out, each tuned for itself, on the same draws. Without values to sweep, the rule
is tried as written, about features that have nothing to do with it, and with the other outcome.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from hipad.cli.experimenting import (
    add_material_options,
    add_work_options,
    hand_out,
    material_of,
    outcomes_of,
)
from hipad.errors import DataError
from hipad.experiments.handouts.sections import sweep_section
from hipad.experiments.material import Material
from hipad.experiments.versions import (
    Version,
    strangers_to,
    threshold_versions,
    worth_versions,
    wrong_versions,
)
from hipad.experiments.wrong_rules import sweep, sweep_tasks
from hipad.rules import RuleSet, parse_rules
from hipad.wording import listed

FOLDS = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    """Table, rules, which rule, what to sweep."""
    add_material_options(parser, needs_rules=True)
    parser.add_argument(
        "--rule",
        metavar="N",
        help="the rule's line in its file, 3.2 for the second rule of line 3, or its name "
        "(default: the first rule)",
    )
    parser.add_argument(
        "--condition", type=int, metavar="N", help="whose threshold, where the rule has several"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--thresholds", type=float, nargs="+", metavar="VALUE", help="to try")
    what.add_argument("--worths", type=float, nargs="+", metavar="PATIENTS", help="to try")
    parser.add_argument("--draws", type=int, default=10, help="draws (10)")
    parser.add_argument(
        "--labelled", type=int, metavar="N", help="labelled rows of each class (default: 4 of 5)"
    )
    add_work_options(parser)


def run(options: argparse.Namespace) -> int:
    """Make the versions, fit, print."""
    material = material_of(options)
    axis, versions = versions_of(material, options)
    rows = {"labelled": options.labelled} if options.labelled else {"fold": [0, FOLDS]}
    tasks = sweep_tasks(material, versions, draws=options.draws, rows=rows)
    found = outcomes_of(tasks, {material.name: material}, options)
    rules = parse_rules(material.rules)
    title = f"What if {rules.labels[position_of(rules, options.rule)]} of {material.name} is wrong"
    sections = [
        sweep_section(title, axis, sweep(found, versions)),
        sweep_section("Area under ROC", axis, sweep(found, versions, "area"), "area under ROC"),
    ]
    hand_out(title, sections, found, options)
    return 0


def position_of(rules: RuleSet, wanted: str | None) -> int:
    """Return the position of the rule on a line, or of this name."""
    asked = rules.numbers[0] if wanted is None and len(rules) else str(wanted)
    for known in (rules.numbers, [rule.name for rule in rules]):
        if asked in known:
            return known.index(asked)
    shown = listed(list(rules.numbers), "or", limit=12)
    raise DataError(f"expected --rule {shown}, the line of a rule, got {wanted}")


def versions_of(material: Material, options: argparse.Namespace) -> tuple[str, Sequence[Version]]:
    """What is swept, and every version of the rules."""
    position = position_of(parse_rules(material.rules), options.rule)
    if options.thresholds:
        place = None if options.condition is None else options.condition - 1
        return "threshold", threshold_versions(material.rules, position, options.thresholds, place)
    if options.worths:
        return "worth in patients", worth_versions(material.rules, position, options.worths)
    negative, positive = map(str, material.labels)
    strangers = strangers_to(material, np.random.default_rng(0))
    own = material.blocks, material.feature_names
    return "advice", wrong_versions(material.rules, position, (negative, positive), strangers, *own)

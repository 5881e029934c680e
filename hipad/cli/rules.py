"""How to write rules: examples in the columns and classes of a table, and the manual.

With --help-for DATA, six rules made from the table, each of which can be used as it stands.
"""

from __future__ import annotations

import argparse
import sys

from hipad.cli.inputs import add_rule_options, add_table_options, blocks_of, prepared_table
from hipad.cli.talking.sentences import RULES_HELP
from hipad.rules import FeatureIndex
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.examples import example_rules, manual_text
from hipad.rules.language.spelling import quote_label, quote_name
from hipad.wording import listed

MOST_NAMES = 12
EPILOG = RULES_HELP


def add_options(parser: argparse.ArgumentParser) -> None:
    """The table, or the manual."""
    parser.add_argument(
        "--help-for", metavar="DATA", help="a table: examples in its columns and classes"
    )
    parser.add_argument("--manual", action="store_true", help="the whole manual (Markdown)")
    add_table_options(parser)
    add_rule_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print examples for a table, or the manual."""
    if options.help_for is None:
        print(manual_text() or RULES_HELP)
        return 0
    table = prepared_table(options.help_for, options)
    index = FeatureIndex(table.feature_names)
    blocks = blocks_of(options.blocks, index, table.table)
    lexicon = Lexicon(index, blocks, ColumnValues(table.X))
    found = example_rules(lexicon, table.classes)
    width = max((len(rule.text) for rule in found), default=0)
    print("\n".join(f"{rule.text:<{width}}  # {rule.shows}" if "#" not in rule.text else rule.text
                    for rule in found))  # fmt: skip
    names = [quote_name(name) for name in table.feature_names]
    print(f"features: {listed(names, limit=MOST_NAMES)}", file=sys.stderr)
    if blocks:
        print(f"blocks: {listed(list(map(quote_name, blocks)), limit=MOST_NAMES)}", file=sys.stderr)
    said = listed([quote_label(str(label)) for label in table.classes])
    print(f"classes: {said}; hipad rules --manual shows the whole language", file=sys.stderr)
    if options.manual:
        print(manual_text() or RULES_HELP)
    return 0

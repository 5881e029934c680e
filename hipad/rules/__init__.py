"""The rule engine: what an expert writes, read, compiled, checked and explained."""

from hipad.rules.advice import (
    LeftOut,
    Threshold,
    best_threshold,
    holding_threshold,
    leave_each_out,
    needed_worth,
)
from hipad.rules.blocks import (
    BlockFile,
    block_from_list,
    block_overlaps,
    blocks_text,
    parse_blocks,
    read_gmt,
    select_features,
    suggest_blocks,
)
from hipad.rules.box import Box, Patient
from hipad.rules.budget import Budget
from hipad.rules.checks import Finding, check_rules
from hipad.rules.compile import CompiledRule, as_rule_set, compile_each, compile_rules
from hipad.rules.guarantee import Prototype, WorstCase, prototype, tightest_bound, worst_case
from hipad.rules.model import Condition, Rule, RuleSet, Span, Term
from hipad.rules.names import FeatureIndex, resolve_blocks
from hipad.rules.parsing import parse_rules, rule_errors
from hipad.rules.picture import Cell, PictureRow, picture
from hipad.rules.pull import DataPull, Knobs, Pull, rule_pull, rule_pulls, shortest_patient
from hipad.rules.report import RuleRecord, farkas, rule_report
from hipad.rules.statistics import Overlap, RuleCounts, rule_counts, rule_overlap, rules_alone

__all__ = [
    "BlockFile",
    "Box",
    "Budget",
    "Cell",
    "CompiledRule",
    "Condition",
    "DataPull",
    "FeatureIndex",
    "Finding",
    "Knobs",
    "LeftOut",
    "Overlap",
    "Patient",
    "PictureRow",
    "Prototype",
    "Pull",
    "Rule",
    "RuleCounts",
    "RuleRecord",
    "RuleSet",
    "Span",
    "Term",
    "Threshold",
    "WorstCase",
    "as_rule_set",
    "best_threshold",
    "block_from_list",
    "block_overlaps",
    "blocks_text",
    "check_rules",
    "compile_each",
    "compile_rules",
    "farkas",
    "holding_threshold",
    "leave_each_out",
    "needed_worth",
    "parse_blocks",
    "parse_rules",
    "picture",
    "prototype",
    "read_gmt",
    "resolve_blocks",
    "rule_counts",
    "rule_errors",
    "rule_overlap",
    "rule_pull",
    "rule_pulls",
    "rule_report",
    "rules_alone",
    "select_features",
    "shortest_patient",
    "suggest_blocks",
    "tightest_bound",
    "worst_case",
]

"""The rule engine: what an expert writes, read, compiled, checked and explained."""

from hipad.rules.analysis.advice import (
    LeftOut,
    Threshold,
    best_threshold,
    holding_threshold,
    leave_each_out,
    needed_worth,
)
from hipad.rules.analysis.box import Box, Patient
from hipad.rules.analysis.checks import Finding, check_rules
from hipad.rules.analysis.grouping import block_overlaps, suggest_blocks
from hipad.rules.analysis.guarantee import (
    Prototype,
    WorstCase,
    prototype,
    tightest_bound,
    worst_case,
)
from hipad.rules.analysis.matrix_picture import MatrixPicture, matrix_picture
from hipad.rules.analysis.picture import Cell, PictureRow, picture
from hipad.rules.analysis.pull import DataPull, Knobs, Pull, rule_pull, rule_pulls, shortest_patient
from hipad.rules.analysis.records import Effect, RuleRecord, RuleTrust, rule_report
from hipad.rules.analysis.speaking import Heard, Witnesses
from hipad.rules.analysis.statistics import (
    Overlap,
    RuleCounts,
    rule_counts,
    rule_overlap,
    rules_alone,
)
from hipad.rules.budget import Budget
from hipad.rules.compiling.blocks import BlockFile, read_blocks
from hipad.rules.compiling.compile import as_rule_set, compile_each, compile_rules
from hipad.rules.compiling.compiled import CompiledRule, ScaledRule
from hipad.rules.compiling.definitions import blocks_text, select_features
from hipad.rules.compiling.knowledge import FeatureKnowledge, Knowledge, compile_knowledge
from hipad.rules.compiling.meaning import meaning
from hipad.rules.compiling.naming.members import Blocks, resolve_blocks
from hipad.rules.compiling.naming.names import FeatureIndex
from hipad.rules.compiling.settling.lexicon import Lexicon
from hipad.rules.compiling.settling.values import ColumnValues
from hipad.rules.examples import example_rules
from hipad.rules.language.model import Condition, Rule, RuleSet
from hipad.rules.language.parsing import RulesText, parse_rules, read_rules, rule_errors
from hipad.rules.language.statements import Statement
from hipad.rules.language.terms import FeatureSpan, Term
from hipad.rules.remedies import Remedy

__all__ = [
    "BlockFile",
    "Blocks",
    "Box",
    "Budget",
    "Cell",
    "ColumnValues",
    "CompiledRule",
    "Condition",
    "DataPull",
    "Effect",
    "FeatureIndex",
    "FeatureKnowledge",
    "FeatureSpan",
    "Finding",
    "Heard",
    "Knobs",
    "Knowledge",
    "LeftOut",
    "Lexicon",
    "MatrixPicture",
    "Overlap",
    "Patient",
    "PictureRow",
    "Prototype",
    "Pull",
    "Remedy",
    "Rule",
    "RuleCounts",
    "RuleRecord",
    "RuleSet",
    "RuleTrust",
    "RulesText",
    "ScaledRule",
    "Statement",
    "Term",
    "Threshold",
    "Witnesses",
    "WorstCase",
    "as_rule_set",
    "best_threshold",
    "block_overlaps",
    "blocks_text",
    "check_rules",
    "compile_each",
    "compile_knowledge",
    "compile_rules",
    "example_rules",
    "holding_threshold",
    "leave_each_out",
    "matrix_picture",
    "meaning",
    "needed_worth",
    "parse_rules",
    "picture",
    "prototype",
    "read_blocks",
    "read_rules",
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

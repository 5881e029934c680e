"""The rule engine: what an expert writes, read, compiled, checked and explained."""

from hipad.rules.box import Box, Patient
from hipad.rules.compile import CompiledRule, compile_rules
from hipad.rules.guarantee import Prototype, WorstCase, prototype, tightest_bound, worst_case
from hipad.rules.model import Condition, Rule, RuleSet, Span, Term
from hipad.rules.names import FeatureIndex, resolve_blocks
from hipad.rules.parsing import parse_rules, rule_errors

__all__ = [
    "Box",
    "CompiledRule",
    "Condition",
    "FeatureIndex",
    "Patient",
    "Prototype",
    "Rule",
    "RuleSet",
    "Span",
    "Term",
    "WorstCase",
    "compile_rules",
    "parse_rules",
    "prototype",
    "resolve_blocks",
    "rule_errors",
    "tightest_bound",
    "worst_case",
]

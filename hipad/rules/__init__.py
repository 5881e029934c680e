"""The rule engine: what an expert writes, read, compiled, checked and explained."""

from hipad.rules.compile import CompiledRule, compile_rules
from hipad.rules.model import Condition, Rule, RuleSet, Span, Term
from hipad.rules.names import FeatureIndex, resolve_blocks
from hipad.rules.parsing import parse_rules, rule_errors

__all__ = [
    "CompiledRule",
    "Condition",
    "FeatureIndex",
    "Rule",
    "RuleSet",
    "Span",
    "Term",
    "compile_rules",
    "parse_rules",
    "resolve_blocks",
    "rule_errors",
]

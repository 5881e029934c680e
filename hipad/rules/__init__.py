"""The rule engine: what an expert writes, read, compiled, checked and explained."""

from hipad.rules.model import Condition, Rule, RuleSet, Span, Term
from hipad.rules.parsing import parse_rules, rule_errors

__all__ = ["Condition", "Rule", "RuleSet", "Span", "Term", "parse_rules", "rule_errors"]

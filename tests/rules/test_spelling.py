from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hipad.rules import Condition, Rule, Term, parse_rules
from hipad.rules.ast import FeaturePrior
from hipad.rules.lexer import (
    format_number,
    on_line,
    quote_label,
    quote_name,
    read_quoted,
    rule_error,
)

RULES = Path(__file__).resolve().parents[2] / "hipad" / "rules"
GRAMMAR = ["lexer", "ast", "expressions", "operands", "ranges", "comparisons", "premises", "parser"]

ONE_LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
    lambda text: text.strip() and len(f"{text}.".splitlines()) == 1
)


@given(ONE_LINE, ONE_LINE)
def test_any_name_and_label_are_read_as_they_are_written(name, label):
    (rule,) = parse_rules(f"{quote_name(name)} >= 1 => {quote_label(label)}")
    assert rule.conditions[0].sides[0][0].names == (name,)
    assert rule.outcome == label


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_short_and_exact(value):
    assert float(format_number(value)) == value
    assert not format_number(value).endswith(".0")


@given(st.text(min_size=1))
def test_quotes_come_off(text):
    assert read_quoted("`" + text.replace("`", "``") + "`") == text


def test_an_error_learns_its_line_once():
    error = on_line(rule_error("bad", column=4, suggestion="good"), 3)
    assert str(error) == "line 3, column 4: bad"
    assert (error.line, error.suggestion) == (3, "good")
    assert on_line(error, 9) is error


def spoken_words():
    """Every word that stands in a text of the language's source: all that it knows among them."""
    trees = [
        ast.parse(path.read_text("utf-8")) for path in (RULES / f"{name}.py" for name in GRAMMAR)
    ]
    constants = [n for t in trees for n in ast.walk(t) if isinstance(n, ast.Constant)]
    texts = [node.value for node in constants if isinstance(node.value, str)]
    return sorted({word.lower() for text in texts for word in re.findall(r"[A-Za-zµ]\w*", text)})


def conditions_on(word):
    """A condition for each place in which a name can stand."""
    own, other, three = (Term(1.0, (word,)),), (Term(1.0, ("q1",)),), (Term(3.0),)
    yield Condition((own, three), (">=",))
    yield Condition((own, three), ("=",))
    yield Condition((other, own), ("=",))
    yield Condition((other, own), ("!=",))
    yield Condition((other, own), ("<",))
    yield Condition(((*own, *other), three), (">=",))
    yield Condition((other, (*own, *three)), (">=",))
    yield Condition((other, (Term(1.0, (word,), "p90"),)), (">=",))
    yield Condition(((Term(1.0, (word, "q1"), "ratio"),), three), (">=",))
    yield Condition((other, (Term(1.0, ("q2", word), "set"),)), ("=",), "member")
    yield Condition((own, (Term(1.0, ("q2", "q3"), "set"),)), ("=",), "member")
    yield Condition(((Term(1.0),), own, three), ("<=", "<="), "between")
    yield Condition(((Term(1.0),), own, three), ("<", "<="))
    yield Condition(((Term(1.0, ("q1", word), "sum"),), (Term(1.0),)), (">=",), "count")
    yield Condition((own, (Term(1.0),)), ("=",), "flag")


def test_quote_name_of_every_word_of_the_language_is_read_back():
    words = spoken_words()
    assert {"normal", "unknown", "its", "over", "worth", "between"} <= set(words)
    for word in words:
        rules = [Rule((condition,), "ill") for condition in conditions_on(word)]
        first = rules[0].conditions
        rules += [Rule(first, word), Rule(first, word, worth=5.0), Rule(first, "ill", word)]
        assert list(parse_rules("\n".join(map(str, rules)))) == rules
        stated = [FeaturePrior("raised", ("q1", word), word), FeaturePrior("ignored", (word,))]
        assert list(parse_rules("\n".join(map(str, stated))).statements) == stated

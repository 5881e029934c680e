from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import Condition, Rule, Term, parse_rules
from hipad.rules.ast import FeaturePrior
from hipad.rules.lexer import (
    AFTER_NUMBER,
    COUNT_WORDS,
    PHRASES,
    TokenStream,
    format_number,
    on_line,
    quote_label,
    quote_name,
    read_number,
    read_quoted,
    rule_error,
    unit_at,
    words_of,
)
from tests.rules.reading import premises

# --------------------------------------------------------------------------------------------------
# Lexing.


def kinds(text: str) -> list[str]:
    return [word.kind for word in words_of(text)]


@pytest.mark.parametrize("sign", [">=", "≥", "⩾", "≧", "> =", "!<"])
def test_signs_that_look_different_are_one(sign):
    assert kinds(f"a {sign} 2") == ["NAME", "GE", "NUMBER"]


@pytest.mark.parametrize("arrow", ["=>", "->", "==>", "-->", "→", "⇒", "⟶"])
def test_arrows_are_one(arrow):
    assert kinds(f"a>-2{arrow}ill") == ["NAME", "GT", "MINUS", "NUMBER", "ARROW", "NAME"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1635_at", ["NAME"]),
        ("50_000", ["NUMBER"]),
        ("3a", ["NUMBER", "NAME"]),
        ("1½", ["NUMBER", "FRACTION"]),
        ("a²", ["NAME", "POWER"]),
        ("g1..g4", ["NAME", "DOTS", "NAME"]),
        ("0x10", ["HEX"]),
        ("5 +- 2", ["NUMBER", "PLUSMINUS", "NUMBER"]),
        ("isn't", ["CONTRACTED"]),
        ("1) a", ["NUMBER", "CLOSE", "NAME"]),
    ],
)
def test_words_are_told_apart(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "column"), [("(a", 1), ("a)", 2), ("`a", 1), ("{a)", 3), ('"a', 1)]
)
def test_what_is_open_or_closed_alone_is_told(text, column):
    with pytest.raises(RuleError) as caught:
        words_of("x " * 3 + text)
    assert caught.value.column == column + 6


class _Known:
    def name_at(self, text: str, start: int) -> str | None:
        return "IL-6" if text.startswith("IL-6", start) else None

    def is_name(self, name: str) -> bool:
        return name == "IL-6"

    def is_flag(self, name: str) -> bool:
        return False


def test_a_known_name_does_not_fall_apart():
    assert kinds("IL-6 >= 5") == ["NAME", "MINUS", "NUMBER", "GE", "NUMBER"]
    words = words_of("IL-6 >= 5", _Known())
    assert [(word.kind, word.text) for word in words[:1]] == [("QUOTED", "`IL-6`")]


# --------------------------------------------------------------------------------------------------
# Cursor.


def cursor(text: str) -> TokenStream:
    return TokenStream(text, words_of(text))


@pytest.mark.parametrize(
    ("phrase", "sign"),
    [
        ("is at least", ">="),
        ("at or above", ">="),
        ("no less than", ">="),
        ("greater than or equal to", ">="),
        ("is not above", "<="),
        ("up to", "<="),
        ("exceeds", ">"),
        ("is higher than", ">"),
        ("below", "<"),
        ("is", "="),
        ("isn't", "!="),
    ],
)
def test_phrases_stand_for_signs(phrase, sign):
    words = cursor(f"{phrase} 5")
    assert words.relation() == (sign, len(words.words) - 1)


def test_a_part_ends_where_it_ends():
    part = cursor("a b c").part(0, 1)
    assert part.take().text == "a"
    assert part.is_over
    assert part.peek().kind == "END"
    assert part.error("x").column == 3


def test_too_deep_is_an_error():
    words = cursor("a")
    words.depth = 1_000
    with pytest.raises(RuleError, match="inside each other"):
        words.deeper()


# --------------------------------------------------------------------------------------------------
# Phrases.


@pytest.mark.parametrize(("phrase", "sign"), [pair for pair in PHRASES.items() if pair[1] != "!="])
def test_every_phrase_stands_for_its_sign(phrase, sign):
    assert premises(f"a {' '.join(phrase)} 2") == [f"a {sign} 2"]


@pytest.mark.parametrize(("words", "sign"), AFTER_NUMBER.items())
def test_words_after_a_number_stand_for_a_sign(words, sign):
    assert premises(f"a 30 {' '.join(words)}") == [f"a {sign} 30"]


def test_numbers_in_words():
    assert (COUNT_WORDS["one"], COUNT_WORDS["ten"], len(COUNT_WORDS)) == (1, 10, 10)


# --------------------------------------------------------------------------------------------------
# Spelling.


RULES = Path(__file__).resolve().parents[2] / "hipad" / "rules"
GRAMMAR = ["lexer", "ast", "expressions", "comparisons", "premises", "parser"]

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


# --------------------------------------------------------------------------------------------------
# Quantities.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6,5", 6.5),
        ("0,125", 0.125),
        ("50,000", 50_000),
        ("1,234,567", 1_234_567),
        ("120,000.50", 120_000.5),
        ("50 000", 50_000),
        ("50_000", 50_000),
        ("$50000", 50_000),
        ("50k", 50_000),
        ("1½", 1.5),
        ("½", 0.5),
        (".5", 0.5),
        ("2.", 2),
        ("5e-1", 0.5),
        ("10^9", 1e9),
        ("1.5 x 10^9", 1.5e9),
        ("10⁹", 1e9),
        ("２", 2),
    ],
)
def test_numbers_are_read_as_people_write_them(text, value):
    assert read_number(TokenStream(text, words_of(text))) == value


@pytest.mark.parametrize("text", ["126.000,5", "€50.000", "50.000", "1,23,4", "0x10", "1e999"])
def test_what_can_be_misread_is_refused(text):
    with pytest.raises(RuleError, match="write"):
        parse_rules(f"a >= {text} => x")


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("mg/dL and", "mg/dL"),
        ("kg/m^2", "kg/m^2"),
        ("years old", "years old"),
        ("°C", "°C"),
        ("mL/min/1.73m2", "mL/min/1.73m2"),
        ("income", ""),
        ("g3", ""),
    ],
)
def test_units_are_known(text, unit):
    assert unit_at(text, 0) == unit


def test_a_unit_is_kept_in_the_text_and_left_out_of_the_number():
    (rule,) = parse_rules("Glucose >= 126 mg/dL => ill")
    assert str(rule) == "Glucose >= 126 mg/dL => ill"
    assert rule.conditions[0].sides[1][0].coefficient == 126


def test_zeros_with_a_blank_between_them_are_two_numbers():
    text = "0 000"
    cursor = TokenStream(text, words_of(text))
    assert (read_number(cursor), cursor.at) == (0.0, 1)

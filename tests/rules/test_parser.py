from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.exceptions import RuleError
from hipad.rules import Rule, RuleSet, parse_rules, rule_errors
from hipad.rules.lexer import DEEPEST, LONGEST_RULE, LONGEST_TEXT, MOST_RULES, MOST_SIGNS
from hipad.rules.parser import (
    accept_off,
    outside_brackets,
    read_halves,
    read_line,
    read_outcome,
    read_title,
    skip_bullet,
)
from tests.rules.reading import at_start, told
from tests.rules.strategies import RULE_SETS, RULES

# --------------------------------------------------------------------------------------------------
# Parsing.


EXAMPLES = """\
# one rule a line; everything after # is a note that is kept with the rule
abl_high: mean(ABL1) >= 9.5 => "BCR/ABL"  worth 20 patients   # ABL1 probes are raised
mean(ABL1) <= 8 => NEG
Glucose >= 126 and BMI >= 30 => positive
0.5*age + 2*`p-36=t` - sum(K2) between 1 and 3 => negative
3 <= mean(K4) <= 5 => negative
min(K1) >= 2 => positive          # every feature of the block: one row each
sum(`p-36=t`, `p-35=t`, `p-34=g`) >= 2 => positive
a >= 1 or b >= 2 => positive      # two rules
"""


def test_every_example_of_the_language_is_read_and_written_back():
    rules = parse_rules(EXAMPLES)
    assert len(rules) == 9
    first = rules[0]
    assert (first.name, first.outcome, first.worth) == ("abl_high", "BCR/ABL", 20)
    assert first.note == "ABL1 probes are raised"
    assert first.preface[0].startswith("one rule a line")
    assert [rule.premise for rule in rules[7:]] == ["a >= 1", "b >= 2"]
    assert parse_rules(str(rules)) == rules
    assert str(parse_rules(str(rules))) == str(rules)


@given(RULES)
def test_printing_and_parsing_a_rule_gives_it_back(rule: Rule):
    assert parse_rules(str(rule)) == RuleSet((rule,))


@given(RULE_SETS)
def test_printing_and_parsing_a_rule_set_gives_it_back(rules: RuleSet):
    assert parse_rules(str(rules)) == rules


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Glucose ≥ 126 ⇒ ill", "Glucose >= 126 => ill"),
        ("if Glucose >= 126 then ill", "Glucose >= 126 => ill"),
        ("IF a >= 1 AND b <= 2 THEN ill", "a >= 1 and b <= 2 => ill"),
        ("a > 1 -> 1", "a > 1 => 1"),
        ("a == 1 → -1", "a = 1 => -1"),
        ("2*(a + b)/4 - (c - 1) <= −1e3 => x", "0.5*a + 0.5*b - c + 1 <= -1000 => x"),
        ("a*3 >= .5 => x", "3*a >= 0.5 => x"),
        ("5 >= a >= 3 => x", "5 >= a >= 3 => x"),
        ("at  least 3 of (a, b:d, `e f`) => x", "at least 3 of (a, b:d, `e f`) => x"),
        ("EXACTLY 2 of (a, b, c) => x", "exactly 2 of (a, b, c) => x"),
        ("Mean(K1) >= 2 => x", "mean(K1) >= 2 => x"),
        ("off r: a >= 1 => x worth 1 patient", "off r: a >= 1 => x worth 1 patient"),
        ("a >= 1 => x worth 2.5", "a >= 1 => x worth 2.5 patients"),
        ("a >= 1 => “BCR/ABL” # it's", 'a >= 1 => "BCR/ABL"  # it\'s'),
        ("`a#b` >= 1 => 'c#d' # e # f", '`a#b` >= 1 => "c#d"  # e # f'),
        ("max(K1) <= 2 and -max(K2) >= 1 => x", "max(K1) <= 2 and -max(K2) >= 1 => x"),
        ("a.b_c >= b => x", "a.b_c >= b => x"),
    ],
)
def test_other_spellings_become_the_usual_one(text: str, printed: str):
    assert str(parse_rules(text)) == printed


def test_or_makes_rules_of_its_own_and_binds_after_and():
    rules = parse_rules("r: a >= 1 and b >= 2 or c >= 3 => x worth 5 patients # why")
    assert [rule.name for rule in rules] == ["r_1", "r_2"]
    assert [len(rule.conditions) for rule in rules] == [2, 1]
    assert {(rule.worth, rule.note) for rule in rules} == {(2.5, "why")}  # they share it


def test_comments_stay_where_they_were():
    text = "# head\n\n#\na >= 1 => x\n# tail"
    rules = parse_rules(text)
    assert rules[0].preface == ("head", "")
    assert rules.ending == ("tail",)
    assert str(rules) == "# head\n#\na >= 1 => x\n# tail"


def test_no_rules_is_an_empty_set():
    assert parse_rules("  \n") == RuleSet()
    assert str(RuleSet()) == ""


def test_every_broken_line_is_reported_where_it_stands():
    errors = rule_errors("a >= 1 => x\nb >> 2 => x\nr: c >= 1 => x\nr: d >= 1 => x\n(e")
    assert [error.line for error in errors] == [2, 4, 5]
    with pytest.raises(RuleError, match="line 2, column 4"):
        parse_rules("a >= 1 => x\nb >> 2 => x")


def test_a_very_long_and_a_very_deep_text_are_read():
    long = " + ".join(["a"] * 5_000) + " >= 1 => x"
    deep = "(" * DEEPEST + "a" + ")" * DEEPEST + " >= 1 => x"
    assert len(parse_rules(long)[0].conditions[0].sides[0]) == 5_000
    assert str(parse_rules(deep)) == "a >= 1 => x"


PIECES = [
    *("a", "b", "K1", "`p-36=t`", "mean(", "sum(", "min(", "max(", "(", ")", ",", ":", "+", "-"),
    *("*", "/", ">=", "<=", "<", ">", "=", "=>", "and", "or", "not", "between", "worth", "of"),
    *("patients", "off", "if", "then", "at least", "exactly", "3", "2.5", "1e5", "1e999", "0"),
    *("x1:x9", '"ill"', "'", '"', "`", "#", ";", "%", "^", "**", "!=", "≥", "⇒", "\n", "\t", ""),
]
VALID = [line for line in EXAMPLES.splitlines() if line]


def mutated(seed: int) -> str:
    """A valid text with a few pieces cut out, doubled or put in, or pieces in any order."""
    random = Random(seed)
    if random.random() < 0.4:
        return " ".join(random.choices(PIECES, k=random.randint(1, 14)))
    text = random.choice(VALID)
    for _ in range(random.randint(1, 3)):
        start = random.randint(0, len(text))
        end = start + random.randint(0, 4)
        text = text[:start] + random.choice([*PIECES, chr(random.randint(1, 0x2FFF))]) + text[end:]
    return text


def read_or_refuse(text: str) -> RuleError | None:
    """None if the text is read, and written back the same; the error if it is refused."""
    try:
        rules = parse_rules(text)
    except RuleError as error:
        return error
    assert parse_rules(str(rules)) == rules
    return None


def check_place(error: RuleError | None) -> None:
    if error is not None:
        assert error.line is not None
        assert error.column is not None
        assert str(error).startswith(f"line {error.line}, column {error.column}: ")


@settings(max_examples=90 * settings.default.max_examples)
@given(st.integers(0, 2**63))
def test_no_broken_rule_raises_anything_but_the_rule_error(seed: int):
    check_place(read_or_refuse(mutated(seed)))


@settings(max_examples=10 * settings.default.max_examples)
@given(st.text(max_size=40))
def test_no_text_at_all_raises_anything_but_the_rule_error(text: str):
    check_place(read_or_refuse(text))


# --------------------------------------------------------------------------------------------------
# Opening.


RULE = "Glucose >= 126 => diabetic"


@pytest.mark.parametrize("mark", ["1)", "1.", "(1)", "a)", "*", "-", "–"])
def test_the_mark_of_a_list_is_stepped_over(mark):
    cursor = at_start(f"{mark} {RULE}")
    skip_bullet(cursor)
    assert cursor.peek().text == "Glucose"
    assert str(parse_rules(f"{mark} {RULE}")) == RULE


def test_a_minus_without_a_blank_is_a_sign():
    assert str(parse_rules("-a >= 2 => x")) == "-a >= 2 => x"


@pytest.mark.parametrize(
    ("text", "off"), [("off a >= 1 => x", True), ("off: a >= 1 => x", False), ("off >= 1", False)]
)
def test_a_rule_is_switched_off_by_its_first_word(text, off):
    assert accept_off(at_start(text)) is off


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("high risk: a >= 1 => x", "high risk"),
        ("Rule 1: a >= 1 => x", "Rule 1"),
        ("R1:a >= 1 => x", "R1"),
        ("a >= 1: x", ""),
        ("at least 2 of: a >= 1, b >= 2 => x", ""),
    ],
)
def test_a_name_stands_before_a_colon(text, name):
    assert read_title(at_start(text)) == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("albumin:creatinine >= 30 => ill", "albumin/creatinine"),
        ("- a + b >= 2 => ill", "mark of a list"),
    ],
)
def test_a_beginning_with_two_meanings_is_refused(text, words):
    with pytest.raises(RuleError, match=words):
        parse_rules(text)


# --------------------------------------------------------------------------------------------------
# Ending.


@pytest.mark.parametrize("text", ["diabetic", "diabetic.", "“diabetic”", "«diabetic»"])
def test_a_label_with_and_without_marks(text):
    assert read_outcome(at_start(text)) == ("diabetic", 1, None, "")


@pytest.mark.parametrize(
    "text",
    [
        "worth 20 patients",
        ", worth 20",
        "(worth 20 patients)",
        "[worth: 20]",
        "counts for 20 cases",
    ],
)
def test_a_worth_in_the_ways_people_write_it(text):
    assert read_outcome(at_start(f"diabetic {text}"))[2] == 20.0
    assert str(parse_rules(f"{RULE} {text}")) == f"{RULE} worth 20 patients"


def test_a_note_comes_after_two_dashes():
    assert read_outcome(at_start("very ill worth 3 -- see ADA")) == ("very ill", 1, 3.0, "see ADA")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 2 =>", "write the class label after '=>'"),
        ("a >= 2 => ill and well", "one outcome"),
        ("a >= 2 => ill otherwise well", "a line of its own"),
        ("a >= 2 => ill weight 20", "worth 20 patients"),
        ("a >= 2 => ill worth 1/4 of patients", "worth 20 patients"),
        ("a >= 2 => ill worth -5 patients", "write 0 or more"),
        ("a >= 2 => BCR = ABL", "between quotes"),
    ],
)
def test_an_outcome_that_says_less_or_more_is_told(text, words):
    assert words in told(text)


# --------------------------------------------------------------------------------------------------
# Halves.


@pytest.mark.parametrize(
    "text",
    [
        "If Glucose >= 126 then diabetic",
        "if Glucose >= 126, then diabetic",
        "If Glucose >= 126, diabetic",
        "diabetic if Glucose >= 126",
        "diabetic when Glucose >= 126",
        "Glucose >= 126: diabetic",
        "diabetic: Glucose >= 126",
        "Glucose >= 126 implies diabetic",
        "diabetic ⇐ Glucose >= 126",
        "Glucose >= 126 => diabetic",
    ],
)
def test_a_line_in_the_orders_that_people_use(text):
    premise, outcome = read_halves(at_start(text))
    assert premise.text(0, len(premise.words)) == "Glucose >= 126"
    assert outcome.text(0, len(outcome.words)) == "diabetic"
    assert str(parse_rules(text)) == RULE


def test_people_may_be_named():
    assert str(parse_rules("patients with Glucose >= 126 are diabetic")) == RULE


def test_words_in_brackets_split_nothing():
    assert outside_brackets(at_start("a (b => c) d")) == [0, 1, 6]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a >= 2", "the rule has no outcome"),
        ("always ill", "the rule has no outcome"),
        ("a => 2 => ill", "write >= in place of =>"),
        ("a >= 2 <=> ill", "in one direction"),
        ("a >= 2 := ill", "in place of ':='"),
        ("a >= 2 => ill; b >= 1 => well", "one rule per line"),
    ],
)
def test_a_line_without_one_arrow_is_told(text, words):
    assert words in told(text)


# --------------------------------------------------------------------------------------------------
# Phrasing.


def test_a_line_is_taken_apart():
    draft = read_line("off high risk: patients with a >= 1 or b >= 2 => ill, worth 20 -- ADA")
    assert [" and ".join(map(str, each)) for each in draft.conjunctions] == ["a >= 1", "b >= 2"]
    assert (draft.name, draft.outcome, draft.worth) == ("high risk", "ill", 20.0)
    assert (draft.enabled, draft.note) == (False, "ADA")


@pytest.mark.parametrize("text", ["=> ill", "patients with => ill"])
def test_a_line_without_a_condition_is_told(text):
    with pytest.raises(RuleError, match="write a condition first") as caught:
        parse_rules(text)
    assert (caught.value.line, caught.value.column is not None) == (1, True)


# --------------------------------------------------------------------------------------------------
# Bounds.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#" * (LONGEST_TEXT + 1), "at most 1,048,576 characters, got 1,048,577"),
        ("a >= 1 => x\n" * (MOST_RULES + 1), "at most 2,000 rules, got 2,001"),
        (
            "a >= 1 => x\na >= 1" + " or b >= 1" * MOST_RULES + " => x",
            "line 2, .* more than 64",
        ),
        ("a >= 1 => x\n" + "a" * LONGEST_RULE + " >= 1 => x", "line 2, .* 200,000 characters"),
        ("(" * (DEEPEST + 1) + "a", f"line 1, column {DEEPEST + 1}: expected at most"),
        ("a" + "+a" * (MOST_SIGNS + 1) + " >= 1 => x", "at most 5,000 of the signs"),
    ],
)
def test_too_much_is_one_sentence(text, words):
    (error,) = rule_errors(text)
    assert len(str(error)) < 300
    with pytest.raises(RuleError, match=words):
        parse_rules(text)


def test_the_most_that_is_allowed_is_read():
    assert len(parse_rules("a >= 1 => x\n" * MOST_RULES)) == MOST_RULES
    assert len(parse_rules("a" + "+a" * MOST_SIGNS + " >= 1 => x")) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*3*a/4 >= 1 => x", "1.5*a >= 1 => x"),
        ("2/4*(a + 3*b)*2*2 >= 1 => x", "2*a + 6*b >= 1 => x"),
        ("(2*a + b)/3 >= 1 => x", "0.6666666666666666*a + 0.3333333333333333*b >= 1 => x"),
        ("-(a - b)*2 >= 1 => x", "-2*a + 2*b >= 1 => x"),
        ("(1 + 2)*a >= 1 => x", "3*a >= 1 => x"),
    ],
)
def test_chains_of_factors_are_multiplied_in_order(text, expected):
    assert str(parse_rules(text)) == expected


@pytest.mark.parametrize("text", ["2*a*3*b >= 1 => x", "a*b*2 >= 1 => x"])
def test_products_of_features_are_refused_wherever_they_stand(text):
    with pytest.raises(RuleError, match="not linear"):
        parse_rules(text)


@pytest.mark.parametrize("word", ["patients.5", "mm.5", "mm.x"])
def test_a_longer_word_that_begins_like_a_unit_is_no_unit(word):
    rules = parse_rules(f"a >= 9{word} => b")
    assert word in str(rules)
    assert parse_rules(str(rules)) == rules

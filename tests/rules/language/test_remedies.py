from __future__ import annotations

import pytest

from hipad.errors import RuleError
from hipad.rules import compile_rules, parse_rules

BROKEN = [
    ("Glucose", 8, "compare it, and end with the outcome, as in"),
    ("Glucose >= 126", 15, "compare it, and end with the outcome, as in"),
    ("Glucose >= => ill", 12, "write a feature, number or condition before this"),
    (">= 126 => ill", 1, "write a feature before the sign and a number after"),
    ("Glucose >= 126 =>", 18, "write the class label after '=>', as in => positive"),
    ("=> ill", 1, "write a condition first, as in mean(K1) >= 4 =>"),
    ("Glucose => 126 => ill", 9, "to compare, write >= in place of =>"),
    ("Glucose 126 => ill", 9, "write a sign between them, as in Glucose >= 126"),
    ("Glucose >= 126 ill", 16, "write '=>' before the outcome"),
    ("Glucose >= 126 => not ill", 23, "put a class label of several words between quotes,"),
    ("Glucose >= 126 => BCR/ABL", 22, "put a class label of several words between quotes,"),
    ('Glucose >= 126 => "BCR/ABL', 19, "close the class label with a quote"),
    ('Glucose >= 126 => ""', 19, "write the class label between the quotes, as in"),
    ("Glucose >= 126 => ill and b >= 2", 23, "a rule has one outcome; write a second rule on a"),
    ("Glucose >= 126 => ill worth", 28, "write the worth as a number of patients, as in"),
    (
        "Glucose >= 126 => ill worth many patients",
        29,
        "write the worth as a number of patients, as in",
    ),
    (
        "Glucose >= 126 => ill worth -5 patients",
        23,
        "a rule cannot be worth -5 patients: write 0 or",
    ),
    ("Glucose >= 126 => ill worth 20 dogs", 32, "write the worth as a number of patients, as in"),
    ("Glucose >= 126 worth 20 => ill", 16, "write '=>' and the outcome before the worth, as in"),
    ("Glucose >= 126 => ill weight 20", 23, "say what the rule counts for, as in worth 20"),
    ("Glucose >= 126 => ill; b >= 2 => ill", 22, "write one rule per line and no ';'"),
    ("max(K1) >= 2 => ill", 1, "'max(K1) >= 2' is not linear, since it asks only"),
    ("min(K1) <= 2 => ill", 1, "'min(K1) <= 2' is not linear, since it asks only"),
    ("min(K1) = 2 => ill", 1, "'min(K1) = 2' is not linear, since it asks only"),
    ("max(K1) between 1 and 2 => ill", 1, "'max(K1) between 1 and 2' is not linear, since it"),
    ("-min(K1) >= 2 => ill", 2, "'-min(K1) >= 2' is not linear, since it asks only"),
    ("a*b >= 2 => ill", 2, "a product of features is not linear: multiply a"),
    ("a/b >= 2 => ill", 2, "a quotient of features is not linear: compare a >="),
    ("3/a >= 2 => ill", 2, "a quotient of features is not linear: compare a >="),
    ("a/0 >= 2 => ill", 2, "a division by zero has no value: divide by another"),
    ("a^2 >= 2 => ill", 2, "a power is not linear; add it to the data as a"),
    ("a**2 >= 2 => ill", 3, "a power is not linear; add it to the data as a"),
    ("log(a) >= 2 => ill", 1, "log(...) is not linear: use mean, sum, min or max,"),
    ("abs(a) >= 2 => ill", 1, "abs(...) is not linear: use mean, sum, min or max,"),
    ("avg(K1) >= 2 => ill", 1, "write mean(...), the functions are mean, sum, min"),
    ("meen(K1) >= 2 => ill", 1, "write mean(...), the functions are mean, sum, min"),
    ("mean() >= 2 => ill", 6, "name features or blocks between the brackets, as in"),
    ("mean(3) >= 2 => ill", 6, "name features or blocks between the brackets, as in"),
    ("mean(K1 >= 2 => ill", 9, "close the bracket with ')' before you compare"),
    ("mean(K1)) >= 2 => ill", 9, "leave out this ')', or open its bracket before"),
    ("mean[K1] >= 2 => ill", 5, "write round brackets, as in mean(K1)"),
    ("mean K1 >= 2 => ill", 6, "put the features in brackets, as in mean(K1)"),
    ("sum(a b) >= 2 => ill", 7, "write ',' between the names, as in sum(a, b)"),
    ("sum(a,) >= 2 => ill", 7, "name features or blocks between the brackets, as in"),
    ("sum(p-36) >= 2 => ill", 6, "close the bracket with ')', and put odd names"),
    ("1007_s_at >= 2 => ill", 5, "put a name that begins with a digit between"),
    ("2age >= 2 => ill", 2, "put a name that begins with a digit between"),
    ("2 age >= 2 => ill", 3, "leave out the unit, or write '*' between a number"),
    ("blood pressure >= 2 => ill", 7, "put a name with spaces between backticks, as in"),
    ("`blood pressure >= 2 => ill", 1, "close the name with a backtick `"),
    ("`` >= 2 => ill", 1, "write the name between the backticks, as in `p-36=t`"),
    ('"age" >= 2 => ill', 1, "quotes are for the outcome; put a feature's name"),
    ("age >= 9,5 => ill", 9, "write numbers with a point, as in 9.5 or 1200"),
    ("age >= 1,200 => ill", 9, "write numbers with a point, as in 9.5 or 1200"),
    ("age >= 5% => ill", 9, "write the number without '%', in the units of the"),
    ("age >= 1e999 => ill", 8, "must be 0 or between 1e-100 and 1e+100 in size, got inf:"),
    ("1e90*1e90*age >= 1 => ill", 5, "in size, got 1e+180: write it in another unit"),
    ("age >= 1e-200 => ill", 8, "in size, got 1e-200: write it in another unit"),
    ("age != 5 => ill", 5, "'differs from' is not linear; write one rule with"),
    ("age <> 5 => ill", 6, "'differs from' is not linear; write one rule with"),
    ("not age >= 5 => ill", 5, "'not' has no linear form; turn the comparison"),
    ("age >= 5 & b >= 2 => ill", 10, "write 'and' or 'or' in words"),
    ("age >= 5 && b >= 2 => ill", 10, "write 'and' or 'or' in words"),
    ("age >= 5 | b >= 2 => ill", 10, "write 'and' or 'or' in words"),
    ("age >= 5, b >= 2 => ill", 9, "join conditions with 'and', and write one rule per"),
    ("age >= 5 and => ill", 14, "write a feature, number or condition before this"),
    ("age >= 5 and or b >= 2 => ill", 14, "write a feature, number or condition before this"),
    ("and age >= 5 => ill", 1, "write a condition first, as in mean(K1) >= 4 =>"),
    (
        "(age >= 5 or b >= 2) and c >= 1 => ill",
        6,
        "compare outside the brackets, as in mean(K1) >= 2,",
    ),
    ("(age >= 5) => ill", 6, "compare outside the brackets, as in mean(K1) >= 2,"),
    ("age between 5 => ill", 15, "write the range as: a between 1 and 3"),
    ("age between 5, 7 => ill", 14, "write the range as: a between 1 and 3"),
    ("age between 7 and 5 => ill", 5, "write age between 5 and 7"),
    ("between 5 and 7 => ill", 1, "write the range as: a between 1 and 3"),
    ("5 <= age >= 7 => ill", 10, "the signs of a chain must point the same way: write"),
    ("7 <= age <= 5 => ill", 3, "write age between 5 and 7"),
    ("1 <= a <= b <= 5 => ill", 13, "a chain has two signs at most, as in 3 <= a <= 5"),
    ("a = b = 3 => ill", 7, "the signs of a chain must point the same way: write"),
    ("3 >= 2 => ill", 3, "compare a feature with a number"),
    ("at least 3 (a, b) => ill", 12, "write the count as: at least 3 of (a, b, c, d)"),
    ("at least of (a, b) => ill", 10, "write the count as: at least 3 of (a, b, c, d)"),
    ("at least 3 of a, b => ill", 12, "write the count as: at least 3 of (a, b, c, d)"),
    ("at least three of (a, b) => ill", 10, "write the count as: at least 3 of (a, b, c, d)"),
    ("age is 5 => ill", 5, "write the comparison as a sign: >=, <= or ="),
    ("age above 5 => ill", 5, "write the comparison as a sign: >=, <= or ="),
    ("age >= 5 years => ill", 10, "leave out the unit, or write '*' between a number"),
    ("age >= five + => ill", 15, "write a feature, number or condition before this"),
    ("my rule: age >= 5 => ill", 4, "put a rule's name between backticks, as in `my"),
    (": age >= 5 => ill", 1, "write a condition first, as in mean(K1) >= 4 =>"),
    ("off => ill", 5, "write a feature, number or condition before this"),
    ("age $ 5 => ill", 5, "leave this out, or put the name that holds it"),
    ("age >= 5 then", 14, "write the class label after '=>', as in => positive"),
    ("age + >= 5 => ill", 7, "write a feature before the sign and a number after"),
    ("age >> 5 => ill", 6, "write a feature before the sign and a number after"),
    ("mean(x1:) >= 5 => ill", 9, "name features or blocks between the brackets, as in"),
    ("`a` `b` >= 5 => ill", 5, "put a name with spaces between backticks, as in"),
    ("age >= 5 => worth 20 patients", 13, "write the class label after '=>', as in => positive"),
    ("age >= --- => ill", 12, "write a feature, number or condition before this"),
    ("{age} >= 5 => ill", 1, "write round brackets, as in mean(K1)"),
    (
        "age >= 5 => ill worth 20 patients each",
        26,
        "write the worth as a number of patients, as in",
    ),
    ("age ~ 5 => ill", 5, "leave this out, or put the name that holds it"),
]


@pytest.mark.parametrize(("text", "column", "remedy"), BROKEN)
def test_a_broken_rule_is_told_where_and_what_to_write(text: str, column: int, remedy: str):
    with pytest.raises(RuleError) as caught:
        parse_rules(f"# a note\n{text}  # another")
    error = caught.value
    assert (error.line, error.column) == (2, column)
    assert str(error).startswith(f"line 2, column {column}: ")
    assert remedy in str(error)


UNFIT = [
    ("Glucos >= 1 => ill", 1, "no feature or block is called Glucos: did you mean Glucose?"),
    ("glucose >= 1 => ill", 1, "did you mean Glucose?"),
    ("mean(K3) >= 1 => ill", 1, "did you mean K1"),
    ("BMI >= 1 and sum(BMI, age) >= 1 => ill", 14, "did you mean Age?"),
    ("K1 >= 1 => ill", 1, "write mean(K1), sum(K1), min(K1) or max(K1)"),
    ("mean(empty) >= 1 => ill", 1, "mean(empty) has no features: fill the block first"),
    ("p - 36 >= 1 => ill", 1, "did you mean `p-36=t`?"),
    ("mean(Age:Glucose) >= 1 => ill", 1, "Age:Glucose runs backwards: write Glucose:Age"),
    ("twice >= 1 => ill", 1, "two columns are called twice: rename the columns"),
    ("BMI >= 1 => sick", 13, "write well or ill"),
]


@pytest.mark.parametrize(("text", "column", "remedy"), UNFIT)
def test_a_rule_that_does_not_fit_the_data_is_told_where_and_what_to_write(
    text: str, column: int, remedy: str
):
    names = ["Glucose", "BMI", "Age", "p-36=t", "twice", "twice"]
    blocks = {"K1": ["Glucose", "BMI"], "empty": []}
    with pytest.raises(RuleError) as caught:
        compile_rules(f"\n{text}", feature_names=names, blocks=blocks, classes=("well", "ill"))
    assert (caught.value.line, caught.value.column) == (2, column)
    assert remedy in str(caught.value)


def test_a_name_used_twice_is_refused():
    with pytest.raises(RuleError, match="already stands on line 1: give each rule a name"):
        parse_rules("r: a >= 1 => x\nr: a >= 2 => x")

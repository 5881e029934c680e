"""Every example in docs/rules.md is read and compiled, and every refusal it names is one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, compile_rules, parse_rules, read_blocks
from hipad.rules.compiler import compile_knowledge
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.functions import RULE_FUNCTIONS

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "rules.md").read_text("utf-8")
CLINICAL = ["Pregnancies", "Glucose", "BloodPressure", "Insulin", "BMI", "Age", "IL-6"]
FLAGS = "smoker obese hypertensive sex=male sex=female stage=I stage=II stage=III p-36=t p-35=t"
WORDS = ["sex=not stated", "purpose=n/a", "purpose=car", "mode=off", "mode=on"]
GENES = "ABL1 ABL2 JAK1 JAK2 1636_g_at 1001_at 39730_at"
NAMES = [*CLINICAL, "serum iron", *FLAGS.split(), *WORDS, *GENES.split()]
NAMES += [f"x{j}" for j in range(100, 152)]
NAMES += ["tumor_size_mm", "height (m)", "body_temp_c", "fasting_glucose_mg_dl", "wbc_k_ul"]
INDEX = FeatureIndex(NAMES)
BLOCKS = read_blocks("metabolic = Glucose, Insulin\nbody = BMI, Age", INDEX).columns
RNG = np.random.default_rng(3)
X = RNG.uniform(1, 200, (80, len(NAMES)))
X[:, [INDEX.find(name) for name in FLAGS.split()]] = RNG.integers(0, 2, (80, 10))
X[:, [INDEX.find(name) for name in WORDS]] = RNG.integers(0, 2, (80, len(WORDS)))
X[:, 0] = RNG.integers(0, 12, 80)
MEASURED = {"tumor_size_mm": (2, 90), "height (m)": (1.4, 2.1), "body_temp_c": (35, 41)}
MEASURED |= {"fasting_glucose_mg_dl": (60, 300), "wbc_k_ul": (2, 40)}
X[:, [NAMES.index(name) for name in MEASURED]] = [
    [RNG.uniform(*ends) for ends in MEASURED.values()] for _ in range(80)
]
CLASSES = ("healthy", "diabetic")
CONTEXT = {"feature_names": INDEX, "blocks": BLOCKS, "values": X}


def examples(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


def lines(kind: str) -> list[str]:
    return [line for text in examples(kind) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("function", RULE_FUNCTIONS.values(), ids=RULE_FUNCTIONS)
def test_the_manual_shows_every_function(function):
    assert f"{function.name}(" in function.example
    assert f"{function.example} => diabetic" in lines("rules")


def test_there_are_examples():
    assert len(lines("rules")) >= 40
    assert len(lines("named")) >= 15
    assert len(lines("refused")) >= 8
    assert len(examples("blocks")) == 1


@pytest.mark.parametrize("line", lines("rules"))
def test_a_rule_is_read_compiled_and_written_back(line):
    rules = parse_rules(line, NameTable(INDEX, BLOCKS))
    assert parse_rules(str(rules)) == rules
    classes = ("NEG", "BCR/ABL") if "BCR/ABL" in line else CLASSES
    compiled = compile_rules(line, classes=classes, include_off=True, **CONTEXT)
    assert len(compiled) >= len(rules) >= 1
    again = compile_rules(
        "\n".join(rule.resolved_text for rule in compiled), classes=classes, **CONTEXT
    )
    for one, other in zip(compiled, again, strict=True):
        assert (one.fires(X) == other.fires(X)).all()


@pytest.mark.parametrize("line", lines("named"))
def test_a_rule_in_the_names_of_the_data_is_read_and_written_back(line):
    rules = parse_rules(line, NameTable(INDEX, BLOCKS, ColumnValues(X)))
    assert parse_rules(str(rules)) == rules
    fired = np.zeros(len(X), dtype=bool)
    for rule in compile_rules(line, classes=CLASSES, **CONTEXT):
        fired |= rule.fires(X)
    again = np.zeros(len(X), dtype=bool)
    for rule in compile_rules(str(rules), classes=CLASSES, **CONTEXT):
        again |= rule.fires(X)
    assert (fired == again).all()


@pytest.mark.parametrize("text", examples("rules"))
def test_rules_that_stand_together_are_read_together(text):
    assert len(parse_rules(text)) >= 1


@pytest.mark.parametrize("line", lines("statements"))
def test_a_statement_binds_features(line):
    known = compile_knowledge(line, classes=CLASSES, **CONTEXT)
    assert known.features
    assert parse_rules(str(parse_rules(line))) == parse_rules(line)


@pytest.mark.parametrize("line", lines("refused"))
def test_what_cannot_be_said_is_refused(line):
    with pytest.raises(RuleError, match=r"write|compare|name|multiply"):
        compile_rules(line, classes=CLASSES, **CONTEXT)


@pytest.mark.parametrize("kind", ["blocks", "json", "gmt"])
def test_a_blocks_file_is_read(kind):
    (text,) = examples(kind)
    assert all(len(columns) for columns in read_blocks(text, INDEX).columns.values())

"""Every example in docs/rules.md is read and compiled, and every refusal it names is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hipad.errors import RuleError
from hipad.rules import FeatureIndex, compile_rules, parse_rules, read_blocks

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "rules.md").read_text("utf-8")
CLINICAL = "Pregnancies Glucose BloodPressure Insulin BMI Age smoker obese hypertensive"
GENES = "p-36=t p-35=t ABL1 ABL2 JAK1 JAK2 1636_g_at 1001_at 39730_at"
NAMES = [*f"{CLINICAL} {GENES}".split(), *(f"x{j}" for j in range(100, 152))]
INDEX = FeatureIndex(NAMES)
BLOCKS = read_blocks("metabolic = Glucose, Insulin\nbody = BMI, Age", INDEX).columns


def examples(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


def lines(kind: str) -> list[str]:
    return [line for text in examples(kind) for line in text.splitlines() if line.strip()]


def test_there_are_examples():
    assert len(examples("rules")) >= 7
    assert len(examples("blocks")) == 1


@pytest.mark.parametrize("line", lines("rules"))
def test_a_rule_is_read_compiled_and_written_back(line):
    rules = parse_rules(line)
    assert parse_rules(str(rules)) == rules
    classes = ("NEG", "BCR/ABL") if "BCR/ABL" in line else ("healthy", "diabetic")
    compiled = compile_rules(
        rules, feature_names=INDEX, blocks=BLOCKS, classes=classes, include_off=True
    )
    assert len(compiled) == len(rules) == (2 if " or " in line else 1)


@pytest.mark.parametrize("text", examples("rules"))
def test_rules_that_stand_together_are_read_together(text):
    assert len(parse_rules(text)) >= 1


@pytest.mark.parametrize("line", lines("refused"))
def test_what_cannot_be_said_is_refused(line):
    with pytest.raises(RuleError):
        compile_rules(line, feature_names=INDEX, blocks=BLOCKS, classes=("healthy", "diabetic"))


@pytest.mark.parametrize("kind", ["blocks", "json", "gmt"])
def test_a_blocks_file_is_read(kind):
    (text,) = examples(kind)
    assert all(len(columns) for columns in read_blocks(text, INDEX).columns.values())

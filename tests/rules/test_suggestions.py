from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hipad.rules import FeatureIndex, compile_rules
from hipad.rules.context import ColumnValues, NameTable
from hipad.rules.names import resolve_blocks
from hipad.rules.suggestions import Remedy, can_be_used, example_rules, manual_text, remedies
from tests.rules import field_texts, held_out_texts, natural, typed_texts
from tests.rules.corpus_tables import ALL, TABLES, Typed
from tests.rules.typed_tables import SHEETS, Said

# --------------------------------------------------------------------------------------------------
# Rules as five trades type them: understood as meant, or refused with a remedy that works.


LEAST_RIGHT, LEAST_HELPED = 0.92, 0.7


@cache
def name_table(table: str) -> NameTable:
    """The vocabulary of a table."""
    index, X = TABLES[table].encoded
    return NameTable(index, resolve_blocks(TABLES[table].blocks, index), ColumnValues(X))


def offered(each: Typed) -> list[Remedy]:
    """The remedies of a text that was refused."""
    error = each.verdict[2]
    assert error is not None
    return remedies(each.text, error, name_table(each.table), TABLES[each.table].classes)


@pytest.mark.slow
def test_compile_rules_reads_no_text_with_another_meaning():
    assert [f"{e.text!r}: {e.verdict[1]}" for e in ALL if e.verdict[0] == "wrong"] == []


@pytest.mark.slow
def test_compile_rules_understands_nearly_every_text_with_a_meaning():
    assert len(ALL) >= 600
    plain = [each for each in ALL if each.meaning and not each.may_refuse]
    right = [each for each in plain if each.verdict[0] == "right"]
    refused = [f"{each.text!r}: {each.verdict[1]}" for each in plain if each not in right]
    assert len(right) >= LEAST_RIGHT * len(plain), "\n".join(refused)


@pytest.mark.slow
def test_remedies_compile_and_most_say_what_was_meant():
    helped, refused = [], []
    for each in ALL:
        if each.verdict[0] != "refused":
            continue
        found = offered(each)
        for remedy in found:
            assert can_be_used(remedy.text, name_table(each.table), TABLES[each.table].classes)
            assert remedy.text.strip() != each.text.strip()
        if each.meaning:
            refused.append(each.text)
            readings = [each.difference(TABLES[each.table].fired(r.text)) for r in found]
            helped += [each.text] if "" in readings else []
    missing = [text for text in refused if text not in helped]
    assert len(helped) >= LEAST_HELPED * len(refused), "\n".join(missing)


@pytest.mark.slow
def test_remedies_of_the_listed_texts_compile():
    if not natural.LISTED.exists():
        pytest.skip("the list of texts is not here")
    blocks = resolve_blocks(natural.BLOCKS, natural.INDEX)
    known = NameTable(natural.INDEX, blocks, natural.VALUES)
    helped, refused = [], []
    for each in natural.listed_texts():
        if (error := each.verdict.refused) is None:
            continue
        found = remedies(each.text, error, known, natural.CLASSES, positive_chosen=False)
        for remedy in found:
            natural.fired(remedy.text)  # a RuleError fails the test
        if each.also or not each.refuse:
            refused.append(each.text)
            readings = [natural.difference(each, natural.fired(r.text)) for r in found]
            helped += [each.text] if "" in readings else []
    assert len(helped) >= LEAST_HELPED * len(refused), set(refused) - set(helped)


@pytest.mark.slow
def test_difference_tells_right_from_wrong():
    right = Typed("credit", "income > 50k => default", "+", False, "income > 50000")
    assert right.verdict[0] == "right"
    for outcome, meaning in (("-", "income > 50000"), ("+", "income > 50900"), ("+", "")):
        assert Typed("credit", right.text, outcome, False, meaning).verdict[0] == "wrong"


# --------------------------------------------------------------------------------------------------
# Examples from a table's own columns: six, each of which compiles.


@pytest.mark.parametrize("table", TABLES)
def test_example_rules_are_six_that_fire_on_some_rows(table):
    known, classes = name_table(table), TABLES[table].classes
    found = example_rules(known, classes)
    assert len(found) == 6
    for rule in found:
        sides = TABLES[table].fired(rule.text)
        assert any(0 < rows.sum() < len(rows) for rows in sides.values()), rule.text


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).integers(0, 2, (30, 4)).astype(float),
        np.full((30, 4), 2.0),
        np.full((30, 4), np.nan),
        np.column_stack([np.arange(30.0) * 1e-9] * 4),
        np.column_stack([np.arange(30.0) * 1e12] * 4),
    ],
)
def test_example_rules_of_odd_tables_compile_or_are_left_out(X):
    names = ["a b", "and", "p-36", "x"]
    known = NameTable(FeatureIndex(names), {}, ColumnValues(X))
    for rule in example_rules(known, ("no event", "5% risk")):
        assert compile_rules(
            rule.text, feature_names=names, classes=("no event", "5% risk"), values=X
        )


def test_manual_text_is_the_documentation():
    assert manual_text().startswith("# The rule language")


# --------------------------------------------------------------------------------------------------
# Rules on tables with units, gaps and odd categories fire on the rows that are meant.


LEAST_RIGHT_TYPED = 0.92
SETS = {"typed": typed_texts.TEXTS, "held out": held_out_texts.TEXTS, "field": field_texts.TEXTS}


@cache
def sheet_name_table(table: str) -> NameTable:
    """The vocabulary of a table."""
    sheet = SHEETS[table]
    index, _ = sheet.encoded
    return NameTable(index, resolve_blocks(sheet.blocks, index), sheet.values)


@pytest.fixture(params=SETS)
def said(request) -> list[Said]:
    return SETS[request.param]


def test_no_text_fires_on_other_rows(said):
    assert [f"{e.text!r}: {e.verdict[1]}" for e in said if e.verdict[0] == "wrong"] == []


def test_nearly_every_definite_text_is_understood(said):
    plain = [each for each in said if each.has_meaning and not each.vague]
    refused = [f"{e.text!r}: {e.verdict[1]}" for e in plain if e.verdict[0] != "right"]
    assert len(refused) <= (1 - LEAST_RIGHT_TYPED) * len(plain), "\n".join(refused)


def test_each_remedy_can_be_used(said):
    for each in said:
        error = each.verdict[2]
        if error is not None:
            for remedy in remedies(
                each.text, error, sheet_name_table(each.table), SHEETS[each.table].classes
            ):
                assert can_be_used(
                    remedy.text, sheet_name_table(each.table), SHEETS[each.table].classes
                )
                assert remedy.text.strip() != each.text.strip()


@pytest.mark.parametrize(
    ("table", "text", "lost"),
    [
        ("nephro", "CKD stage >= G9 => dialysis", ">="),
        ("nephro", "not on ACE inhibitor => dialysis", "ACE inhibitor"),
        ("nephro", "no diabetes => no dialysis", "diabetes"),
        ("nephro", "potasium > 5.5 => dialysis", "=> dialysis"),
        ("battery", "depth of dischrge > 80 % and cycle count > 1,000 => failed", "80"),
        ("cards", "small busines or debt consolidation => default", "debt consolidation"),
        ("cards", "region = North => repaid; region = South => default", "North"),
        ("cards", "region = North => repaid; region = South => default", "South"),
        ("tumour", "median(EXHAUST) > 5 => sensitive", "EXHAUST"),
        ("tumour", "brain and liver => resistant", "=> resistant"),
    ],
)
def test_remedies_lose_nothing_that_a_line_compares(table, text, lost):
    sheet, known = SHEETS[table], sheet_name_table(table)
    error = Said(table, text).verdict[2]
    assert error is not None
    found = remedies(text, error, known, sheet.classes)
    for remedy in found:
        plain = remedy.text.replace("`", "").replace('"', "")
        assert lost in plain or (lost == ">=" and " in {" in plain), remedy


def test_a_remedy_does_not_compare_with_a_comparison():
    said = Said("tumour", "CD8A >= high => sensitive")
    error = said.verdict[2]
    assert error is not None
    for remedy in remedies(said.text, error, sheet_name_table("tumour"), SHEETS["tumour"].classes):
        assert remedy.text.partition("=>")[0].count(">=") <= 1, remedy


def test_a_predicate_tells_right_from_wrong():
    right = Said("ward", "temp > 38 => dead at 30 days", lambda r: r["temp_c"] > 38)
    assert right.verdict[0] == "right"
    assert Said("ward", right.text, lambda r: r["temp_c"] > 38.3).verdict[0] == "wrong"
    assert Said("ward", right.text, no=right.yes).verdict[0] == "wrong"
    assert Said("ward", right.text).verdict[0] == "wrong"


def test_a_name_without_its_unit_is_found_where_it_is_one_only():
    fired = SHEETS["ward"].fired("lactate > 4 => dead at 30 days")
    assert fired[1].tolist() == (SHEETS["ward"].frame["lactate_mmol_l"] > 4).tolist()
    twice = NameTable(FeatureIndex(["glucose_mg_dl", "glucose_mmol_l", "vitamin_d_nmol_l"]))
    assert twice.feature("glucose") is None
    assert twice.feature("vitamin d") == 2

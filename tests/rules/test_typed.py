"""Rules on tables with units, gaps and odd categories fire on the rows that are meant."""

from __future__ import annotations

from functools import cache

import pytest

from hipad.rules import FeatureIndex
from hipad.rules.context import NameTable
from hipad.rules.names import resolve_blocks
from hipad.rules.suggestions import can_be_used, remedies
from tests.rules import held_out_texts, typed_texts
from tests.rules.typed_tables import SHEETS, Said

LEAST_RIGHT = 0.92
SETS = {"typed": typed_texts.TEXTS, "held out": held_out_texts.TEXTS}


@cache
def lexicon(table: str) -> NameTable:
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
    assert len(refused) <= (1 - LEAST_RIGHT) * len(plain), "\n".join(refused)


def test_each_remedy_can_be_used(said):
    for each in said:
        error = each.verdict[2]
        if error is not None:
            for remedy in remedies(
                each.text, error, lexicon(each.table), SHEETS[each.table].classes
            ):
                assert can_be_used(remedy.text, lexicon(each.table), SHEETS[each.table].classes)
                assert remedy.text.strip() != each.text.strip()


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

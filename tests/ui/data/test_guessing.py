from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ui.made_data import SICK, loaded
from ui.data.loading import first_preparation, likely_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ({"note": list("abcdefgh"), "Outcome": SICK}, "Outcome"),
        ({"note": list("abcdefgh"), "sick": SICK}, "sick"),
        ({"Raucher": SICK, "Diagnose": SICK}, "Diagnose"),
        ({"Diagnose (ICD)": SICK, "Raucher": SICK}, "Diagnose (ICD)"),
        ({"sex": SICK, "healed": SICK}, "healed"),
        ({"note": list("abcdefgh")}, "note"),
    ],
)
def test_the_likeliest_column_is_offered_as_label(text, label):
    assert likely_label(loaded(**text)) == label
    assert first_preparation(loaded(**text)).label == label


def test_what_came_with_the_data_goes_before_any_guess():
    known = replace(loaded(Outcome=SICK, sick=SICK), label="sick", positive="well")
    first = first_preparation(known)
    assert (first.label, first.positive, first.test) == ("sick", "well", "split")


def test_a_second_table_holds_the_test_patients():
    both = replace(loaded(sick=SICK), test=loaded(sick=SICK).table)
    assert first_preparation(both).test == "file"

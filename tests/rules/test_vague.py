from __future__ import annotations

import pytest

from hipad.rules.operands import is_known
from tests.rules.reading import at_start, premises, refused


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("high CRP", "CRP >= p75(CRP)"),
        ("ABL1 overexpressed", "ABL1 >= p75(ABL1)"),
        ("CRP is low", "CRP <= p25(CRP)"),
    ],
)
def test_a_word_without_a_number_is_refused_with_one(text, remedy):
    error = refused(text)
    assert error.suggestion == remedy
    assert remedy in str(error)
    assert premises(remedy) == [remedy]


def test_what_is_normal_is_asked_for():
    assert "write its range, as in CRP between 2 and 4" in str(refused("CRP is normal"))


def test_a_feature_may_have_such_a_name():
    assert premises("high >= 2") == ["`high` >= 2"]
    assert not is_known(at_start("high"), "high")

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from hipad.evaluation.cross_validation import SealedTest, data_digest
from hipad.exceptions import DataError

X, Y = np.arange(12.0).reshape(4, 3) % 5, np.array(["a", "b", "a", "b"])


def test_digest_knows_the_same_rows_in_any_order_and_form():
    own, order = data_digest(X, Y), np.array([2, 0, 3, 1])
    assert data_digest(X[order], Y[order]) == own
    assert data_digest(sparse.csc_array(X), Y) == own
    assert data_digest(np.where(X == 0, -0.0, X), Y) == own
    assert data_digest(X, Y[::-1]) != own
    assert data_digest(X[:3], Y[:3]) != own


def test_a_record_survives_json_and_copies_join():
    first = SealedTest("d").opened("  look \n here ", 3, "2030-01-01T10:00:00+00:00")
    copied = SealedTest.from_dict(json.loads(json.dumps(first.to_dict())))
    assert copied == first
    assert first.openings[0].reason == "look here"
    one = first.opened("again", 5, "2030-01-02")
    other = copied.opened("elsewhere", 14, "2030-01-03")
    both = one.merged(other)
    assert both == other.merged(one)
    assert both.words == "opened 3 times, after up to 14 edits"
    assert both.merged(first) == both


def test_words_and_state():
    seal = SealedTest("d")
    assert (seal.is_open, seal.words) == (False, "sealed")
    assert seal.opened("verdict", 0, "2030-01-01").words == "judged once"
    show = SealedTest("d", demonstration=True)
    assert show.is_open
    assert "demonstration" in show.words
    assert not show.merged(seal).demonstration


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"digest": 1, "openings": [], "demonstration": False},
        {"digest": "d", "openings": {}, "demonstration": False},
        {"digest": "d", "openings": [{}], "demonstration": False},
        {"digest": "d", "openings": [3], "demonstration": False},
        {
            "digest": "d",
            "openings": [{"when": "now", "edits": 1, "reason": ""}],
            "demonstration": False,
        },
        {
            "digest": "d",
            "openings": [{"when": "2030-01-01", "edits": -1, "reason": ""}],
            "demonstration": False,
        },
        [],
    ],
)
def test_broken_records_are_refused(broken):
    with pytest.raises(DataError, match="expected"):
        SealedTest.from_dict(broken)


def test_an_opening_needs_a_reason_and_records_must_fit():
    with pytest.raises(DataError, match="why the test rows are opened"):
        SealedTest("d").opened("  ", 1, "2030-01-01")
    with pytest.raises(DataError, match="same test rows"):
        SealedTest("d").merged(SealedTest("e"))

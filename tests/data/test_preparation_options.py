"""The account of a preparation as a reader sees it, and options that leave the data alone."""

from dataclasses import FrozenInstanceError

import pytest

from hipad.data.preprocessing import Options, PreparationStep


def test_a_step_tells_what_how_many_and_which():
    step = PreparationStep("constant columns left out", 1_234, ("a", "b"), "drop_constant")
    assert str(step) == "constant columns left out: 1,234 ('a' and 'b')"
    assert str(PreparationStep("rows left out", 2, (), "missing")) == "rows left out: 2"


def test_a_long_list_of_names_is_cut():
    names = tuple(f"column {j}" for j in range(5_000))
    assert len(str(PreparationStep("left out", 5_000, names, "exclude"))) < 200


def test_nothing_is_lost_unless_asked():
    options = Options("outcome")
    assert (options.missing, options.exclude, options.positive) == ("median", (), None)
    assert not options.drop_duplicates


def test_options_cannot_change_under_a_recipe():
    with pytest.raises(FrozenInstanceError):
        Options("outcome").label = "other"

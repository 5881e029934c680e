from __future__ import annotations

import numpy as np

from hipad.rules import FeatureIndex
from hipad.rules.names import NameSuggestions, likeness


def test_the_nearest_of_many_names_is_found_whatever_the_slip():
    rng = np.random.default_rng(0)
    names = [f"{''.join(rng.choice(list('ABCDEFGHKLM'), 4))}{j}_at" for j in range(5_000)]
    index = FeatureIndex(names)
    for name in names[::500]:
        assert index.nearest(name.lower())[0] == name
        assert name in index.nearest(name[:2] + name[3:])
        assert name in index.nearest(name[:3] + "q" + name[3:])


def test_block_names_are_suggested_too():
    index = FeatureIndex(["a", "b"])
    assert index.nearest("chromosome_1", also=["chromosome1"]) == ["chromosome1"]
    assert index.nearest("zzz", also=["chromosome1"]) == []


def test_likeness_counts_a_shared_beginning_most():
    assert likeness("abl", "abl") == 1.0
    assert likeness("abl", "") == 0.0
    assert likeness("glucose", "glucose_fasting_mg") >= 0.7 > likeness("glucose", "sucrase")


def test_no_names_are_like_none():
    assert NameSuggestions([]).roughly_like("a") == []

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hipad.designs import PartialGram, make_design

X = np.random.default_rng(0).standard_normal((7, 30)) * np.geomspace(1e-2, 1e2, 30)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sets(st.integers(0, 29)), max_size=12), st.booleans())
def test_any_walk_through_columns_gives_their_gram_matrix(walk, thin):
    mean, scale = X.mean(axis=0), X.std(axis=0)
    design = make_design(sparse.csc_array(X) if thin else X, mean=mean, scale=scale)
    partial = PartialGram(design)
    for chosen in walk:
        columns = np.array(sorted(chosen), dtype=int)
        Z = ((X - mean) / scale)[:, columns]
        np.testing.assert_allclose(partial.of(columns), Z @ Z.T, atol=1e-11)


def test_only_columns_that_changed_are_looked_at(monkeypatch):
    design = make_design(X)
    partial, looked = PartialGram(design), []
    own = design.columns
    monkeypatch.setattr(design, "columns", lambda idx: (looked.append(len(idx)), own(idx))[1])
    partial.of(np.arange(20))
    partial.of(np.arange(1, 21))
    partial.of(np.arange(1, 21))
    assert looked == [20, 1, 1]


def test_what_was_given_out_stays_as_it_was():
    partial = PartialGram(make_design(X))
    first = partial.of(np.arange(20))
    before = first.copy()
    partial.of(np.arange(21))
    assert first == pytest.approx(before, abs=0)

"""Streamed designs give what dense designs of the same numbers give, whatever the blocks."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipad.data.column_store import ArraySource, as_source, write_store
from hipad.data.table import column_statistics
from hipad.designs import DenseDesign, damped_scale, make_design, unit_scale, usual_variation
from hipad.streamed_design import Scaling, Stopped, StreamedDesign, Strongest

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def numbers(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Columns of different size, one of them constant."""
    X = rng.normal(rng.normal(size=m), rng.uniform(0.1, 3.0, m), (n, m))
    X[:, m // 2] = 3.0
    return X


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 99),
    n=st.integers(3, 12),
    m=st.integers(1, 40),
    memory=st.sampled_from([1.0, 2e4, 1e9]),
    scaled=st.booleans(),
    damped=st.booleans(),
)
def test_streamed_design_agrees_with_a_dense_one(seed, n, m, memory, scaled, damped):
    rng = np.random.default_rng(seed)
    X, weights = numbers(rng, n, m), rng.integers(1, 3, n).astype(float)
    stats = column_statistics(X, weights)
    usual = usual_variation(stats) if damped else 0.0
    own = Scaling(weights, usual) if scaled else None
    streamed = StreamedDesign(as_source(X), own, memory=memory)
    scale = damped_scale(stats) if damped else unit_scale(stats)
    dense = make_design(X, mean=stats.mean, scale=scale) if scaled else DenseDesign(X)
    t, w, waves = rng.normal(size=(n, 2)), rng.normal(size=m), [20.0, 40.0]
    picked = rng.integers(0, m, 5)
    for one, other in (
        (streamed, dense),
        (streamed.rows([2, 0, 0]), dense.rows([2, 0, 0])),
    ):
        k = one.shape[0]
        np.testing.assert_allclose(one.correlate(t[:k]), other.correlate(t[:k]), **CLOSE)
        np.testing.assert_allclose(one.correlate(t[:k, 0]), other.correlate(t[:k, 0]), **CLOSE)
        np.testing.assert_allclose(one.dot(w), other.dot(w), **CLOSE)
        np.testing.assert_allclose(one.gram(), other.gram(), **CLOSE)
        np.testing.assert_allclose(one.column_norms() ** 2, other.column_norms() ** 2, **CLOSE)
        squares = t[:k] ** 2
        np.testing.assert_allclose(one.square_sums(squares), other.square_sums(squares), **CLOSE)
    np.testing.assert_allclose(streamed.columns(picked), dense.columns(picked), **CLOSE)
    keys = dense.content_keys(t[:, 0], waves)
    np.testing.assert_allclose(streamed.content_keys(t[:, 0], waves), keys, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("memory", [1.0, 1e9])
def test_look_tells_variation_variance_and_gram_in_one_pass(memory):
    X = numbers(np.random.default_rng(1), 9, 30)
    stats, ones = column_statistics(X), np.ones(9)
    design = StreamedDesign(as_source(X), Scaling(ones), memory=memory)
    variation, variance = design.look(ones, gram=True)
    dense = make_design(X, mean=stats.mean, scale=unit_scale(stats))
    np.testing.assert_allclose(design.gram(), dense.gram(), **CLOSE)
    assert design.passes == pytest.approx(1.0)
    assert variance == pytest.approx(np.mean(stats.sd**2))
    usual = float(np.nanmedian(variation))
    assert usual == pytest.approx(usual_variation(stats))
    damped = design.damped(usual, variation)
    np.testing.assert_allclose(damped.scale, damped_scale(stats), **CLOSE)
    assert design.passes == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), memory=st.sampled_from([1.0, 1e9]), most=st.integers(1, 40))
def test_strongest_are_those_of_a_sort(seed, memory, most):
    rng = np.random.default_rng(seed)
    X, t, bounds = numbers(rng, 8, 30), rng.normal(size=(8, 3)), rng.uniform(1, 2, 3)
    known = np.array([2, 29])
    design = StreamedDesign(as_source(X), Scaling(np.ones(8)), memory=memory)
    level = np.array([1, 0, 2])
    found = design.ask(Strongest(t, bounds, most, known, level))
    size = np.abs(design.correlate(t)) / bounds
    size[known] = 0.0
    first = np.where(size > 1, level, 9).min(axis=1)
    over = np.flatnonzero(first < 9)
    expected = over[np.lexsort((-size[over].max(axis=1), first[over]))][:most]
    assert found.columns.tolist() == sorted(expected.tolist())
    np.testing.assert_allclose(found.strength, size[found.columns].max(axis=1), **CLOSE)
    assert found.level.tolist() == first[found.columns].tolist()


def test_strongest_in_units_of_groups_of_rows():
    rng = np.random.default_rng(0)
    X, t = numbers(rng, 9, 20), rng.normal(size=(9, 2))
    shares = np.column_stack([np.r_[np.full(6, 1 / 6), np.zeros(3)], np.full(9, 1 / 9)])
    design = StreamedDesign(as_source(X), Scaling(np.ones(9)))
    tiny, none = np.full(2, 1e-9), np.zeros(0, dtype=int)
    question = Strongest(t, tiny, 20, none, np.zeros(2, dtype=int), shares, np.array([0, 1]))
    found = design.ask(question)
    Z = design.columns(slice(None))
    own = np.where(Z.std(axis=0) > 0, Z[:6].std(axis=0), 1.0)
    expected = np.maximum(np.abs(Z.T @ t[:, 0]) / own, np.abs(Z.T @ t[:, 1]))
    np.testing.assert_allclose(found.strength, expected[found.columns] * 1e9, **CLOSE)


def test_missing_values_are_the_mean_of_their_column(tmp_path):
    X = np.random.default_rng(0).choice(np.array([0, 1, 2, -128], dtype=np.int8), (7, 12))
    X[:, 3] = -128
    holes = np.where(X == -128, np.nan, X.astype(float))
    empty = np.isnan(holes).all(axis=0)
    means = np.where(empty, 0.0, np.nanmean(np.where(empty, 0.0, holes), axis=0))
    whole = np.where(np.isnan(holes), means, holes)
    store = write_store(tmp_path / "x", ArraySource(X, missing=-128))
    one, other = StreamedDesign(store), DenseDesign(whole)
    np.testing.assert_allclose(one.gram(), other.gram(), **CLOSE)
    np.testing.assert_allclose(one.rows([1, 2]).gram(), other.rows([1, 2]).gram(), **CLOSE)


def test_a_stopped_pass_ends_at_the_next_block():
    seen: list[float] = []

    def on_block(passes: float) -> None:
        seen.append(passes)
        design.stop.set()

    design = StreamedDesign(as_source(np.ones((4, 4000))), memory=1.0, on_block=on_block)
    with pytest.raises(Stopped, match="stopped while"):
        design.correlate(np.ones(4))
    assert len(seen) == 1
    assert not [one for one in threading.enumerate() if one.name.startswith("hipad-read")]

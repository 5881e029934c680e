from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from hipad import datasets as samples
from hipad.datasets import SAMPLES, load_sample, read_sample
from hipad.exceptions import DataError


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_complete(name):
    sample = load_sample(name)
    assert sample.X.shape == (sample.y.size, len(sample.feature_names))
    assert np.isfinite(sample.X).all()
    assert not sample.X.flags.writeable
    assert len(set(sample.feature_names)) == len(sample.feature_names)
    assert sample.positive in sample.y
    assert "=>" in sample.rules
    assert sample.source
    assert sample.licence
    assert (samples.FOLDER / name / "LICENSE").stat().st_size > 1_000
    assert list(sample.frame().columns) == list(sample.feature_names)


@pytest.mark.parametrize("name", SAMPLES)
def test_blocks_point_at_the_features_named_in_the_file(name):
    sample = load_sample(name)
    written = json.loads((samples.FOLDER / name / "blocks.json").read_text("utf-8"))
    read = {b: [sample.feature_names[j] for j in idx] for b, idx in sample.blocks.items()}
    assert read == written


def test_all_bcrabl_has_the_79_patients_and_an_informative_abl1_block():
    sample = load_sample("all-bcrabl")
    assert sample.X.shape == (79, 12_625)
    assert sample.X.dtype == np.float32
    assert Counter(sample.y.tolist()) == {"BCR/ABL": 37, "NEG": 42}
    abl1 = sample.X[:, sample.blocks["ABL1"]].mean(axis=1)
    assert abl1[sample.y == "BCR/ABL"].mean() > abl1[sample.y == "NEG"].mean() + 0.8
    assert (sample.y[abl1 >= 9.5] == "BCR/ABL").mean() > 0.9


def test_pima_has_768_patients_and_says_what_was_filled_in():
    sample = load_sample("pima")
    assert sample.X.shape == (768, 8)
    assert Counter(sample.y.tolist()) == {"healthy": 500, "diabetic": 268}
    glucose = sample.X[:, sample.feature_names.index("Glucose")]
    assert glucose.min() > 0
    assert "median" in sample.description
    assert "Insulin 374" in sample.description


def test_pima_rules_fire_as_in_the_literature():
    table = load_sample("pima").frame()
    y = load_sample("pima").y
    high = (table["Glucose"] >= 126) & (table["BMI"] >= 30)
    low = (table["Glucose"] <= 100) & (table["BMI"] <= 25)
    assert abs(high.sum() - 216) <= 5
    assert (y[high] == "diabetic").mean() > 0.68
    assert (y[low] == "healthy").all()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_numbers_are_those_of_the_file_where_it_has_any(name):
    file, sample = read_sample(name), load_sample(name)
    known = np.isfinite(file.table.numbers)
    assert sample.feature_names == file.feature_names
    assert (sample.X[known] == file.table.numbers[known]).all()
    assert (sample.y == file.table.as_text(file.label)).all()


def test_an_unknown_or_absent_sample_is_a_clear_error(monkeypatch, tmp_path):
    with pytest.raises(DataError, match="expected a sample of all-bcrabl, pima"):
        load_sample("iris")
    monkeypatch.setattr(samples, "FOLDER", tmp_path)
    with pytest.raises(DataError, match="install the package again"):
        load_sample("pima")

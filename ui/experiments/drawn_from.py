"""The data set of the session as the material of experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hipad.data import MissingValues
from hipad.experiments.methods import ExperimentData, rules_for
from hipad.utils import IntArray
from ui.dataset import Dataset
from ui.models import signs
from ui.state import AppState


def everybody(state: AppState) -> ExperimentData:
    """All patients whose class is known.

    Test patients from a file of their own, or of a synthetic sample, are never learnt from: each
    draw takes some of the training patients, and is judged on the test patients.
    """
    data = _data(state)
    assert state.preparation is not None
    apart = state.preparation.test == "file"
    key = (data, state.rules.text, "all")
    return state.remember("material of all", key, lambda: _all(data, state.rules.text, apart))


def training(state: AppState) -> ExperimentData:
    """The training patients alone, for whatever chooses something; and who belongs together."""
    data = _data(state)
    key = (data, state.rules.text)
    return state.remember(
        "training material",
        key,
        lambda: _material(
            data,
            data.X_train,
            signs(data.y_train, data),
            state.rules.text,
            groups=data.groups_train,
            gaps=data.gaps_train,
        ),
    )


def options_of(state: AppState) -> dict[str, Any]:
    """What of the settings of a run is taken over: everything else is at its default."""
    return {} if state.settings.standardize else {"standardize": False}


def _data(state: AppState) -> Dataset:
    assert state.data is not None
    return state.data


def _all(data: Dataset, rules: str, apart: bool) -> ExperimentData:
    if data.X_test is None or data.y_test is None or not len(data.y_test):
        y = signs(data.y_train, data)
        X, groups, gaps = data.X_train, data.groups_train, data.gaps_train
        return _material(data, X, y, rules, groups=groups, gaps=gaps)
    y = np.concatenate([signs(data.y_train, data), signs(data.y_test, data)])
    n = len(data.y_train)
    split = (np.arange(n), np.arange(n, y.size))
    X = _stacked(data.X_train, data.X_test)
    groups = data.groups_train
    if groups is not None:
        tested = data.groups_test
        if tested is None or apart:  # test rows of a file of their own are of other patients
            own = np.arange(y.size - n) if tested is None else tested
            tested = groups.max() + 1 + own
        groups = np.r_[groups, tested]
    gaps = MissingValues.stacked([(data.gaps_train, n), (data.gaps_test, y.size - n)])
    known: dict[str, Any] = {"split": split if apart else None, "groups": groups, "gaps": gaps}
    return _material(data, X, y, rules, apart=apart, **known)


def _stacked(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, second]))
    return np.vstack([first, second])


def _material(
    data: Dataset,
    X: Any,
    y: Any,
    rules: str,
    *,
    split: tuple[IntArray, IntArray] | None = None,
    groups: IntArray | None = None,
    apart: bool = False,
    gaps: MissingValues | None = None,
) -> ExperimentData:
    X = X.tocsr() if sparse.issparse(X) else X
    return ExperimentData(
        data.name,
        X,
        y,
        tuple(data.feature_names),
        dict(data.blocks),
        rules_for(rules, data.index, data.blocks, data.classes, data.lexicon.values),
        split,
        data.classes,
        groups,
        apart,
        gaps,
    )

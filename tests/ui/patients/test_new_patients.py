from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hipad.data import Table
from hipad.estimator.model_io import read_model
from hipad.evaluation.new_rows import recalibrated
from hipad.exceptions import DataError
from tests.ui.pima import fitted
from ui.models import model_file
from ui.patients.new_patients import answered, scored, unusual


def source():
    state, model = fitted()
    return state.loaded.table, state.data, model


def changed(table, names=None, numbers=None, text=None):
    return Table(
        table.numbers.copy() if numbers is None else numbers,
        table.number_names if names is None else names,
        dict(table.text) if text is None else text,
        "new",
        sha256="new",
    )


def used(model, data):
    return data.index.name(int(model.support[0]))


def test_answers_are_those_of_the_model_on_the_prepared_rows():
    table, data, model = source()
    found = answered(table, model, data)
    X, rows = data.recipe.matrix(table, np.arange(table.n_rows))
    place = {int(row): k for k, row in enumerate(found.rows)}
    same = [place[int(row)] for row in rows]
    assert np.allclose(found.scores[same], model.scores(X), rtol=0, atol=1e-12)
    assert np.allclose(found.risks, model.oriented.risks(found.scores))
    columns = found.columns(data.classes)
    assert columns["answer"] == [data.classes[int(score > 0)] for score in found.scores]
    assert found.known == 1.0
    assert "age" not in " ".join(unusual(found, data)).lower().split()


def test_columns_are_found_by_name_in_any_order_among_others():
    table, data, model = source()
    order = np.random.default_rng(0).permutation(len(table.number_names))
    wide = np.column_stack([table.numbers[:, order], np.arange(table.n_rows)])
    names = (*(table.number_names[j] for j in order), "height")
    found = answered(changed(table, names, wide), model, data)
    assert np.allclose(found.scores, answered(table, model, data).scores)
    assert found.unknown == ("height",)
    assert "height" in "\n".join(unusual(found, data))


def test_a_column_with_a_weight_that_is_missing_is_named_and_others_are_not_needed():
    table, data, model = source()
    name = used(model, data)
    keep = [j for j, one in enumerate(table.number_names) if one != name]
    names = tuple(table.number_names[j] for j in keep)
    with pytest.raises(DataError, match=name):
        answered(changed(table, names, table.numbers[:, keep]), model, data)
    idle = [one for j, one in enumerate(data.index.names) if j not in set(model.support.tolist())]
    if idle:
        keep = [j for j, one in enumerate(table.number_names) if one != idle[0]]
        names = tuple(table.number_names[j] for j in keep)
        found = answered(changed(table, names, table.numbers[:, keep]), model, data)
        assert found.unneeded == (idle[0],)


def test_values_beyond_training_and_shifted_columns_are_named():
    table, data, model = source()
    name = used(model, data)
    numbers = table.numbers.copy()
    numbers[:, table.number_names.index(name)] *= 3
    found = answered(changed(table, numbers=numbers), model, data)
    column = int(model.support[0])
    assert column in [one.column for one in found.beyond]
    assert column in [one.column for one in found.shifted]
    words = "\n".join(unusual(found, data))
    assert f"{name}:" in words
    assert f"{name} is distributed otherwise" in words
    assert found.known < 0.5


def test_labels_give_figures_and_rows_without_one_do_not_count():
    table, data, model = source()
    labels = table.as_text(data.label).astype(object)
    labels[:100] = ""
    found = answered(changed(table, text={**table.text, data.label: labels}), model, data)
    rows = scored(found, model, data)
    assert len(rows) == np.count_nonzero(found.truth != "") < len(found.rows)
    right = (found.scores > 0) == (found.truth == data.classes[1])
    assert rows.measure("accuracy").value == pytest.approx(right[found.labelled].mean())


def test_a_recalibrated_model_is_a_new_one_that_can_be_saved(tmp_path):
    table, data, model = source()
    found = answered(table, model, data)
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(len(found.rows)) < 0.5 * found.risks, *data.classes[::-1])
    clf, told = recalibrated(model.classifier, found.X, truth)
    assert told.kind != "none"
    assert clf is not model.classifier
    path = tmp_path / "m.json"
    path.write_text(model_file(replace(model, classifier=clf), data))
    assert json.loads(path.read_text())
    again = read_model(path).classifier
    own = clf.predict_proba(found.X[:20].toarray())
    assert np.allclose(again.predict_proba(found.X[:20].toarray()), own)
    before = model.oriented.risks(found.scores)
    assert np.array_equal(before, found.risks), "the present model stays as it is"

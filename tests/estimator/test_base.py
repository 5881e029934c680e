"""What the classifiers take as rows, labels and weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

from hipad import HIPADClassifier, HIPADClassifierCV
from hipad.estimator.base import TableClassifier
from hipad.exceptions import DataError

ROWS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])


def labelled(X=ROWS, y=("b", "a", "b"), weights=None):
    clf = TableClassifier()
    return clf, clf._labelled(X, list(y), weights)


@pytest.mark.parametrize("classifier", [HIPADClassifier, HIPADClassifierCV])
def test_scikit_learn_knows_that_classes_may_be_several_and_rows_sparse(classifier):
    tags = get_tags(classifier())
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


def test_labels_become_classes_and_their_positions():
    clf, rows = labelled()
    assert clf.classes_.tolist() == ["a", "b"]
    assert clf.n_features_in_ == 2
    assert rows.codes.tolist() == [1, 0, 1]
    assert rows.y.tolist() == ["b", "a", "b"]
    assert rows.weights.tolist() == [1.0, 1.0, 1.0]


def test_single_precision_and_compressed_forms_stay_as_they_are():
    assert labelled(ROWS.astype(np.float32))[1].X.dtype == np.float32
    assert labelled(sp.csc_array(ROWS))[1].X.format == "csc"
    assert labelled(sp.coo_array(ROWS))[1].X.format == "csr"


def test_a_weight_below_zero_and_a_class_without_weight_are_refused():
    with pytest.raises(ValueError, match="Negative"):
        labelled(weights=[1.0, -1.0, 1.0])
    with pytest.raises(DataError, match="two classes"):
        labelled(weights=[1.0, 0.0, 1.0])


def test_rows_to_predict_have_the_columns_of_the_fit():
    clf, _ = labelled(pd.DataFrame(ROWS, columns=["g", "h"]))
    assert clf._rows_to_predict(pd.DataFrame(ROWS, columns=["g", "h"])).shape == (3, 2)
    with pytest.raises(ValueError, match="feature names"):
        clf._rows_to_predict(pd.DataFrame(ROWS, columns=["h", "g"]))
    bare, _ = labelled()
    with pytest.raises(ValueError, match="3 features"):
        bare._rows_to_predict(np.ones((1, 3)))

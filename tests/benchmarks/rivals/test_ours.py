import numpy as np

from benchmarks.rivals.ours import UNWEIGHTED, Hipad, TunedHipad
from hipad import HIPADClassifier


def test_it_is_the_classifier_in_the_users_units(parted):
    X, y = parted
    settings = {"lambda1": 0.1, **UNWEIGHTED}
    own = Hipad(settings=settings).fit(X, y)
    theirs = HIPADClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(own.scores(X), theirs.decision_function(X), atol=1e-9)


def test_tuning_tries_a_few_values(parted):
    assert TunedHipad(lambda1=(0.1, 0.4)).fit(*parted).accuracy(*parted) > 0.9

from benchmarks.rivals.sgd import Sgd


def test_more_l1_keeps_fewer_features_and_the_objective_is_near_its_least(parted):
    X, y = parted
    X = X - X.mean(axis=0)
    few, many = Sgd(0.3, 0.01).fit(X, y), Sgd(0.001, 0.01).fit(X, y)
    assert few.support_size < many.support_size
    assert few.objective(X, y, 0.3, 0.01) < many.objective(X, y, 0.3, 0.01)

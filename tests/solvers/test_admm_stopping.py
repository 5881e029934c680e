from types import SimpleNamespace

import numpy as np

from hipad.solvers.admm import PaperTest, SupportTest


def sweep(entered=(), left=(), flipped=0, change=0.0, norm=1.0, primal=0.0):
    shift = SimpleNamespace(
        entered=np.array(entered), left=np.array(left), flipped=flipped, change=change, norm=norm
    )
    return SimpleNamespace(shift=shift, primal=primal)


def test_the_support_must_rest_for_some_sweeps():
    test = SupportTest(patience=3)
    assert [test.passed(sweep(), 4) for _ in range(3)] == [False, False, True]
    for moved in (sweep(entered=[1]), sweep(left=[1]), sweep(flipped=1)):
        assert not test.passed(moved, 4)
        assert [test.passed(sweep(), 4) for _ in range(3)] == [False, False, True]


def test_no_features_or_a_moving_solution_are_not_an_end():
    test = SupportTest(patience=1)
    assert not test.passed(sweep(), 0)
    assert not test.passed(sweep(change=0.02), 4)
    assert not test.passed(sweep(primal=0.03), 4)
    assert test.passed(sweep(change=0.005, primal=0.01), 4)


def test_the_papers_test_divides_by_one_at_least():
    weights = iter(np.array([w]) for w in (0.01, 0.019, 0.03, 100.0, 100.9))
    test = PaperTest(lambda: next(weights))
    assert [test.passed(sweep(), 9) for _ in range(5)] == [False, True, False, False, True]

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hipad.solvers.solution import single_thread


def blas_threads():
    np.eye(2) @ np.eye(2)
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_and_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_thread(), single_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_the_limit_is_lifted_after_an_error_too():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyError), single_thread():
            raise KeyError
        assert blas_threads() == before


def test_a_solve_inside_another_does_not_lift_its_limit():
    with threadpool_limits(2, user_api="blas"), single_thread():
        with single_thread():
            pass
        assert set(blas_threads()) == {1}

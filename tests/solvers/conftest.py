"""Solver tests work on small matrices: more BLAS threads than one would only slow them down."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    with threadpool_limits(1):
        yield

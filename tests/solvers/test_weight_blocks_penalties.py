import numpy as np
import pytest
from scipy.linalg import LinAlgError, cho_solve

from hipad.solvers.weight_blocks import Penalties, bu_block, factorised
from tests.oracles import random_problem
from tests.solvers.problems import to_problem

MU = Penalties(hinge=0.3, w=0.5, slack=0.7, u=1.1)


@pytest.mark.parametrize("conditions", [(), (1,), (2, 3)])
def test_the_corner_is_the_hessian_in_b_and_u(conditions):
    """Second differences of the quadratic that the first block minimises, at w = 0."""
    problem = to_problem(random_problem(4, conditions=conditions))
    stack, size = problem.stack, 1 + problem.stack.n_rows

    def quadratic(x):
        b, u = x[0], x[1:]
        value = 0.5 * MU.hinge * problem.n_samples * b**2 + 0.5 * u @ stack.curvature @ u
        slack = stack.thresholds @ u - stack.sign * b
        return value + 0.5 * MU.slack * slack @ slack + 0.5 * MU.u * u @ u

    basis = np.eye(size)
    hessian = [[quadratic(p + q) - quadratic(p) - quadratic(q) for q in basis] for p in basis]
    np.testing.assert_allclose(bu_block(problem, MU), hessian, atol=1e-10)


def test_a_matrix_that_rounding_made_singular_is_factorised_all_the_same():
    e = np.full(3, 0.1)
    system = 1e13 * np.outer(e, e) + np.diag([1e-4, 1e-4, -1e-4])
    b = e.copy()
    x = cho_solve(factorised(system.copy()), b)
    np.testing.assert_allclose(system @ x, b, rtol=1e-3)


def test_a_matrix_that_is_clearly_indefinite_is_refused():
    with pytest.raises(LinAlgError):
        factorised(np.array([[1.0, 2.0], [2.0, 1.0]]))

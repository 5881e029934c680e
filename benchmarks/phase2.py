"""Phase 2 against general QP solvers: the SVM with two rules on features that are known.

rows x features in {200, 500} x {200, 500, 2,000}; each solver in the better of its forms:

dual    alpha, u:  1/2 alpha'Z H Z'alpha + 1/2 u'S u - e'alpha, boxes and a few rows; dense
primal  w, b, u, xi: the features as they are, one row a sample; sparse

Forming either is counted. One function that knows none of the solvers takes w and u, finds the best
b and gives the objective; the excess is over the least one found. A solver that is not installed is
left out with a note (`requirements-bench.txt`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from benchmarks.machine import described
from benchmarks.reporting import Options, progress, table, timed, verdict
from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s
from hipad.solvers.interior_point import InteriorPoint, Lifted
from hipad.solvers.problem import Problem

CELLS: Final = [(n, k) for n in (200, 500) for k in (200, 500, 2000)]
PRECISE: Final = 1e-9
GOAL: Final = 1.1
LAMBDA2: Final = 0.01  # small enough that samples lie on all sides of the margin
REPEATS: Final = 5
SLOW: Final = 20.0  # seconds of one solution, after which it is not repeated


class Point(NamedTuple):
    """Weights and multipliers of rules."""

    w: np.ndarray
    u: np.ndarray


class DualForm:
    """min 1/2 x'Px + q'x, lower <= Ax <= upper, low <= x <= high; x = (alpha, u)."""

    def __init__(self, lifted: Lifted, caps: np.ndarray) -> None:
        n, h = lifted.n, 1.0 / lifted.ridge
        K, rules = lifted.C.shape[0], len(caps) - n
        self.Zh, self.hC, self.size = lifted.Z * h, h * lifted.C, len(caps)
        S = lifted.curvature - self.hC @ lifted.C.T
        self.P = np.zeros((len(caps) + K, len(caps) + K))
        self.P[:n, :n] = self.Zh @ lifted.Z.T
        self.P[len(caps) :, len(caps) :] = S
        self.q = np.r_[-np.ones(len(caps)), np.zeros(K)]
        self.A = np.zeros((1 + K, len(caps) + K))
        self.A[0, : len(caps)] = lifted.labels
        self.A[1:, :n] = self.hC @ lifted.Z.T
        self.A[1:, n : n + rules] = lifted.thresholds.T
        self.A[1:, n + rules :] = S
        self.lower, self.upper = np.zeros(1 + K), np.r_[0.0, np.full(K, np.inf)]
        self.low = np.r_[np.zeros(len(caps)), np.full(K, -np.inf)]
        self.high = np.r_[caps, np.full(K, np.inf)]
        self.n = n

    def point(self, x: np.ndarray) -> Point:
        """From a solution to weights."""
        alpha, u = x[: self.size], np.maximum(x[self.size :], 0.0)
        return Point(self.Zh.T @ alpha[: self.n] - u @ self.hC, u)


class PrimalForm:
    """The same kind of problem in (w, b, u, xi), all sparse."""

    def __init__(self, lifted: Lifted, caps: np.ndarray) -> None:
        k, K, rows, n = lifted.ridge.size, lifted.C.shape[0], len(caps), lifted.n
        self.k, self.K = k, K
        quadratic = sp.block_array(
            [[sp.diags_array(lifted.ridge), None, sp.csc_array(lifted.C.T)],
             [None, sp.csc_array((1, 1)), None],
             [sp.csc_array(lifted.C), None, sp.csc_array(lifted.curvature)]]
        )  # fmt: skip
        self.P = sp.csc_array(sp.block_diag([quadratic, sp.csc_array((rows, rows))]))
        self.q = np.r_[np.zeros(k + 1 + K), caps]
        margins = sp.block_array(
            [[sp.csc_array(lifted.Z), None], [None, sp.csc_array(-lifted.thresholds)]]
        )
        b = sp.csc_array(lifted.labels[:, None])
        margins = sp.csc_array(margins)
        self.A = sp.csc_array(sp.hstack([margins[:, :k], b, margins[:, k:], sp.eye_array(rows)]))
        self.lower, self.upper = np.ones(rows), np.full(rows, np.inf)
        self.low = np.r_[np.full(k + 1, -np.inf), np.zeros(K + rows)]
        self.high = np.full(self.low.size, np.inf)
        self.n = n

    def point(self, x: np.ndarray) -> Point:
        """From a solution to weights."""
        return Point(x[: self.k], np.maximum(x[self.k + 1 : self.k + 1 + self.K], 0.0))


Form = DualForm | PrimalForm


def objective(lifted: Lifted, caps: np.ndarray, at: Point) -> float:
    """The primal objective at the best b: the one checker."""
    w, u = at
    rest = lifted.rows(w, 0.0, u)
    smooth = 0.5 * lifted.ridge @ w**2 + u @ lifted.C @ w + 0.5 * u @ lifted.curvature @ u

    def hinge(b: float) -> float:
        return float(caps @ np.maximum(1.0 - rest - lifted.labels * b, 0.0))

    signed = lifted.labels != 0
    kinks = (1.0 - rest[signed]) / lifted.labels[signed]  # convex, and linear between these
    kinks.sort()
    low, high = 0, kinks.size - 1
    while low < high:
        middle = (low + high) // 2
        if hinge(kinks[middle]) <= hinge(kinks[middle + 1]):
            high = middle
        else:
            low = middle + 1
    return float(smooth + hinge(kinks[low]))


# --------------------------------------------------------------------------------------------------
# The solvers, each from a form to x.


def _rows(form: Form) -> tuple[Any, np.ndarray, np.ndarray]:
    """All rows and bounds as one sparse block, for solvers that know no bounds."""
    bounded = np.flatnonzero(np.isfinite(form.low) | np.isfinite(form.high))
    bounds = sp.eye_array(form.q.size, format="csr")[bounded]
    A = sp.csc_array(sp.vstack([sp.csr_array(form.A), bounds]))
    return A, np.r_[form.lower, form.low[bounded]], np.r_[form.upper, form.high[bounded]]


def _cone(form: Form) -> tuple[Any, np.ndarray, int]:
    """A x + s = b with s zero for the first rows, and not negative for the others."""
    A, lower, upper = _rows(form)
    same = lower == upper
    over, under = np.isfinite(upper) & ~same, np.isfinite(lower) & ~same
    parts = [A.tocsr()[same], A.tocsr()[over], -A.tocsr()[under]]
    return (
        sp.csc_matrix(sp.vstack(parts)),
        np.r_[lower[same], upper[over], -lower[under]],
        same.sum(),
    )


def piqp(form: Form) -> np.ndarray:
    import piqp as solver

    dense = isinstance(form, DualForm)
    own = solver.DenseSolver() if dense else solver.SparseSolver()
    own.settings.eps_abs = own.settings.eps_rel = PRECISE
    same = form.lower == form.upper
    A, P = form.A, form.P
    rest = ~same
    low, high = (np.clip(side, -1e30, 1e30) for side in (form.low, form.high))
    lower, upper = (np.clip(side, -1e30, 1e30) for side in (form.lower[rest], form.upper[rest]))
    if dense:
        own.setup(P, form.q, A[same], form.lower[same], A[rest], lower, upper, low, high)
    else:
        P, A = sp.csc_matrix(P), sp.csr_matrix(A)
        parts = sp.csc_matrix(A[same]), sp.csc_matrix(A[rest])
        own.setup(P, form.q, parts[0], form.lower[same], parts[1], lower, upper, low, high)
    own.solve()
    return np.asarray(own.result.x)


def proxqp(form: Form) -> np.ndarray:
    from proxsuite import proxqp as solver

    same = form.lower == form.upper
    n, A = form.q.size, np.asarray(form.A if isinstance(form, DualForm) else form.A.toarray())
    P = np.asarray(form.P if isinstance(form, DualForm) else form.P.toarray())
    own = solver.dense.QP(n, int(same.sum()), int((~same).sum()), True)
    own.settings.eps_abs, own.settings.eps_rel = PRECISE, 0.0
    sides = [np.clip(side, -1e20, 1e20) for side in (form.lower, form.upper, form.low, form.high)]
    own.init(P, form.q, A[same], sides[0][same], A[~same], sides[0][~same], sides[1][~same],
             sides[2], sides[3])  # fmt: skip
    own.solve()
    return np.asarray(own.results.x)


def clarabel(form: Form) -> np.ndarray:
    import clarabel as solver

    A, b, zeros = _cone(form)
    settings = solver.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = PRECISE
    cones = [solver.ZeroConeT(int(zeros)), solver.NonnegativeConeT(int(len(b) - zeros))]
    P = sp.csc_matrix(sp.triu(sp.csc_array(form.P)))
    return np.asarray(solver.DefaultSolver(P, form.q, A, b, cones, settings).solve().x)


def osqp(form: Form) -> np.ndarray:
    import osqp as solver

    A, lower, upper = _rows(form)
    own = solver.OSQP()
    P = sp.csc_matrix(sp.triu(sp.csc_array(form.P)))
    own.setup(P, form.q, sp.csc_matrix(A), lower, upper, verbose=False, eps_abs=1e-6, eps_rel=1e-6,
              max_iter=20_000, polishing=True)  # fmt: skip
    return np.asarray(own.solve().x, dtype=float)


def scs(form: Form) -> np.ndarray:
    import scs as solver

    A, b, zeros = _cone(form)
    data = {"P": sp.csc_matrix(sp.triu(sp.csc_array(form.P))), "A": A, "b": b, "c": form.q}
    cone = {"z": int(zeros), "l": int(len(b) - zeros)}
    own = solver.SCS(data, cone, verbose=False, eps_abs=1e-6, eps_rel=1e-6, max_iters=20_000)
    return np.asarray(own.solve()["x"])


def highs(form: Form) -> np.ndarray:
    import highspy as solver

    own, inf = solver.Highs(), solver.kHighsInf
    own.setOptionValue("output_flag", False)
    own.setOptionValue("threads", 1)
    own.setOptionValue("time_limit", SLOW)
    A, P = sp.csc_matrix(form.A), sp.csc_matrix(sp.tril(sp.csc_array(form.P)))
    n, rows = form.q.size, form.lower.size
    sides = [np.clip(side, -inf, inf) for side in (form.low, form.high, form.lower, form.upper)]
    model = solver.HighsModel()
    lp, hessian = model.lp_, model.hessian_
    lp.num_col_, lp.num_row_ = n, rows
    lp.col_cost_, (lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_) = form.q, sides
    lp.a_matrix_.format_ = solver.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    hessian.dim_, hessian.format_ = n, solver.HessianFormat.kTriangular
    hessian.start_, hessian.index_, hessian.value_ = P.indptr, P.indices, P.data
    own.passModel(model)
    own.run()
    return np.asarray(own.getSolution().col_value)


def cvxopt(form: Form) -> np.ndarray:
    from cvxopt import matrix, solvers, spmatrix

    solvers.options.update(show_progress=False, abstol=PRECISE, reltol=PRECISE, feastol=PRECISE)
    G, h, zeros = _cone(form)
    G = G.tocsr()

    def sparse(M: Any) -> Any:
        M = sp.coo_array(M)
        return spmatrix(M.data, M.row, M.col, M.shape)

    P = matrix(form.P) if isinstance(form, DualForm) else sparse(form.P)
    found = solvers.qp(P, matrix(form.q), sparse(G[zeros:]), matrix(h[zeros:]),
                       *((sparse(G[:zeros]), matrix(h[:zeros])) if zeros else ()))  # fmt: skip
    return np.array(found["x"]).ravel()


Solver = Callable[[Form], np.ndarray]
RIVALS: Final[dict[str, tuple[str, Solver, tuple[type[Form], ...]]]] = {
    "PIQP": ("piqp", piqp, (DualForm, PrimalForm)),
    "ProxQP": ("proxsuite", proxqp, (DualForm,)),
    "Clarabel": ("clarabel", clarabel, (DualForm, PrimalForm)),
    "OSQP": ("osqp", osqp, (DualForm, PrimalForm)),
    "SCS": ("scs", scs, (DualForm, PrimalForm)),
    "HiGHS": ("highspy", highs, (DualForm, PrimalForm)),
    "CVXOPT": ("cvxopt", cvxopt, (DualForm,)),
}


# --------------------------------------------------------------------------------------------------
# The cells.


def problem_of(n: int, k: int, *, dense: bool) -> Problem:
    """Rows of ksvm-s, the 200 features of its blocks and others beside them, its two rules."""
    data = make_ksvm_s("50k", seed=0, n_features=10_000, n_train=max(n, 202), n_test=2)
    keep = np.arange(n) if n == len(data.y_train) else train_test_split(
        np.arange(len(data.y_train)), train_size=n, stratify=data.y_train, random_state=0
    )[0]  # fmt: skip
    own = np.unique(np.concatenate(list(data.blocks.values())))
    others = np.setdiff1d(np.arange(10_000), own)[: k - own.size]
    columns = np.sort(np.r_[own, others])[:k]
    X = np.asarray(data.X_train[keep][:, columns].toarray())
    if dense:
        X = X + np.random.default_rng(0).standard_normal(X.shape)
    blocks = {name: np.searchsorted(columns, each) for name, each in data.blocks.items()}
    clf = HIPADClassifier(
        data.rules,
        blocks=blocks,
        lambda1=1e-4,
        lambda2=LAMBDA2,
        rho=LAMBDA2,
        standardize=False,
        rule_trust=None,
    )
    return clf.fit(X, data.y_train[keep])._model.problem


def run(options: Options) -> str:
    """Seconds of every solver in every cell, ours first, and the best rival over ours."""
    found = [name for name, (module, *_) in RIVALS.items() if importlib.util.find_spec(module)]
    cells = CELLS[:1] if options.quick else CELLS
    rows = []
    for kind in ("sparse", "dense"):
        for n, k in cells:
            rows.append(cell(n, k, found, dense=kind == "dense", repeats=options.count(REPEATS)))
            progress(f"{kind} {n} x {k}: {rows[-1]}")
            rows[-1][0] = f"{kind} {rows[-1][0]}"
    missing = [name for name in RIVALS if name not in found]
    note = f"Not installed, so left out: {', '.join(missing)}.\n\n" if missing else ""
    versions = ", ".join(f"{name} {version(RIVALS[name][0])}" for name in found)
    header = ["rows x features", "ours", *found, "ours / best rival"]
    legend = (
        "Milliseconds of processor time, median (least to largest of the runs) and the relative "
        "excess of the objective; the form is the faster one that ends within 1e-4 of the least."
    )
    return f"{legend}\n\n{note}{table(header, rows)}\n\n{versions}. {described()}"


def cell(n: int, k: int, solvers: list[str], *, dense: bool, repeats: int) -> list[str]:
    """One line of the table."""
    problem = problem_of(n, k, dense=dense)
    features = np.arange(problem.design.shape[1])
    lifted, caps = Lifted(problem, features), problem.rows.weights
    runs: dict[str, tuple[list[float], float]] = {}

    def own() -> Point:
        at = InteriorPoint(problem, features, tolerance=PRECISE).run()
        return Point(at.w, at.u)

    runs["ours"] = measured(own, lambda at: objective(lifted, caps, at), repeats)
    for name in solvers:
        _, solve, forms = RIVALS[name]
        for form in forms:
            if name == "HiGHS" and n > 200:
                continue  # its active-set method takes minutes

            def other(form: type[Form] = form, solve: Solver = solve) -> Point:
                at = form(Lifted(problem, features), caps)
                return at.point(solve(at))

            try:
                runs[f"{name} {form.__name__}"] = measured(
                    other, lambda at: objective(lifted, caps, at), repeats
                )
            except Exception as error:  # a solver that fails is no reason to lose the others
                progress(f"{name} {form.__name__}: {type(error).__name__}: {error}")
    least = min(value for _, value in runs.values())
    excess = {name: (value - least) / abs(least) for name, (_, value) in runs.items()}
    shown = [f"{n} x {k:,}", told(*runs["ours"], least)]
    best = np.inf
    for name in solvers:
        of = [one for one in runs if one.startswith(f"{name} ") and excess[one] < 1e-4]
        if not of:
            shown.append("-")
            continue
        chosen = min(of, key=lambda one: np.median(runs[one][0]))
        best = min(best, float(np.median(runs[chosen][0])))
        form = "dual" if "Dual" in chosen else "primal"
        shown.append(f"{told(*runs[chosen], least)} {form}")
    return [*shown, verdict(float(np.median(runs["ours"][0])) / best, GOAL, at_least=False)]


def measured(
    work: Callable[[], Point], value: Callable[[Point], float], repeats: int
) -> tuple[list[float], float]:
    """Seconds of some runs after a first one, and the objective."""
    at, first = timed(work)
    if first > 1.0:
        return [first], value(at)
    return [timed(work)[1] for _ in range(repeats)], value(at)


def told(seconds: list[float], value: float, least: float) -> str:
    """Median, spread and excess."""
    ms = 1e3 * np.array(seconds)
    excess = (value - least) / abs(least)
    return f"{np.median(ms):.1f} ({ms.min():.1f} to {ms.max():.1f}); {excess:.0e}"

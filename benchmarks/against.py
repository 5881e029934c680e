"""The linear SVM against everything a user would pick instead, on ksvm-s-50k and on few rows.

Four questions, each rival with the problem that it solves:

same     the SVM of SVC, C = 1 (no rules, no l1): one checker gives every model's objective at its
         best intercept, and the excess over the least
sparse   models with few features, each by its own penalty, at one strength
net      the elastic net of hinge losses: SGD and ReHLine solve it too
choice   16 x 12,625 and 40 x 12,000, all defaults, five folds for those that are told how many

Every rival runs in a process of its own: a first fit (compilers, caches), then the fits that are
timed; the peak is what these added. A rival that is not installed is left out with a note.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.data import ROOT
from benchmarks.machine import described
from benchmarks.memory import megabytes, reset_peak
from benchmarks.reporting import Options, progress, table, timed
from benchmarks.rivals.base import LinearModel, linear_model
from hipad import HIPADClassifier
from hipad.datasets import make_ksvm_s

LAMBDA1: Final = 0.08
NET: Final = (0.05, 1.0)  # lambda1, lambda2
FOLDS: Final = 5
LONG: Final = 5.0  # seconds of one fit, after which it is not repeated
TIMEOUT: Final = 900


class Rival(NamedTuple):
    """A question, the package it needs, and a fit; None: no linear model to check."""

    question: str
    package: str | None
    fit: Callable[[Any, np.ndarray], LinearModel | None]


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def _of_weights(w: Any, y: np.ndarray, b: float = 0.0) -> LinearModel:
    return LinearModel(np.asarray(w, dtype=float).ravel(), float(b), np.unique(y))


def ours(X: Any, y: np.ndarray) -> LinearModel:
    """HIPAD-ENK with its rules, as the acceptance figures ask for it."""
    data = make_ksvm_s("50k", seed=0, n_features=X.shape[1], n_test=2)
    clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=LAMBDA1, standardize=False)
    return linear_model(clf.fit(X, y))


def ours_scaled(X: Any, y: np.ndarray) -> LinearModel:
    """The same with columns standardised, the default."""
    data = make_ksvm_s("50k", seed=0, n_features=X.shape[1], n_test=2)
    clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=LAMBDA1)
    return linear_model(clf.fit(X, y))


def ours_net(X: Any, y: np.ndarray) -> LinearModel:
    lambda1, lambda2 = NET
    clf = HIPADClassifier(
        lambda1=lambda1, lambda2=lambda2, standardize=False, method="exact", class_weight=None,
        selection={"calibrate": False},
    )  # fmt: skip
    return linear_model(clf.fit(X, y))


def ours_chosen(X: Any, y: np.ndarray) -> LinearModel:
    return linear_model(HIPADClassifier().fit(X, y))


def svc(X: Any, y: np.ndarray) -> LinearModel:
    from sklearn.svm import SVC

    return linear_model(SVC(kernel="linear").fit(X, y))


def svc_gram(X: Any, y: np.ndarray) -> LinearModel:
    from sklearn.svm import SVC

    gram = X @ X.T
    fitted = SVC(kernel="precomputed").fit(gram.toarray() if hasattr(gram, "toarray") else gram, y)
    w = X[fitted.support_].T @ fitted.dual_coef_.ravel()
    return _of_weights(w, y, fitted.intercept_[0])


def linear_svc(tol: float) -> Callable[[Any, np.ndarray], LinearModel]:
    def fit(X: Any, y: np.ndarray) -> LinearModel:
        from sklearn.svm import LinearSVC

        own = LinearSVC(loss="hinge", dual=True, tol=tol, max_iter=100_000, random_state=0)
        return linear_model(own.fit(X, y))

    return fit


def linear_svc_l1(X: Any, y: np.ndarray) -> LinearModel:
    from benchmarks.rivals import Liblinear

    return Liblinear(C=1.0).fit(X, y)


def snap(X: Any, y: np.ndarray) -> LinearModel:
    from snapml import SupportVectorMachine

    own = SupportVectorMachine(loss="hinge", fit_intercept=True, regularizer=1.0, tol=1e-5)
    own.fit(sp.csr_matrix(X), _signs(y))
    return _of_weights(np.ravel(own.coef_)[: X.shape[1]], y)


def rehline(lambda1: float, lambda2: float) -> Callable[[Any, np.ndarray], LinearModel]:
    """With lambda1 = 0 it is the SVM with C = 1; it has no l1, so then each sign is a feature."""

    def fit(X: Any, y: np.ndarray) -> LinearModel:
        from rehline import plqERM_ElasticNet, plqERM_Ridge

        X, signs = np.asarray(X.toarray() if hasattr(X, "toarray") else X), _signs(y)
        X = np.column_stack([X, np.ones(len(y))])
        if lambda1 == 0:
            own = plqERM_Ridge(loss={"name": "svm"}, C=1.0, max_iter=100_000)
        else:
            total = lambda1 + lambda2
            own = plqERM_ElasticNet(
                loss={"name": "svm"}, C=1.0 / (total * len(y)), l1_ratio=lambda1 / total,
                max_iter=100_000,
            )  # fmt: skip
        own.fit(X=X, y=signs)
        return _of_weights(own.coef_[:-1], y, own.coef_[-1])

    return fit


def sgd(X: Any, y: np.ndarray) -> LinearModel:
    from benchmarks.rivals import Sgd

    return Sgd(*NET).fit(X, y)


def celer(X: Any, y: np.ndarray) -> LinearModel:
    from celer import LogisticRegression

    largest = float(np.abs(X.T @ _signs(y)).max()) / 2
    return linear_model(LogisticRegression(C=10.0 / largest, tol=1e-6).fit(X, y))


def skglm(X: Any, y: np.ndarray) -> LinearModel:
    from skglm import SparseLogisticRegression

    largest = float(np.abs(X.T @ _signs(y)).max()) / 2 / len(y)
    own = SparseLogisticRegression(alpha=largest / 10.0, tol=1e-6)
    return linear_model(own.fit(X.tocsc() if hasattr(X, "tocsc") else X, y))


def logistic_cv(X: Any, y: np.ndarray) -> LinearModel:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    own = LogisticRegressionCV(cv=FOLDS, max_iter=1000, use_legacy_attributes=False)
    return linear_model(make_pipeline(StandardScaler(), own).fit(X, y)[-1])


def grid_svc(X: Any, y: np.ndarray) -> LinearModel:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    own = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    grid = GridSearchCV(own, {"svc__C": 10.0 ** np.arange(-5, 3)}, cv=FOLDS)
    return linear_model(grid.fit(X, y).best_estimator_[-1])


def adelie(X: Any, y: np.ndarray) -> None:
    import adelie as ad

    X = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    ad.cv_grpnet(X, ad.glm.binomial(np.where(_signs(y) > 0, 1.0, 0.0)), n_folds=FOLDS)


RIVALS: Final[dict[str, Rival]] = {
    "ours, with two rules": Rival("sparse", None, ours),
    "ours, with two rules, standardised": Rival("sparse", None, ours_scaled),
    "LinearSVC, l1 and squared hinge": Rival("sparse", None, linear_svc_l1),
    "celer, l1 logistic": Rival("sparse", "celer", celer),
    "skglm, l1 logistic": Rival("sparse", "skglm", skglm),
    "SVC": Rival("same", None, svc),
    "SVC on a precomputed Gram matrix": Rival("same", None, svc_gram),
    "LinearSVC dual hinge, tol 1e-4": Rival("same", None, linear_svc(1e-4)),
    "LinearSVC dual hinge, tol 1e-8": Rival("same", None, linear_svc(1e-8)),
    "Snap ML": Rival("same", "snapml", snap),
    "ReHLine": Rival("same", "rehline", rehline(0.0, 1.0)),
    "ours, exact elastic net": Rival("net", None, ours_net),
    "SGDClassifier": Rival("net", None, sgd),
    "ReHLine, elastic net": Rival("net", "rehline", rehline(*NET)),
    "ours, all defaults": Rival("choice", None, ours_chosen),
    "LogisticRegressionCV": Rival("choice", None, logistic_cv),
    "GridSearchCV over SVC": Rival("choice", None, grid_svc),
    "adelie, lasso logistic": Rival("choice", "adelie", adelie),
}
FEW: Final = ((16, 12_625), (40, 12_000))


def few_rows(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of noise, with five columns that tell the classes apart."""
    X, y = np.random.default_rng(0).standard_normal((n, m)), np.arange(n) % 2
    X[:, :5] += 1.5 * y[:, None]
    return X, y


def best_objective(X: Any, y: np.ndarray, model: LinearModel, question: str) -> float:
    """The objective of a model at its best intercept: the one checker."""
    signs, rest = _signs(y), np.asarray(X @ model.w).ravel()
    kinks = signs - rest
    hinge = min(float(np.maximum(1.0 - signs * (rest + b), 0.0).sum()) for b in kinks)
    if question == "same":
        return float(0.5 * model.w @ model.w + hinge)
    lambda1, lambda2 = NET
    own = lambda1 * np.abs(model.w).sum() + 0.5 * lambda2 * model.w @ model.w
    return float(own + hinge / len(y))


def measure(name: str, n: int, m: int, repeats: int) -> dict[str, Any]:
    """Fit in this process: seconds of each run, memory at the peak, and what the checker says."""
    warnings.simplefilter("ignore")
    question, _, fit = RIVALS[name]
    if question == "choice":
        X, y = few_rows(n, m)
    else:
        data = make_ksvm_s("50k", seed=0, n_features=m, n_test=2)
        X, y = data.X_train, data.y_train
    with threadpool_limits(limits=1):
        model, first = timed(lambda: fit(X, y))
        reset_peak()
        before = megabytes("VmRSS")
        again = 1 if first > LONG else repeats
        seconds = [timed(lambda: fit(X, y))[1] for _ in range(again)]
        added = megabytes("VmHWM") - before
    value = None
    if model is not None and question in ("same", "net"):
        value = best_objective(X, y, model, question)
    support = None if model is None else model.support_size
    return {"seconds": seconds, "added": added, "objective": value, "support": support}


def in_own_process(name: str, n: int, m: int, repeats: int) -> dict[str, Any] | str:
    """The same in a fresh process; the last line of its error where it fails."""
    command = [sys.executable, "-m", "benchmarks.against", name, str(n), str(m), str(repeats)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"more than {TIMEOUT} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no answer"])[-1][:80]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(options: Options) -> str:
    """A table for each question."""
    m, repeats = (10_000 if options.quick else 50_000), options.count(5, 2)
    there = [n for n, one in RIVALS.items() if not one.package or _is_there(one.package)]
    parts = []
    titles = {
        "sparse": f"Sparse models of ksvm-s, 500 x {m:,}, each by its own penalty:",
        "same": f"The SVM of SVC at C = 1, 500 x {m:,} (no rules, no l1):",
        "net": "The elastic net of hinge losses on the same rows:",
    }
    base: float | None = None
    for question, title in titles.items():
        names = [name for name in there if RIVALS[name].question == question]
        found = {name: in_own_process(name, 0, m, repeats) for name in names}
        progress(f"{question}: {found}")
        if base is None:
            first = found[names[0]]
            base = float(np.median(first["seconds"])) if isinstance(first, dict) else None
        own = base if question != "net" else None
        parts.append(f"{title}\n\n{told(found, own)}")
    names = [name for name in there if RIVALS[name].question == "choice"]
    for n, width in FEW[:1] if options.quick else FEW:
        found = {name: in_own_process(name, n, width, repeats) for name in names}
        progress(f"{n} x {width}: {found}")
        title = f"Everything chosen from the data, {n} x {width:,}, {FOLDS} folds for the others:"
        parts.append(f"{title}\n\n{told(found, None)}")
    missing = sorted({one.package for n, one in RIVALS.items() if n not in there and one.package})
    note = f" Not installed, so left out: {', '.join(missing)}." if missing else ""
    packages = sorted({p for n in there if (p := RIVALS[n].package)})
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return "\n\n".join([*parts, f"{versions}. {described()}{note}"])


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def told(found: dict[str, dict[str, Any] | str], base: float | None) -> str:
    """One line a rival; times are over `base`, or over the first line."""
    rows = []
    values = [one["objective"] for one in found.values() if isinstance(one, dict)]
    known = [value for value in values if value is not None]
    least = min(known) if known else None
    for name, one in found.items():
        if isinstance(one, str):
            rows.append([name, one, "", "", "", ""])
            continue
        s = np.array(one["seconds"])
        base = float(np.median(s)) if base is None else base
        excess = "another problem"
        if one["objective"] is not None and least is not None:
            excess = f"{(one['objective'] - least) / abs(least):.0e}"
        rows.append([
            name, f"{np.median(s):.3f} ({s.min():.3f} to {s.max():.3f})",
            f"{np.median(s) / base:.2f}", excess, one["support"] or "-", f"{one['added']:.0f} MB",
        ])  # fmt: skip
    header = ["solver", "seconds, median (least to largest)", "times ours", "excess", "features",
              "memory added"]  # fmt: skip
    return table(header, rows)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *map(int, sys.argv[2:5]))))

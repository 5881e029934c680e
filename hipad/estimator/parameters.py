"""The classifier's parameters: what each may be, and what one fit takes from them."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, Final

import numpy as np

from hipad.estimator.calibration import check_prevalence
from hipad.exceptions import HipadError
from hipad.rules import CompiledRule, RuleSet
from hipad.rules.compiler import CompiledPrior, ExpertKnowledge, SignConstraints
from hipad.solvers import AdmmSettings, Certificate, Settings
from hipad.solvers.hipad import ENGINES
from hipad.solvers.losses import HINGE, LOSSES, Loss
from hipad.solvers.problem import Scope
from hipad.solvers.weight_blocks import Penalties

# --------------------------------------------------------------------------------------------------
# What is kept of a candidate after the fit.


@dataclass(frozen=True)
class MemberRecord:
    """A candidate of a fitted model: its rule weights in rows, probabilities and certificate.

    `on_rows` says that the weights are spread over unlabelled rows. `loss` is the mean log loss of
    held-out rows (NaN where none was held out), `cut` the decision value at which they tell the
    classes apart, which is the zero of the model; None where they have no say in it. `among` are
    the only features that data alone may give a weight to; None for all.
    """

    weights: tuple[float | None, ...]
    prior: float
    posterior: float
    share: float
    loss: float
    lambda1: float
    lambda2: float
    support_size: int
    certificate: Certificate | None
    on_rows: bool = False
    cut: float | None = None
    among: tuple[int, ...] | None = None


# --------------------------------------------------------------------------------------------------
# The classifier's parameters: what each may be, in which words, and what one fit takes from them.
#
# This is the one vocabulary of methods, engines, scopes and switches: the classifier checks against
# it, the command line offers it, and the app shows its words. Where a parameter cannot be used, a
# sentence says what was expected and what came.


# A parameter that takes one of some words: each word with what it means to a reader.
CHOICES: Final[dict[str, Mapping[str, str]]] = {
    "scope": {
        "population": "all patients in its range",
        "typical": "typical patients only",
    },
    "method": {
        "auto": "The fastest certified way to the optimum of HIPAD-ENK",
        "hipad": "HIPAD-ENK: ADMM finds the features, then an interior point fits them",
        "admm": "ADMM only: phase 1 to convergence",
        "exact": "Exact: certified over all features",
    },
    "engine": {name: engine.words for name, engine in ENGINES.items()},
    "loss": {name: loss.words for name, loss in LOSSES.items()},
    "switch": {"support": "features have settled", "paper": "the paper's test"},
}
SPARSE: Final = "sparse"  # lambda1: the fewest features within one standard error of the best
# A parameter that is a number: words that it takes as well, and its smallest value.
WORDS: Final = {
    "lambda1": ("auto", SPARSE),
    "lambda2": ("auto",),
    "patients": ("auto", "equal"),
    "stiffness": ("auto",),
    "mu": ("auto",),
}
SMALLEST: Final = {
    "lambda1": (0.0, "at least 0"),
    "patients": (0.0, "at least 0"),
    "stiffness": (0.0, "at least 0"),
    "mu": (1e-12, "above 0 (1e-12 or more)"),
    "lambda2": (1e-12, "above 0 (1e-12 or more)"),
    "tol": (1e-15, "above 0"),
    "max_iter": (1, "at least 1"),
    "max_features": (1, "at least 1"),
    "cv": (2, "at least 2"),
    "random_state": (0, "at least 0"),
    "n_jobs": (-1, "at least 1, or -1 for all processors"),
}
USUAL_RIDGE = 10.0
PRIOR_TRUST = 0.5  # before any row is seen a rule is as likely to help as not
WHOLE = ("max_iter", "max_features", "cv", "random_state", "n_jobs")
MAY_BE_NONE = ("max_features", "cv", "random_state", "n_jobs")


@dataclass(frozen=True)
class FitSettings:
    """The user's parameters of one fit."""

    rules: tuple[CompiledRule, ...]
    lambda1: float | str
    lambda2: float | str
    patients: float | str
    # prior probability that rules belong into the model, or what a fit learnt; None: certain
    rule_trust: float | tuple[MemberRecord, ...] | None
    stiffness: float | str
    scope: Scope
    anchored: bool
    calibrate: bool
    balanced: bool  # each class counts one half
    settings: Settings
    loss: Loss = HINGE
    fastest: bool = False  # whether another solver than the ADMM may find the same features
    statements: tuple[CompiledPrior, ...] = ()
    known: SignConstraints = field(default_factory=SignConstraints)
    written: RuleSet | None = None
    max_features: int | None = None
    cv: int | list[Any] | None = None
    random_state: int | None = None
    n_jobs: int | None = None

    @property
    def is_automatic(self) -> bool:
        """Whether values are to be chosen."""
        return isinstance(self.lambda1, str)

    @property
    def is_sparse(self) -> bool:
        """Whether the fewest features are wished for that are about as good."""
        return self.lambda1 == SPARSE

    @property
    def knowledge(self) -> ExpertKnowledge:
        """Rules and statements of the fit."""
        return ExpertKnowledge(self.rules, self.known, self.statements, self.written)

    def at(self, lambda1: float, lambda2: float) -> FitSettings:
        """The same with given values."""
        return replace(self, lambda1=lambda1, lambda2=lambda2)

    @classmethod
    def of(cls, parameters: Any, knowledge: ExpertKnowledge) -> FitSettings:
        """The plan of a classifier, whose parameters were checked."""
        settings = Settings(
            method="hipad" if parameters.method == "auto" else parameters.method,
            engine=parameters.engine,
            switch=parameters.switch,
            tolerance=parameters.tol,
            max_sweeps=parameters.max_iter,
            admm=admm_settings(parameters.mu),
        )
        return cls(
            rules=knowledge.rules,
            statements=knowledge.statements,
            known=knowledge.features,
            written=knowledge.written,
            lambda1=parameters.lambda1,
            lambda2=_ridge(parameters),
            patients=parameters.patients,
            rule_trust=PRIOR_TRUST if parameters.rule_trust == "auto" else parameters.rule_trust,
            stiffness=parameters.stiffness,
            scope=parameters.scope,
            anchored=bool(parameters.anchored),
            calibrate=parameters.calibrate,
            balanced=parameters.class_weight == "balanced",
            settings=settings,
            loss=LOSSES[parameters.loss],
            fastest=parameters.method == "auto",
            cv=vars(parameters).get("_parts", parameters.cv),
            **{name: getattr(parameters, name) for name in MAY_BE_NONE if name != "cv"},
        )


def is_splits(value: object) -> bool:
    """Whether this may divide rows: a splitter of scikit-learn, or an iterable of splits."""
    if isinstance(value, str | bytes | Mapping | np.ndarray):
        return False
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_pair, value))
    return callable(getattr(value, "split", None)) or isinstance(value, Iterable)


def _is_pair(split: object) -> bool:
    """Whether this may be training and held-out rows."""
    return isinstance(split, list | tuple) and len(split) == 2


def held_out_parts(cv: Any, X: Any, y: np.ndarray, kept: np.ndarray) -> list[np.ndarray]:
    """The held-out rows of each split of cv, counted among the rows that are kept.

    A splitter divides the kept rows X of classes y; pairs speak of all rows, of which `kept` marks
    those that count.
    """
    if callable(getattr(cv, "split", None)):
        return [np.asarray(test) for _, test in cv.split(X, y)]
    pairs, place = list(cv), kept.cumsum() - 1
    if not pairs or not all(map(_is_pair, pairs)):
        raise HipadError(
            "expected cv to be a number of folds, a splitter, or pairs of training and held-out "
            f"rows, got {reprlib.repr(cv)}: give one of them"
        )
    found = []
    for _, test in pairs:
        rows = np.asarray(test)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
        if rows.size and not -kept.size <= rows.min() <= rows.max() < kept.size:
            raise HipadError(
                f"expected held-out rows in cv among the {kept.size:,} rows, got row "
                f"{rows[np.argmax(np.abs(rows))]}: make the splits for these rows"
            )
        found.append(place[rows[kept[rows]]])
    return found


def _ridge(parameters: Any) -> float | str:
    """lambda2; where lambda1 is given there is no path on which to choose it."""
    given: float | str = parameters.lambda2
    automatic = isinstance(parameters.lambda1, str)
    return given if automatic or given != "auto" else USUAL_RIDGE


def admm_settings(mu: float | str) -> AdmmSettings:
    """Settings of phase 1 whose penalties start at mu; "auto" scales them to the data."""
    if isinstance(mu, str):
        return AdmmSettings()
    return AdmmSettings(penalties=Penalties(*[float(mu)] * len(fields(Penalties))))


def check_parameters(estimator: Any) -> None:
    """Raise HipadError for the first parameter that cannot be used."""
    for name, choices in CHOICES.items():
        check_choice(name, getattr(estimator, name), choices)
    for name, (smallest, words) in SMALLEST.items():
        check_number(name, getattr(estimator, name), smallest, words)
    weights = estimator.class_weight
    if not (weights is None or weights == "balanced" or isinstance(weights, dict)):
        raise HipadError(
            f"expected class_weight 'balanced', None or a dict, got {weights!r}: choose one"
        )
    check_prevalence(estimator.prevalence)
    check_trust(estimator.rule_trust)
    for label, value in weights.items() if isinstance(weights, dict) else ():
        check_number(f"class_weight[{label!r}]", value, 1e-300, "above 0")


def check_trust(value: object) -> None:
    """Refuse what is neither "auto", None, a probability nor the members of a fitted model."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return
    if isinstance(value, tuple) and all(isinstance(one, MemberRecord) for one in value) and value:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0.0 < float(value) < 1.0:  # type: ignore[arg-type]
        raise HipadError(
            "expected rule_trust to be 'auto', None or a number above 0 and below 1, "
            f"got {value!r}: give the probability that the rules help, before any row is seen"
        )


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse a word that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(map(repr, choices))
        raise HipadError(f"expected {name} to be {allowed}, got {value!r}: choose one of them")


def check_number(name: str, value: object, smallest: float, words: str) -> None:
    """Refuse what is neither a number of this size nor a word that the parameter takes."""
    if isinstance(value, str) and value in WORDS.get(name, ()):
        return
    if name in MAY_BE_NONE and (value is None or (name == "cv" and is_splits(value))):
        return
    kind = Integral if name in WHOLE else Real
    usable = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or float(value) < smallest:  # type: ignore[arg-type]
        words_too = (*WORDS.get(name, ()), *([None] if name in MAY_BE_NONE else ()))
        allowed = "".join(f", or {word!r}" for word in words_too)
        allowed += ", or a splitter, or pairs of rows" if name == "cv" else ""
        noun = "whole" if name in WHOLE else "finite"
        raise HipadError(
            f"expected {name} to be a {noun} number {words}{allowed}, got {value!r}: change it"
        )

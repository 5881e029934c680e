"""The classifier's parameters: what each may be, and what one fit takes from them."""

from __future__ import annotations

import math
import reprlib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, Final, Self, TypeAlias, TypeVar, cast

import numpy as np

from hipad.estimator import settings
from hipad.estimator.calibration import check_prevalence
from hipad.estimator.settings import (
    RULE_SETTINGS,
    SELECTION,
    RuleSettings,
    SelectionSettings,
    SolverSettings,
)
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
# This is the one vocabulary of methods, solvers, scopes and stops: the classifier and model files
# are checked against it, the command line offers it, and the app shows its words. Where a parameter
# cannot be used, a sentence says what was expected and what came.


# A parameter that takes one of some words: each word with what it means to a reader.
CHOICES: Final[dict[str, Mapping[str, str]]] = {
    "method": {
        "auto": "The fastest certified way to the optimum of HIPAD-ENK",
        "hipad": "HIPAD-ENK: ADMM finds the features, then an interior point fits them",
        "admm": "ADMM only: phase 1 to convergence",
        "exact": "Exact: certified over all features",
    },
    "scope": {
        "population": "all patients in its range",
        "typical": "typical patients only",
    },
    "phase2_solver": {name: engine.words for name, engine in ENGINES.items()},
    "phase1_stop": {"support": "features have settled", "paper": "the paper's test"},
    "choice": {
        "median": "the weighted median of all pairs",
        "one_se": "the sparsest within one standard error",
        "least_loss": "the least loss on held-out rows",
    },
    "loss": {name: loss.words for name, loss in LOSSES.items()},
}
SPARSE: Final = "sparse"  # lambda1: the fewest features within one standard error of the best
# A parameter that is a number: words that it takes as well, and its smallest value.
WORDS: Final = {
    "lambda1": ("auto", SPARSE),
    "lambda2": ("auto",),
    "rule_weight": ("auto", "equal"),
    "rho": ("auto",),
    "mu": ("auto",),
}
ABOVE_ZERO: Final = (1e-12, "above 0 (1e-12 or more)")
AT_LEAST_0: Final = (0.0, "at least 0")
AT_LEAST_1: Final = (1, "at least 1")
SMALLEST: Final[dict[str, tuple[float, str]]] = {
    "lambda1": AT_LEAST_0,
    "rule_weight": AT_LEAST_0,
    "rho": AT_LEAST_0,
    "lambda2": ABOVE_ZERO,
    "max_features": AT_LEAST_1,
    "cv": (2, "at least 2"),
    "random_state": AT_LEAST_0,
    "n_jobs": (-1, "at least 1, or -1 for all processors"),
    "mu": ABOVE_ZERO,
    "tol": (1e-15, "above 0"),
    "max_iter": AT_LEAST_1,
    "n_lambda1": (2, "at least 2"),
    "largest": ABOVE_ZERO,
    "smallest": ABOVE_ZERO,
    "widening": ABOVE_ZERO,
    "patience": AT_LEAST_1,
    "negligible": AT_LEAST_0,
    "sharpness": AT_LEAST_0,
    "few_rows": AT_LEAST_0,
    "caution": AT_LEAST_0,
    "sparing": AT_LEAST_0,
    "least_error": ABOVE_ZERO,
    "n_folds": (2, "at least 2"),
    "judged_rows": AT_LEAST_0,
    "max_repeats": AT_LEAST_1,
    "max_rows": (10, "at least 10"),
    "outlier": (1.0, "at least 1"),
    "stable_share": AT_LEAST_0,
    "isotonic_rows": AT_LEAST_1,
    "usual_slope": ABOVE_ZERO,
    "no_signal": AT_LEAST_0,
    "damping_errors": AT_LEAST_0,
    "damping_rows": (6, "at least 6"),
    "left_out_share": AT_LEAST_0,
    "max_single": AT_LEAST_0,
    "unlabelled_share": AT_LEAST_0,
    "log_odds": ABOVE_ZERO,
    "max_score": ABOVE_ZERO,
    "least_probability": AT_LEAST_0,
    "vote": AT_LEAST_0,
    "default_share": AT_LEAST_0,
    "rho_factor": ABOVE_ZERO,
    "rho_limit": (1.0, "at least 1"),
    "known_share": AT_LEAST_0,
    "near": ABOVE_ZERO,
    "least_evidence": AT_LEAST_0,
}
SEQUENCES: Final = ("ridges", "shares")  # of one or more numbers above 0
FLAGS: Final = ("standardize", "calibrate", "centered")
USUAL_RIDGE = 10.0
PRIOR_TRUST = 0.5  # before any row is seen a rule is as likely to help as not
WHOLE = (
    "max_features", "cv", "random_state", "n_jobs", "max_iter", "n_lambda1", "patience", "n_folds",
    "max_repeats", "max_rows", "damping_rows", "max_single",
)  # fmt: skip
MAY_BE_NONE = ("max_features", "cv", "random_state", "n_jobs")


# --------------------------------------------------------------------------------------------------
# Parameters in layers: `solver`, `selection` and `rule_settings` hold what few users change.
#
# A layer is given as its dataclass, as a dict of some of its fields, or left None. Its fields can
# be set by `solver__tol`, as those of a step of a pipeline. Names of earlier versions are accepted
# for one release, each with a FutureWarning that says what to write instead.


Layer: TypeAlias = SolverSettings | SelectionSettings | RuleSettings
LAYERS: Final[dict[str, type[Layer]]] = {
    "solver": SolverSettings,
    "selection": SelectionSettings,
    "rule_settings": RuleSettings,
}
RENAMED: Final[dict[str, str]] = {
    "patients": "rule_weight",
    "stiffness": "rho",
    "anchored": "rule_settings__centered",
    "scope": "rule_settings__scope",
    "calibrate": "selection__calibrate",
    "engine": "solver__phase2_solver",
    "switch": "solver__phase1_stop",
    "mu": "solver__mu",
    "tol": "solver__tol",
    "max_iter": "solver__max_iter",
}


def path_of(name: str) -> str:
    """Return where a parameter stands today; a field of a layer may come without the layer's name.

    >>> path_of("stiffness"), path_of("tol"), path_of("phase1_stop"), path_of("rho")
    ('rho', 'solver__tol', 'solver__phase1_stop', 'rho')
    """
    fields_of_layers = {path.rpartition("__")[2]: path for path in RENAMED.values() if "__" in path}
    return RENAMED.get(name) or fields_of_layers.get(name, name)


def _refuse_doubles(given: Iterable[tuple[str, Any]]) -> None:
    """Refuse a parameter that is given by an earlier name and again: one would win in silence."""
    seen: dict[str, str] = {}
    for name, value in given:
        paths = [path_of(name)]
        if isinstance(value, Mapping) and name in LAYERS:
            paths += [f"{name}__{own}" for own in value]
        elif name in LAYERS and isinstance(value, LAYERS[name]):
            usual = vars(LAYERS[name]())
            paths += [f"{name}__{own}" for own in usual if getattr(value, own) != usual[own]]
        for path in paths:
            earlier = seen.setdefault(path, name)
            if earlier != name and path_of(earlier) + path_of(name) != earlier + name:
                raise HipadError(
                    f"expected one value of {path}, got it as {earlier!r} and as {name!r}: write "
                    f"{spelled(path)} alone"
                )


def layer_of(estimator: Any, name: str) -> Any:
    """Return a layer of an estimator, whole: what is not given has its usual value."""
    given, every = getattr(estimator, name), (settings.SOLVER, settings.SELECTION)
    usual: Any = dict(zip(LAYERS, (*every, settings.RULE_SETTINGS), strict=True))[name]
    if given is None:
        return usual
    if isinstance(given, type(usual)):
        return given
    own = [field.name for field in fields(usual)]
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        kind = type(usual).__name__
        raise HipadError(
            f"expected {name} to be {kind}(...), a dict of its fields or None, got {given!r}: "
            f"write {name}={kind}({own[0]}=...)"
        )
    if unknown := [key for key in given if key not in own]:
        raise HipadError(
            f"expected fields of {name} ({', '.join(own)}), got {unknown[0]!r}: choose one of them"
        )
    lists = {key: tuple(given[key]) for key in SEQUENCES if isinstance(given.get(key), list)}
    return replace(usual, **{**given, **lists})


def spelled(path: str, value: object = ...) -> str:
    """Return how a parameter is written today.

    >>> spelled("rho"), spelled("solver__tol")
    ('rho=...', 'solver=SolverSettings(tol=...)')
    """
    layer, _, name = path.rpartition("__")
    shown = "..." if value is ... else repr(value)
    return f"{layer}={LAYERS[layer].__name__}({name}={shown})" if layer else f"{path}={shown}"


def warn_renamed(old: str, new: str, stacklevel: int) -> None:
    """Warn that a name of an earlier version will go."""
    warnings.warn(
        f"{old!r} is accepted for one more release: write {new}", FutureWarning, stacklevel
    )


class RenamedParameter:
    """An attribute under its name of an earlier version."""

    def __init__(self, old: str, path: str) -> None:
        self.old, self.path = old, path

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        layer, _, name = self.path.rpartition("__")
        warn_renamed(self.old, spelled(self.path), stacklevel=3)
        return getattr(layer_of(estimator, layer) if layer else estimator, name)

    def __set__(self, estimator: Any, value: Any) -> None:
        warn_renamed(self.old, spelled(self.path), stacklevel=3)
        estimator.set_params(**{self.path: value})


Init = TypeVar("Init", bound=Callable[..., None])


def accepts_renamed(init: Init) -> Init:
    """Let a constructor take names of earlier versions, which its signature leaves out."""
    known = set(signature(init).parameters)

    @wraps(init)
    def with_renamed(self: Any, *values: Any, **given: Any) -> None:
        old = {name: given.pop(name) for name in list(given) if name not in known}
        init(self, *values, **given)
        _refuse_doubles([*given.items(), *old.items()])
        self._take_renamed(old)

    return cast(Init, with_renamed)


class LayeredParameters:
    """What an estimator with layers adds to scikit-learn's `get_params` and `set_params`."""

    patients = RenamedParameter("patients", RENAMED["patients"])
    stiffness = RenamedParameter("stiffness", RENAMED["stiffness"])
    anchored = RenamedParameter("anchored", RENAMED["anchored"])
    scope = RenamedParameter("scope", RENAMED["scope"])
    calibrate = RenamedParameter("calibrate", RENAMED["calibrate"])
    engine = RenamedParameter("engine", RENAMED["engine"])
    switch = RenamedParameter("switch", RENAMED["switch"])
    mu = RenamedParameter("mu", RENAMED["mu"])
    tol = RenamedParameter("tol", RENAMED["tol"])
    max_iter = RenamedParameter("max_iter", RENAMED["max_iter"])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` adds the fields of the layers (`solver__tol`)."""
        found: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        for layer in LAYERS if deep else ():
            try:
                own = layer_of(self, layer)
            except HipadError:
                continue  # `fit` says what is wrong with it
            found |= {f"{layer}__{field.name}": getattr(own, field.name) for field in fields(own)}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters and fields of layers (`solver__tol=1e-6`); return the estimator."""
        plain, nested = _by_layer(type(self).__name__, params, stacklevel=3)
        super().set_params(**plain)  # type: ignore[misc]
        for layer, own in nested.items():
            setattr(self, layer, _replaced(self, layer, own))
        return self

    def _take_renamed(self, given: dict[str, Any]) -> None:
        """Set what a constructor was given under names of earlier versions."""
        if not given:
            return
        plain, nested = _by_layer(type(self).__name__, given, stacklevel=4)
        for name, value in plain.items():
            if name not in RENAMED.values():
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected parameter {name!r}: its parameters "
                    f"are {', '.join(self.get_params(deep=False))}"
                )
            setattr(self, name, value)
        for layer, own in nested.items():
            setattr(self, layer, _replaced(self, layer, own))


def _by_layer(
    owner: str, given: Mapping[str, Any], stacklevel: int
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Divide parameters into those of the estimator and those of each layer, by today's names."""
    plain: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    _refuse_doubles(given.items())
    for name, value in given.items():
        path = path_of(name)
        if path != name:
            warn_renamed(name, f"{owner}({spelled(path, value)})", stacklevel + 1)
        layer, _, own = path.partition("__")
        if own and layer in LAYERS:
            nested.setdefault(layer, {})[own] = value
        else:
            plain[path] = value
    return plain, nested


def _replaced(estimator: Any, layer: str, own: dict[str, Any]) -> Any:
    """Return a layer with some fields changed."""
    now = layer_of(estimator, layer)
    known = [field.name for field in fields(now)]
    for name in own:
        if name not in known:
            raise ValueError(
                f"Invalid parameter {name!r} for {layer}: valid parameters are {known}."
            )
    return replace(now, **own)


@dataclass(frozen=True)
class FitSettings:
    """The user's parameters of one fit."""

    rules: tuple[CompiledRule, ...]
    lambda1: float | str
    lambda2: float | str
    rule_weight: float | str
    # prior probability that rules belong into the model, or what a fit learnt; None: certain
    rule_trust: float | tuple[MemberRecord, ...] | None
    rho: float | str
    scope: Scope
    centered: bool
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
    selection: SelectionSettings = SELECTION
    rule_settings: RuleSettings = RULE_SETTINGS

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
        """Return the same with given values."""
        return replace(self, lambda1=lambda1, lambda2=lambda2)

    @classmethod
    def of(cls, parameters: Any, knowledge: ExpertKnowledge) -> FitSettings:
        """Return the plan of a classifier, whose parameters were checked."""
        solver, selection, rules = (layer_of(parameters, name) for name in LAYERS)
        own = Settings(
            method="hipad" if parameters.method == "auto" else parameters.method,
            phase2_solver=solver.phase2_solver,
            phase1_stop=solver.phase1_stop,
            tolerance=solver.tol,
            max_sweeps=solver.max_iter,
            admm=admm_settings(solver.mu),
        )
        return cls(
            rules=knowledge.rules,
            statements=knowledge.statements,
            known=knowledge.features,
            written=knowledge.written,
            lambda1=parameters.lambda1,
            lambda2=_ridge(parameters),
            rule_weight=parameters.rule_weight,
            rule_trust=PRIOR_TRUST if parameters.rule_trust == "auto" else parameters.rule_trust,
            rho=parameters.rho,
            scope=rules.scope,
            centered=bool(rules.centered),
            calibrate=bool(selection.calibrate),
            balanced=parameters.class_weight == "balanced",
            settings=own,
            selection=selection,
            rule_settings=rules,
            loss=LOSSES[parameters.loss],
            fastest=parameters.method == "auto",
            cv=vars(parameters).get("_parts", parameters.cv),
            **{name: getattr(parameters, name) for name in MAY_BE_NONE if name != "cv"},
        )


def is_splits(value: object) -> bool:
    """Return whether this may divide rows: a splitter of scikit-learn, or an iterable of splits."""
    if isinstance(value, str | bytes | Mapping | np.ndarray):
        return False
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_pair, value))
    return callable(getattr(value, "split", None)) or isinstance(value, Iterable)


def _is_pair(split: object) -> bool:
    """Return whether this may be training and held-out rows."""
    return isinstance(split, list | tuple) and len(split) == 2


def held_out_parts(cv: Any, X: Any, y: np.ndarray, kept: np.ndarray) -> list[np.ndarray]:
    """Return the held-out rows of each split of cv, counted among the rows that are kept.

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
    """Return settings of phase 1 whose penalties start at mu; "auto" scales them to the data."""
    if isinstance(mu, str):
        return AdmmSettings()
    return AdmmSettings(penalties=Penalties(*[float(mu)] * len(fields(Penalties))))


def check_parameters(estimator: Any) -> None:
    """Raise HipadError for the first parameter that cannot be used."""
    for name, value in estimator.get_params(deep=False).items():
        check_value(name, value)
    weights = estimator.class_weight
    if not (weights is None or weights == "balanced" or isinstance(weights, dict)):
        raise HipadError(
            f"expected class_weight 'balanced', None or a dict, got {weights!r}: choose one"
        )
    for label, value in weights.items() if isinstance(weights, dict) else ():
        check_number(f"class_weight[{label!r}]", value, 1e-300, "above 0")
    for layer in LAYERS:
        own = layer_of(estimator, layer)
        for name in vars(own):
            check_value(name, getattr(own, name))


def check_value(name: str, value: object) -> None:
    """Refuse a value that the parameter or field of this name cannot take."""
    if name in CHOICES:
        check_choice(name, value, CHOICES[name])
    elif name in SMALLEST:
        check_number(name, value, *SMALLEST[name])
    elif name in FLAGS and not isinstance(value, bool | np.bool_):
        raise HipadError(f"expected {name} to be True or False, got {value!r}: choose one of them")
    elif name == "prevalence":
        check_prevalence(value)
    elif name == "rule_trust":
        check_trust(value)
    elif name in SEQUENCES:
        if not isinstance(value, tuple) or not value:
            raise HipadError(f"expected {name} to be a tuple of numbers, got {value!r}: change it")
        for one in value:
            check_number(name, one, *ABOVE_ZERO)


def idle_parameters(estimator: Any, *, has_rules: bool) -> Iterator[str]:
    """Yield a sentence for each parameter that was given and cannot act in a fit."""
    own, usual = layer_of(estimator, "solver"), SolverSettings()
    given = {
        name: getattr(own, name) for name in vars(usual) if getattr(own, name) != vars(usual)[name]
    }
    acts = {
        "exact": (),
        "admm": ("mu", "tol", "max_iter"),
    }.get(estimator.method, tuple(vars(usual)))
    for name in given:
        if name not in acts:
            yield f"{name} has no effect with method={estimator.method!r}: leave it out"
    selection, rules = layer_of(estimator, "selection"), layer_of(estimator, "rule_settings")
    learns = (
        has_rules
        and estimator.rule_trust is not None
        and estimator.rule_weight == "auto"
        and rules.centered
        and selection.calibrate
    )
    if not isinstance(estimator.lambda1, str):
        if estimator.max_features is not None:
            yield "max_features has no effect with a given lambda1: it limits an automatic one"
        if estimator.cv is not None and not learns:
            yield (
                "cv chooses nothing with a given lambda1 and lambda2: its folds serve "
                "predict_proba only"
            )
    if isinstance(estimator.rule_trust, Real):
        if not has_rules:
            yield "rule_trust has no effect without rules: leave it out, or give rules"
        elif not learns:
            yield (
                "rule_trust has no effect with a given rule_weight, calibrate=False or "
                "centered=False: leave it out"
            )
    if estimator.rule_weight != "auto" and not has_rules:
        yield "rule_weight has no effect without rules: leave it out, or give rules"


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

"""The classifier's parameters: are they usable, and what one fit takes from them.

Where one is not, a sentence says what was expected and what came.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from hipad.errors import HipadError
from hipad.rules import CompiledRule
from hipad.solver import Settings
from hipad.solver.problem import Scope

CHOICES = {
    "scope": ("population", "typical"),
    "method": ("hipad", "admm", "exact"),
    "engine": ("ipm", "osqp"),
    "switch": ("support", "paper"),
}
WORDS = {"lambda1": ("auto",), "patients": ("auto", "equal"), "stiffness": ("auto",)}
SMALLEST = {
    "lambda1": (0.0, "at least 0"),
    "patients": (0.0, "at least 0"),
    "stiffness": (0.0, "at least 0"),
    "lambda2": (1e-12, "above 0 (1e-12 or more)"),
    "tol": (1e-15, "above 0"),
    "max_iter": (1, "at least 1"),
}


@dataclass(frozen=True)
class Plan:
    """The user's parameters of one fit."""

    rules: tuple[CompiledRule, ...]
    lambda1: float | str
    lambda2: float
    patients: float | str
    stiffness: float | str
    scope: Scope
    calibrate: bool
    balanced: bool  # each class counts one half
    settings: Settings

    @classmethod
    def of(cls, parameters: Any, rules: tuple[CompiledRule, ...]) -> Plan:
        """The plan of a classifier, whose parameters were checked."""
        settings = Settings(
            method=parameters.method,
            engine=parameters.engine,
            switch=parameters.switch,
            tolerance=parameters.tol,
            max_sweeps=parameters.max_iter,
        )
        return cls(
            rules=rules,
            lambda1=parameters.lambda1,
            lambda2=parameters.lambda2,
            patients=parameters.patients,
            stiffness=parameters.stiffness,
            scope=parameters.scope,
            calibrate=parameters.calibrate,
            balanced=parameters.class_weight == "balanced",
            settings=settings,
        )


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
    for label, value in weights.items() if isinstance(weights, dict) else ():
        check_number(f"class_weight[{label!r}]", value, 1e-300, "above 0")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise HipadError(f"expected {name} to be {listed}, got {value!r}: choose one of them")


def check_number(name: str, value: object, smallest: float, words: str) -> None:
    if isinstance(value, str) and value in WORDS.get(name, ()):
        return
    usable = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or float(value) < smallest:  # type: ignore[arg-type]
        allowed = "".join(f", or {word!r}" for word in WORDS.get(name, ()))
        raise HipadError(
            f"expected {name} to be a finite number {words}{allowed}, got {value!r}: change it"
        )

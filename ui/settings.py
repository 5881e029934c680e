"""Form fields and their bounds, and the settings of a run.

A dataclass states its fields in its hints, `seed: Annotated[int, Number(0, 1_000_000)]`. Widgets
take their bounds from there (`field_of`), and `rebuild` of `hipad.estimator.serialization` reads a
file's value with `read`, so that what a form allows and what a file allows cannot differ; the JSON
Schema of session files has the same bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isclose, log10
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, get_type_hints

from hipad.estimator.parameters import CHOICES, SPARSE
from hipad.estimator.serialization import misfit, named, rebuild, text_of
from hipad.exceptions import DataError
from hipad.rules.lexer import LONGEST_TEXT

Value = TypeVar("Value", int, float)
AUTO: Final = "auto"


@dataclass(frozen=True)
class Number(Generic[Value]):
    """A number from `low` to `high`, a whole one where both are; `auto` allows that word too."""

    low: Value
    high: Value
    auto: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The bounds as JSON Schema has them."""
        return {"minimum": self.low, "maximum": self.high}

    def read(self, value: Any) -> Any:
        """The value of a file; ValueError says what is allowed."""
        if self.auto and value == AUTO:
            return AUTO
        whole = isinstance(self.low, int)
        kinds: tuple[type, ...] = (int,) if whole else (int, float)
        good = isinstance(value, kinds) and not isinstance(value, bool)
        if not good or not self.low <= value <= self.high:
            kind = "a whole number" if whole else "a number"
            word = f', or "{AUTO}"' if self.auto else ""
            raise misfit(f"{kind} from {self.low:,} to {self.high:,}{word}", value)
        return type(self.low)(value)


@dataclass(frozen=True)
class Power:
    """A power of ten whose exponent lies between `low` and `high`."""

    low: int
    high: int

    def read(self, value: Any) -> float:
        exponent = round(log10(value)) if _is_positive(value) else self.high + 1
        if not self.low <= exponent <= self.high or not isclose(value, 10.0**exponent):
            raise misfit(f"a power of ten from 1e{self.low} to 1e{self.high}", value)
        return 10.0**exponent


@dataclass(frozen=True)
class Percent:
    """A share of one that a form shows as whole percents, from `low` to `high` by `step`."""

    low: int
    high: int
    step: int = 1

    def read(self, value: Any) -> float:
        number = Number(self.low / 100, self.high / 100)
        percents = round(100 * number.read(value))
        if percents % self.step or not isclose(100 * value, percents, abs_tol=1e-9):
            raise misfit(f"a share of one in steps of {self.step / 100:g}", value)
        return percents / 100


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """The words as JSON Schema has them."""
        return {"enum": list(self.words)}

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise misfit(f"one of {', '.join(self.words)}", value)
        return value


@dataclass(frozen=True)
class Text:
    """A text of at most so many characters."""

    longest: int

    @property
    def schema(self) -> dict[str, Any]:
        """The bound as JSON Schema has it."""
        return {"maxLength": self.longest}

    def read(self, value: object) -> str:
        text = text_of(value)
        if len(text) > self.longest:
            raise ValueError(f"expected at most {self.longest:,} characters, got {len(text):,}")
        return text


@dataclass(frozen=True)
class ValueSpan:
    """Two values of a kind, the second no smaller than the first."""

    each: Percent

    def read(self, value: object) -> tuple[float, float]:
        if not isinstance(value, list) or len(value) != 2:
            raise misfit("two numbers", value)
        first, last = map(self.each.read, value)
        if first > last:
            raise misfit("two growing numbers", value)
        return first, last


@dataclass(frozen=True)
class Some:
    """Some of these fields, each by its name."""

    fields: Mapping[str, Any]

    def read(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise misfit("named values", value)
        found = {}
        for name, part in value.items():
            if name not in self.fields:
                raise misfit(f"only {', '.join(self.fields)}", name)
            found[name] = named(name, lambda: self.fields[name].read(part))  # noqa: B023
        return found


def field_of(kind: type, name: str) -> Any:
    """The description of a dataclass's field, for the widget that shows it."""
    return get_type_hints(kind, include_extras=True)[name].__metadata__[0]


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


SEED: Final = Number(0, 1_000_000)
RULES: Final = Text(LONGEST_TEXT)
NAME: Final = Text(1_000)  # of a file, a sample or data
MODEL_NAME: Final = Text(40)


# --------------------------------------------------------------------------------------------------
# Settings of a run. `FEWNESS` turns "how few features" into a share of the largest useful lambda1;
# everything else goes to `HIPADClassifier` as it is.

FEWNESS: Final = {"very few": 0.8, "few": 0.5, "some": 0.3, "many": 0.15, "very many": 0.05}
AUTOMATIC: Final = "automatic"
FEWEST: Final = "fewest"  # the fewest features within one standard error of the least loss
CHOSEN: Final = {AUTOMATIC: "auto", FEWEST: SPARSE}  # by held-out patients; lambda1 as a word
EXACT: Final = "exact"  # lambda1 as given, in expert mode or by a sample

# Settings that are parameters of the classifier, by the same name.
SAME: Final = ("lambda2", "method", "standardize")

Amount = Annotated[float | Literal["auto"], Number(0.0, 1e6, auto=True)]
Penalty = Annotated[float | Literal["auto"], Number(1e-6, 1e6, auto=True)]


@dataclass(frozen=True)
class RunSettings:
    """Everything a run depends on beside data, blocks and rules."""

    fewness: Annotated[str, Choice((*CHOSEN, EXACT, *FEWNESS))] = AUTOMATIC
    lambda1: Annotated[float, Number(0.0, 1e12)] = 0.1  # as large as the data ask for
    lambda2: Penalty = "auto"
    patients: Amount = "auto"
    stiffness: Amount = "auto"
    scope: Annotated[str, Choice(tuple(CHOICES["scope"]))] = "population"
    balanced: bool = True
    calibrate: bool = True
    standardize: bool = True
    method: Annotated[str, Choice(tuple(CHOICES["method"]))] = "auto"
    engine: Annotated[str, Choice(tuple(CHOICES["phase2_solver"]))] = "ipm"
    mu: Penalty = "auto"  # penalties that phase 1 starts with
    switch: Annotated[str, Choice(tuple(CHOICES["phase1_stop"]))] = "support"
    tolerance: Annotated[float, Power(-12, -2)] = 1e-7
    max_sweeps: Annotated[int, Number(1, 1_000_000)] = 5000
    use_rules: bool = True

    @property
    def class_weight(self) -> str | None:
        """The balance of the classes as the classifier takes it."""
        return "balanced" if self.balanced else None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the classifier that are set here as they are."""
        return {
            **{name: getattr(self, name) for name in SAME},
            "rule_weight": self.patients,
            "rho": self.stiffness,
            "class_weight": self.class_weight,
            "solver": {
                "phase2_solver": self.engine,
                "phase1_stop": self.switch,
                "mu": self.mu,
                "tol": self.tolerance,
                "max_iter": self.max_sweeps,
            },
            "selection": {"calibrate": self.calibrate},
            "rule_settings": {"scope": self.scope},
        }

    def changed(self, **values: Any) -> RunSettings:
        """The same settings with some values changed."""
        return replace(self, **values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values by name, as a session file holds them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSettings:
        """The usual settings with some values of a sample or a file in their place."""
        try:
            settings: RunSettings = rebuild(cls, {**asdict(cls()), **values})
        except ValueError as error:
            raise DataError(f"the settings cannot be used: {error}") from error
        return settings

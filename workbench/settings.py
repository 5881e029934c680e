"""How to run, in a clinician's words and in the solver's.

`FEWNESS` turns "how few features" into a share of the largest useful lambda1; everything else goes
to `HIPADClassifier` as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal

from hipad.errors import DataError

FEWNESS: Final = {"very few": 0.8, "few": 0.5, "some": 0.3, "many": 0.15, "very many": 0.05}
AUTOMATIC: Final = "automatic"
EXACT: Final = "exact"  # lambda1 as given, in expert mode or by a sample

Amount = float | Literal["auto"]


@dataclass(frozen=True)
class RunSettings:
    """Everything a run depends on beside data, blocks and rules."""

    fewness: str = AUTOMATIC
    lambda1: float = 0.1
    lambda2: float = 10.0
    patients: Amount = "auto"
    stiffness: Amount = "auto"
    scope: Literal["population", "typical"] = "population"
    balanced: bool = True
    calibrate: bool = True
    standardize: bool = True
    method: Literal["hipad", "admm", "exact"] = "hipad"
    engine: Literal["ipm", "osqp"] = "ipm"
    mu: Amount = "auto"  # penalties that phase 1 starts with
    switch: Literal["support", "paper"] = "support"
    tolerance: float = 1e-7
    max_sweeps: int = 5000
    use_rules: bool = True

    def changed(self, **values: Any) -> RunSettings:
        """The same settings with some values changed."""
        return replace(self, **values)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSettings:
        """Settings from a file; DataError when it holds something else."""
        known = {field.name: field for field in fields(cls)}
        unknown = set(values) - set(known)
        if unknown:
            raise DataError(f"expected known settings, got {sorted(unknown)[0]!r} as well")
        usual = cls()
        for name, value in values.items():
            _check(name, value, getattr(usual, name))
        return cls(**values)


CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "fewness": (AUTOMATIC, EXACT, *FEWNESS),
    "scope": ("population", "typical"),
    "method": ("hipad", "admm", "exact"),
    "engine": ("ipm", "osqp"),
    "switch": ("support", "paper"),
}


def _check(name: str, value: object, usual: object) -> None:
    if name in CHOICES:
        good = value in CHOICES[name]
    elif isinstance(usual, bool):
        good = isinstance(value, bool)
    else:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        good = (is_number and 0 <= float(str(value)) < 1e12) or value == usual == "auto"
    if not good:
        raise DataError(f"expected a usable value for the setting {name!r}, got {value!r}")

"""How to run, in a clinician's words and in the solver's.

`FEWNESS` turns "how few features" into a share of the largest useful lambda1; everything else goes
to `HIPADClassifier` as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final, Literal

from hipad.estimator.parameters import CHOICES, SPARSE
from hipad.estimator.serialization import rebuild
from hipad.exceptions import DataError
from ui.fields import Choice, Number, Power

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

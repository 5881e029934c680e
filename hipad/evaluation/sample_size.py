"""How many samples a prediction model needs: the criteria of Riley and others for a binary outcome.

For p candidate parameters, an outcome of prevalence phi and an anticipated Cox-Snell R2 (Riley et
al., Statistics in Medicine 38, 2019, 1276 and BMJ 2020;368:m441):

    1  shrinkage of at least S:        n >= p / ((S - 1) ln(1 - R2 / S))
    2  optimism of at most d in the apparent Nagelkerke R2: the same with S = R2 / (R2 + d max R2),
       where max R2 = 1 - (phi^phi (1 - phi)^(1 - phi))^2
    3  overall risk known within e:    n >= (1.96 / e)^2 phi (1 - phi)

An anticipated AUC c stands for the R2 of a linear predictor that is normal in both classes with
equal variance and has this AUC (Riley et al., Statistics in Medicine 40, 2021, 859), here by
quadrature instead of simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import log_expit, logit
from scipy.stats import norm

from hipad.exceptions import DataError

SHRINKAGE: Final = 0.9
OPTIMISM: Final = 0.05
RISK_ERROR: Final = 0.05
Z: Final = 1.96  # as published, so that published examples come out to the last sample
NODES: Final = 120  # of the quadrature: R2 is exact to more digits than are shown


@dataclass(frozen=True)
class SampleSize:
    """Samples that each criterion asks for, and the largest of them.

    Attributes
    ----------
    shrinkage, optimism, overall_risk : int
        Samples by criteria 1, 2 and 3.
    r_squared : float
        The anticipated Cox-Snell R2.
    prevalence : float
        The share of events.
    parameters : int
        Candidate parameters.
    """

    shrinkage: int
    optimism: int
    overall_risk: int
    r_squared: float
    prevalence: float
    parameters: int

    @property
    def n(self) -> int:
        """Return the samples that meet all criteria."""
        return max(self.shrinkage, self.optimism, self.overall_risk)

    @property
    def events(self) -> int:
        """Return how many of them are expected to have the event."""
        return math.ceil(self.n * self.prevalence)

    @property
    def events_per_parameter(self) -> float:
        """Return events per candidate parameter."""
        return self.n * self.prevalence / self.parameters


def required_sample_size(
    parameters: int,
    prevalence: float,
    *,
    auc: float | None = None,
    r_squared: float | None = None,
    shrinkage: float = SHRINKAGE,
) -> SampleSize:
    """Return how many samples the criteria ask for.

    Parameters
    ----------
    parameters : int
        Candidate parameters of the model: features that could be chosen, or terms.
    prevalence : float
        The share of samples with the event.
    auc, r_squared : float
        What the model is expected to reach: its AUC, or its Cox-Snell R2; one of them.
    shrinkage : float, default=0.9
        The least calibration slope on new samples.

    Returns
    -------
    SampleSize

    Raises
    ------
    DataError
        For numbers that no study can have.

    Examples
    --------
    >>> required_sample_size(24, 0.174, r_squared=0.288).n
    662
    """
    if parameters < 1:
        raise DataError(f"expected at least 1 parameter, got {parameters}: count the candidates")
    if not 0.0 < prevalence < 1.0:
        raise DataError(
            f"expected a prevalence above 0 and below 1, got {prevalence}: give the share of events"
        )
    if (auc is None) == (r_squared is None):
        raise DataError("expected either auc or r_squared, got both or none: give one of them")
    if not 0.0 < shrinkage < 1.0:
        raise DataError(f"expected shrinkage above 0 and below 1, got {shrinkage}: 0.9 is usual")
    largest = largest_r_squared(prevalence)
    found = r_squared_of_auc(auc, prevalence) if auc is not None else float(r_squared or 0.0)
    if not 0.0 < found < largest:
        raise DataError(
            f"expected an R2 above 0 and below {largest:.3f}, the most at this prevalence, got "
            f"{found:.3f}: correct it"
        )
    by_optimism = found / (found + OPTIMISM * largest)
    return SampleSize(
        shrinkage=_samples(parameters, found, shrinkage),
        optimism=_samples(parameters, found, by_optimism),
        overall_risk=math.ceil((Z / RISK_ERROR) ** 2 * prevalence * (1.0 - prevalence)),
        r_squared=found,
        prevalence=prevalence,
        parameters=parameters,
    )


def _samples(parameters: int, r_squared: float, shrinkage: float) -> int:
    if r_squared >= shrinkage:
        return parameters + 1
    return math.ceil(parameters / ((shrinkage - 1.0) * math.log1p(-r_squared / shrinkage)))


def largest_r_squared(prevalence: float) -> float:
    """Return the largest Cox-Snell R2 that a model of an outcome of this prevalence can have."""
    entropy = prevalence * math.log(prevalence) + (1.0 - prevalence) * math.log1p(-prevalence)
    return 1.0 - math.exp(2.0 * entropy)


def r_squared_of_auc(auc: float, prevalence: float) -> float:
    """Return the Cox-Snell R2 of a normal linear predictor with this AUC.

    Parameters
    ----------
    auc : float
        Area under the ROC curve, above 0.5 and below 1.
    prevalence : float
        The share of events.
    """
    if not 0.5 < auc < 1.0:
        raise DataError(f"expected an AUC above 0.5 and below 1, got {auc}: correct it")
    distance = math.sqrt(2.0) * float(norm.ppf(auc))
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    # two unit normals this far apart: the log odds are a line in x
    base = float(logit(prevalence)) - distance**2 / 2.0
    events = float(weights @ log_expit(base + distance * (nodes + distance)))
    others = float(weights @ log_expit(-(base + distance * nodes)))
    model = prevalence * events + (1.0 - prevalence) * others
    entropy = prevalence * math.log(prevalence) + (1.0 - prevalence) * math.log1p(-prevalence)
    return 1.0 - math.exp(-2.0 * (model - entropy))

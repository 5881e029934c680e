"""What is kept of a candidate after the fit."""

from __future__ import annotations

from dataclasses import dataclass

from hipad.solver import Certificate


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

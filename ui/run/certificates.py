"""Certificates in words: how far, at most, a result is from the best one there is."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from hipad.solvers import Certificate, Status
from hipad.utils import count

BEGINNINGS: Final = {
    Status.SOLVED: "Solved.",
    Status.INACCURATE: "Solved, but not to full accuracy.",
    Status.STOPPED: "Stopped before the end: this is not the final model.",
    Status.LIMIT: "The limit of steps was reached before the end: this is not the best model.",
}


def sentence(classifier: Any, n_features: int) -> str:
    """What the certificates of a fit say, for a reader who does not know the solver."""
    certificate: Certificate = classifier.certificate_
    selection: Certificate | None = classifier.selection_certificate_
    used = [member for member in classifier.members_ if member.share > 0]
    leading = max(used, key=lambda member: member.share, default=None)
    n_kept = len(classifier.support_) if leading is None else leading.support_size
    kept = count(n_kept, "chosen feature")
    over_all = certificate.covers == "all features"
    where = f"all {n_features:,} features" if over_all else f"the {kept}"
    words = [BEGINNINGS[certificate.status]]
    if len(used) > 1:
        words.append(
            f"The model is an average of {len(used)} candidates, each solved by itself. For the "
            "most probable one:"
        )
    words.append(
        f"Whatever weights are given to {where}, none can lower the objective by more than "
        f"{share(certificate.gap)}."
    )
    if selection is not None:
        words.append(
            f"The choice of features was made within {share(selection.gap)} of the best over all "
            f"{n_features:,} features: {count(selection.certain, 'feature')} certainly in, "
            f"{selection.undecided:,} undecided."
        )
    return " ".join(words)


def share(gap: float) -> str:
    """A relative gap as a share that can be read.

    >>> share(3e-12), share(0.0009), share(0.06)
    ('one part in 100 million', '0.09 %', '6 %')
    """
    if gap <= 1e-8:
        return "one part in 100 million"
    if gap <= 1e-5:
        return f"one part in {round(1 / gap, -3):,.0f}"
    return f"{100 * gap:.2g} %"


def numbers(classifier: Any) -> pd.DataFrame:
    """Both certificates side by side."""
    parts = {
        "result": classifier.certificate_,
        "choice of features": classifier.selection_certificate_,
    }
    tables = {name: part.as_dict() for name, part in parts.items() if part is not None}
    frame = pd.DataFrame(tables).map(lambda v: f"{v:.6g}" if isinstance(v, float) else str(v))
    frame.insert(0, "", [str(name).replace("_", " ") for name in frame.index])
    return frame

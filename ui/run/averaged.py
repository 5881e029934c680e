"""What a model with learnt trust is an average of, for experts."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from hipad.evaluation.comparison import AveragedCandidate, averaged_candidates
from hipad.utils import percent
from ui.models import TrainedModel


def show(model: TrainedModel, *, expert: bool) -> None:
    """The candidates with their figures; nothing where no trust was learnt."""
    if not expert or not model.classifier.members_:
        return
    found = averaged_candidates(model.classifier)
    with st.expander("What was averaged"):
        st.dataframe(pd.DataFrame(list(map(row, found))), hide_index=True, alt="What was averaged")
        st.caption(
            "Each candidate is a model of its own, with its own lambda1 and lambda2, certified by "
            "itself. Its probability comes from how well it predicts training patients that it "
            "did not see; those below 2 % are left out. The model is the average of the others."
        )


def row(one: AveragedCandidate) -> dict[str, str]:
    """A candidate in cells."""
    return {
        "rules": one.rules,
        "held-out log loss": "–" if math.isnan(one.loss) else f"{one.loss:.3f}",
        "before": percent(one.prior, 0),
        "probability": percent(one.posterior, 0),
        "features": "left out" if one.features is None else f"{one.features:,}",
        "certificate": one.certificate or "–",
    }

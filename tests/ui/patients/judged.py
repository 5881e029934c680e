"""The pima sample with a fitted model, and what it says of rows that it has not seen."""

from __future__ import annotations

from functools import cache
from typing import Any

from hipad.evaluation.assessment import Source
from tests.ui.pima import fitted
from ui.patients.patient_list import PatientList
from ui.results.assessment import assessment_job
from ui.workbench.cross_validation import request_of


@cache
def judged(source: Source = "test") -> tuple[Any, Any, PatientList]:
    """The session, the model and its patients; tests must not change them."""
    state, model = fitted()
    request = request_of(model, state.data)
    job = assessment_job(model, request, source)
    job.launch()
    job.watch(120)
    assert job.outcome is not None, job.exception
    return state, model, PatientList.of(job.outcome, request)

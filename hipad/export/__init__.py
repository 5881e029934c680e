"""Models for others: SQL, a spreadsheet, PMML, ONNX, and a card that describes a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from hipad.estimator.model_io import StoredModel
from hipad.exceptions import DataError
from hipad.export.calculator import to_calculator
from hipad.export.formats import to_card, to_onnx, to_pmml, to_sql, to_workbook
from hipad.export.scoring import ScoringFormula


class ExportFormat(NamedTuple):
    """A form in which a model leaves: its file ending, what reads it, and how it is written."""

    ending: str
    words: str
    write: Callable[[StoredModel, ScoringFormula], str | bytes]


EXPORTS: Final = {
    "sql": ExportFormat(".sql", "a query for any database", lambda _, f: to_sql(f)),
    "xlsx": ExportFormat(".xlsx", "a spreadsheet with formulas", lambda _, f: to_workbook(f)),
    "pmml": ExportFormat(".pmml", "PMML 4.4, for scoring engines", lambda _, f: to_pmml(f)),
    "onnx": ExportFormat(".onnx", "ONNX, for onnxruntime", lambda _, f: to_onnx(f)),
    "html": ExportFormat(".html", "a page to type values into", lambda _, f: to_calculator(f)),
    "card": ExportFormat(".md", "a model card (Markdown)", to_card),
}


def export_model(stored: StoredModel, form: str, *, prevalence: float | None = None) -> str | bytes:
    """Return a model in another form; all of them give the same risks.

    Parameters
    ----------
    stored : StoredModel
        What `hipad.estimator.model_io.read_model` returns.
    form : str
        One of `EXPORTS`: "sql", "xlsx", "pmml", "onnx", "html" or "card".
    prevalence : float, default=None
        The share of the positive class where the model will be used; None is the model's own.

    Returns
    -------
    str or bytes
        The content of the file.

    Raises
    ------
    DataError
        For an unknown form, and for a model that cannot be written so.
    HipadError
        Where a package is needed that is not there.
    """
    if form not in EXPORTS:
        raise DataError(f"expected one of {', '.join(EXPORTS)}, got {form!r}: choose one of them")
    return EXPORTS[form].write(stored, ScoringFormula.of(stored, prevalence=prevalence))


__all__ = ["EXPORTS", "ExportFormat", "ScoringFormula", "export_model"]

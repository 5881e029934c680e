"""A model as a workbook whose formulas answer for the values that somebody types into it."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.exceptions import DataError, HipadError
from hipad.export.scoring import RiskKnots, ScoringFormula
from hipad.utils import count

ROWS = 200  # rows that can be filled in; formulas can be copied further down
MOST_COLUMNS = 1_000  # a sheet with formulas for more opens slowly
FIRST = 2  # below the headings
RESULTS = ("answer", "risk", "score")


class _Sheets(NamedTuple):
    """The three sheets: what is typed, what each value adds, and the model."""

    rows: Any
    contributions: Any
    model: Any


def to_workbook(formula: ScoringFormula, rows: int = ROWS) -> bytes:
    """Return an XLSX file that computes score, risk and answer of the values typed into it.

    The sheet `rows` takes one row of values per patient, `contributions` shows what each value
    adds to the score, `model` holds weights and fill values. An empty cell is a missing value.

    Parameters
    ----------
    formula : ScoringFormula
        The model.
    rows : int, default=200
        How many rows have formulas.

    Raises
    ------
    DataError
        For more than 1,000 columns.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.utils import get_column_letter
    except ImportError as error:
        raise HipadError(
            "expected the package openpyxl for this file, found none: install hipad[export]"
        ) from error
    if len(formula.columns) > MOST_COLUMNS:
        raise DataError(
            f"expected at most {count(MOST_COLUMNS, 'column')} for a spreadsheet, got "
            f"{len(formula.columns):,}: fit with max_features, or export SQL or ONNX"
        )
    book = Workbook()
    sheets = _Sheets(book.active, book.create_sheet("contributions"), book.create_sheet("model"))
    sheets.rows.title = "rows"
    knots = _write_model(sheets.model, formula)
    _head(sheets.rows, [*RESULTS, *formula.columns])
    _head(sheets.contributions, ["score", *formula.columns])
    last = get_column_letter(1 + len(formula.columns))
    for row in range(FIRST, FIRST + rows):
        for j in range(len(formula.columns)):
            typed = f"rows!{get_column_letter(len(RESULTS) + 1 + j)}{row}"
            cell = sheets.contributions.cell(row, 2 + j)
            cell.value = "=" + _contribution(formula, j, typed, j + FIRST)
        typed_in = _row_of(row, len(RESULTS) + 1, len(formula.columns), get_column_letter)
        total = f"model!$B$1+SUM(B{row}:{last}{row})" if formula.columns else "model!$B$1"
        gaps = f'COUNTIF(B{row}:{last}{row},"missing")>0' if formula.columns else "FALSE"
        sheets.contributions.cell(
            row, 1
        ).value = f'=IF(COUNTA({typed_in})=0,"",IF({gaps},"",{total}))'
        score = f"contributions!A{row}"
        sheets.rows.cell(row, 3).value = f"={score}"
        met = f"{score}>0"
        if formula.risk is not None:
            odds = _log_odds(formula, score, knots)
            bounded = f"MAX(-{MOST_LOG_ODDS},MIN({MOST_LOG_ODDS},{odds}))"
            sheets.rows.cell(row, 2).value = f'=IF({score}="","",1/(1+EXP(-{bounded})))'
            if formula.threshold is not None:
                met = f"B{row}>={formula.threshold!r}"
        negative, positive = (_quoted(label) for label in formula.classes)
        sheets.rows.cell(row, 1).value = f'=IF({score}="","",IF({met},{positive},{negative}))'
    sheets.rows.freeze_panes = sheets.rows.cell(FIRST, len(RESULTS) + 1)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _text(cell: Any, value: str) -> None:
    """Write a name as text, whatever it begins with."""
    cell.value = value
    cell.data_type = "s"


def _head(sheet: Any, names: list[str]) -> None:
    for j, name in enumerate(names):
        _text(sheet.cell(1, 1 + j), name)


def _write_model(sheet: Any, formula: ScoringFormula) -> tuple[int, int]:
    """Write weights, fill values and the curve of risks; return the first and last row of it."""
    _text(sheet.cell(1, 1), "intercept")
    sheet.cell(1, 2).value = formula.intercept
    row = FIRST
    for term in formula.numbers:
        _text(sheet.cell(row, 1), term.column)
        sheet.cell(row, 2).value = term.weight
        if term.fill is not None:
            sheet.cell(row, 3).value = term.fill
        row += 1
    for category in formula.categories:
        _text(sheet.cell(row, 1), category.column)
        _text(sheet.cell(row, 2), "by level, in the formulas")
        row += 1
    first = row + 1
    if isinstance(formula.risk, RiskKnots):
        _text(sheet.cell(row, 1), "score")
        _text(sheet.cell(row, 2), "log odds")
        for score, log_odds in zip(formula.risk.scores, formula.risk.log_odds, strict=True):
            row += 1
            sheet.cell(row, 1).value, sheet.cell(row, 2).value = score, log_odds
    return first, row


def _contribution(formula: ScoringFormula, j: int, typed: str, model_row: int) -> str:
    """Return the formula of what one typed value adds to the score."""
    if j < len(formula.numbers):
        term = formula.numbers[j]
        weight = f"model!$B${model_row}"
        missing = '"missing"' if term.fill is None else f"model!$C${model_row}*{weight}"
        return f"IF(ISNUMBER({typed}),{typed}*{weight},{missing})"
    category = formula.categories[j - len(formula.numbers)]
    # nested conditions end at 64 levels; a sum of products has no such limit
    levels = "+".join(f"EXACT({typed},{_quoted(level)})*{w!r}" for level, w in category.weights)
    return levels if category.answers_gaps else f'IF({typed}="","missing",{levels})'


def _log_odds(formula: ScoringFormula, score: str, knots: tuple[int, int]) -> str:
    risk = formula.risk
    if not isinstance(risk, RiskKnots):
        assert risk is not None
        return f"({risk.slope!r}*{score}+({risk.intercept!r}))"
    first, last = knots
    x, y = f"model!$A${first}:$A${last}", f"model!$B${first}:$B${last}"
    # the knot at or below the score, but the last piece's own beginning where that is the last knot
    at = f"MIN(MATCH({score},{x},1),{last - first})"
    low_x, low_y = f"INDEX({x},{at})", f"INDEX({y},{at})"
    high_x, high_y = f"INDEX({x},{at}+1)", f"INDEX({y},{at}+1)"
    inside = f"{low_y}+({score}-{low_x})*({high_y}-{low_y})/({high_x}-{low_x})"
    return (
        f"IF({score}<=model!$A${first},model!$B${first},"
        f"IF({score}>=model!$A${last},model!$B${last},{inside}))"
    )


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _row_of(row: int, first: int, width: int, letter: Any) -> str:
    return f"rows!{letter(first)}{row}:{letter(first + max(width, 1) - 1)}{row}"

"""The forms in which a model leaves: SQL, a workbook, PMML, ONNX, and a card that describes it."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from hipad import __version__
from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.estimator.model_io import StoredModel
from hipad.exceptions import DataError, HipadError
from hipad.export.scoring import CategoryTerm, NumberTerm, RiskKnots, RiskLine, ScoringFormula
from hipad.utils import count, number

# --------------------------------------------------------------------------------------------------
# A model as one SQL query, in the words that SQLite, PostgreSQL, DuckDB and others share.


CHAIN = 100  # terms of one sum: databases limit the depth of an expression


def to_sql(formula: ScoringFormula, table: str = "patients") -> str:
    """Return a query that gives every row of a table its score, risk and answer.

    Parameters
    ----------
    formula : ScoringFormula
        The model.
    table : str, default="patients"
        The table whose columns are called as those that the model was fitted to.
    """
    negative, positive = map(quoted_text, formula.classes)
    lines = [
        f"-- {_comment(formula.classes[1])} against {_comment(formula.classes[0])}: "
        f"{len(formula.columns):,} columns",
        "WITH scored AS (",
        f"  SELECT *,\n    {_sum(formula)} AS score",
        f"  FROM {quoted_name(table)}",
        ")",
    ]
    if formula.risk is None:
        lines += [
            "SELECT *,",
            f"  CASE WHEN score > 0 THEN {positive} WHEN score <= 0 THEN {negative} END AS answer",
            "FROM scored;",
        ]
        return "\n".join(lines) + "\n"
    least, most = _number(-MOST_LOG_ODDS), _number(MOST_LOG_ODDS)
    met = "score > 0" if formula.threshold is None else f"risk >= {_number(formula.threshold)}"
    lines += [
        f", calibrated AS (\n  SELECT *,\n    {_log_odds(formula)} AS log_odds\n  FROM scored\n)",
        ", answered AS (",
        "  SELECT *,",
        f"    1.0 / (1.0 + EXP(-CASE WHEN log_odds < {least} THEN {least} "
        f"WHEN log_odds > {most} THEN {most} ELSE log_odds END)) AS risk",
        "  FROM calibrated\n)",
        "SELECT *,",
        f"  CASE WHEN risk IS NULL THEN NULL WHEN {met} THEN {positive} ELSE {negative} END "
        "AS answer",
        "FROM answered;",
    ]
    return "\n".join(lines) + "\n"


def quoted_name(word: str) -> str:
    """Return the name of a column or table, quoted."""
    return '"' + word.replace('"', '""') + '"'


def quoted_text(word: str) -> str:
    """Return a text value, quoted."""
    return "'" + word.replace("'", "''") + "'"


def _comment(word: str) -> str:
    """Return a word that cannot end the comment it stands in."""
    return " ".join(word.split())


def _number(value: float) -> str:
    """Return a number that reads back exactly; the exponent makes it a floating-point one."""
    return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"


def _sum(formula: ScoringFormula) -> str:
    terms = [_number(formula.intercept)]
    terms += [_number_term(term) for term in formula.numbers]
    terms += [_category_term(term) for term in formula.categories]
    parts = [terms[at : at + CHAIN] for at in range(0, len(terms), CHAIN)]
    return "\n    + ".join("(" + "\n      + ".join(part) + ")" for part in parts)


def _number_term(term: NumberTerm) -> str:
    column = quoted_name(term.column)
    value = column if term.fill is None else f"COALESCE({column}, {_number(term.fill)})"
    return f"{_number(term.weight)} * {value}"


def _category_term(term: CategoryTerm) -> str:
    column = f"CAST({quoted_name(term.column)} AS VARCHAR)"
    cases = "".join(f" WHEN {quoted_text(level)} THEN {_number(w)}" for level, w in term.weights)
    weight = f"CASE {column}{cases} ELSE 0.0 END"
    if term.answers_gaps:
        return weight
    return f"CASE WHEN COALESCE({column}, '') = '' THEN NULL ELSE {weight} END"


def _log_odds(formula: ScoringFormula) -> str:
    risk = formula.risk
    if not isinstance(risk, RiskKnots):
        assert risk is not None
        return f"{_number(risk.slope)} * score + {_number(risk.intercept)}"
    return "CASE" + "".join(_pieces(risk.scores, risk.log_odds)) + "\n    END"


def _pieces(scores: Sequence[float], log_odds: Sequence[float]) -> list[str]:
    """Return the cases of a curve of straight lines, constant beyond its ends."""
    found = [f"\n      WHEN score <= {_number(scores[0])} THEN {_number(log_odds[0])}"]
    for k in range(len(scores) - 1):
        slope = (log_odds[k + 1] - log_odds[k]) / (scores[k + 1] - scores[k])
        found.append(
            f"\n      WHEN score <= {_number(scores[k + 1])} THEN {_number(log_odds[k])} "
            f"+ {_number(slope)} * (score - {_number(scores[k])})"
        )
    return [*found, f"\n      WHEN score > {_number(scores[-1])} THEN {_number(log_odds[-1])}"]


# --------------------------------------------------------------------------------------------------
# A model as a workbook whose formulas answer for the values that somebody types into it.


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
            odds = _log_odds_formula(formula, score, knots)
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


def _log_odds_formula(formula: ScoringFormula, score: str, knots: tuple[int, int]) -> str:
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


# --------------------------------------------------------------------------------------------------
# A model as PMML 4.4: an XML file that scoring engines of many vendors read.


SCORE, RISK = "hipad_score", "hipad_risk"


def to_pmml(formula: ScoringFormula) -> str:
    """Return the PMML document of a model: the regression gives the score, an output the risk.

    Parameters
    ----------
    formula : ScoringFormula
        The model.
    """
    root = ET.Element("PMML", {"xmlns": "http://www.dmg.org/PMML-4_4", "version": "4.4"})
    header = ET.SubElement(root, "Header", {"description": "A sparse linear classifier"})
    ET.SubElement(header, "Application", {"name": "HIPAD Workbench", "version": __version__})
    _dictionary(root, formula)
    model = ET.SubElement(
        root,
        "RegressionModel",
        {"functionName": "regression", "normalizationMethod": "none"},
    )
    schema = ET.SubElement(model, "MiningSchema")
    for term in formula.numbers:
        attributes = {"name": term.column, "invalidValueTreatment": "asMissing"}
        if term.fill is not None:
            attributes["missingValueReplacement"] = repr(term.fill)
        ET.SubElement(schema, "MiningField", attributes)
    for category in formula.categories:
        attributes = {"name": category.column, "invalidValueTreatment": "asIs"}
        if category.answers_gaps:
            attributes["missingValueReplacement"] = ""
        ET.SubElement(schema, "MiningField", attributes)
    _output(model, formula)
    table = ET.SubElement(model, "RegressionTable", {"intercept": repr(formula.intercept)})
    for term in formula.numbers:
        coefficient = repr(term.weight)
        ET.SubElement(table, "NumericPredictor", {"name": term.column, "coefficient": coefficient})
    for category in formula.categories:
        for level, weight in category.weights:
            ET.SubElement(
                table,
                "CategoricalPredictor",
                {"name": category.column, "value": level, "coefficient": repr(weight)},
            )
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _dictionary(root: ET.Element, formula: ScoringFormula) -> None:
    dictionary = ET.SubElement(root, "DataDictionary")
    for term in formula.numbers:
        kind = {"name": term.column, "optype": "continuous", "dataType": "double"}
        ET.SubElement(dictionary, "DataField", kind)
    for category in formula.categories:
        kind = {"name": category.column, "optype": "categorical", "dataType": "string"}
        ET.SubElement(dictionary, "DataField", kind)


def _output(model: ET.Element, formula: ScoringFormula) -> None:
    output = ET.SubElement(model, "Output")
    ET.SubElement(
        output,
        "OutputField",
        {"name": SCORE, "optype": "continuous", "dataType": "double", "feature": "predictedValue"},
    )
    if formula.risk is None:
        return
    field = _transformed(output, RISK)
    odds = _apply(field, "/")
    _constant(odds, 1.0)
    bottom = _apply(odds, "+")
    _constant(bottom, 1.0)
    power = _apply(bottom, "exp")
    negative = _apply(power, "*")
    _constant(negative, -1.0)
    _clipped(negative, formula.risk)


def _transformed(output: ET.Element, name: str) -> ET.Element:
    kind = {"optype": "continuous", "dataType": "double", "feature": "transformedValue"}
    return ET.SubElement(output, "OutputField", {"name": name, **kind})


def _clipped(parent: ET.Element, risk: RiskLine | RiskKnots) -> None:
    """Add the log odds, within the bounds of what a risk can tell."""
    upper = _apply(parent, "min")
    _constant(upper, MOST_LOG_ODDS)
    lower = _apply(upper, "max")
    _constant(lower, -MOST_LOG_ODDS)
    if isinstance(risk, RiskKnots):
        curve = ET.SubElement(
            lower, "NormContinuous", {"field": SCORE, "outliers": "asExtremeValues"}
        )
        for score, log_odds in zip(risk.scores, risk.log_odds, strict=True):
            ET.SubElement(curve, "LinearNorm", {"orig": repr(score), "norm": repr(log_odds)})
        return
    line = _apply(lower, "+")
    product = _apply(line, "*")
    _constant(product, risk.slope)
    ET.SubElement(product, "FieldRef", {"field": SCORE})
    _constant(line, risk.intercept)


def _apply(parent: ET.Element, function: str) -> ET.Element:
    return ET.SubElement(parent, "Apply", {"function": function})


def _constant(parent: ET.Element, value: float) -> None:
    ET.SubElement(parent, "Constant", {"dataType": "double"}).text = repr(value)


# --------------------------------------------------------------------------------------------------
# A model as an ONNX graph in double precision; needs the package onnx (`hipad[export]`).


OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # of 2022: runtimes of today and of some years ago


def to_onnx(formula: ScoringFormula) -> bytes:
    """Return the ONNX file of a model.

    Its input `numbers` (rows x columns of numbers, NaN for a gap) has the columns in the order that
    the metadata entry `numbers` lists, its input `categories` (rows x columns of text) those of
    the entry `categories`. Outputs are `score`, `risk` where the model has it, and `answer`.

    Parameters
    ----------
    formula : ScoringFormula
        The model.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise HipadError(
            "expected the package onnx for this file, found none: install hipad[export]"
        ) from error

    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(name: str, values: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    inputs, parts = [], [constant("intercept", np.array([[formula.intercept]]))]
    if formula.numbers:
        width = len(formula.numbers)
        inputs.append(helper.make_tensor_value_info("numbers", TensorProto.DOUBLE, [None, width]))
        fill = [np.nan if term.fill is None else term.fill for term in formula.numbers]
        missing = node("IsNaN", ["numbers"], "missing")
        filled = node("Where", [missing, constant("fill", np.array([fill])), "numbers"], "filled")
        weights = constant("weights", np.array([[term.weight] for term in formula.numbers]))
        parts.append(node("MatMul", [filled, weights], "of_numbers"))
    if formula.categories:
        width = len(formula.categories)
        inputs.append(
            helper.make_tensor_value_info("categories", TensorProto.STRING, [None, width])
        )
        for j, term in enumerate(formula.categories):
            column = node("Gather", ["categories", constant(f"at{j}", np.array([j]))], f"text{j}",
                          axis=1)  # fmt: skip
            levels, values = _levels(term)
            code = node(
                "LabelEncoder", [column], f"code{j}", domain="ai.onnx.ml",
                keys_strings=levels, values_int64s=list(range(1, len(levels) + 1)),
                default_int64=0,
            )  # fmt: skip
            parts.append(node("Gather", [constant(f"levels{j}", values), code], f"of_text{j}"))
    score = parts[0]
    for k, part in enumerate(parts[1:]):
        score = node("Add", [score, part], f"sum{k}")
    score = node("Identity", [score], "score")
    outputs = [helper.make_tensor_value_info("score", TensorProto.DOUBLE, [None, 1])]
    met = ("score", np.array([[0.0]]))
    if formula.risk is not None:
        if isinstance(formula.risk, RiskKnots):
            odds = _interpolated(formula.risk, node, constant)
        else:
            odds = _line(formula.risk, node, constant)
        bounds = [constant("least", np.array(-MOST_LOG_ODDS)), constant("most", np.array(MOST_LOG_ODDS))]  # fmt: skip # noqa: E501
        clipped = node("Clip", [odds, *bounds], "log_odds")
        node("Sigmoid", [clipped], "risk")
        outputs.append(helper.make_tensor_value_info("risk", TensorProto.DOUBLE, [None, 1]))
        if formula.threshold is not None:
            met = ("risk", np.array([[np.nextafter(formula.threshold, 0.0)]]))
    above = node("Greater", [met[0], constant("threshold", met[1])], "is_positive")
    positive = node("Cast", [above], "position", to=TensorProto.INT64)
    names = constant("classes", np.array(formula.classes, dtype=object))
    node("Gather", [names, positive], "answer")
    outputs.append(helper.make_tensor_value_info("answer", TensorProto.STRING, [None, 1]))
    graph = helper.make_graph(nodes, "hipad", inputs, outputs, constants)
    model = helper.make_model(
        graph,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
    )
    helper.set_model_props(
        model,
        {
            "outcome": formula.outcome,
            "numbers": "\n".join(term.column for term in formula.numbers),
            "categories": "\n".join(term.column for term in formula.categories),
        },
    )
    onnx.checker.check_model(model)
    found: bytes = model.SerializeToString()
    return found


def _levels(term: CategoryTerm) -> tuple[list[str], np.ndarray]:
    """Return the levels that have a code, and the weight of each code; 0 is any other level."""
    levels = [level for level, _ in term.weights]
    values = [0.0, *(weight for _, weight in term.weights)]
    if not term.answers_gaps:
        levels, values = [*levels, ""], [*values, np.nan]
    return levels, np.array(values)


def _line(risk: RiskLine, node: Any, constant: Any) -> str:
    product = node("Mul", ["score", constant("slope", np.array([[risk.slope]]))], "product")
    found: str = node("Add", [product, constant("base", np.array([[risk.intercept]]))], "line")
    return found


def _interpolated(risk: RiskKnots, node: Any, constant: Any) -> str:
    """Add the piece of the curve in which a score lies; each piece alone, so nothing cancels."""
    x, y = np.array(risk.scores), np.array(risk.log_odds)
    lower, upper = np.r_[-np.inf, x], np.r_[x, np.inf]
    start, base = np.r_[0.0, x[:-1], 0.0], np.r_[y[0], y[:-1], y[-1]]
    slope = np.r_[0.0, np.diff(y) / np.diff(x), 0.0]
    above = node("Greater", ["score", constant("lower", lower[None])], "above")
    within = node("LessOrEqual", ["score", constant("upper", upper[None])], "within")
    inside = node("And", [above, within], "inside")
    offset = node("Sub", ["score", constant("start", start[None])], "offset")
    rise = node("Mul", [offset, constant("slope", slope[None])], "rise")
    lines = node("Add", [rise, constant("base", base[None])], "lines")
    chosen = node("Where", [inside, lines, constant("zero", np.array(0.0))], "chosen")
    axis = constant("axis", np.array([1]))
    summed = node("ReduceSum", [chosen, axis], "summed", keepdims=1)
    # a score that is not known lies in no piece
    unknown = node("IsNaN", ["score"], "unknown")
    found: str = node("Where", [unknown, "score", summed], "interpolated")
    return found


# --------------------------------------------------------------------------------------------------
# A model card: what a model is for, how it was made and where it ends, as Markdown.


MOST_LISTED = 20


def to_card(stored: StoredModel, formula: ScoringFormula) -> str:
    """Return the card of a model, with the front matter that model hubs read.

    Figures on held-out rows are not in a model file, so the card names where they belong and makes
    none up.

    Parameters
    ----------
    stored : StoredModel
        The model as read from its file.
    formula : ScoringFormula
        The same model over raw columns.
    """
    clf = stored.classifier
    negative, positive = formula.classes
    front = [
        "---",
        "library_name: hipad",
        "pipeline_tag: tabular-classification",
        "tags:",
        *(f"- {tag}" for tag in ("support-vector-machine", "expert-rules", "sparse")),
        f"model_name: {json.dumps(f'{positive} against {negative}')}",
        "---",
    ]
    features = count(clf.support_.size, "feature")
    answer = "the score is above zero"
    if formula.threshold is not None:
        answer = f"the risk is at least {formula.threshold:.1%}"
    sections = [
        f"# {_plain(positive)} against {_plain(negative)}",
        "",
        f"A sparse linear classifier of `{_plain(formula.outcome)}` with {features} of "
        f"{clf.n_features_in_:,}, fitted with HIPAD Workbench {__version__}. The answer is "
        f"{_plain(positive)} where {answer}.",
        "",
        "## How it was made",
        "",
        f"- Solver: {clf.solver_ or 'not recorded'}.",
        f"- Penalties: lambda1 = {number(clf.lambda1_)}, lambda2 = {number(clf.lambda2_)}.",
        f"- Certificate: {_plain(str(clf.certificate_))}.",
        f"- Training data (SHA-256): `{clf.data_sha256_}`.",
        "",
        "## Rules of experts",
        "",
        *_rules(stored),
        "",
        "## Features",
        "",
        "| column | weight | stands for a missing value |",
        "| --- | --- | --- |",
        *_features(formula),
        "",
        "## Performance",
        "",
        "Figures on rows that the model has not seen belong here: the Results page gives them with "
        "intervals. None is stated by the model file itself.",
        "",
        "## Limits",
        "",
        "- Risks hold where rows come from the same population as the training rows; elsewhere "
        "state the prevalence, and recalibrate.",
        "- Values outside the range seen in training are extrapolated along a line.",
        "- The model describes associations. It does not say what would happen if a value were "
        "changed.",
    ]
    return "\n".join([*front, "", *sections]) + "\n"


def _rules(stored: StoredModel) -> list[str]:
    records = stored.classifier.rule_report_
    if not records:
        return ["None."]
    found = []
    for record in records:
        found.append(f"- `{_plain(record.text)}`")
        found += [f"  - {_plain(line)}" for line in record.lines]
    return found


def _features(formula: ScoringFormula) -> list[str]:
    rows = [
        (abs(term.weight), term.column, term.weight, _stand_in(term)) for term in formula.numbers
    ]
    rows += [
        (abs(weight), f"{category.column} = {level}", weight, "counts zero")
        for category in formula.categories
        for level, weight in category.weights
    ]
    rows.sort(key=lambda row: (-row[0], row[1]))
    shown = [
        f"| {_plain(name)} | {number(weight)} | {gap} |"
        for _, name, weight, gap in rows[:MOST_LISTED]
    ]
    if len(rows) > MOST_LISTED:
        shown.append(f"| and {len(rows) - MOST_LISTED:,} more | | |")
    return shown


def _stand_in(term: NumberTerm) -> str:
    return "no answer" if term.fill is None else number(term.fill)


def _plain(words: str) -> str:
    """Return a name from a file as text that no Markdown reader takes for markup."""
    one_line = " ".join(words.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>()#|!&" else sign for sign in one_line)

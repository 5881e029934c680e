"""A model as PMML 4.4: an XML file that scoring engines of many vendors read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hipad import __version__
from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.export.scoring import RiskKnots, RiskLine, ScoringFormula

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
    for number in formula.numbers:
        attributes = {"name": number.column, "invalidValueTreatment": "asMissing"}
        if number.fill is not None:
            attributes["missingValueReplacement"] = repr(number.fill)
        ET.SubElement(schema, "MiningField", attributes)
    for category in formula.categories:
        attributes = {"name": category.column, "invalidValueTreatment": "asIs"}
        if category.answers_gaps:
            attributes["missingValueReplacement"] = ""
        ET.SubElement(schema, "MiningField", attributes)
    _output(model, formula)
    table = ET.SubElement(model, "RegressionTable", {"intercept": repr(formula.intercept)})
    for number in formula.numbers:
        coefficient = repr(number.weight)
        ET.SubElement(
            table, "NumericPredictor", {"name": number.column, "coefficient": coefficient}
        )
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
    for number in formula.numbers:
        kind = {"name": number.column, "optype": "continuous", "dataType": "double"}
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

"""A model as an ONNX graph in double precision; needs the package onnx (`hipad[export]`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.exceptions import HipadError
from hipad.export.scoring import CategoryTerm, RiskKnots, RiskLine, ScoringFormula

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

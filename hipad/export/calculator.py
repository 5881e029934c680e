"""A model as one HTML page in which values are typed: the answer, the risk and the reasons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.export.scoring import CategoryTerm, NumberTerm, RiskKnots, ScoringFormula

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; }
#values { display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
label { display: flex; flex-direction: column; overflow-wrap: anywhere; }
input, select { font: inherit; padding: .35rem; max-width: 100%; }
small { color: #b45309; min-height: 1.2em; }
#answer { font-size: 1.6rem; font-weight: 600; margin: 1.5rem 0 0; }
#risk { font-size: 1.2rem; margin: 0; }
#reasons { padding: 0; list-style: none; }
#reasons li { display: flex; justify-content: space-between; gap: 1rem;
  border-bottom: 1px solid #8884;
  padding: .25rem 0; overflow-wrap: anywhere; }
@media print { input, select { border: 1px solid #000; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def to_calculator(
    formula: ScoringFormula, ranges: Mapping[str, tuple[float, float]] | None = None
) -> str:
    """Return a page that answers for typed values without a server or a network.

    Parameters
    ----------
    formula : ScoringFormula
        The model.
    ranges : mapping from column to (least, largest), default=None
        Values seen in training; what lies outside is pointed out.
    """
    title = f"Risk calculator: {formula.classes[1]} against {formula.classes[0]}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{calculator_parts(formula, ranges)}</body></html>\n"
    )


def calculator_parts(
    formula: ScoringFormula,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    *,
    heading: str = "h2",
) -> str:
    """Return the calculator as a part of a page: the form, the answer, the model, the script.

    `heading` is the element of its heading, by how deep it stands in the page.
    """
    model = json.dumps(_as_json(formula, ranges or {}), ensure_ascii=True)
    script = files("hipad.export").joinpath("calculator.js").read_text("utf-8")
    return (
        "<p>Leave a field empty where a value is not known. Nothing that is typed leaves this "
        "page.</p>\n"
        '<form id="values" onsubmit="return false"></form>\n'
        '<div role="status"><p id="answer"></p><p id="risk"></p></div>\n'
        f"<{heading}>What speaks for it</{heading}>\n"
        '<ul id="reasons"></ul>\n'
        # no name from a file can end the element that holds it
        f'<script id="model" type="application/json">{model.replace("<", chr(92) + "u003c")}'
        "</script>\n"
        f"<script>{script}</script>\n"
    )


def _as_json(formula: ScoringFormula, ranges: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    terms = [_number(term, ranges.get(term.column)) for term in formula.numbers]
    terms += [_category(term) for term in formula.categories]
    return {
        "classes": formula.classes,
        "intercept": formula.intercept,
        "terms": terms,
        "risk": _risk(formula),
        "threshold": formula.threshold,
    }


def _number(term: NumberTerm, seen: tuple[float, float] | None) -> dict[str, Any]:
    return {"column": term.column, "weight": term.weight, "fill": term.fill, "range": seen}


def _category(term: CategoryTerm) -> dict[str, Any]:
    levels = [level for level, _ in term.weights]
    return {
        "column": term.column,
        "weights": dict(term.weights),
        "levels": levels,
        "answers_gaps": term.answers_gaps,
    }


def _risk(formula: ScoringFormula) -> dict[str, Any] | None:
    risk = formula.risk
    if risk is None:
        return None
    if isinstance(risk, RiskKnots):
        knots = list(zip(risk.scores, risk.log_odds, strict=True))
        return {"knots": knots, "line": None, "bound": MOST_LOG_ODDS}
    line = {"slope": risk.slope, "intercept": risk.intercept}
    return {"knots": None, "line": line, "bound": MOST_LOG_ODDS}

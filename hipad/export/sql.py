"""A model as one SQL query, in the words that SQLite, PostgreSQL, DuckDB and others share."""

from __future__ import annotations

from collections.abc import Sequence

from hipad.estimator.calibration import MOST_LOG_ODDS
from hipad.export.scoring import CategoryTerm, NumberTerm, RiskKnots, ScoringFormula

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
    negative, positive = map(text, formula.classes)
    lines = [
        f"-- {_comment(formula.classes[1])} against {_comment(formula.classes[0])}: "
        f"{len(formula.columns):,} columns",
        "WITH scored AS (",
        f"  SELECT *,\n    {_sum(formula)} AS score",
        f"  FROM {name(table)}",
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


def name(word: str) -> str:
    """Return the name of a column or table, quoted."""
    return '"' + word.replace('"', '""') + '"'


def text(word: str) -> str:
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
    column = name(term.column)
    value = column if term.fill is None else f"COALESCE({column}, {_number(term.fill)})"
    return f"{_number(term.weight)} * {value}"


def _category_term(term: CategoryTerm) -> str:
    column = f"CAST({name(term.column)} AS VARCHAR)"
    cases = "".join(f" WHEN {text(level)} THEN {_number(w)}" for level, w in term.weights)
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

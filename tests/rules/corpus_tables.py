"""Small tables of five trades, texts of rules on them, and what each text means.

`corpus/<table>.txt` holds a text per line, then `§`, the outcome (`+` the second class, `-` the
first, `*` both) and the meaning: an expression that pandas evaluates on the table, which shares
nothing with the rule language. A `?` after the outcome marks a text that may be refused: it is
vague, misspelt or not linear. Where it has a meaning all the same, a reading must be that one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from hipad.exceptions import RuleError
from hipad.rules import FeatureIndex, compile_rules
from hipad.rules.context import ColumnValues

TEXTS = Path(__file__).with_name("corpus")
N_ROWS = 1_500
Draw = Callable[[np.random.Generator], np.ndarray]


def real(low: float, high: float) -> Draw:
    """Continuous values between two ends."""
    return lambda random: random.uniform(low, high, N_ROWS)


def whole(low: int, high: int, step: int = 1) -> Draw:
    """Whole values from `low` to `high`."""
    return lambda random: random.choice(np.arange(low, high + 1, step), N_ROWS).astype(float)


def flag(random: np.random.Generator) -> np.ndarray:
    """A 0/1 column."""
    return (random.random(N_ROWS) < 0.4) * 1.0


def of(*levels: str) -> Draw:
    """A column of categories."""
    return lambda random: random.choice(np.array(levels, dtype=object), N_ROWS)


@dataclass
class Table:
    """A table with its classes (negative, positive) and blocks."""

    classes: tuple[str, str]
    draws: dict[str, Draw]
    blocks: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        random = np.random.default_rng(25)
        return pd.DataFrame({name: draw(random) for name, draw in self.draws.items()})

    @cached_property
    def encoded(self) -> tuple[FeatureIndex, np.ndarray]:
        """Names and values with a 0/1 column for each category, as the reader makes them."""
        columns: dict[str, np.ndarray] = {}
        for name, values in self.frame.items():
            if not pd.api.types.is_numeric_dtype(values):
                columns |= {
                    f"{name}={each}": (values == each).to_numpy(dtype=float)
                    for each in sorted(set(values))
                }
            else:
                columns[str(name)] = values.to_numpy()
        return FeatureIndex(list(columns)), np.column_stack(list(columns.values()))

    def fired(self, text: str) -> dict[int, np.ndarray]:
        """On which rows the rules of a text fire, for each sign of the outcome."""
        names, X = self.encoded
        found: dict[int, np.ndarray] = {}
        for rule in compile_rules(
            text,
            feature_names=names,
            blocks=self.blocks,
            classes=self.classes,
            values=ColumnValues(X),
        ):
            sign = int(rule.sign)
            found[sign] = found.get(sign, np.zeros(len(X), dtype=bool)) | rule.fires(X)
        return found


@dataclass(frozen=True)
class Typed:
    """A text as someone would type it on a table, and its meaning."""

    table: str
    text: str
    outcome: str
    may_refuse: bool
    meaning: str

    @cached_property
    def meant(self) -> dict[int, np.ndarray]:
        """The rows that are meant, for each sign; empty where nothing is."""
        if not self.meaning:
            return {}
        frame = TABLES[self.table].frame
        if self.outcome == "*":
            tree = ast.parse(self.meaning, mode="eval").body
            assert isinstance(tree, ast.Dict)
            sides = {
                int(ast.literal_eval(key)): ast.unparse(side)
                for key, side in zip(tree.keys, tree.values, strict=True)
                if key is not None
            }
        else:
            sides = {1 if self.outcome == "+" else -1: self.meaning}
        return {
            sign: frame.eval(side, engine="python").to_numpy(dtype=bool)
            for sign, side in sides.items()
        }

    def difference(self, found: dict[int, np.ndarray]) -> str:
        """How the rows found differ from those meant; empty where they do not."""
        if not self.meaning:
            return "must be refused"
        if set(found) != set(self.meant):
            return f"says {sorted(found)}, meant {sorted(self.meant)}"
        allowed = 2 if "(" in self.meaning and "x1." in self.meaning else 0
        for sign, rows in self.meant.items():
            off = int((found[sign] != rows).sum())
            if off > allowed:
                return f"fires on {found[sign].sum()}, meant {rows.sum()}, {off} differ"
        return ""

    @cached_property
    def verdict(self) -> tuple[str, str, RuleError | None]:
        """right, wrong or refused; what is wrong; the refusal."""
        try:
            found = TABLES[self.table].fired(self.text)
        except RuleError as error:
            return "refused", str(error), error
        wrong = self.difference(found)
        return ("wrong" if wrong else "right"), wrong, None


TABLES = {
    "clinic": Table(
        ("no event", "stroke"),
        {
            "age": whole(20, 95),
            "chf": flag,
            "hypertension": flag,
            "diabetes": flag,
            "prior_stroke": flag,
            "vascular_disease": flag,
            "sex": of("male", "female", "not stated"),
            "ecog": whole(0, 4),
            "nyha": of("I", "II", "III", "IV"),
            "EF": real(15, 75),
            "heart rate": real(40, 170),
            "SBP": real(80, 220),
            "DBP": real(40, 130),
            "creatinine": real(0.5, 5),
            "CRP": real(0, 200),
            "NT-proBNP": real(20, 9000),
            "β2-microglobulin": real(1, 8),
            "iron (µg/dl)": real(20, 200),
            "thal": of("normal", "fixed defect", "reversible defect"),
            "smoker": of("never", "former", "current"),
            "anticoagulant": of("none", "warfarin", "DOAC"),
            "INR": real(0.8, 5),
            "n_falls": whole(0, 6),
        },
    ),
    "genes": Table(
        ("non-responder", "responder"),
        {
            name: real(2, 13)
            for name in [
                "TP53",
                "ESR1",
                "ERBB2",
                "MYC",
                "CD8A",
                "CD274",
                "PDCD1",
                "HLA-A",
                "HLA-B",
                "IL6",
                "IL-10",
                "IFN-γ",
                "TGFβ1",
                "STAT1",
                "IRF1",
                "CXCL9",
                "CXCL10",
                "MKI67",
                "TOP2A",
                "CCNB1",
                "AURKA",
                "BIRC5",
            ]
        }
        | {
            "TMB": real(0, 50),
            "purity": real(0, 1),
            "n_mutations": whole(0, 400),
            "kras_mut": flag,
            "braf_v600e": flag,
            "msi": of("MSI-high", "MSI-low", "MSS"),
            "subtype": of("LumA", "LumB", "Her2", "Basal"),
            "stage": of("I", "II", "III", "IV"),
        },
        {
            "IFN": ["STAT1", "IRF1", "CXCL9", "CXCL10"],
            "PROLIF": ["MKI67", "TOP2A", "CCNB1", "AURKA", "BIRC5"],
        },
    ),
    "credit": Table(
        ("paid back", "default"),
        {
            "income": real(5_000, 150_000),
            "debt": real(0, 90_000),
            "loan amount": real(500, 80_000),
            "term_months": whole(12, 60, 12),
            "age": whole(18, 80),
            "late_payments": whole(0, 9),
            "utilisation": real(0, 1),
            "DTI": real(0, 0.9),
            "credit_score": whole(300, 850),
            "years_employed": real(0, 40),
            "checking_balance": real(-3_000, 20_000),
            "purpose": of("small business", "car", "n/a", "debt consolidation", "home improvement"),
            "housing": of("own", "rent", "free"),
            "grade": of("A", "B", "C", "D", "E"),
            "employed": of("yes", "no"),
        },
    ),
    "machine": Table(
        ("ok", "failure"),
        {
            "temperature": real(20, 120),
            "ambient": real(5, 40),
            "ΔT": real(-30, 30),
            "vibration": real(0, 12),
            "pressure": real(1, 12),
            "rpm": real(200, 5_000),
            "torque": real(5, 90),
            "motor current": real(1, 20),
            "hours_since_service": real(0, 5_000),
            "error_count": whole(0, 9),
            "alarm": flag,
            "mode": of("off", "idle", "on", "auto"),
            "shift": of("day", "night"),
            "status": of("low", "normal", "high", "critical", "not available"),
            "valve": of("open", "closed"),
        }
        | {f"T{k}": real(20, 100) for k in range(1, 5)}
        | {f"s{k}": real(0, 10) for k in range(1, 7)},
        {"BEARINGS": ["T1", "T2", "T3", "T4"], "SENS": [f"s{k}" for k in range(1, 7)]},
    ),
    "survey": Table(
        ("no", "yes"),
        {
            "x1": real(-3, 3),
            "x2": real(-3, 3),
            "x3": real(-3, 3),
            "x4": real(-3, 3),
            "tenure": whole(0, 60),
            "größe": real(140, 210),
            "café_visits": whole(0, 12),
            "satisfaction": of("very low", "low", "medium", "high", "very high"),
            "education": of("primary", "secondary", "tertiary"),
            "owns_car": of("yes", "no"),
            "region": of("North", "South", "Zürich", "Not stated"),
            "age group": of("18-24", "25-44", "45-64", "65+"),
            "dose": of("low", "medium", "high"),
        },
        {"XS": ["x1", "x2", "x3"]},
    ),
}


def texts(table: str) -> list[Typed]:
    """The texts of a table, in the order of its file."""
    found = []
    for line in (TEXTS / f"{table}.txt").read_text("utf-8").splitlines():
        text, separator, meaning = line.partition("  §")
        assert separator, line
        outcome, may_refuse = meaning[0], meaning[1:2] == "?"
        found.append(
            Typed(
                table,
                text.replace("⏎", "\n"),
                outcome,
                may_refuse,
                meaning[1 + may_refuse :].strip(),
            )
        )
    return found


ALL = [each for table in TABLES for each in texts(table)]

"""Texts as experts type them, the patients they are tried on, and an evaluator of their meanings.

A meaning is an expression over `v`, which holds one column of values for each feature. It is read
with `ast` and a short list of nodes, and shares nothing with the rule language.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hipad.exceptions import RuleError
from hipad.rules import CompiledRule, FeatureIndex, compile_rules
from hipad.rules.context import ColumnValues

LISTED = Path(__file__).resolve().parents[3] / "shared" / "rules" / "natural.md"
CLASSES = ("healthy", "diabetic")
SIGNS = {"P": 1.0, "N": -1.0}
BLOCKS = {"ABL1": ["1635_at", "1636_g_at", "39730_at"], "K1": ["g1", "g2", "g3", "g4"]}
N_ROWS = 4_000

# Ranges of continuous features, in the units in which people give their thresholds.
RANGES = {
    "Glucose": (50, 220), "BMI": (14, 55), "Age": (12, 95), "blood pressure": (70, 220),
    "HbA1c": (4, 12), "SBP": (80, 220), "DBP": (40, 130), "temperature": (34, 43),
    "WBC": (1, 25), "CRP": (0.01, 30), "tumor_size": (0.2, 8), "weight": (40, 180),
    "height": (90, 215), "income": (5_000, 160_000), "debt": (100, 90_000), "score": (0, 1),
    "HER2": (0, 14), "ER": (0, 12), "MYC": (0, 12), "BRCA1": (0.2, 40), "TP53": (-3, 9),
    "HLA-DRB1": (3, 14), "1635_at": (4, 15), "1636_g_at": (4, 15), "39730_at": (4, 15),
    "g1": (0, 12), "g2": (0, 12), "g3": (0, 12), "g4": (0, 12),
    "a": (-6, 8), "b": (-6, 8), "c": (-6, 8),
    "IL": (0, 50), "IL-6": (0, 50), "albumin": (5, 400), "creatinine": (0.4, 6),
    "LDL": (20, 260), "HDL": (15, 110), "triglycerides": (30, 600), "eGFR": (5, 130),
    "platelets": (10_000, 600_000), "platelet count": (10, 600), "age at onset": (1, 90),
    "start": (150e6, 250e6), "end": (150e6, 250e6), "dose": (1e-9, 5e-6), "PSA": (0.1, 40),
    "balance": (-20_000, 80_000), "utilisation": (0, 1.2), "rate": (-5, 20), "ldh": (80, 900),
}  # fmt: skip
TAILED = ("HER2", "BRCA1", "CRP", "LDL", "PSA", "ldh")  # few high values, as in life
COUNTS = {"lymph_nodes": 20, "rs429358": 2, "Pregnancies": 12, "late_payments": 9}
FLAGS = ("p-36=t", "p-35=t", "p-34=g", "mutated", "hypertension")
CATEGORIES = {
    "sex": ("male", "female"),
    "smoker": ("yes", "no"),
    "stage": ("I", "II", "III"),
    "region": ("north", "south", "east"),
}
CONTINUOUS = frozenset(RANGES)
# Thresholds that stand in texts: some patients lie exactly on them.
EXACT = {
    "Glucose": (100, 126, 200), "BMI": (20, 25, 30, 35), "Age": (18, 25, 45, 50, 65),
    "HbA1c": (6.5, 5.7), "SBP": (120, 140), "DBP": (80, 90), "blood pressure": (140,),
    "a": (-3, -2, -1, 1, 2, 3, 0.001), "b": (-1, 1, 2), "score": (0.2, 0.5), "HER2": (3, 7, 5),
    "income": (50_000, 40_000), "g1": (4, 1), "g2": (4, 1), "tumor_size": (1.9, 4), "ER": (5,),
}  # fmt: skip


def patients(seed: int = 12) -> tuple[list[str], np.ndarray]:
    """Features and values: continuous ones without ties, then rows on the thresholds."""
    random = np.random.default_rng(seed)
    columns = {name: random.uniform(*ends, N_ROWS) for name, ends in RANGES.items()}
    for name in TAILED:
        low, high = RANGES[name]
        columns[name] = low + (high - low) * random.beta(1.2, 3.0, N_ROWS)
    columns |= {
        name: random.integers(0, most + 1, N_ROWS).astype(float) for name, most in COUNTS.items()
    }
    columns |= {name: random.integers(0, 2, N_ROWS).astype(float) for name in FLAGS}
    for name, levels in CATEGORIES.items():
        drawn = random.integers(0, len(levels), N_ROWS)
        columns |= {f"{name}={level}": (drawn == k) * 1.0 for k, level in enumerate(levels)}
    for name, exact in EXACT.items():
        rows = random.choice(N_ROWS, 40, replace=False)
        columns[name][rows] = random.choice(exact, 40)
    for one, other in (("a", "b"), ("HER2", "ER"), ("debt", "income")):
        rows = random.choice(N_ROWS, 25, replace=False)
        columns[one][rows] = columns[other][rows]
    columns["end"] = columns["start"] + random.uniform(0, 200, N_ROWS).round()
    return list(columns), np.column_stack(list(columns.values()))


NAMES, X = patients()
COLUMNS = {name: X[:, j] for j, name in enumerate(NAMES)}
INDEX, VALUES = FeatureIndex(NAMES), ColumnValues(X)

OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Invert: operator.inv,
}  # fmt: skip
STRICT = {ast.GtE: ast.Gt, ast.LtE: ast.Lt}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in ("abs", "max", "min", "maximum", "minimum", "mean", "median", "quantile", "std")
}


class Meaning(ast.NodeVisitor):
    """Evaluates an expression; `strict` reads >= and <= of continuous features as > and <."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.local: dict[str, Any] = {}

    def generic_visit(self, node: ast.AST) -> Any:
        raise ValueError(f"a meaning may not hold {ast.dump(node)}")

    def visit_Expression(self, node: ast.Expression) -> Any:
        return self.visit(node.body)

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.local[node.id]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = (
            part.value if isinstance(part, ast.FormattedValue) else part for part in node.values
        )
        return "".join(str(self.visit(part)) for part in parts)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if not isinstance(node.value, ast.Name) or node.value.id != "v":
            return self.generic_visit(node)
        return COLUMNS[self.visit(node.slice)]

    def visit_List(self, node: ast.List) -> list[Any]:
        return [self.visit(each) for each in node.elts]

    def visit_ListComp(self, node: ast.ListComp) -> list[Any]:
        (loop,) = node.generators
        assert isinstance(loop.target, ast.Name)
        assert isinstance(loop.iter, ast.Call)
        found = []
        for value in range(*map(self.visit, loop.iter.args)):
            self.local[loop.target.id] = value
            found.append(self.visit(node.elt))
        return found

    def visit_Dict(self, node: ast.Dict) -> dict[float, Any]:
        return {
            self.visit(key): self.visit(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return OPERATORS[type(node.op)](self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        return OPERATORS[type(node.op)](self.visit(node.left), self.visit(node.right))

    def visit_Compare(self, node: ast.Compare) -> Any:
        (sign,), (right,) = node.ops, node.comparators
        kind = type(sign)
        if self.strict and names_in(node) & CONTINUOUS:
            kind = STRICT.get(kind, kind)
        return OPERATORS[kind](self.visit(node.left), self.visit(right))

    def visit_Call(self, node: ast.Call) -> Any:
        arguments = [self.visit(each) for each in node.args if not isinstance(each, ast.Name)]
        options = {each.arg: self.visit(each.value) for each in node.keywords if each.arg}
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr == "astype":
            return np.asarray(self.visit(node.func.value)).astype(int)
        assert isinstance(node.func.value, ast.Name)
        assert node.func.value.id == "np"
        return FUNCTIONS[node.func.attr](*arguments, **options)


def names_in(node: ast.AST) -> set[str]:
    """The features that a part of a meaning names."""
    found = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    names = {name for name in found if isinstance(name, str)}
    return names | ({"g1"} if "g" in names else set())


def evaluated(meaning: str, outcome: str, strict: bool = False) -> dict[float, np.ndarray]:
    """Who is meant, for each sign of the outcome."""
    found = Meaning(strict).visit(ast.parse(meaning, mode="eval"))
    sides = found if isinstance(found, dict) else {SIGNS[outcome]: found}
    return {sign: np.asarray(rows, dtype=bool) for sign, rows in sides.items()}


@dataclass(frozen=True)
class Natural:
    """A text, its outcome (P or N) and its meaning.

    A text that is `refuse`d has no meaning that must be known; `also` is one that may be.
    """

    text: str
    outcome: str
    meaning: str
    also: str = ""

    @property
    def refuse(self) -> bool:
        return self.meaning == "refuse"

    @cached_property
    def verdict(self) -> Verdict:
        """How the language does on the text."""
        try:
            found = fired(self.text)
        except RuleError as error:
            return Verdict(self, refused=error)
        return Verdict(self, wrong=difference(self, found))


@dataclass(frozen=True)
class Verdict:
    """What became of a text: an error, or how its patients differ from those meant."""

    natural: Natural
    refused: RuleError | None = None
    wrong: str = ""

    @property
    def kind(self) -> str:
        if self.refused is not None:
            return "rightly refused" if self.natural.refuse else "refused"
        return "wrong" if self.wrong else "right"

    def __str__(self) -> str:
        return f"{self.kind}: {self.natural.text!r} {self.wrong or self.refused or ''}"


def compiled(text: str) -> tuple[CompiledRule, ...]:
    """The rules of a text, compiled for the patients."""
    return compile_rules(text, feature_names=INDEX, blocks=BLOCKS, classes=CLASSES, values=VALUES)


def fired(text: str) -> dict[float, np.ndarray]:
    """On whom the rules of a text fire, for each sign of the outcome."""
    found: dict[float, np.ndarray] = {}
    for rule in compiled(text):
        found[rule.sign] = found.get(rule.sign, np.zeros(len(X), dtype=bool)) | rule.fires(X)
    return found


# Signs and words after which the border of a continuous value may or may not be meant.
_OPEN = re.compile(
    r"(?<![-=~])[<>](?![=])|[≪≫]|\b(not|unless|except|none|over|above|more|exceeds?|greater|higher|"
    r"under|below|less|lower|fewer|older|younger|outside|without|otherwise|xor|top|bottom|highest|"
    r"lowest|high|low|too)\b|¬|!|[≮≯]",
    re.IGNORECASE,
)
_LEARNT = re.compile(r"quantile|median|std|mean")


def difference(natural: Natural, found: dict[float, np.ndarray]) -> str:
    """What is wrong with the patients of a compiled text; empty if nothing is."""
    meaning = natural.also if natural.refuse else natural.meaning
    if not meaning:
        return "must be refused"
    meant, tight = (evaluated(meaning, natural.outcome, strict) for strict in (False, True))
    if set(found) != set(meant):
        return f"says {sorted(found)}, meant {sorted(meant)}"
    allowed = 2 if _LEARNT.search(meaning) else 0  # quantiles are taken in more than one way
    for sign, rows in meant.items():
        off = found[sign] != rows
        if _OPEN.search(natural.text):
            off &= found[sign] != tight[sign]
        if off.sum() > allowed:
            shown = {n: float(COLUMNS[n][off.argmax()]) for n in named(meaning)}
            return f"fires on {found[sign].sum()}, meant {rows.sum()}, {off.sum()} differ: {shown}"
    return ""


def named(meaning: str) -> list[str]:
    """The features of a meaning."""
    return sorted(names_in(ast.parse(meaning, mode="eval")) & set(NAMES))


_LINE = re.compile(r"\| ``(.*?)`` \| ([PN]) \| `(.*)` \|")

# Texts that the list refuses and that have an exact meaning all the same: it may be known.
ALSO = {
    "high CRP => diabetic": "v['CRP'] >= np.quantile(v['CRP'], 0.75)",
    "lymph_nodes <> 0 => diabetic": "v['lymph_nodes'] != 0",
    "lymph_nodes in {0,1,2} => healthy": "v['lymph_nodes'] <= 2",
    "Glucose >= 126 => diabetic weight 20": "v['Glucose'] >= 126",
    "Glucose >= 126 => diabetic otherwise healthy": (
        "{1.0: v['Glucose'] >= 126, -1.0: v['Glucose'] < 126}"
    ),
    "Glucose >= 126 <=> diabetic": "{1.0: v['Glucose'] >= 126, -1.0: v['Glucose'] < 126}",
    "Glucose >= 126 => diabetic; BMI <= 20 => healthy": (
        "{1.0: v['Glucose'] >= 126, -1.0: v['BMI'] <= 20}"
    ),
    "Glucose >= 126.000,5 => diabetic": "v['Glucose'] >= 126000.5",
    "median(ABL1) >= 9.5 => diabetic": (
        "np.median([v['1635_at'], v['1636_g_at'], v['39730_at']], 0) >= 9.5"
    ),
    "at least 3 of (K1) >= 4 => diabetic": (
        "(v['g1'] >= 4).astype(int) + (v['g2'] >= 4) + (v['g3'] >= 4) + (v['g4'] >= 4) >= 3"
    ),
    "rs429358 in (1,2) => diabetic": "v['rs429358'] >= 1",
    "z(HER2) > 2 => diabetic": "v['HER2'] >= np.mean(v['HER2']) + 2 * np.std(v['HER2'])",
    "HER2 > p90(HER2) => diabetic": "v['HER2'] >= np.quantile(v['HER2'], 0.9)",
    "HER2 in top 10 % => diabetic": "v['HER2'] >= np.quantile(v['HER2'], 0.9)",
    "HER2 > quantile(HER2, 0.9) => diabetic": "v['HER2'] >= np.quantile(v['HER2'], 0.9)",
    "HER2 > median(HER2) => diabetic": "v['HER2'] >= np.median(v['HER2'])",
    "HER2 > mean + 2 sd => diabetic": "v['HER2'] >= np.mean(v['HER2']) + 2 * np.std(v['HER2'])",
    "HER2 > mean(HER2) + 2*sd(HER2) => diabetic": (
        "v['HER2'] >= np.mean(v['HER2']) + 2 * np.std(v['HER2'])"
    ),
    "a^2 > 4 => diabetic": "np.abs(v['a']) >= 2",
    "a² > 4 => diabetic": "np.abs(v['a']) >= 2",
    "a >= 1 xor b >= 2 => diabetic": "(v['a'] >= 1) ^ (v['b'] >= 2)",
    "a >= 2 := diabetic": "v['a'] >= 2",
    "a >= 2 => diabetic!": "v['a'] >= 2",
    "ABL1 overexpressed => diabetic": (
        "v['1635_at'] + v['1636_g_at'] + v['39730_at']"
        " >= np.quantile(v['1635_at'] + v['1636_g_at'] + v['39730_at'], 0.75)"
    ),
}
ALSO["high ABL1 => diabetic"] = ALSO["ABL1 overexpressed => diabetic"]


def listed_texts() -> list[Natural]:
    """The texts of the list, or none where it is not there."""
    if not LISTED.exists():
        return []
    lines = (_LINE.match(line) for line in LISTED.read_text("utf-8").splitlines())
    found = []
    for line in filter(None, lines):
        text = line[1].replace("\\|", "|").replace("⏎", "\n")
        meaning = line[3].replace("\\|", "|")
        found.append(Natural(text, line[2], meaning, ALSO.get(text, "")))
    return found

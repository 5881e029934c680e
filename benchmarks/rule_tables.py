"""Tables with published rules, and simulated families whose rules are right in known ways.

Real tables: pima, wpbc60, promoters, cleveland, mammo and wdbc (two sets of rules) from the folder
of real data, and the bundled all-bcrabl. Rules are those of the literature on knowledge-based
support vector machines, the promoters' loosened to "at least so many of these".

Families, of 60 columns with six that tell the classes apart, if nothing else is said:

    exact           whom a rule covers has its outcome, without exception
    shifted-0.5     the thresholds are off by half a deviation, all to one side
    shifted-1       ... by one deviation
    rare            the rules cover 5 % of the rows each
    redundant       the rules speak of the one column that tells most by itself
    subgroup        the rules are wrong for one row in five
    wide            2,000 columns; the rules speak of the mean of twenty that go together
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.data import Table, available, real_table, sample_table
from hipad.rules import CompiledRule, compile_rules

RULES = {
    "pima": """
        Glucose >= 126 and BMI >= 30 => positive
        Glucose <= 100 and BMI <= 25 => negative""",
    "wpbc60": """
        lymph_nodes >= 5 and tumor_size >= 4 => positive
        lymph_nodes = 0 and tumor_size <= 1.9 => negative""",
    "promoters": """
        sum(`p-36=t`, `p-35=t`, `p-34=g`, `p-33=a`, `p-32=c`) >= 4 => positive
        sum(`p-12=t`, `p-11=a`, `p-7=t`) >= 3 => positive
        sum(`p-36=t`, `p-35=t`, `p-34=g`, `p-33=a`, `p-32=c`) <= 2 => negative""",
    "cleveland": """
        exang >= 1 and oldpeak >= 1 => positive
        ca >= 1 and thal >= 6 => positive
        ca <= 0 and thal <= 3 and exang <= 0 => negative""",
    "mammo": """
        shape >= 4 and margin >= 4 => positive
        shape <= 2 and margin <= 1 => negative""",
    "wdbc": """
        radius_mean >= 15.78 and concavity_mean >= 0.1307 => positive
        radius_mean <= 11.7 => negative""",
    "wdbc-worst": """
        points_worst >= 0.15 => positive
        area_worst < 700 and points_worst < 0.1 => negative""",
}
FAMILIES = ("exact", "shifted-0.5", "shifted-1", "rare", "redundant", "subgroup", "wide")
ROWS, COLUMNS = 2600, 60


def table_names() -> list[str]:
    """The tables that are there."""
    real = [name for name in RULES if available(name.partition("-")[0])]
    return [*real, "all-bcrabl", *FAMILIES]


def rule_table(name: str, draw: int) -> Table:
    """A table with its rules; a family is drawn anew for each draw."""
    return family(name, draw) if name in FAMILIES else _real(name)


@cache
def _real(name: str) -> Table:
    if name == "all-bcrabl":
        return sample_table(name)
    found = real_table(name.partition("-")[0])
    return Table(name, found.X.astype(float), found.y, found.names, rules=RULES[name])


def family(name: str, seed: int) -> Table:
    """A draw of a simulated family."""
    rng = np.random.default_rng([seed, 77])
    if name == "wide":
        return _wide(rng)
    X = rng.standard_normal((ROWS, COLUMNS))
    X[:, 2:6] = 0.5 * rng.standard_normal((ROWS, 1)) + 0.87 * X[:, 2:6]
    noise, others = rng.logistic(size=ROWS), X[:, 2:6].sum(axis=1)
    x0, x1 = X[:, 0], X[:, 1]
    rules = "x0 >= 0.8 => positive\nx0 <= -0.8 => negative"
    if name == "exact":
        score = 0.9 * (x0 + x1) + 0.35 * others + noise
        score = np.where(np.abs(x0 + x1) >= 1.2, x0 + x1, score)
        rules = "x0 + x1 >= 1.2 => positive\nx0 + x1 <= -1.2 => negative"
    elif name.startswith("shifted"):
        score = 1.6 * (x0 - float(name.partition("-")[2])) + 0.35 * others + noise
        rules = "x0 >= 0.5 => positive\nx0 <= -0.5 => negative"
    elif name == "rare":
        score = 1.1 * (x0 + x1) + 0.35 * others + noise
        rules = "x0 >= 0.9 and x1 >= 0.7 => positive\nx0 <= -0.9 and x1 <= -0.7 => negative"
    elif name == "redundant":
        score = 2.5 * x0 + 0.35 * others + noise
    else:
        score = 1.2 * x0 * np.where(X[:, 6] > 0.84, -1.0, 1.0) + 0.45 * others + noise
    return Table(name, X, np.where(score > 0, 1, -1), _names(COLUMNS), rules=rules)


def _wide(rng: np.random.Generator) -> Table:
    X = rng.standard_normal((ROWS, 2000))
    y = np.where(rng.random(ROWS) < 0.5, 1, -1)
    shared = 0.7 * rng.standard_normal((ROWS, 1))
    X[:, :20] = 0.55 * y[:, None] + shared + 0.8 * X[:, :20]
    X[:, 20:60] += 0.25 * y[:, None]
    rules = "mean(K) >= 1 => positive\nmean(K) <= -1 => negative"
    return Table("wide", X, y, _names(2000), blocks={"K": np.arange(20)}, rules=rules)


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(count))


def compiled(table: Table) -> tuple[CompiledRule, ...]:
    """The rules of a table."""
    names = None if table.names is None else list(table.names)
    return compile_rules(
        table.rules, feature_names=names, blocks=table.blocks, classes=(-1, 1), values=table.X
    )


def with_flipped_rules(table: Table) -> Table:
    """The same table with the opposite outcome in every rule."""
    rules = table.rules.replace("=> positive", "=> +").replace("=> negative", "=> positive")
    return _with(table, table.X, table.names, rules.replace("=> +", "=> negative"))


def with_irrelevant_rules(table: Table, rng: np.random.Generator) -> Table:
    """The same table with rules on columns that say nothing.

    The columns that rules name are shuffled; what they said is appended under other names.
    """
    columns = np.unique(np.concatenate([rule.columns for rule in compiled(table)]))
    X = np.hstack([table.X, table.X[:, columns]])
    X[:, columns] = table.X[rng.permutation(len(table.y))][:, columns]
    assert table.names is not None
    own = tuple(f"unshuffled_{i}" for i in columns)
    return _with(table, X, (*table.names, *own), table.rules)


def _with(table: Table, X: np.ndarray, names: tuple[str, ...] | None, rules: str) -> Table:
    return Table(table.name, X, table.y, names, blocks=table.blocks, rules=rules)

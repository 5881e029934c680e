"""Models of a table with gaps, categories and hostile names, and rows to answer for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hipad.cli import main
from hipad.data import read_table
from hipad.estimator.model_io import StoredModel, read_model
from hipad.evaluation.metrics import PositiveClassView
from hipad.export import ScoringFormula

QUOTED = 'sugar "mg/dl"'  # names are hostile: quotes, blanks, the beginning of a formula
NUMBERS = ("age", QUOTED, "=cmd", "noise")
KINDS = ("a'b", "B", "<c>", "")
CODES = ("1", "2", "3")


def written_table(path: Path, rows: int, seed: int, *, classes: tuple[str, str]) -> Path:
    """Write a table of numbers with gaps, text with gaps and a column of codes."""
    rng = np.random.default_rng(seed)
    lines = ['age,"sugar ""mg/dl""",=cmd,noise,kind,grade,state']
    for _ in range(rows):
        ill = rng.random() < 0.4
        values = rng.normal([50 + 10 * ill, 5 + 2 * ill, 3 - ill, 0.0], [12, 2, 1.5, 1])
        cells = ["" if rng.random() < 0.1 else f"{value:.4f}" for value in values]
        kind = KINDS[rng.choice(4, p=[0.5, 0.2, 0.2, 0.1] if ill else [0.2, 0.5, 0.2, 0.1])]
        grade = f"g{CODES[rng.integers(3)]}"
        lines.append(",".join([*cells, kind, grade, classes[int(ill)]]))
    path.write_text("\n".join(lines), "utf-8")
    return path


def fitted(folder: Path, rows: int, classes: tuple[str, str]) -> StoredModel:
    """Fit a model to such a table on the command line, and read it again."""
    table = written_table(folder / "training.csv", rows, 0, classes=classes)
    model = folder / "model.json"
    words = ["fit", str(table), "--label", "state", "--positive", classes[1]]
    assert main([*words, "--model", str(model), "--lambda1", "0.02"]) == 0
    return read_model(model)


# the curve of few rows is an average over slopes, that of many isotonic; the positive class is the
# last in order, or the first
CASES = {"few": (150, ("no", "yes")), "many": (3000, ("well", "ill"))}


@pytest.fixture(scope="module", params=CASES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoredModel:
    rows, classes = CASES[request.param]
    return fitted(tmp_path_factory.mktemp(request.param), rows, classes)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    """1,000 rows with gaps, unknown levels and values far outside the training rows."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(1000):
        values = rng.normal([50, 6, 3, 0], [60, 9, 5, 4])
        row: dict[str, object] = dict(zip(NUMBERS, values.tolist(), strict=True))
        for name in NUMBERS:
            row[name] = None if rng.random() < 0.15 else row[name]
        row["kind"] = [*KINDS, "never seen"][rng.integers(5)] or None
        row["grade"] = [*(f"g{code}" for code in CODES), None][rng.integers(4)]
        found.append(row)
    return found


@pytest.fixture(scope="module")
def truth(
    model: StoredModel, rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, np.ndarray]:
    """What the model itself says of a file with these rows."""
    path = tmp_path_factory.mktemp("new") / "new.csv"
    lines = ['age,"sugar ""mg/dl""",=cmd,noise,kind,grade']
    for row in rows:
        cells = ["" if value is None else str(value) for value in row.values()]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines), "utf-8")
    assert model.origin is not None
    table = read_table(path)
    X, kept = model.origin.recipe.matrix(table, np.arange(table.n_rows))
    assert len(kept) == len(rows)
    view = PositiveClassView(model.classifier, model.origin.classes)  # type: ignore[arg-type]
    scores = view.scores(X)
    return {"score": scores, "risk": view.risks(scores), "answer": scores > 0}


@pytest.fixture(scope="module")
def formula(model: StoredModel) -> ScoringFormula:
    return ScoringFormula.of(model)

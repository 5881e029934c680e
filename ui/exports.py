"""What a user takes away: weights and answers as CSV, the model as JSON, rules as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pandas as pd

from hipad.data import to_csv
from hipad.estimator.model_io import Origin, save_model
from hipad.rules.lexer import quote_name
from ui.dataset import Dataset
from ui.models import TrainedModel

INTERCEPT: Final = "(intercept)"
BLOCK: Final = "# block "  # a note that tells of a block
NOTE: Final = re.compile(rf"{BLOCK}(?:`(?P<quoted>[^`]+)`|(?P<name>[^`:]+)): (?P<definition>.+)")


def weight_table(model: TrainedModel, data: Dataset) -> pd.DataFrame:
    """One row per feature with a weight, strongest first."""
    kept = model.support
    table = pd.DataFrame(
        {
            "feature": [data.index.name(int(j)) for j in kept],
            "block": data.block_of(kept),
            "weight": model.weights[kept],
            "per standard deviation": model.weights[kept] * data.summary["sd"].to_numpy()[kept],
        }
    )
    order = np.argsort(-table[measure_of(model)].abs().to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def measure_of(model: TrainedModel) -> str:
    """The column by which weights can be compared with each other."""
    return "per standard deviation" if model.settings.standardize else "weight"


def comparable_weights(model: TrainedModel, data: Dataset) -> np.ndarray:
    """Per standard deviation where the features were scaled, else in the user's units."""
    if not model.settings.standardize:
        return model.weights
    return np.asarray(model.weights * data.summary["sd"].to_numpy())


def weights(model: TrainedModel, data: Dataset) -> str:
    """The weights as CSV, and at the end the intercept: a score is their sum over a patient."""
    columns = weight_table(model, data).to_dict("list")
    last = {"feature": INTERCEPT, "block": "", "weight": model.intercept}
    return to_csv({name: [*values, last.get(name, "")] for name, values in columns.items()})


def rules_file(text: str, blocks: Mapping[str, str]) -> str:
    """Rules as text, with the blocks that they may speak of in notes at the top."""
    notes = [f"{BLOCK}{quote_name(name)}: {', '.join(definition.splitlines())}"
             for name, definition in blocks.items()]  # fmt: skip
    return "\n".join([*notes, text.strip(), ""])


def read_rules_file(text: str) -> tuple[str, dict[str, str]]:
    """The rules of a file, and the blocks that its notes tell of.

    >>> read_rules_file("# block K: a, b\\nmean(K) >= 1 => yes")
    ('mean(K) >= 1 => yes', {'K': 'a, b'})
    """
    blocks, rules = {}, []
    for line in text.splitlines():
        found = NOTE.fullmatch(line)
        if found is None:
            rules.append(line)
        else:
            blocks[(found["quoted"] or found["name"]).strip()] = found["definition"].strip()
    return "\n".join(rules), blocks


def answers(model: TrainedModel, data: Dataset) -> str:
    """Scores, risks and answers of the test patients (or of the training ones) as CSV."""
    test = data.X_test is not None
    X, y = (data.X_test, data.y_test) if test else (data.X_train, data.y_train)
    scores = model.scores(X)
    columns = {
        "patient" if data.ids[int(test)] else "row": data.called(int(test)).tolist(),
        "score": scores.tolist(),
        f"risk of {data.classes[1]}": model.oriented.risks(scores).tolist(),
        "answer": [data.classes[int(score > 0)] for score in scores],
    }
    if y is not None:
        columns["truth"] = y.tolist()
    return to_csv(columns)


def model_file(model: TrainedModel, data: Dataset) -> str:
    """The model as JSON, with what a later table needs to be prepared in the same way."""
    origin = Origin(
        data.label, data.classes, data.recipe, data.decided_by, data.group, data.file_format
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(model.classifier, path, origin=origin)
        return path.read_text("utf-8")

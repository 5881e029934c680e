"""What a user takes away from a result: weights and answers as CSV, the model as JSON."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from hipad.data import to_csv
from hipad.estimator.files.model_file import Origin, save_model
from ui.dataset import Dataset
from ui.models import TrainedModel


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
    """The weights as CSV."""
    return to_csv(weight_table(model, data).to_dict("list"))


def answers(model: TrainedModel, data: Dataset) -> str:
    """Scores, risks and answers of the test patients (or of the training ones) as CSV."""
    test = data.X_test is not None
    X, y = (data.X_test, data.y_test) if test else (data.X_train, data.y_train)
    scores = model.scores(X)
    columns = {
        "row": data.patients[int(test)].tolist(),
        "score": scores.tolist(),
        f"risk of {data.classes[1]}": model.oriented.risks(scores).tolist(),
        "answer": [data.classes[int(score > 0)] for score in scores],
    }
    if y is not None:
        columns["truth"] = y.tolist()
    return to_csv(columns)


def model_file(model: TrainedModel, data: Dataset) -> str:
    """The model as JSON, with what a later table needs to be prepared in the same way."""
    origin = Origin(data.label, data.classes, data.recipe)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(model.classifier, path, origin=origin)
        return path.read_text("utf-8")

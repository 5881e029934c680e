"""`hipad schema`: the JSON Schema of model files."""

from __future__ import annotations

import argparse
import json

from hipad.estimator.model_schema import model_schema


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the schema is that of the files which this version writes."""


def run_schema(options: argparse.Namespace) -> int:
    """The JSON Schema (draft 2020-12) of the model files that `hipad fit --save` writes."""
    print(json.dumps(model_schema(), indent=1))
    return 0

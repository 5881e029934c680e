"""A saved model in a form that other programs run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hipad.cli.inputs import check_output
from hipad.data.table import write_bytes
from hipad.estimator.calibration import check_prevalence
from hipad.estimator.model_io import read_model
from hipad.export import EXPORTS, export_model


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Model, form, where to write."""
    parser.add_argument("model", metavar="MODEL", help="a model that `fit` saved")
    forms = "; ".join(f"{name}: {form.words}" for name, form in EXPORTS.items())
    parser.add_argument("--to", metavar="FORM", choices=tuple(EXPORTS), required=True, help=forms)
    parser.add_argument(
        "--prevalence",
        metavar="SHARE",
        type=float,
        help="share of the positive class where the model will be used; moves the risks only",
    )
    parser.add_argument("--out", metavar="FILE", help="where to write (default: beside the model)")


def run_export(options: argparse.Namespace) -> int:
    """Write a saved model as SQL, spreadsheet, PMML, ONNX or model card.

    All forms give the same risks as `predict`. They read the raw columns of the table that the
    model was fitted to, and fill gaps as in training.
    """
    check_prevalence(options.prevalence)
    source = Path(options.model)
    target = Path(options.out) if options.out else source.with_suffix(EXPORTS[options.to].ending)
    check_output(str(target), [options.model])
    found = export_model(read_model(source), options.to, prevalence=options.prevalence)
    content = found.encode("utf-8") if isinstance(found, str) else found
    write_bytes(target, content, not_over=[source])
    print(f"saved: {target}", file=sys.stderr)
    return 0

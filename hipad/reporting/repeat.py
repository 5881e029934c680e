"""Repeat a report: all its figures by name, a script and a command that give them again."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hipad import __version__
from hipad.data import Table, Turn, read_table
from hipad.estimator.serialization import of_any_version, plain, rebuild
from hipad.evaluation.intervals import Estimate
from hipad.evaluation.metrics import METRICS, ScoredRows
from hipad.evaluation.new_rows import undecided
from hipad.evaluation.stability import Stability
from hipad.exceptions import DataError
from hipad.reporting.analysis import Findings, analyse, sample_tables
from hipad.reporting.study import Study, TableRole
from hipad.solvers.solution import single_thread
from hipad.utils import count

# --------------------------------------------------------------------------------------------------
# All figures of a report by name. Numbers are kept to the last digit; what a figure does not have
# is left out, so that two sets of figures are equal where they are equal as JSON.


COVERAGE: Final = 0.9  # at which it is said for how many rows the model cannot answer
Figures = dict[str, float]


def figures(found: Findings) -> Figures:
    """Return every figure that the report shows, by its name.

    Parameters
    ----------
    found : Findings
        What `hipad.reporting.analysis.analyse` found.

    Returns
    -------
    dict of str to float
        Weights, figures with their intervals, differences, stability.
    """
    with single_thread():
        values = {name: float(value) for name, value in _named(found)}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _named(found: Findings) -> Iterator[tuple[str, float]]:
    clf, view = found.classifier, found.view
    yield "lambda1", clf.lambda1_
    yield "lambda2", clf.lambda2_
    yield "intercept", view.intercept
    names = clf.feature_index_
    for column in view.support.tolist():
        yield f"weight of {names.name(column)}", view.weights[column]
    yield "certificate: gap", clf.certificate_.gap
    if found.arranged is not None:
        yield "training rows", len(found.arranged.y_train)
    one = found.assessment
    if one is not None:
        yield from _of_rows("", one.rows)
        if one.without is not None:
            yield from _of_rows("without rules: ", one.without)
        for name, values in (("", one.p_values), ("without rules: ", one.p_values_without)):
            if values is not None:
                yield from _estimate(
                    f"{name}cannot say", undecided(values, COVERAGE, one.rows.groups)
                )
    for difference in found.differences:
        yield from _estimate(f"difference by rules: {difference.name}", difference.difference)
    if found.corrected is not None:
        yield from _estimate("corrected for tuning: balanced accuracy", found.corrected.corrected)
    for name, stability in (("", found.stability), ("without rules: ", found.stability_without)):
        if stability is not None:
            yield from _of_stability(name, stability)


def _of_rows(name: str, rows: ScoredRows) -> Iterator[tuple[str, float]]:
    yield f"{name}rows", len(rows)
    for metric in METRICS:
        yield from _estimate(f"{name}{metric}", rows.measure(metric))
    yield f"{name}sum of scores", float(np.sum(rows.scores))
    if rows.risks is not None:
        yield f"{name}sum of risks", float(np.sum(rows.risks))


def _of_stability(name: str, own: Stability) -> Iterator[tuple[str, float]]:
    yield f"{name}refits", own.done
    yield f"{name}spread of risks", own.mean_spread
    yield f"{name}answers that change", own.mean_flip_share
    yield f"{name}features per refit", float(np.mean(own.sizes))
    yield f"{name}sum of selection frequencies", float(np.sum(own.frequency))


def _estimate(name: str, own: Estimate) -> Iterator[tuple[str, float]]:
    yield name, own.value
    yield f"{name}, low", own.low
    yield f"{name}, high", own.high


def differing(expected: Mapping[str, float], got: Mapping[str, float]) -> dict[str, float]:
    """Return the relative difference of each figure that is not the same, inf of one that lacks.

    >>> differing({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.5, "c": 0.0})
    {'b': 0.25, 'c': inf}
    """
    found = {}
    for name in dict.fromkeys([*expected, *got]):
        if name not in expected or name not in got:
            found[name] = math.inf
        elif expected[name] != got[name]:
            size = abs(expected[name]) or 1.0
            found[name] = abs(got[name] - expected[name]) / size
    return found


# --------------------------------------------------------------------------------------------------
# The script, and the command.


TEMPLATE: Final = '''\
"""Repeats every figure of a report of HIPAD Workbench.

    python -m pip install "hipad=={version}"
    python repeat.py{arguments}

Each figure is printed with all its digits and compared with the one in the report. The exit code
is 0 where all are the same, and 1 where one differs.{files}
"""

import json
import sys

from hipad.reporting.repeat import repeat

RULES = json.loads(
    r\'\'\'{rules}\'\'\'
)

STUDY = json.loads(
    r\'\'\'{study}\'\'\'
)

FIGURES = json.loads(
    r\'\'\'{figures}\'\'\'
)

if __name__ == "__main__":
    sys.exit(repeat({{**STUDY, "rules": "\\n".join(RULES)}}, FIGURES, sys.argv[1:]))
'''


def script(found: Findings) -> str:
    """Return a Python script that repeats the report and compares every figure.

    It holds the study without its model, and no row of the data; the files are its arguments.

    Parameters
    ----------
    found : Findings
        What the report shows.
    """
    study = plain(replace(found.study, model=""))
    rules = study.pop("rules").split("\n")
    files = "".join(
        f"\n{number}. {one.role}: {_comment(one.name)}"
        + (f", SHA-256 {one.sha256}" if one.sha256 else "")
        for number, one in enumerate(found.study.tables, start=1)
    )
    return TEMPLATE.format(
        version=__version__,
        arguments="".join(f" FILE{k}" for k in range(1, len(found.study.tables) + 1)),
        files=f"\n\nThe files:{files}" if files else "",
        rules=_quoted(rules),
        study=_quoted(study),
        figures=_quoted(figures(found)),
    )


def _comment(name: str) -> str:
    """Return a name as it may stand in a comment: nothing in it ends the text."""
    return "".join(c if c.isprintable() and c not in '"\\' else "?" for c in name)


def _quoted(value: Any) -> str:
    """Return JSON that can stand between three single quotes."""
    return json.dumps(value, indent=1, allow_nan=False).replace("'", r"\u0027")


def command(study: Study, file: str = "study.hipad") -> str:
    """Return the command line that makes the report again from the study as a file.

    >>> command(Study(sample="pima"))
    'hipad report study.hipad --out report.html'
    """
    words = ["hipad", "report", file]
    for one in study.tables:
        words += [f"--{'data' if one.role == 'table' else one.role}", one.name or "FILE"]
    return " ".join(map(shlex.quote, [*words, "--out", "report.html"]))


def repeat(raw: Mapping[str, Any], expected: Mapping[str, float], paths: list[str]) -> int:
    """Make a study again, print its figures, and tell which are not those of the report.

    Parameters
    ----------
    raw : mapping
        The study as plain values.
    expected : mapping of str to float
        The figures of the report.
    paths : list of str
        Its files, in the order in which the study names them; none for a bundled sample.

    Returns
    -------
    int
        0 where every figure is the same, else 1: the exit code of the script.
    """
    try:
        with of_any_version():
            study: Study = rebuild(Study, dict(raw))
        got = figures(analyse(study, read_tables(study, paths)))
    except (DataError, ValueError) as error:
        print(f"error: {error}")
        return 1
    for name, value in got.items():
        print(f"{name} = {value!r}")
    wrong = differing(expected, got)
    if not wrong:
        print(f"All {count(len(got), 'figure')} are those of the report, to the last digit.")
        return 0
    for name in wrong:
        print(f"not the same: {name}: {expected.get(name)!r} in the report")
    worst = max(wrong.values())
    print(
        f"{len(wrong):,} of {count(len(expected), 'figure')} differ, by at most {worst:.1e} of "
        "their size: most likely by other versions of the packages, or another processor"
    )
    return 1


def read_tables(study: Study, paths: list[str]) -> dict[TableRole, Table]:
    """Return the tables of a study from files in the order in which it names them."""
    if study.sample:
        return sample_tables(study)
    if len(paths) != len(study.tables):
        named = ", ".join(one.name or one.role for one in study.tables)
        raise DataError(
            f"expected {count(len(study.tables), 'file')} ({named}), got {len(paths)}: give them "
            "in this order"
        )
    turns: dict[str, Turn] = {"auto": "auto", "yes": True, "no": False}
    return {
        one.role: read_table(
            path, turn=turns[one.turned] if one.role == "table" else False, stated=one.file_format
        )
        for one, path in zip(study.tables, paths, strict=True)
    }

"""The report of a study, as one HTML file."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hipad.cli.inputs import (
    TURNS,
    Bar,
    add_format_options,
    add_turn_option,
    check_output,
    file_format,
    read_data,
    read_text,
)
from hipad.data import FORMATS, Table, facing
from hipad.data.table import write_bytes, write_text
from hipad.evaluation.cross_validation import data_digest
from hipad.exceptions import DataError
from hipad.reporting.analysis import (
    Findings,
    analyse_steps,
    arrange,
    findings_of_model,
    sample_tables,
    stored_model,
)
from hipad.reporting.html import report_page
from hipad.reporting.repeat import figures, script
from hipad.reporting.sources import read_notes, read_source
from hipad.reporting.study import HeldBack, Study, StudyTable, TableRole
from hipad.reporting.study_file import is_study_file, read_study, write_study
from hipad.utils import some

FILES: Final[dict[TableRole, str]] = {
    "table": "data",
    "test": "test",
    "unlabelled": "unlabelled",
    "labels": "labels",
    "symbols": "symbols",
}


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """The model or session, its data, what people say of it, where to write."""
    parser.add_argument(
        "source",
        metavar="MODEL|SESSION|STUDY",
        help="a model that `fit` saved, a session.json, or a study.hipad",
    )
    parser.add_argument(
        "--data",
        metavar="TABLE",
        help=f"the table it was made of: {', '.join(FORMATS)} (default: none, so that the report "
        "has no figures; samples need none)",
    )
    parser.add_argument("--test", metavar="FILE", help="its table of test rows (default: none)")
    parser.add_argument("--unlabelled", metavar="FILE", help="its further rows without a label")
    parser.add_argument("--labels", metavar="FILE", help="classes by IDs, as in fit")
    parser.add_argument("--symbols", metavar="FILE", help="gene symbols, as in fit")
    parser.add_argument("--title", help="of the report (default: the classes)")
    parser.add_argument("--question", help="what the model is for (default: none)")
    parser.add_argument(
        "--notes",
        metavar="JSON",
        help="what people say: title, question, remarks, answers by the number of a TRIPOD+AI "
        "item, provenance of rules (default: those of the session)",
    )
    parser.add_argument(
        "--open",
        metavar="REASON",
        dest="why",
        help="open the test set for this report; the report says so, and why (default: it stays "
        "sealed, and figures are cross-validated)",
    )
    parser.add_argument(
        "--refits", type=int, metavar="N", help="to halves of the rows; 0: none (default: 200)"
    )
    parser.add_argument("--out", metavar="HTML", help="where to write (default: beside the source)")
    again = parser.add_argument_group("repeat it")
    again.add_argument(
        "--study", metavar="FILE", help="write the study as one file, by which others repeat it"
    )
    again.add_argument(
        "--with-data", action="store_true", help="put the data into it, with the IDs of the rows"
    )
    again.add_argument("--script", metavar="FILE", help="write a Python script that repeats it")
    again.add_argument("--figures", metavar="FILE", help="write every figure as JSON")
    add_turn_option(parser)
    add_format_options(parser)


def run_report(options: argparse.Namespace) -> int:
    """Everything of a model or a session in one HTML file: data, rules, figures, calculator.

        hipad report model.json --data table.csv
        hipad report session.json --data table.csv --out report.html
        hipad report study.hipad

    The model is fitted again to the table, so that every figure is of rows that it has not seen:
    cross-validated, or of the test set where that was opened. The file needs no network, and
    answers TRIPOD+AI and PROBAST+AI as far as a run can.
    """
    source = Path(options.source)
    target = Path(options.out) if options.out else source.with_suffix(".html")
    paths = {role: getattr(options, name) for role, name in FILES.items()}
    read = [options.source, options.notes, *paths.values()]
    for written in (str(target), options.study, options.script, options.figures):
        if written:
            check_output(written, read)
    study, tables = _of_source(source, options)
    if not tables:
        tables = _tables(study, options, paths)
        study = _with_tables(study, tables, paths)
    if tables:
        if options.why:
            study = _opened(study, tables, options.why)
        found = _analysed(study, tables)
    elif study.model:
        print("note: without --data the report has no figures", file=sys.stderr)
        found = findings_of_model(study)
    else:
        raise DataError("expected the data of the session, got none: give --data TABLE")
    named = [Path(path) for path in (options.source, *paths.values()) if path]
    write_text(target, report_page(found), not_over=named)
    print(f"saved: {target}", file=sys.stderr)
    _repeatable(found, tables, options, named)
    return 0


def _of_source(source: Path, options: argparse.Namespace) -> tuple[Study, dict[TableRole, Table]]:
    """The study, and its tables where the file holds them and no others are given."""
    if not is_study_file(source):
        return _noted(read_source(source), options), {}
    stored = read_study(source)
    if stored.unknown:
        print(f"note: not known to this version: {some(stored.unknown)}", file=sys.stderr)
    return _noted(stored.study, options), {} if options.data else dict(stored.tables)


def _repeatable(
    found: Findings,
    tables: dict[TableRole, Table],
    options: argparse.Namespace,
    named: list[Path],
) -> None:
    """Write what others need to find the same, as far as it was asked for."""
    if options.study:
        kept = tables if options.with_data and not found.study.sample else None
        write_bytes(Path(options.study), write_study(found.study, kept), not_over=named)
        print(f"saved: {options.study}", file=sys.stderr)
    if options.script:
        write_text(Path(options.script), script(found), not_over=named)
        print(f"saved: {options.script}", file=sys.stderr)
    if options.figures:
        summary = json.dumps(figures(found), indent=1)
        write_text(Path(options.figures), summary + "\n", not_over=named)
        print(f"saved: {options.figures}", file=sys.stderr)


def _noted(study: Study, options: argparse.Namespace) -> Study:
    """The study with what the options say of it."""
    if options.notes:
        try:
            notes = read_notes(json.loads(read_text(options.notes)))
        except ValueError as error:
            raise DataError(f"{options.notes} cannot be used: {error}") from error
        study = replace(study, notes=notes)
    if options.refits is not None:
        if options.refits < 0 or options.refits == 1:
            raise DataError(f"expected 0 or 2 refits or more, got {options.refits}")
        study = replace(study, analysis=replace(study.analysis, refits=options.refits))
    values = {name: getattr(options, name) for name in ("title", "question")}
    return study.with_notes(**{name: text for name, text in values.items() if text})


def _tables(
    study: Study, options: argparse.Namespace, paths: dict[TableRole, str | None]
) -> dict[TableRole, Table]:
    """The tables that the options name, read as the study says; of a sample its own."""
    if not options.data:
        return sample_tables(study) if study.sample else {}
    found: dict[TableRole, Table] = {}
    stated = file_format(options)
    numbers: tuple[str, ...] = ()
    if study.model:
        origin = stored_model(study.model).origin
        numbers = () if origin is None else origin.recipe.number_names
    for role, path in paths.items():
        if not path:
            continue
        known = study.table(role) or study.table("table")
        form = stated if known is None else known.file_format.with_change(stated.to_dict())
        turn: Any = TURNS[options.turned] if role == "table" else False
        table = read_data(path, turn, form)
        found[role] = facing(table, numbers) if role == "table" and numbers else table
    return found


def _with_tables(
    study: Study, tables: dict[TableRole, Table], paths: dict[TableRole, str | None]
) -> Study:
    """The study with the names and hashes of its files."""
    if study.sample or not tables:
        return study
    for role, table in tables.items():
        study.check_table(role, table.sha256)
    lines = tuple(
        StudyTable(role, Path(paths[role] or "").name, table.sha256, table.reading.stated)
        for role, table in tables.items()
    )
    held = study.held_back
    if "test" in tables and held.kind == "none":
        held = HeldBack("file")
    return replace(study, tables=lines, held_back=held)


def _opened(study: Study, tables: dict[TableRole, Table], why: str) -> Study:
    """The study with one more opening of its test rows."""
    rows = arrange(study, tables)
    if rows.y_test is None or not len(rows.y_test):
        raise DataError("expected test rows to open, got none: leave out --open, or give --test")
    study = study.sealed_by(data_digest(rows.X_test, rows.y_test))
    assert study.seal is not None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(study, seal=study.seal.opened(why, study.edits, now), seals=())


def _analysed(study: Study, tables: dict[TableRole, Table]) -> Findings:
    """Everything that the report shows, with a bar."""
    steps = analyse_steps(study, tables)
    with Bar() as bar:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                found: Findings = end.value
                return found
            bar.show(step.message, step.share)

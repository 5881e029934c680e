"""What an experiment leaves behind: a CSV of every fit, and one HTML page with tables and pictures.

The page is whole in itself: no script, nothing fetched, all text escaped. It ends with the versions
and the machine that the figures come from.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version

from hipad import __version__
from hipad.data.export import to_csv
from hipad.experiments.summing import failed_arms
from hipad.experiments.task import Done

PACKAGES = ("numpy", "scipy", "scikit-learn", "osqp", "joblib", "distributed")
STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #ccc; text-align: left; }
svg { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True)
class Section:
    """A part of the page: sentences, a table, a picture."""

    title: str
    sentences: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    picture: str = ""


def failure_sections(found: Sequence[Done]) -> list[Section]:
    """What failed, arm by arm, to stand before all that was found; nothing if nothing failed."""
    sentences = failed_arms(found)
    return [Section("Fits that failed", sentences)] if sentences else []


def fits_csv(outcomes: Iterable[Done]) -> str:
    """One line for each fit: what was done, its figures, its time."""
    found = sorted(outcomes, key=lambda done: (done.task.data, done.task.seed, done.key))
    settings = sorted({name for done in found for name in done.task.settings})
    named = sorted({n for d in found for n, v in d.figures.items() if not isinstance(v, list)})
    columns: dict[str, list[object]] = {
        "data": [done.task.data for done in found],
        "seed": [done.task.seed for done in found],
    }
    columns |= {name: [_cell(done.setting(name)) for done in found] for name in settings}
    columns |= {name: [_cell(done.figures.get(name)) for done in found] for name in named}
    columns["seconds"] = [round(done.seconds, 4) for done in found]
    columns["error"] = [done.error for done in found]
    return to_csv(columns)


def _cell(value: object) -> object:
    """Numbers as they are, nothing as an empty cell, all else as text."""
    return "" if value is None else value if isinstance(value, int | float) else str(value)


def page(title: str, sections: Sequence[Section]) -> str:
    """The HTML page."""
    body = "\n".join(_section(part) for part in sections)
    end = "".join(f"<li>{escape(line)}</li>" for line in circumstances())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n"
        f"<h2>Versions and machine</h2><ul>{end}</ul></body></html>\n"
    )


def circumstances() -> list[str]:
    """Versions and machine; nothing that names a person or a computer."""
    lines = [f"hipad {__version__}, Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    lines.append(f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores")
    return lines


def _section(part: Section) -> str:
    lines = [f"<h2>{escape(part.title)}</h2>"]
    lines += [f"<p>{escape(sentence)}</p>" for sentence in part.sentences]
    if part.picture:
        lines.append(f"<figure>{part.picture}</figure>")
    if part.rows:
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in part.head)
        lines.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        lines += [
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in part.rows
        ]
        lines.append("</tbody></table>")
    return "\n".join(lines)


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same table for a terminal.

    >>> print(plain_table(["a", "long"], [["1", "2"]]))
    a  long
    1  2
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )

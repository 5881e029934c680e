"""What every part uses: array types, counted words, tables, optional packages, places, budgets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias
from unicodedata import category

import numpy as np
import numpy.typing as npt

from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# The kinds of NumPy array that functions take and give, named once.


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


# --------------------------------------------------------------------------------------------------
# Numbers and names as words of a sentence: one way to count and to list in every message.


def count(n: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun, in the singular where there is one.

    >>> count(1, "row"), count(1200, "row"), count(0, "box", "boxes")
    ('1 row', '1,200 rows', '0 boxes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share of one as a percentage.

    >>> percent(0.875)
    '87.5 %'
    """
    return f"{100 * share:.{digits}f} %"


def number(value: float, digits: int = 4) -> str:
    """Return a number with at most this many significant digits.

    >>> number(1 / 3), number(2.0)
    ('0.3333', '2')
    """
    return f"{value:.{digits}g}"


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign and this many decimals; what rounds to zero has no minus.

    >>> signed(0.456), signed(-1.0), signed(-0.001)
    ('+0.46', '-1.00', '+0.00')
    """
    return f"{round(value, digits) + 0.0:+,.{digits}f}"


def listed(
    items: Sequence[str],
    last: str = "and",
    limit: int = 8,
    spell: Callable[[str], str] = str,
) -> str:
    """Return items joined as in a sentence; of many the first few, and how many more there are.

    `spell` writes one item, for example in quotes.

    >>> listed(["a", "b", "c"], "or"), listed(["a", "b", "c"], limit=1)
    ('a, b or c', 'a and 2 more')
    """
    shown = [spell(item) for item in items[:limit]]
    if len(items) > limit:
        shown.append(f"{len(items) - limit:,} more")
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names, quoted and cut to size, for a message.

    >>> some(["age", "x" * 50, "sex"], most=2)
    "'age', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' and 1 more"
    """
    return listed(list(names), limit=most, spell=_quoted)


UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn")  # control, direction and half characters


def one_line(name: object, longest: int) -> str:
    """A name cut to size, without line ends and other signs that are not seen.

    >>> one_line("a\\nb\\u202ec", 60), one_line("x" * 9, 4)
    ('a b c', 'xxx…')
    """
    seen = "".join(" " if category(c) in UNSEEN else c for c in str(name)[: 4 * longest])
    text = " ".join(seen.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:37] + "...")


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as a notebook or a page shows it, every cell escaped.

    >>> html_table(["rule"], [["a < 1"]])
    '<table><thead><tr><th scope="col" style="text-align:left">rule</th></tr></thead>...'
    """
    left = 'style="text-align:left"'
    title = f"<caption {left}>{escape(caption)}</caption>" if caption else ""
    top = "".join(f'<th scope="col" {left}>{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    thead = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f"<table>{title}{thead}<tbody>\n{body}\n</tbody></table>"


# --------------------------------------------------------------------------------------------------
# Packages that the library does without until something needs them.
#
# They come with `hipad[app]`, `hipad[cluster]`, `hipad[disk]`, `hipad[osqp]`,
# `hipad[piqp]` and `hipad[patterns]`: a program that fits and predicts need not install them.


def require(packages: Sequence[str], purpose: str, *, extra: str = "app") -> None:
    """Say in a sentence which packages are missing, and how to get them.

    >>> require(["json"], "writing a report")
    >>> require(["no_such_package"], "reading a scroll")
    Traceback (most recent call last):
    ...
    hipad.exceptions.DataError: reading a scroll needs no_such_package, ... pip install 'hipad[app]'
    """
    missing = [name for name in packages if not _installed(name)]
    if missing:
        raise DataError(
            f"{purpose} needs {', '.join(missing)}, which cannot be imported here: "
            f"pip install 'hipad[{extra}]'"
        )


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # an import hook forbids it, or it is half initialised
        return False


# --------------------------------------------------------------------------------------------------
# Where the files lie that come with the library: the app and the samples.
#
# In a source tree they stand beside the package, in an installed wheel inside it.


PACKAGE: Final = Path(__file__).resolve().parent
BUNDLE: Final = PACKAGE / "bundle"
ROOT: Final = BUNDLE if BUNDLE.is_dir() else PACKAGE.parent

APP: Final = ROOT / "app.py"
SAMPLES: Final = ROOT / "sample_data"


# --------------------------------------------------------------------------------------------------
# How much work a check may take: seconds, steps, and an event that ends it at once.


@dataclass(eq=False)
class Budget:
    """A limit of seconds (from when it is made) and of steps, and an event that ends the work.

    >>> budget = Budget(steps=2)
    >>> [budget.spend() for _ in range(3)]
    [True, True, False]
    """

    seconds: float = float("inf")
    steps: float = float("inf")
    stop: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        """True if no more work should be begun."""
        return self.steps <= 0 or self.stop.is_set() or self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is over; negative afterwards."""
        return self.begun + self.seconds - time.monotonic()

    def spend(self, steps: float = 1) -> bool:
        """Take steps from the budget; False if nothing was left of it."""
        if self.is_spent:
            return False
        self.steps -= steps
        return True

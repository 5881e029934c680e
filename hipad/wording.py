"""Numbers and names as words of a sentence: one way to count and to list in every message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def count(n: int, noun: str, plural: str = "") -> str:
    """A number and its noun, in the singular where there is one.

    >>> count(1, "row"), count(1200, "row"), count(0, "box", "boxes")
    ('1 row', '1,200 rows', '0 boxes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """A share of one as a percentage.

    >>> percent(0.875)
    '87.5 %'
    """
    return f"{100 * share:.{digits}f} %"


def number(value: float, digits: int = 4) -> str:
    """A number with at most this many significant digits.

    >>> number(1 / 3), number(2.0)
    ('0.3333', '2')
    """
    return f"{value:.{digits}g}"


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign and this many decimals; what rounds to zero has no minus.

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
    """Items joined as in a sentence; of many the first few, and how many more there are.

    `spell` writes one item, for example in quotes.

    >>> listed(["a", "b", "c"], "or"), listed(["a", "b", "c"], limit=1)
    ('a, b or c', 'a and 2 more')
    """
    shown = [spell(item) for item in items[:limit]]
    if len(items) > limit:
        shown.append(f"{len(items) - limit:,} more")
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def some(names: Iterable[str], most: int = 5) -> str:
    """The first few names, quoted and cut to size, for a message.

    >>> some(["age", "x" * 50, "sex"], most=2)
    "'age', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' and 1 more"
    """
    return listed(list(names), limit=most, spell=_quoted)


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:37] + "...")

"""What colours mean, the same on every page: one place to look them up.

    chart.add_bar(..., marker_color=colours.of_class(1))     # the positive class
    chart.add_bar(..., marker_color=colours.of_sign(weight))  # speaks for a class: its colour

The theme's list of chart colours (`.streamlit/config.toml`) is read in this order: the negative
class, the positive class, then colours for groups such as blocks, and grey at the end for the rest.
No group ever has the colour of a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ui import charts

NEGATIVE: Final = 0  # places in the theme's list
POSITIVE: Final = 1
COMING: Final = 2
REST: Final = -1


def of_class(which: int) -> str:
    """The colour of a class: 1 is the positive one, 0 the negative one."""
    return charts.colour(POSITIVE if which else NEGATIVE)


def of_sign(value: float) -> str:
    """The colour of what speaks for a class: the positive one above zero; grey at zero."""
    return rest() if value == 0 else of_class(int(value > 0))


def signs() -> list[tuple[float, str]]:
    """A scale for values around zero: the negative class, nothing, the positive class."""
    ground = charts.theme_option("backgroundColor") or "#ffffff"
    return [(0.0, of_class(0)), (0.5, ground), (1.0, of_class(1))]


def now() -> str:
    """What is looked at now, came in or became right."""
    return charts.colour(COMING)


def rest() -> str:
    """Grey: what was before, what left, and whatever has no colour of its own."""
    return charts.colour(REST)


def groups(names: Sequence[str]) -> dict[str, str]:
    """A colour for each group, never that of a class."""
    return charts.block_colours(names)

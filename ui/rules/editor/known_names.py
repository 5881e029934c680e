"""The names that a rule may use in these data, as the editor completes and colours them.

The list is fetched by the browser once for each set of data, as a file under an address made of its
content: with 50,000 names it would be far too much for every look at the page.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from hipad.rules.functions import RULE_FUNCTIONS
from hipad.rules.lexer import RESERVED, format_number, quote_label, quote_name
from ui.dataset import Dataset

KIND: Final = "application/json"
FUNCTIONS: Final = tuple(RULE_FUNCTIONS)
WORDS: Final = (
    *sorted(RESERVED - {"off"}),
    "at least",
    "at most",
    "exactly",
    "any of",
    "all of",
    "none of",
    "unless",
    "is raised in",
    "is lowered in",
    "is certain",
    "does not matter",
    "worth 20 patients",
)


@dataclass(frozen=True)
class KnownNames:
    """Names as a rule writes them, in JSON, and a key made of that."""

    key: str
    content: bytes


def known_names(data: Dataset) -> KnownNames:
    """All names of the data: features, blocks with their sizes, outcomes, categories."""
    lists = {
        "features": [quote_name(data.index.name(j)) for j in range(data.n_features)],
        "blocks": [[quote_name(name), len(columns)] for name, columns in data.blocks.items()],
        "classes": [quote_label(name) for name in data.classes],
        "categories": _categories(data),
    }
    content = json.dumps(lists, ensure_ascii=False, separators=(",", ":")).encode()
    return KnownNames(sha256(content).hexdigest()[:32], content)


def _categories(data: Dataset) -> list[tuple[str, list[str]]]:
    """Each category with its levels, in the case in which the data have them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for levels in data.index.categories.values():
        for j in levels.values():
            group, _, level = (part.strip() for part in data.index.name(j).partition("="))
            found.setdefault(group.lower(), (quote_name(group), []))[1].append(_level(level))
    return list(found.values())


def _level(level: str) -> str:
    """A level as a rule writes it after `=`: a number only where it is read back as the same."""
    try:
        is_number = level == format_number(float(level)) and level[-1:].isdecimal()
    except ValueError:
        is_number = False
    return level if is_number else quote_name(level)

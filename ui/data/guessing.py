"""A first guess at what is to be done with a table: above all, which column holds the classes."""

from __future__ import annotations

import re
from typing import Final

from ui.dataset import MOST_CLASSES, Loaded, Preparation

# Words that name an outcome, in the languages of most exports; a longer name may hold one of them.
OUTCOME_WORDS: Final = frozenset({
    "label", "class", "outcome", "target", "y", "diagnosis", "status", "group", "response",
    "result", "endpoint", "diagnose", "befund", "klasse", "gruppe", "ergebnis", "ausgang",
    "zielgröße", "endpunkt", "diagnostic", "diagnóstico", "diagnostico", "classe", "groupe",
    "résultat", "resultat", "clase", "grupo", "resultado", "diagnosi", "esito", "uitkomst",
})  # fmt: skip
NEAR_EDGE: Final = 20  # columns of numbers that are looked at, from the start and from the end


def first_preparation(loaded: Loaded) -> Preparation:
    """A guess to start from: the label that came with the data, or the likeliest column."""
    label = loaded.label or loaded.table.label or likely_label(loaded)
    test = "split" if loaded.test is None else "file"
    choices = {"positive": loaded.positive, "test": test, **loaded.preparation}
    return Preparation(label=label, **choices)


def likely_label(loaded: Loaded) -> str:
    """Return the column whose name or content looks most like a label.

    First by its name, the whole of it or a word in it; then the last column of text with two
    values, and the last and the first column of numbers.
    """
    names = loaded.table.names
    looked_at = names[:1000] + names[-1000:]
    for name in looked_at:
        if name.lower() in OUTCOME_WORDS:
            return name
    candidates = label_candidates(loaded)
    for name in candidates:
        if OUTCOME_WORDS.intersection(re.findall(r"[^\W\d_]+", name.lower())):
            return name
    two = [name for name in candidates if len(loaded.labels(name)) == 2]
    return next(iter(two), names[-1])


def label_candidates(loaded: Loaded) -> list[str]:
    """Return columns that can hold classes, the likeliest first: of few values, the last first."""
    table = loaded.table
    text = list(table.text)[-200:][::-1]
    numbers = [*table.number_names[-NEAR_EDGE:][::-1], *table.number_names[:NEAR_EDGE]]
    return [name for name in dict.fromkeys([*text, *numbers]) if _has_classes(loaded, name)]


def _has_classes(loaded: Loaded, name: str) -> bool:
    often = list(loaded.frequency(name).values())
    return 2 <= len(often) <= MOST_CLASSES and 2 * len(often) <= sum(often)

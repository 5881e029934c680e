"""A first guess at what is to be done with a table: above all, which column holds the classes."""

from __future__ import annotations

from ui.dataset import Loaded, Preparation


def first_preparation(loaded: Loaded) -> Preparation:
    """A guess to start from: the label that came with the data, or the likeliest column."""
    label = loaded.label or loaded.table.label or likely_label(loaded)
    test = "split" if loaded.test is None else "file"
    choices = {"positive": loaded.positive, "test": test, **loaded.preparation}
    return Preparation(label=label, **choices)


def likely_label(loaded: Loaded) -> str:
    """A column whose name or content looks like a label: two values, at the end or the start."""
    names = loaded.table.names
    usual = ("label", "class", "outcome", "target", "y", "diagnosis", "status", "group")
    for name in names[:1000] + names[-1000:]:
        if name.lower() in usual:
            return name
    few = [*loaded.table.text, names[-1], names[0]]
    return next((name for name in few[:200] if len(loaded.labels(name)) == 2), names[-1])

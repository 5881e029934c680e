"""More rules as experts type them, beside the list: text, outcome, meaning, and a meaning that may
be known where the text may be refused.
"""

from __future__ import annotations

TEXTS: tuple[tuple[str, ...], ...] = (
    ("HbA1c at or above 6.5 % => diabetic", "P", "v['HbA1c'] >= 6.5"),
)

"""Errors in words."""

from __future__ import annotations

from hipad.errors import RuleError


def sentence(error: Exception) -> str:
    """What went wrong, on one line, with the place in the rules where there is one."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, RuleError) and error.line is not None:
        place = f"line {error.line}" + (f", column {error.column}" if error.column else "")
        return text if text.startswith("line ") else f"{place}: {text}"
    return text

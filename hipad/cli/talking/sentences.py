"""Errors in words, and the exit codes."""

from __future__ import annotations

from typing import Final

from hipad.errors import RuleError

REFUSED: Final = 1  # the input cannot be used
EXAMPLE: Final = "Glucose >= 126 and BMI >= 30 => diabetic"
RULES_HELP: Final = f"""a rule:
  {EXAMPLE}
  name: mean(ABL1, ABL2) >= 9.5 => "BCR/ABL" worth 20 patients   # a note
before => a condition on features or blocks in the units of the data, after it a class label"""
INTERRUPTED: Final = 130  # Ctrl-C, as shells have it: 128 and the number of the signal


def sentence(error: Exception) -> str:
    """What went wrong, on one line, with the place in the rules where there is one."""
    text = " ".join(str(error).replace("\0", r"\0").split()) or type(error).__name__
    if isinstance(error, RuleError) and error.line is not None:
        place = f"line {error.line}" + (f", column {error.column}" if error.column else "")
        return text if text.startswith("line ") else f"{place}: {text}"
    return text

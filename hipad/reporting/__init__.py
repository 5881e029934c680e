"""Reports of a study: what was asked, done and found, in one page to hand on."""

from __future__ import annotations

from hipad.reporting.study import (
    Analysis,
    HeldBack,
    RuleProvenance,
    Study,
    StudyNotes,
    StudyTable,
    VersionTried,
)

__all__ = [
    "Analysis",
    "HeldBack",
    "RuleProvenance",
    "Study",
    "StudyNotes",
    "StudyTable",
    "VersionTried",
]

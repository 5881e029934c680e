"""A session that was set aside when other data came: what it held, and how it is taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hipad.utils import count


@dataclass(frozen=True, eq=False)
class Past:
    """A session that was set aside when other data came, whole and ready to go on."""

    why: str
    fields: Mapping[str, Any]

    NAMES: ClassVar = (
        "loaded", "preparation", "data", "blocks", "rules", "settings", "job", "ran", "models",
        "pinned", "refitting", "tuning", "keep_name",
    )  # fmt: skip

    @classmethod
    def of(cls, state: Any, why: str) -> Past:
        """What a session holds now; its history of rules may go on without changing this one."""
        fields = {name: getattr(state, name) for name in cls.NAMES}
        fields["rules"] = replace(state.rules, edits=list(state.rules.edits))
        return cls(why, fields)

    def put_back(self, state: Any) -> None:
        """Give the session what it held."""
        for name, value in self.fields.items():
            setattr(state, name, value)

    @property
    def words(self) -> str:
        """What there is to go back to."""
        models, job = self.fields["models"], self.fields["job"]
        parts = [count(len(models), "kept model")] if models else []
        parts += ["a run"] if job is not None else []
        return f"{self.fields['loaded'].name}: {' and '.join(parts) or 'its rules'}"

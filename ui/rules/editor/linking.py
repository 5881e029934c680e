"""What the editor in the browser and the server know of each other.

Every edit in the browser has a number. The server answers with the number of the last edit that it
has seen, and the browser takes the server's text only when that is the newest: what somebody is
typing is never overwritten by an answer that does not know it yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hipad.exceptions import DataError
from hipad.rules import read_rules
from ui.fields import RULES
from ui.rules.editing import Reader, describe
from ui.rules.history import TextHistory

LONGEST_ID: Final = 64


@dataclass(frozen=True)
class ClientEdit:
    """A text as the browser sent it: by which editor, its number, and in which burst of typing."""

    client: str
    edit: int
    burst: int
    text: str
    names: str = ""  # key of the names that the browser has

    @classmethod
    def read(cls, value: Any) -> ClientEdit:
        """The edit that came from the browser; DataError if it is none."""
        fields = value if isinstance(value, dict) else {}
        client, edit, burst = (fields.get(name, "") for name in ("client", "edit", "burst"))
        names = str(fields.get("names", ""))[:LONGEST_ID]
        whole = isinstance(edit, int) and isinstance(burst, int)
        if not isinstance(client, str) or len(client) > LONGEST_ID or not whole:
            raise DataError("expected an edit of the rules, got something else: load the page anew")
        try:
            text = RULES.read(fields.get("text"))
        except ValueError as error:
            raise DataError(f"the rules are not taken over: {error}: leave some out") from error
        return cls(client, int(edit), int(burst), text, names)


@dataclass
class EditorLink:
    """What one session knows of its editor."""

    is_ready: bool = False  # it has been seen in the browser; until then there is a text area
    is_plain: bool = False  # the user wants the text area
    seen: ClientEdit | None = None
    before: str = ""  # the text before the present burst of typing
    version: tuple[int, int] | None = None  # of the history, that this burst has made

    def take(self, value: Any, history: TextHistory, read: Reader = read_rules) -> None:
        """Take an edit over, if it is new; a burst of typing makes one version."""
        new, old = ClientEdit.read(value), self.seen
        if old is not None and old.client == new.client and new.edit <= old.edit:
            return
        goes_on = old is not None and (old.client, old.burst) == (new.client, new.burst)
        self.seen = new
        if goes_on and self.version == history.version:
            history.amend(new.text, describe(self.before, new.text, read))
        else:
            self.before = history.text
            history.change(new.text, describe(self.before, new.text, read))
        is_own = goes_on or history.text != self.before
        self.version = history.version if is_own else None

    @property
    def names(self) -> str:
        """The key of the names that the browser has."""
        return "" if self.seen is None else self.seen.names

    @property
    def last_seen(self) -> dict[str, object] | None:
        """The last edit that was seen, for the browser."""
        return None if self.seen is None else {"client": self.seen.client, "edit": self.seen.edit}

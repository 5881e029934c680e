"""JSON files that say what they are, and tell whether they are whole.

    {"format": "hipad-model", "version": 3, "library": ..., "checksum": ..., "content": {...}}

The checksum covers the content, so a file that was cut off or edited is told from a whole one.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import hipad
from hipad.data.writing import write_text
from hipad.errors import DataError, unopened

FORMAT: Final = "hipad-model"
VERSION: Final = 3
# files of version 1 hold rules as text only, those of versions 1 and 2 two classes only
READABLE: Final = (1, 2, 3)
MOST_BYTES: Final = 256 * 2**20


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write a content with its header; an existing file stays until the new one is whole."""
    header = {"format": FORMAT, "version": VERSION, "library": hipad.__version__}
    document = {**header, "checksum": checksum(content), "content": content}
    write_text(path, json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))


def read_sealed(path: Path) -> dict[str, Any]:
    """The content as it was written; DataError says what the file is otherwise."""
    document = _document(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"expected a JSON file of format {FORMAT!r}, got another one")
    if document["version"] not in READABLE:
        known = " or ".join(map(str, READABLE))
        raise DataError(
            f"expected format version {known}, got {document['version']!r} (saved by hipad "
            f"{document.get('library', '?')}): use that version of hipad, or a newer one"
        )
    content: dict[str, Any] = document["content"]
    if document["checksum"] != checksum(content):
        raise DataError("the model file is damaged or was edited: save the model again")
    return content


def checksum(content: dict[str, Any]) -> str:
    """Equal for equal contents, in whichever order they name their parts."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _document(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise unopened("the file", error) from error
    if len(text) > MOST_BYTES:
        raise DataError(f"expected a model of at most {MOST_BYTES:,} bytes, got more")
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"expected a model saved by HIPADClassifier.save, got something else or a part of it "
            f"({error}): give the whole file"
        ) from error


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")

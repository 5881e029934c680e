"""Dataclasses and compiled rules as plain JSON values with a checksum, and back."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from scipy import sparse

import hipad
from hipad.data.file_format import FileFormat
from hipad.data.table import write_text
from hipad.data.written_numbers import EXACT
from hipad.exceptions import DataError, unopened
from hipad.rules import CompiledRule, Condition, FeatureIndex, FeatureSpan, Rule, Term
from hipad.rules.ast import FeaturePrior, Name
from hipad.rules.compiler import CompiledPrior, ExpertKnowledge, known_features
from hipad.utils import FloatArray, IntArray

# --------------------------------------------------------------------------------------------------
# Frozen dataclasses as plain JSON values, and back by their type hints.
#
# Only declared fields are read back, as the types they declare, so a file can bring numbers, texts
# and lists, never an object of its own choosing. A hint `Annotated[kind, description]` leaves the
# reading to `description.read`. Numbers that JSON lacks are written as texts ("inf", "nan"); finite
# ones round-trip exactly. An error names the field that does not fit: "settings: seed: expected
# ...". Within `of_any_version` a field that is missing takes its default, and one that is unknown
# is noted.


NOT_IN_JSON: Final = ("inf", "-inf", "nan")

Value = TypeVar("Value")

_unknown: ContextVar[list[str] | None] = ContextVar("unknown", default=None)  # fields, by name


@contextmanager
def of_any_version() -> Iterator[list[str]]:
    """Within it, read what an earlier or a later version wrote; give the fields unknown here."""
    found: list[str] = []
    token = _unknown.set(found)
    try:
        yield found
    finally:
        _unknown.reset(token)


def plain(value: Any) -> Any:
    """Dataclasses, arrays and NumPy numbers as dicts, lists and plain numbers.

    >>> plain({"a": np.array([1.0, np.inf]), "b": (np.int64(2), None)})
    {'a': [1.0, 'inf'], 'b': [2, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def rebuild(kind: Any, value: Any) -> Any:
    """Return a value of the declared type from its plain form; ValueError where it does not fit.

    >>> rebuild(tuple[float, ...] | None, [1, "inf"])
    (1.0, inf)
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        return parts[1].read(value)
    if origin is Literal:
        return _one_of(parts, value)
    if origin in (Union, UnionType):
        options = [part for part in parts if part is not NoneType]
        return None if value is None else rebuild(options[0], value)
    if kind is np.ndarray or origin is np.ndarray:
        return _array(parts, value)
    if origin is tuple:
        items = enumerate(_checked(value, list), start=1)
        return tuple(named(str(n), lambda: rebuild(parts[0], item)) for n, item in items)  # noqa: B023
    if origin is dict:
        pairs = _checked(value, dict).items()
        return {text_of(k): named(k, lambda: rebuild(parts[1], item)) for k, item in pairs}  # noqa: B023
    if is_dataclass(kind):
        return _dataclass(kind, value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is str:
        return text_of(value)
    return _number(value) if kind is float else _checked(value, kind)


def named(name: str, read: Callable[[], Value]) -> Value:
    """Return what `read` gives; an error is reported with the name of the field."""
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def text_of(value: object) -> str:
    """A text that can be written again: JSON can spell halves of characters that no file holds."""
    if not isinstance(value, str):
        raise misfit("a text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise misfit("a text of whole characters", value) from error
    return value


def misfit(expected: str, value: object) -> ValueError:
    """Return the error for a value that does not fit."""
    return ValueError(f"expected {expected}, got {reprlib.repr(value)}")


def _dataclass(kind: Any, value: Any) -> Any:
    """Return one of these with just its own fields."""
    hints, given, noted = _hints(kind), _checked(value, dict), _unknown.get()
    own = {field.name: field for field in fields(kind)}
    missing = [name for name in own if name not in given]
    if noted is not None:
        missing = [name for name in missing if _is_needed(own[name])]
    if missing:
        raise ValueError(f"expected {missing[0]}, got none")
    if unknown := [name for name in given if name not in own]:
        if noted is None:
            raise misfit(f"only {', '.join(own)}", unknown[0])
        noted += [str(name) for name in unknown]
    there = [name for name in own if name in given]
    return kind(**{n: named(n, lambda: rebuild(hints[n], given[n])) for n in there})  # noqa: B023


def _is_needed(field: Field[Any]) -> bool:
    """Return whether a field has no default to take where it is missing."""
    return field.default is MISSING and field.default_factory is MISSING


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _one_of(options: tuple[Any, ...], value: object) -> Any:
    if not isinstance(value, str) or value not in options:
        raise misfit(f"one of {', '.join(map(str, options))}", value)
    return value


def _array(parts: tuple[Any, ...], value: Any) -> np.ndarray:
    """Return an array of the declared type; an array that declares none holds column numbers."""
    (dtype,) = get_args(parts[1]) if parts else (np.int64,)
    array = np.array([_number(item) for item in _checked(value, list)])
    whole = np.issubdtype(dtype, np.integer)
    exact = (np.abs(array) < EXACT) & (np.trunc(array) == array)
    if whole and not exact.all():
        raise ValueError("expected whole numbers")
    return array.astype(dtype)


def _number(value: Any) -> float:
    """Return a number, or the text of one that JSON lacks."""
    if value in NOT_IN_JSON if isinstance(value, str) else type(value) in (int, float):
        return float(value)
    raise ValueError(f"expected a number, got {value!r:.40}")


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise misfit(f"{KINDS.get(kind, kind.__name__)}", value)
    return value


KINDS: Final[dict[type, str]] = {
    dict: "named values",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
}


# --------------------------------------------------------------------------------------------------
# The JSON Schema of a declared type, walked as `rebuild` walks it, so that the two cannot part.


Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
NUMBER: Final[Schema] = {"anyOf": [{"type": "number"}, {"enum": list(NOT_IN_JSON)}]}
PLAIN: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: NUMBER,
    NoneType: {"type": "null"},
    Any: {},
}


def schema_of(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a declared type; dataclasses are added to the definitions.

    >>> schema_of(tuple[int, ...] | None, {})
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return dict(PLAIN[kind])
    if origin is Annotated:
        return schema_of(parts[0], definitions)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part, definitions) for part in parts]}
    if kind is np.ndarray or origin is np.ndarray:
        (dtype,) = get_args(parts[1]) if parts else (np.int64,)
        whole = np.issubdtype(dtype, np.integer)
        return {"type": "array", "items": {"type": "integer"} if whole else dict(NUMBER)}
    if origin is tuple:
        return {"type": "array", "items": schema_of(parts[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(parts[1], definitions)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    if is_dataclass(kind) and isinstance(kind, type):
        _define(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    raise TypeError(f"expected a type that a model file can hold, got {kind!r}")


def _define(kind: type, definitions: dict[str, Schema]) -> None:
    if kind.__name__ in definitions:
        return
    definitions[kind.__name__] = {}  # stands there while the type's own fields are walked
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    definitions[kind.__name__] = {
        "type": "object",
        "description": (kind.__doc__ or kind.__name__).split("\n", 1)[0],
        "properties": {name: schema_of(hints[name], definitions) for name in names},
        "required": [] if kind is FileFormat else names,  # a format holds what is known of it
        "additionalProperties": False,
    }


# --------------------------------------------------------------------------------------------------
# JSON files that say what they are, and tell whether they are whole.
#
#     {"format": "hipad-model", "version": 3, "library": ..., "checksum": ..., "content": {...}}
#
# The checksum covers the content, so a file that was cut off or edited is told from a whole one.


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
    """Return the content as it was written; DataError says what the file is otherwise."""
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


# --------------------------------------------------------------------------------------------------
# Compiled rules as a model file keeps them: what they say, and B, d and sign in the user's units.
#
# A file that holds them is never parsed again: the numbers learnt, the columns found and the words
# shown are those of the fit, whatever the language becomes.


@dataclass(frozen=True)
class StoredTerm:
    """A term; each name is one text, or the two ends of a range of columns."""

    coefficient: float
    names: tuple[tuple[str, ...], ...]
    function: str
    unit: str


@dataclass(frozen=True)
class StoredCondition:
    """A condition in its sides, relations and form."""

    sides: tuple[tuple[StoredTerm, ...], ...]
    relations: tuple[str, ...]
    form: str


@dataclass(frozen=True, eq=False)
class StoredRule:
    """A compiled rule: `text` is for the reader, B is given by its rows (CSR)."""

    label: str
    text: str
    name: str
    conditions: tuple[StoredCondition, ...]
    settled: tuple[StoredCondition, ...]
    written_outcome: str
    outcome: str
    worth: float | None
    note: str
    preface: tuple[str, ...]
    sign: float
    remarks: tuple[str, ...]
    sources: tuple[str, ...]
    row_ends: IntArray
    columns: IntArray
    values: FloatArray
    d: FloatArray


@dataclass(frozen=True, eq=False)
class StoredPrior:
    """A statement about features, with the columns it is about."""

    text: str
    said: str
    kind: str
    names: tuple[tuple[str, ...], ...]
    written_outcome: str
    outcome: str
    note: str
    preface: tuple[str, ...]
    after: int
    columns: IntArray


@dataclass(frozen=True, eq=False)
class StoredPriors:
    """All rules and statements that took part in a fit."""

    rules: tuple[StoredRule, ...]
    statements: tuple[StoredPrior, ...]


def stored_knowledge(known: ExpertKnowledge) -> StoredPriors:
    """Return what a model file keeps of rules and statements."""
    return StoredPriors(
        tuple(map(_stored_rule, known.rules)), tuple(map(_stored_statement, known.statements))
    )


def knowledge_of(stored: StoredPriors, index: FeatureIndex) -> ExpertKnowledge:
    """Return the rules and statements of a model file; DataError where they cannot be any."""
    rules = tuple(_rule(each, index) for each in stored.rules)
    statements = tuple(_statement(each, len(index)) for each in stored.statements)
    return ExpertKnowledge(rules, known_features(statements, index), statements)


def _stored_rule(compiled: CompiledRule) -> StoredRule:
    rule = compiled.rule
    return StoredRule(
        label=compiled.label,
        text=str(rule),
        name=rule.name,
        conditions=tuple(map(_stored_condition, rule.conditions)),
        settled=tuple(map(_stored_condition, compiled.settled)),
        written_outcome=rule.outcome,
        outcome=compiled.outcome,
        worth=rule.worth,
        note=rule.note,
        preface=rule.preface,
        sign=compiled.sign,
        remarks=compiled.remarks,
        sources=compiled.sources,
        row_ends=compiled.B.indptr[1:].astype(np.int64),
        columns=compiled.B.indices.astype(np.int64),
        values=compiled.B.data,
        d=compiled.d,
    )


def _rule(stored: StoredRule, index: FeatureIndex) -> CompiledRule:
    what = f"the rule {stored.label!r}"
    ends, columns, values, d = stored.row_ends, stored.columns, stored.values, stored.d
    starts = np.concatenate(([0], ends))
    sound = len(ends) == len(d) > 0 and ends[-1] == len(columns) == len(values)
    _expect(sound and bool((np.diff(starts) >= 0).all()), f"whole rows of {what}")
    _check_columns(columns, len(index), what)
    _expect(bool(np.isfinite(values).all() and np.isfinite(d).all()), f"finite numbers of {what}")
    _expect(stored.sign in (-1.0, 1.0), f"a sign of {what}")
    _expect(len(stored.sources) == len(d), f"a condition for each row of {what}")
    rule = Rule(
        tuple(map(_condition, stored.conditions)),
        stored.written_outcome,
        stored.name,
        stored.worth,
        stored.note,
        preface=stored.preface,
    )
    B = sparse.csr_array((values, columns, starts), shape=(len(d), len(index)))
    return CompiledRule(
        rule,
        B,
        d,
        stored.sign,
        stored.remarks,
        stored.label,
        stored.sources,
        index,
        tuple(map(_condition, stored.settled)),
        stored.outcome,
    )


def _stored_condition(condition: Condition) -> StoredCondition:
    sides = tuple(tuple(map(_stored_term, side)) for side in condition.sides)
    return StoredCondition(sides, condition.relations, condition.form)


def _condition(stored: StoredCondition) -> Condition:
    sides = tuple(tuple(map(_term, side)) for side in stored.sides)
    return Condition(sides, stored.relations, stored.form)


def _stored_term(term: Term) -> StoredTerm:
    return StoredTerm(term.coefficient, _stored_names(term.names), term.function, term.unit)


def _term(stored: StoredTerm) -> Term:
    return Term(stored.coefficient, _names(stored.names), stored.function, unit=stored.unit)


def _stored_names(names: Iterable[Name]) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) if isinstance(name, str) else (name.first, name.last) for name in names)


def _names(stored: Iterable[tuple[str, ...]]) -> tuple[Name, ...]:
    found: list[Name] = []
    for parts in stored:
        _expect(len(parts) in (1, 2), "a name or the two ends of a range")
        found.append(parts[0] if len(parts) == 1 else FeatureSpan(*parts))
    return tuple(found)


def _stored_statement(compiled: CompiledPrior) -> StoredPrior:
    said = compiled.statement
    return StoredPrior(
        text=str(said),
        said=said.kind,
        kind=compiled.kind,
        names=_stored_names(said.names),
        written_outcome=said.outcome,
        outcome=compiled.outcome,
        note=said.note,
        preface=said.preface,
        after=said.after,
        columns=compiled.columns.astype(np.int64),
    )


def _statement(stored: StoredPrior, n_features: int) -> CompiledPrior:
    _check_columns(stored.columns, n_features, f"the statement {stored.text!r}")
    said = FeaturePrior(
        stored.said,
        _names(stored.names),
        stored.written_outcome,
        stored.note,
        preface=stored.preface,
        after=stored.after,
    )
    known = ("raised", "lowered") if stored.said in ("raised", "lowered") else (stored.said,)
    _expect(stored.kind in known, f"a kind of the statement {stored.text!r}")
    return CompiledPrior(said, stored.kind, stored.columns.astype(np.intp), stored.outcome)


def _check_columns(columns: IntArray, n_features: int, what: str) -> None:
    inside = bool(((columns >= 0) & (columns < n_features)).all())
    _expect(inside, f"columns of the table in {what}")


def _expect(sound: bool, what: str) -> None:
    if not sound:
        raise DataError(f"the model file is damaged: expected {what}: save the model again")

"""The JSON Schema of model files, derived from the types that reading them holds them to.

`rebuild` reads each part of a model file as the frozen dataclass whose type it declares; the same
types, walked by `schema_of`, make the schema. So the two cannot part. What a schema cannot say
(the checksum, weights for columns that are there, probabilities that rise) `load_model` checks.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from hipad.data.file_format import FileFormat
from hipad.estimator.calibration import CalibrationMap, ClassProbabilities, MulticlassCalibration
from hipad.estimator.model_io import SHA256_DIGITS, Origin
from hipad.estimator.parameters import MemberRecord
from hipad.estimator.path import PathPoint
from hipad.estimator.rule_report import FeaturePriorRecord
from hipad.estimator.serialization import FORMAT, NOT_IN_JSON, VERSION, StoredPriors
from hipad.rules import RuleRecord
from hipad.solvers import Certificate, Progress

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
COLUMNS: Final[Schema] = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0},
    "uniqueItems": True,
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


def model_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of the files that `HIPADClassifier.save` writes.

    Returns
    -------
    dict
        A new one each time, made of plain JSON values.

    Examples
    --------
    >>> schema = model_schema()
    >>> schema["properties"]["format"], sorted(schema["properties"]["content"])
    ({'const': 'hipad-model'}, ['allOf'])
    """
    definitions: dict[str, Schema] = {}
    record: Schema = {
        "data_sha256": {"type": "string", "pattern": f"^[0-9a-f]{{{SHA256_DIGITS}}}$"},
        "rules": schema_of(str | None, definitions),
        "rule_report": schema_of(tuple[RuleRecord, ...], definitions),
        "knowledge_report": schema_of(tuple[FeaturePriorRecord, ...], definitions),
    }
    weights: Schema = {
        "indices": COLUMNS,
        "values": {"type": "array", "items": {"type": "number"}},
    }
    model: Schema = record | {
        "compiled": schema_of(StoredPriors, definitions),
        "lambda1": {"type": "number", "minimum": 0},
        "lambda2": {"type": "number", "minimum": 0},
        "coefficients": _object(weights),
        "intercept": {"type": "number"},
        "certificate": schema_of(Certificate, definitions),
        "selection_certificate": schema_of(Certificate | None, definitions),
        "members": schema_of(tuple[MemberRecord, ...], definitions),
        "path": schema_of(tuple[PathPoint, ...], definitions),
        "history": schema_of(tuple[Progress, ...], definitions),
        "solver": {"type": "string"},
        "risks": schema_of(CalibrationMap | None, definitions),
        "risk_threshold": {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}]
        },
    }
    labels: Schema = {"type": ["string", "number", "boolean"]}
    classes: Schema = {
        "dtype": {"type": "string", "maxLength": 20},
        "values": {"type": "array", "items": labels, "minItems": 2, "uniqueItems": True},
    }
    shared: Schema = {
        "classes": _object(classes),
        "n_features": {"type": "integer", "minimum": 1},
        "feature_names": schema_of(tuple[str, ...] | None, definitions),
        "named_columns": {"type": "boolean"},
        "blocks": {"type": "object", "additionalProperties": COLUMNS},
        "settings": {"type": "object"},  # the parameters of HIPADClassifier, by their names
        "origin": schema_of(Origin | None, definitions),
    }
    several: Schema = record | {
        "models": {"type": "array", "items": {"$ref": "#/$defs/model"}, "minItems": 3},
        "scale": schema_of(MulticlassCalibration, definitions),
        "class_risks": schema_of(ClassProbabilities, definitions),
    }
    definitions["model"] = {"description": "A model of two classes.", **_object(model)}
    definitions["several"] = {"description": "Three classes or more.", **_object(several)}
    header: Schema = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "library": {"type": "string"},
        "checksum": {"type": "string", "pattern": f"^[0-9a-f]{{{SHA256_DIGITS}}}$"},
        "content": {
            "allOf": [
                _object(shared),
                {
                    "if": {"required": ["models"]},
                    "then": {"$ref": "#/$defs/several"},
                    "else": {"$ref": "#/$defs/model"},
                },
            ]
        },
    }
    return {
        "$schema": DIALECT,
        "title": f"A model of HIPAD Workbench, format version {VERSION}",
        **_object(header),
        "$defs": dict(sorted(definitions.items())),
    }


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}

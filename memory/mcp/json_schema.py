"""Shapes as JSON Schema, for the tools that take and answer them. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args, get_origin, is_typeddict

from conversations.runtime.shapes import NAMES, Field, fields_of, read

type Schema = dict[str, Any]

LIMITS = {
    "min_value": ("minimum", "minimum"),
    "max_value": ("maximum", "maximum"),
    "min_length": ("minLength", "minItems"),
    "max_length": ("maxLength", "maxItems"),
    "default": ("default", "default"),
}
"""What DRF's limits are called there, of a value and of a list."""
FORMATS = frozenset({"uuid", "date-time", "date"})


def schema_of(shape: Any, *, is_closed: bool = False) -> Schema:
    """Of a typed dictionary. ``is_closed``: it has no other fields than these."""
    fields = fields_of(shape)
    required = [name for name, field in fields.items() if field.required and "default" not in field.limits]
    schema: Schema = {"type": "object", "properties": {name: _described(field) for name, field in fields.items()}}
    if required:
        schema["required"] = required
    if is_closed:
        schema["additionalProperties"] = False
    return schema


def _described(field: Field) -> Schema:
    schema = _value(field)
    if field.nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": field.about} if field.about else schema


def _value(field: Field) -> Schema:
    if len(field.types) > 1:
        return {}
    [kind] = field.types
    limits = _limits(field.limits, is_list=get_origin(kind) is list)
    if field.choices:
        return {"enum": [value for value, _ in field.choices], **limits}
    if is_typeddict(kind):
        return schema_of(kind)
    if get_origin(kind) is list:
        return {"type": "array", "items": _described(read(get_args(kind)[0])), **limits}
    return {**_plain(kind, field.format), **limits}


def _plain(kind: Any, format: str) -> Schema:
    if kind is datetime:
        return {"type": "string", "format": "date-time"}
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if kind is dict or get_origin(kind) is dict:
        return {"type": "object"}
    named: Schema = {"type": NAMES[kind]} if kind in NAMES else {}
    return {**named, "format": format} if format in FORMATS else named


def _limits(limits: Mapping[str, Any], *, is_list: bool) -> Schema:
    return {LIMITS[name][is_list]: value for name, value in limits.items() if name in LIMITS}

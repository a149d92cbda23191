"""Shapes of JSON objects: typed dictionaries whose fields say what they mean.

A field is written ``name: Annotated[type, "What it means."]``; a ``TextChoices``, an enum, a tuple or a function that gives one
holds the values that it may have, a dictionary its limits. The schema and the documentation pages are made from them.
"""

import enum
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from types import FunctionType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)

from django.db.models import Choices


@dataclass(frozen=True)
class Format:
    """What a text holds, as JSON Schema names it."""

    name: str


Id = Annotated[str, Format("uuid")]
Time = Annotated[str, Format("date-time")]
"""ISO 8601 in UTC."""
Day = Annotated[str, Format("date")]
Slug = Annotated[str, Format("slug")]
Clean = Annotated[str, Format("clean")]
"""In a body: made such that PostgreSQL can hold it."""
Line = Annotated[str, Format("line")]
"""In a body: the same, in one line."""

AS_IN_JSON = frozenset({str, int, float, bool, NoneType, dict})
NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, kw_only=True)
class Field:
    """What an annotation says. ``types`` are those of a value, beside ``None``; ``choices`` are the values, each with its
    meaning, ``limits`` what DRF calls its other limits."""

    types: tuple[Any, ...]
    nullable: bool = False
    required: bool = True
    format: str = ""
    choices: tuple[tuple[Any, str], ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""

    @property
    def type_name(self) -> str:
        """In the words of JSON, such as ``uuid or null``."""
        names = [self.format or type_name(each) for each in self.types]
        return " or ".join([*names, *(["null"] if self.nullable else [])])


@cache
def fields_of(shape: Any) -> Mapping[str, Field]:
    """The fields of a typed dictionary by name, in order."""
    hints = get_type_hints(shape, include_extras=True)
    return {name: replace(read(hint), required=name in shape.__required_keys__) for name, hint in hints.items()}


def read(hint: Any) -> Field:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Required):
        return read(arguments[0])
    if origin is Literal:
        return Field(types=(hint,), choices=_choices(arguments))
    if origin in (Union, UnionType):
        members = [read(each) for each in arguments if each is not NoneType]
        types = tuple(each for member in members for each in member.types)
        return replace(members[0], types=types, nullable=NoneType in arguments)
    if origin is not Annotated:
        return Field(types=(hint,))
    described = read(arguments[0])
    for note in hint.__metadata__:
        match note:
            case str():
                described = replace(described, about=note)
            case Format(name):
                described = replace(described, format=name)
            case Mapping():
                described = replace(described, limits=note)
            case FunctionType():
                described = replace(described, choices=_choices(note()))
            case _:
                described = replace(described, choices=_choices(note))
    return described


def type_name(type: Any) -> str:
    origin, arguments = get_origin(type) or type, get_args(type)
    if origin is Literal:
        return "true" if arguments == (True,) else "string"
    if origin is list:
        return f"list of {read(arguments[0]).type_name}"
    return "object" if is_typeddict(origin) or origin is dict else NAMES.get(origin, "anything")


def fill[S](shape: type[S], row: object, /, **values: Any) -> S:
    """An object of this shape: its fields have these values, or those of the row's attributes of the same names. A field that
    may be missing is there only where it is among the values."""
    fields = fields_of(cast("Any", shape))
    assert values.keys() <= fields.keys(), shape
    filled = {}
    for name, described in fields.items():
        if name in values:
            filled[name] = plain(values[name])
        elif described.required:
            filled[name] = plain(getattr(row, name))
    return cast("S", filled)


def plain(value: Any) -> Any:
    """As JSON has it."""
    if type(value) in AS_IN_JSON:  # nearly all are
        return value
    # Not by ``match``: its class patterns take half as long again.
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    return value


@overload
def moment(at: datetime) -> str: ...
@overload
def moment(at: datetime | None) -> str | None: ...
def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def _choices(values: Any) -> tuple[tuple[Any, str], ...]:
    if isinstance(values, type) and issubclass(values, Choices):
        return tuple(values.choices)
    plain_values = [plain(value) for value in values]
    return tuple((value, str(value)) for value in plain_values)

"""Shapes as DRF has them: to check what a call takes, and for the schema. What is answered is made by ``shapes.fill``."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache, partial
from typing import Any, cast, get_args, get_origin, is_typeddict

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from conversations.runtime.shapes import Field, fields_of, read
from conversations.runtime.text import clean, one_line

PROHIBITIVE = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)


class CleanText(serializers.CharField):
    """A text made such that PostgreSQL can hold it, where DRF would refuse it; nothing else of it changes."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)
        self.validators = [each for each in self.validators if not isinstance(each, PROHIBITIVE)]

    def to_internal_value(self, data: Any) -> str:
        return clean(super().to_internal_value(data))


class OneLine(CleanText):
    """In one line, as a title is shown."""

    def to_internal_value(self, data: Any) -> str:
        return clean(one_line(serializers.CharField.to_internal_value(self, data)))


FIELDS: Mapping[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    dict: serializers.DictField,
    datetime: serializers.DateTimeField,
    Any: serializers.JSONField,
    "uuid": serializers.UUIDField,
    "date-time": serializers.DateTimeField,
    "date": serializers.DateField,
    "slug": serializers.SlugField,
    "clean": CleanText,
    "line": OneLine,
}


def described(shape: Any, *, many: bool = False) -> partial[Any]:
    """A shape for ``describe``: makes its serializer when the schema is asked for."""
    return partial(_serializer_of, shape, many=many)


def _serializer_of(shape: Any, *, many: bool) -> Any:
    return _serializer(shape)(many=many)


def valid[S](shape: type[S], request: Request) -> S:
    """What the body holds, checked. Raises DRF's ``ValidationError``."""
    if request.data is None:
        raise serializers.ValidationError({"non_field_errors": ["No data provided"]}, code="null")
    return checked(shape, request.data)


def checked[S](shape: type[S], values: Any) -> S:
    """What came from outside as an object of this shape. Raises DRF's ``ValidationError``."""
    return cast("S", _checker(cast("Any", shape)).run_validation(values))


@cache
def _checker(shape: Any) -> serializers.Serializer[Any]:
    """One for all calls: it keeps nothing of what it checks, and to make one copies all its fields."""
    return _serializer(shape)()


@cache
def _serializer(shape: Any) -> type[serializers.Serializer[Any]]:
    fields = {name: _field(field, **_options(field)) for name, field in fields_of(shape).items()}
    return type(shape.__name__, (serializers.Serializer,), {"__doc__": shape.__doc__, **fields})


def _options(field: Field) -> dict[str, Any]:
    presence = {} if "default" in field.limits else {"required": field.required}
    return {**presence, "allow_null": field.nullable, "help_text": field.about, **field.limits}


def _field(field: Field, **options: Any) -> Any:
    [kind] = field.types
    if field.choices:
        return serializers.ChoiceField(list(field.choices), **options)
    if is_typeddict(kind):
        return _serializer(kind)(**options)
    if get_origin(kind) is not list:
        return FIELDS[field.format or get_origin(kind) or kind](**options)
    item = read(get_args(kind)[0])
    if is_typeddict(item.types[0]):
        return _serializer(item.types[0])(many=True, **options)
    return serializers.ListField(child=_field(item, **item.limits), **options)

"""What calls answer, for the schema: serializers made of shapes. Answers themselves are made by ``shapes.fill``."""

from datetime import datetime
from functools import cache
from typing import Any, get_args, get_origin, is_typeddict

from rest_framework import serializers

from conversations.runtime.shapes import Field, fields_of, read

TYPES: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
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
}


def answer(shape: Any, *, many: bool = False) -> Any:
    """For ``extend_schema``."""
    return _serializer(shape)(many=many)


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
        return TYPES[field.format or get_origin(kind) or kind](**options)
    item = read(get_args(kind)[0])
    if is_typeddict(item.types[0]):
        return _serializer(item.types[0])(many=True, **options)
    return serializers.ListField(child=_field(item, **item.limits), **options)

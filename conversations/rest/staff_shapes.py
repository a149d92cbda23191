"""Shapes of rows that staff keep, read from their models: a column's type, choices and help are those of its field."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from django.contrib.postgres.fields import ArrayField
from django.db import models

from conversations.runtime.shapes import Day

NUMBER_AS_TEXT = "A decimal number, such as `2.50`, as text."


def shape(name: str, fields: Mapping[str, Any], about: str = "", *, total: bool = True) -> Any:
    made = TypedDict(name, fields, total=total)  # type: ignore[misc]  # a type checker wants to see the names
    made.__doc__ = about
    return made


def columns(model: type[models.Model], names: Sequence[str]) -> dict[str, Any]:
    return {name: column(model._meta.get_field(name)) for name in names}


def needed(model: type[models.Model], names: Sequence[str]) -> dict[str, Any]:
    """The same of a row that is to be made: what has a default may be left out."""
    described = columns(model, names)
    return {
        name: hint if _is_needed(model._meta.get_field(name)) else NotRequired[hint] for name, hint in described.items()
    }


def column(field: Any) -> Any:
    about = str(field.help_text) or f"{str(field.verbose_name)[:1].upper()}{str(field.verbose_name)[1:]}."
    hint: Any
    match field:
        case models.ManyToManyField():
            return Annotated[list[str], f"{about} By their names."]
        case models.ForeignKey():
            hint, note = str, f"{about} By its name."
        case ArrayField():
            item = Annotated[str, _values(field.base_field)] if field.base_field.choices else str
            return Annotated[list[item], about]  # type: ignore[valid-type]  # made here
        case models.BooleanField():
            hint, note = bool, about
        case models.FloatField():
            hint, note = float, about
        case models.IntegerField():
            hint, note = int, about
        case models.DecimalField():
            hint, note = str, f"{about} {NUMBER_AS_TEXT}"
        case models.DateField():
            hint, note = Day, about
        case _:
            return _text(field, about)
    return Annotated[hint | None, note] if field.null else Annotated[hint, note]


def _text(field: Any, about: str) -> Any:
    limits = {"allow_blank": field.blank}
    return Annotated[str, _values(field), limits, about] if field.flatchoices else Annotated[str, limits, about]


def _values(field: Any) -> type[models.TextChoices]:
    """With their labels, by which the schema knows a set of choices again."""
    pairs = [(value, label) for value, label in field.flatchoices if value]
    make: Any = models.TextChoices
    made: type[models.TextChoices] = make("Values", {f"VALUE_{number}": pair for number, pair in enumerate(pairs)})
    return made


def _is_needed(field: Any) -> bool:
    return not (field.null or field.blank or field.has_default() or isinstance(field, models.BooleanField))

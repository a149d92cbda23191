"""Values of rows as programs and the file of an installation have them, and back: other rows by names that hold anywhere."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from allauth.socialaccount.models import SocialApp
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import FieldDoesNotExist
from django.db.models import ForeignKey, ManyToManyField
from django.db.models import Model as Row

from conversations.models import Assistant, Model

NAMES: Mapping[type[Row], tuple[str, ...]] = {
    Assistant: ("slug",),
    Group: ("name",),
    Model: ("provider", "name"),
    Permission: ("content_type__app_label", "codename"),
    User: ("username",),
}
"""How rows are named by others: these columns, with a / between them."""


class Unknown(Exception):
    """Something is named that there is not; says what and what to do."""


def editable(model: type[Row], *but: str) -> tuple[str, ...]:
    """What staff may edit of a row, beside these, in the order of the model."""
    named = [*model._meta.fields, *model._meta.many_to_many]
    return tuple(each.name for each in named if each.editable and not each.primary_key and each.name not in but)


def value_of(row: Row, name: str) -> Any:
    """As JSON has it: a text, a number, true, false, null, or a list of them; rows by their names."""
    if isinstance(row, SocialApp) and name == "details":
        return (row.settings or {}).get("written", "")
    field = row._meta.get_field(name)
    if isinstance(field, ManyToManyField):
        return sorted(name_of(each) for each in getattr(row, name).all()) if row.pk else []
    value = getattr(row, name)
    if isinstance(field, ForeignKey):
        return name_of(value) if value else None
    return plain(value)


def plain(value: Any) -> Any:
    match value:
        case Decimal():
            return f"{value.normalize():f}"
        case date():
            return value.isoformat()
        case list() | tuple():
            return [plain(each) for each in value]
    return value


def name_of(row: Row) -> str:
    return "/".join(str(_follow(row, column)) for column in NAMES[type(row)])


def row_named(model: type[Row], name: Any) -> Row:
    """Raises ``Unknown``."""
    columns = NAMES[model]
    parts = str(name).split("/", len(columns) - 1)
    found = None
    if len(parts) == len(columns):
        found = model._default_manager.filter(**dict(zip(columns, parts, strict=True))).first()
    if found is None:
        raise Unknown(f"there is no {model._meta.verbose_name} {name!r}: name one that there is")
    return found


def normal(model: type[Row], name: str, value: Any) -> Any:
    """A value of the file in the form in which ``value_of`` gives it. Raises ``Unknown`` and ``ValueError``."""
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return value
    if value is None:
        return None
    if isinstance(field, ManyToManyField):
        return sorted(map(str, _listed(value)))
    if isinstance(field, ForeignKey):
        return str(value)
    return plain(field.to_python(_listed(value) if isinstance(value, list | tuple) else value))  # type: ignore[union-attr]


def for_form(model: type[Row], name: str, value: Any) -> Any:
    """The same as the form of the row takes it. Raises ``Unknown``."""
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return value
    if isinstance(field, ManyToManyField):
        return [str(row_named(field.related_model, each).pk) for each in value or ()]
    if isinstance(field, ForeignKey):
        return "" if value is None else str(row_named(field.related_model, value).pk)
    return "" if value is None else value


def _listed(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return value


def _follow(row: Row, column: str) -> Any:
    value: Any = row
    for part in column.split("__"):
        value = getattr(value, part)
    return value

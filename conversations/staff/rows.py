"""Rows that staff keep, read and written by their programs: through the classes of the admin, so that the rights, the checks,
the effects and the records are those of its pages.

``request`` is that of a call; each function raises Django's ``PermissionDenied`` where the page would not open.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Model as Row
from django.db.models import ProtectedError, QuerySet
from django.forms import BaseInlineFormSet
from django.http import HttpRequest

from conversations.errors import RowInUse
from conversations.staff.plain_values import Unknown, for_form, value_of

type Values = Mapping[str, Any]
type FormSet = BaseInlineFormSet[Any, Any, Any]

FORM_FIELDS = ("key", "forget_key", "headers", "forget_headers")
"""That a form has beside the columns of its row."""


class InvalidRow(Exception):
    """``problems`` are the words of what is wrong, by field."""

    def __init__(self, problems: Mapping[str, list[str]]) -> None:
        super().__init__(str(problems))
        self.problems = dict(problems)


@dataclass(frozen=True, kw_only=True)
class Change:
    """``values`` are the fields that are to be others; ``parts`` the rows that belong to it, by the name that it has for them:
    all of them, each known by the first ``keys`` of its fields."""

    values: Values
    parts: Mapping[str, Sequence[Values]] = field(default_factory=dict)
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """``warnings`` are what its page would say of it."""

    row: Any
    warnings: list[str]


class _Warnings(list[str]):
    """In the place of Django's messages, which wait for the next page."""

    def add(self, level: int, message: object, extra_tags: str = "") -> None:
        self.append(str(message))


def seen[M: Row](request: HttpRequest, model: type[M]) -> QuerySet[M]:
    pages = pages_of(model)
    _demand(request, pages.has_view_permission(request))
    return pages.get_queryset(request)


def demand_add(request: HttpRequest, model: type[Row]) -> None:
    _demand(request, pages_of(model).has_add_permission(request))


def demand_change(request: HttpRequest, row: Row) -> None:
    _demand(request, pages_of(type(row)).has_change_permission(request, row))


def save(request: HttpRequest, model: type[Row], row: Row | None, change: Change) -> Saved:
    """Add a row, or change one. Raises ``InvalidRow``, and nothing is changed then."""
    pages = pages_of(model)
    _demand(request, pages.has_change_permission(request, row) if row else pages.has_add_permission(request))
    warnings = _Warnings()
    request._messages = warnings  # type: ignore[attr-defined]  # where Django looks for it
    try:
        with transaction.atomic():
            return Saved(row=_saved(request, pages, row, change), warnings=warnings)
    finally:
        del request._messages  # type: ignore[attr-defined]


def delete(request: HttpRequest, row: Row) -> None:
    """Raises ``RowInUse``."""
    pages = pages_of(type(row))
    _demand(request, pages.has_delete_permission(request) and pages.has_change_permission(request, row))
    if not pages.has_delete_permission(request, row):
        raise RowInUse
    _, _, lacking, protected = pages.get_deleted_objects([row], request)
    _demand(request, not lacking)
    if protected:
        raise RowInUse
    try:
        with transaction.atomic():
            pages.log_deletions(request, [row])  # type: ignore[arg-type]  # a list will do
            pages.delete_model(request, row)
    except (ProtectedError, IntegrityError) as error:
        raise RowInUse from error


def pages_of(model: type[Row]) -> ModelAdmin[Any]:
    return admin.site.get_model_admin(model)


def _demand(request: HttpRequest, is_allowed: bool) -> None:
    if not (request.user.is_staff and is_allowed):
        raise PermissionDenied


def _saved(request: HttpRequest, pages: ModelAdmin[Any], row: Row | None, change: Change) -> Row:
    is_change = row is not None
    if row is not None:
        row = pages.model._default_manager.select_for_update(no_key=True).get(pk=row.pk)
    form_class = pages.get_form(request, row, change=is_change)
    if fixed := change.values.keys() - form_class.base_fields.keys():
        raise InvalidRow({name: ["It can't be changed here."] for name in sorted(fixed)})
    form = form_class(_filled(form_class, row, change.values), instance=row)
    is_valid = form.is_valid()
    made = pages.save_form(request, form, is_change) if is_valid else form.instance
    formsets = list(_formsets(request, pages, made, change, is_change=is_change))
    if problems := _problems(form, formsets):
        raise InvalidRow(problems)
    if is_change and not (form.has_changed() or any(each.has_changed() for each in formsets)):
        return cast("Row", made)
    pages.save_model(request, made, form, is_change)
    pages.save_related(request, form, formsets, is_change)
    message = pages.construct_change_message(request, form, formsets, not is_change)  # type: ignore[arg-type]  # its own forms
    (pages.log_change if is_change else pages.log_addition)(request, made, message)
    return cast("Row", made)


def _filled(form_class: type[Any], row: Row | None, values: Values) -> dict[str, Any]:
    """What the page would send: what stands in its form, and in place of it these values."""
    form = form_class(instance=row)
    as_it_is = {name: each.prepare_value(form.get_initial_for_field(each, name)) for name, each in form.fields.items()}
    model = form_class._meta.model
    return as_it_is | {name: _value(model, name, value) for name, value in values.items()}


def _value(model: type[Row], name: str, value: Any) -> Any:
    if name in FORM_FIELDS:
        return value
    try:
        return for_form(model, name, value)
    except Unknown as error:
        raise InvalidRow({name: [str(error)]}) from error


def _formsets(
    request: HttpRequest, pages: ModelAdmin[Any], row: Row, change: Change, *, is_change: bool
) -> Iterator[FormSet]:
    for formset_class, inline in pages.get_formsets_with_inlines(request, row if is_change else None):
        name = formset_class.get_default_prefix()
        if name not in change.parts:
            continue
        of = row if is_change else None
        _demand(request, inline.has_change_permission(request, of) and inline.has_add_permission(request, of))
        there = list(inline.get_queryset(request).filter(**{formset_class.fk.name: row})) if is_change else []
        data = _sent(formset_class, there, change.parts[name], keys=change.keys[name])
        yield formset_class(data, instance=row, prefix=name, queryset=inline.get_queryset(request))


def _sent(formset_class: Any, there: Sequence[Row], parts: Sequence[Values], *, keys: Sequence[str]) -> dict[str, Any]:
    """What the page would send of the rows that belong to one: those that are there first, each kept, changed or taken away."""
    name, pk = formset_class.get_default_prefix(), formset_class.model._meta.pk.name
    wanted = {tuple(str(part.get(key) or "") for key in keys): part for part in parts}
    if len(wanted) < len(parts):
        raise InvalidRow({name: ["The same stands twice: keep one of them."]})
    data: dict[str, Any] = {f"{name}-TOTAL_FORMS": 0, f"{name}-INITIAL_FORMS": len(there)}
    found = [(row, wanted.pop(tuple(str(value_of(row, key) or "") for key in keys), None)) for row in there]
    if not formset_class.can_delete and any(part is None for _, part in found):
        raise InvalidRow({name: ["It can't be taken away: change what stands in it."]})
    for number, (row, part) in enumerate([*found, *((None, part) for part in wanted.values())]):
        form = {**_filled(formset_class.form, row, part or {}), pk: row.pk if row else ""}
        data |= {f"{name}-{number}-{each}": value for each, value in form.items()}
        data[f"{name}-{number}-DELETE"] = part is None
        data[f"{name}-TOTAL_FORMS"] = number + 1
    return data


def _problems(form: forms.BaseForm, formsets: Sequence[FormSet]) -> dict[str, list[str]]:
    found = {name: [str(each) for each in errors] for name, errors in form.errors.items()}
    for formset in formsets:
        if not formset.is_valid():
            words = [
                f"{name}: {each}" if name != "__all__" else str(each)
                for errors in cast("Sequence[Mapping[str, list[str]]]", formset.errors)
                for name, said in errors.items()
                for each in said
            ]
            found[formset.prefix or ""] = [*words, *map(str, formset.non_form_errors())]
    return {"non_field_errors" if name == "__all__" else name: words for name, words in found.items()}

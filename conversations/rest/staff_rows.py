"""Rows that staff keep, for their programs: each table at two addresses, by the rights, the checks and the records of the
admin's pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, cast

from django.db.models import Model as Row
from django.db.models import QuerySet
from django.http import HttpRequest
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.errors import RowNotFound
from conversations.models import Scope
from conversations.rest.base import APIView
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.rest.staff_shapes import columns, needed, shape
from conversations.staff import rows
from conversations.staff.plain_values import value_of

WARNINGS = Annotated[list[str], "What the page of it would say: nothing was refused for it."]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows that belong to one, known by the first ``keys`` of their fields; without keys there is one at most."""

    model: type[Row]
    fields: Sequence[str]
    about: str
    keys: int = 0

    def value(self, row: Any, name: str) -> Any:
        """All that belong to the row, which has them by this name."""
        found = getattr(row, name, None)
        if self.keys and found is not None:
            return [self._object(each) for each in found.all()]
        return None if found is None else self._object(found)

    def _object(self, row: Row) -> dict[str, Any]:
        return {name: value_of(row, name) for name in self.fields}

    def given(self, value: Any) -> Sequence[Any]:
        return value if self.keys else [] if value is None else [value]


@dataclass(frozen=True, kw_only=True)
class Table:
    """``key`` is the column that an address names a row by, ``fixed`` the fields that stay as they were made.

    ``more`` are fields that are read alone, with what gives them; ``secrets`` those that are only written, which
    ``written`` makes values of the form.
    """

    name: str
    one: str
    about: str
    model: type[Row]
    scope: Scope
    fields: Sequence[str]
    key: str = "id"
    fixed: Sequence[str] = ()
    parts: Mapping[str, Part] = field(default_factory=dict)
    more: Mapping[str, tuple[Any, Callable[[Any], Any]]] = field(default_factory=dict)
    secrets: Mapping[str, Any] = field(default_factory=dict)
    written: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    prefetched: Sequence[str] = ()

    def seen(self, request: Request) -> QuerySet[Any]:
        return rows.seen(plain(request), self.model).prefetch_related(*self.prefetched)

    def get(self, request: Request, id: str) -> Any:
        """Raises ``RowNotFound``."""
        is_name = self.key != "id"
        found = self.seen(request)
        if "\0" in id or not (is_name or (id.isascii() and id.isdecimal() and len(id) < 10)):
            raise RowNotFound
        row = found.filter(**{self.key: id}).first()
        if row is None:
            raise RowNotFound
        return row

    def answer(self, row: Any) -> dict[str, Any]:
        own = {name: value_of(row, name) for name in self.fields}
        parts = {name: part.value(row, name) for name, part in self.parts.items()}
        return {"id": row.pk, **own, **parts, **{name: read(row) for name, (_, read) in self.more.items()}}

    def change(self, given: Mapping[str, Any]) -> rows.Change:
        own = {name: value for name, value in given.items() if name not in self.parts and name not in self.secrets}
        return rows.Change(
            values={**own, **self.written({name: given[name] for name in self.secrets if name in given})},
            parts={name: part.given(given[name]) for name, part in self.parts.items() if name in given},
            keys={name: part.fields[: part.keys] for name, part in self.parts.items()},
        )

    def refuse_fixed(self, row: Row, given: Mapping[str, Any]) -> None:
        """Raises ``ValidationError`` where one of them is to be another."""
        before = {name: value_of(row, name) for name in self.fixed}
        if others := [name for name, value in before.items() if given.get(name, value) != value]:
            raise ValidationError({name: ["It can't be changed."] for name in others})

    def save(self, request: Request, row: Row | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """As it is then. Raises ``ValidationError``."""
        saved = _save(request, self.model, row, self.change(given))
        fresh = self.seen(request).get(pk=saved.row.pk)
        return {**self.answer(fresh), "warnings": saved.warnings}


def save(request: Request, row: Row, values: Mapping[str, Any]) -> None:
    """Give a row that is there other values. Raises ``ValidationError``."""
    _save(request, type(row), row, rows.Change(values=values))


def _save(request: Request, model: type[Row], row: Row | None, change: rows.Change) -> rows.Saved:
    try:
        return rows.save(plain(request), model, row, change)
    except rows.InvalidRow as error:
        raise ValidationError(error.problems) from error


def plain(request: Request) -> HttpRequest:
    """As the admin takes it: it has all that Django's own has, and the token as well."""
    return cast("HttpRequest", request)


def views_of(table: Table) -> tuple[type[APIView], type[APIView]]:
    """Of the list and of one row."""
    shapes = _Shapes(table)
    token = f"A token needs `{table.scope}`; its user the right to view them in the admin."

    class List(APIView):
        scopes = dict.fromkeys(("GET", "POST"), table.scope)
        pagination_class = ordered_by(table.key)

        @describe(description=f"For staff: {table.about} {token}", responses=described(shapes.answer, many=True))
        def get(self, request: Request) -> Response:
            return self.page(request, table.seen(request), lambda page: [table.answer(each) for each in page])

        @describe(
            description=f"Add {table.one}: checked and recorded as on its page, for whoever may add one there.",
            request=described(shapes.new),
            responses={201: described(shapes.saved)},
        )
        def post(self, request: Request) -> Response:
            rows.demand_add(plain(request), table.model)
            return Response(table.save(request, None, valid(shapes.new, request)), status=201)

    class Detail(APIView):
        scopes = dict.fromkeys(("GET", "PATCH", "DELETE"), table.scope)

        @describe(description=f"For staff: {table.one}.", responses=described(shapes.answer))
        def get(self, request: Request, row_id: str) -> Response:
            return Response(table.answer(table.get(request, row_id)))

        @describe(
            description=f"Change {table.one}: checked and recorded as on its page. What is left out stays."
            + (" A list of rows that belong to it takes the place of all that it has." if table.parts else ""),
            request=described(shapes.change),
            responses=described(shapes.saved),
        )
        def patch(self, request: Request, row_id: str) -> Response:
            row = table.get(request, row_id)
            rows.demand_change(plain(request), row)
            given = valid(shapes.change, request)
            table.refuse_fixed(row, cast("Mapping[str, Any]", request.data))
            return Response(table.save(request, row, given))

        @describe(description=f"Delete {table.one}. 409 `row_in_use` where something needs it.", responses={204: None})
        def delete(self, request: Request, row_id: str) -> Response:
            rows.delete(plain(request), table.get(request, row_id))
            return Response(status=204)

    name = table.model.__name__
    List.__name__, Detail.__name__ = f"{name}List", f"{name}Detail"
    return List, Detail


class _Shapes:
    """What the calls of a table take and answer."""

    def __init__(self, table: Table) -> None:
        name, kept = table.model.__name__, [each for each in table.fields if each not in table.fixed]
        parts = {each: _part(part) for each, part in table.parts.items()}
        own = columns(table.model, table.fields) | parts
        answer = {"id": Annotated[int, "Id of it."], **own, **{each: hint for each, (hint, _) in table.more.items()}}
        may_leave = {**parts, **table.secrets}
        self.answer = shape(f"{name}Row", answer, table.about)
        self.saved = shape(f"Saved{name}Row", {**answer, "warnings": WARNINGS}, table.about)
        self.change = shape(f"{name}RowChange", {**columns(table.model, kept), **may_leave}, total=False)
        self.new = shape(f"New{name}Row", needed(table.model, table.fields) | _optional(may_leave))


def _optional(hints: Mapping[str, Any]) -> dict[str, Any]:
    return {name: NotRequired[hint] for name, hint in hints.items()}


def _part(part: Part) -> Any:
    own: Any = shape(f"{part.model.__name__}Row", needed(part.model, part.fields), part.about)
    return Annotated[list[own] if part.keys else own | None, part.about]

import re
from base64 import b64decode
from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination as BaseCursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from conversations.errors import OpenbookError
from conversations.models import Message

CURSOR = re.compile(rb"([opr]=[^&]*(&|$))+$")
PAGE, MOST = 50, 200
SIZES = f"`page_size` must be a number from 1 to {MOST}."


class InvalidPage(OpenbookError):
    code = "invalid_page"


class CursorPagination(BaseCursorPagination):
    """``{"next", "previous", "results"}``; ``?page_size=`` up to 200. Raises ``InvalidPage``."""

    cursor_query_description = "From `next` or `previous` of another page, as it stands there."
    page_size_query_description = f"How many, from 1 to {MOST}; what is more counts as {MOST}."
    page_size = PAGE
    page_size_query_param = "page_size"
    max_page_size = MOST

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        try:
            return super().paginate_queryset(queryset, request, view) or []
        except (NotFound, ValidationError, ValueError):  # no cursor, or one that holds no position of this list
            raise InvalidPage("The cursor can't be read. Use `next` and `previous` as they are given.") from None

    def decode_cursor(self, request: Request) -> Any:
        """DRF passes over what it can't read, and would begin at the first page again."""
        value = request.query_params.get(self.cursor_query_param)
        if value is not None and not CURSOR.match(b64decode(value, validate=True)):
            raise ValueError("no cursor")
        return super().decode_cursor(request)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        address = {"type": ["string", "null"], "format": "uri"}  # DRF's own words for null are those of OpenAPI 3.0
        described["properties"] = {
            "next": address | {"description": "Address of the next page; null: this is the last one."},
            "previous": address | {"description": "Address of the page before; null: this is the first one."},
            "results": schema | {"description": f"At most `page_size` of them, {self.page_size} unless it is said."},
        }
        described["required"] = ["next", "previous", "results"]
        return described

    def get_page_size(self, request: Request) -> int:
        return page_size(request, self.page_size)


def ordered_by(*fields: str, page_size: int = PAGE) -> type[CursorPagination]:
    """Pages of rows in this order."""
    return type("OrderedPagination", (CursorPagination,), {"ordering": fields, "page_size": page_size})


def turns_before(request: Request, turns: QuerySet[Message], before: str) -> tuple[list[Message], str | None]:
    """The newest turns before a position, oldest first, and the address of those before them."""
    count = page_size(request)
    if before != "end":
        turns = turns.filter(position__lt=_number(before, "`before` must be `end` or a position."))
    newest = list(turns.reverse()[: count + 1])
    shown = newest[:count][::-1]
    if len(newest) <= count:
        return shown, None
    return shown, replace_query_param(request.build_absolute_uri(), "before", str(shown[0].position))


def page_size(request: Request, default: int = PAGE) -> int:
    size = _number(request.query_params.get("page_size", str(default)), SIZES)
    return min(size, MOST) or _refuse(SIZES)


def _number(value: str, otherwise: str) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 9 else _refuse(otherwise)


def _refuse(message: str) -> NoReturn:
    raise InvalidPage(message)

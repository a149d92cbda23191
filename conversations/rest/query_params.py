"""Query parameters: what the schema says of them, and how they are read. A wrong one raises ``InvalidMessage``."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.views import APIView

from conversations.errors import InvalidMessage, OpenbookError
from conversations.rest.descriptions import description_of
from conversations.runtime.text import clean

SWITCHES = {"true": True, "false": False}
LONGEST_WORDS = 1_000


class UnknownParameter(OpenbookError):
    """``details["known"]`` are those that the call takes."""

    code = "unknown_parameter"


class Parameter(OpenApiParameter):
    type_in_schema = OpenApiTypes.STR

    def __init__(self, name: str, description: str, **options: Any) -> None:
        super().__init__(name, **{"type": self.type_in_schema, "description": description, **options})

    def text(self, request: Request) -> str | None:
        """As it stands in the address."""
        value: str | None = request.query_params.get(self.name)
        return value

    def refuse(self, what_is_taken: str) -> InvalidMessage:
        return InvalidMessage(f"`{self.name}` must be {what_is_taken}.", field=self.name)


class Words(Parameter):
    """A text to look for; empty where there is none."""

    def read(self, request: Request) -> str:
        value = clean(self.text(request) or "").strip()
        if len(value) > LONGEST_WORDS:
            raise self.refuse(f"a text of at most {LONGEST_WORDS:,} characters")
        return value


class Switch(Parameter):
    """`true` or `false`."""

    type_in_schema = OpenApiTypes.BOOL

    def read(self, request: Request, *, default: bool = False) -> bool:
        value = self.text(request)
        if value is not None and value not in SWITCHES:
            raise self.refuse("`true` or `false`")
        return SWITCHES[value] if value else default

    def given(self, request: Request) -> bool | None:
        """``None`` where it is left out."""
        return None if self.text(request) is None else self.read(request)


class Choice(Parameter):
    """One of the choices."""

    def __init__(self, name: str, choices: Sequence[str], description: str) -> None:
        self.choices = list(choices)
        super().__init__(name, description, enum=self.choices)

    def read(self, request: Request) -> str | None:
        value = self.text(request)
        if value is not None and value not in self.choices:
            raise self.refuse(f"one of: {', '.join(self.choices)}")
        return value


class Moment(Parameter):
    """ISO 8601; UTC where no time zone is given."""

    type_in_schema = OpenApiTypes.DATETIME

    def read(self, request: Request) -> datetime | None:
        value = self.text(request)
        if value is None:
            return None
        try:
            at = parse_datetime(value.replace(" ", "+"))  # a plus sign in an address means a space
            time = at and (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            time = None
        if not time:
            raise self.refuse("a time such as 2026-03-01T12:00:00Z")
        return time


@cache
def known_parameters(view: type[APIView], method: str) -> frozenset[str]:
    """The query parameters that the schema names for a call, which are those that it takes."""
    method = "GET" if method == "HEAD" else method
    parameters = description_of(view, method).get("parameters", ())
    named = {each.name for each in parameters if each.location == OpenApiParameter.QUERY}
    paged = method == "GET" and getattr(view, "pagination_class", None)
    return frozenset(named | ({"cursor", "page_size"} if paged else set()))


def refuse_unknown(value: Collection[str], known: Collection[str]) -> None:
    for name in value:
        if name not in known:
            takes = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
            raise UnknownParameter(
                f"There is no parameter `{clean(name)[:100]}` here. This call takes: {takes}.", known=sorted(known)
            )

"""What query parameters say, read and checked. Whatever is wrong raises ``InvalidMessage``, which names the parameter."""

from collections.abc import Collection
from datetime import UTC, datetime
from functools import cache

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.views import APIView

from conversations.errors import InvalidMessage, OpenbookError
from conversations.runtime.text import clean

SWITCHES = {"true": True, "false": False}
LONGEST_WORDS = 1_000


class UnknownParameter(OpenbookError):
    """``details["known"]`` are those that the call takes."""

    code = "unknown_parameter"


@cache
def known_parameters(view: type[APIView], method: str) -> frozenset[str]:
    """The query parameters that the schema names for a call, which are those that it takes."""
    handler = getattr(view, "get" if method == "HEAD" else method.lower(), None)
    described = getattr(handler, "kwargs", {}).get("schema")  # where drf-spectacular keeps what it was told
    if described is None:
        return frozenset()
    schema = described()
    schema.view, schema.method = view(request=None, kwargs={}), "GET" if method == "HEAD" else method
    named = {each.name for each in schema.get_override_parameters() if each.location == OpenApiParameter.QUERY}
    paged = schema.method == "GET" and getattr(view, "pagination_class", None)
    return frozenset(named | ({"cursor", "page_size"} if paged else set()))


def refuse_unknown(value: Collection[str], known: Collection[str]) -> None:
    for name in value:
        if name not in known:
            takes = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
            raise UnknownParameter(
                f"There is no parameter `{clean(name)[:100]}` here. This call takes: {takes}.", known=sorted(known)
            )


def switched(request: Request, name: str, *, default: bool = False) -> bool:
    """`true` or `false`."""
    value = request.query_params.get(name, str(default).lower())
    if value not in SWITCHES:
        raise InvalidMessage(f"`{name}` must be `true` or `false`.", field=name)
    return SWITCHES[value]


def words(request: Request, name: str = "q") -> str:
    """A text to look for, which may be empty."""
    value = clean(request.query_params.get(name, "")).strip()
    if len(value) > LONGEST_WORDS:
        raise InvalidMessage(f"`{name}` must be a text of at most {LONGEST_WORDS:,} characters.", field=name)
    return value


def chosen(request: Request, name: str, choices: Collection[str]) -> str | None:
    """One of the choices; ``None`` where nothing is asked for."""
    value = request.query_params.get(name)
    if value is not None and value not in choices:
        raise InvalidMessage(f"`{name}` must be one of: {', '.join(choices)}.", field=name)
    return value


def moment(request: Request, name: str) -> datetime | None:
    """ISO 8601; UTC where no time zone is given."""
    value = request.query_params.get(name)
    if value is None:
        return None
    try:
        at = parse_datetime(value.replace(" ", "+"))  # a plus sign in an address means a space
        time = at and (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    if not time:
        raise InvalidMessage(f"`{name}` must be a time such as 2026-03-01T12:00:00Z.", field=name)
    return time

"""The id that a request's log lines, spans, errors, reply and ``X-Request-ID`` header share, and where it came from."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.http import HttpRequest

from conversations.runtime.ids import uuid7

current_request_id: ContextVar[str] = ContextVar("request_id", default="")
current_address: ContextVar[str] = ContextVar("address", default="")
"""The network address that the current request came from; empty for what nobody asked for over the network."""


@dataclass(frozen=True, kw_only=True)
class FrameCaller:
    """Whom a frame of a socket comes from, named as a request's are: ``auth`` is the token, if it came by one."""

    user: object
    auth: object = None


current_request: ContextVar[HttpRequest | FrameCaller | None] = ContextVar("request", default=None)
"""The request itself, whose user is known by its end, or whom a frame comes from; ``None`` in workers."""

ACCEPTABLE_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
OWN_ID = "[0-9a-f]{12}7[0-9a-f]{19}"
"""An id that was given here: it tells when."""
FOREIGN_ID = f"^(?!{OWN_ID}$)"
"""Any other, as PostgreSQL reads it."""


@contextmanager
def request_scope(
    proposed: str | None = None, *, address: str = "", request: HttpRequest | None = None
) -> Iterator[str]:
    """Everything inside belongs to the proposed id, or to a new one where it is missing or not plain text."""
    request_id = proposed if proposed and ACCEPTABLE_ID.fullmatch(proposed) else uuid7().hex
    token, address_token = current_request_id.set(request_id), current_address.set(address)
    request_token = current_request.set(request)
    try:
        yield request_id
    finally:
        current_address.reset(address_token)
        current_request.reset(request_token)
        current_request_id.reset(token)


def made_at(request_id: str) -> int | None:
    """When an id was given here, in milliseconds since 1970; ``None`` for one that came from elsewhere."""
    return uuid.UUID(request_id).int >> 80 if re.fullmatch(OWN_ID, request_id) else None

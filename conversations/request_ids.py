"""The id that a request's log lines, errors and the ``X-Request-ID`` header share."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

current_request_id: ContextVar[str] = ContextVar("request_id", default="")

ACCEPTABLE_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)


@contextmanager
def request_scope(proposed: str | None = None) -> Iterator[str]:
    """Everything inside belongs to the proposed id, or to a new one where it is missing or not plain text."""
    request_id = proposed if proposed and ACCEPTABLE_ID.fullmatch(proposed) else uuid.uuid4().hex
    token = current_request_id.set(request_id)
    try:
        yield request_id
    finally:
        current_request_id.reset(token)

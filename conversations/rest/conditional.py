"""Answers that the caller has already, and changes to what the caller has seen: by the versions of rows, before any text is
read. PostgreSQL's ``xmin`` changes with each change of a row, whoever makes it."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpResponseBase
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from artifacts.models import Artifact
from conversations.errors import OpenbookError
from conversations.models import Thread
from conversations.runtime.ids import lowest_since
from conversations.runtime.sql_files import read_statements

STATEMENTS = read_statements(__file__)


class PreconditionFailed(OpenbookError):
    type, code, status = "precondition_failed", "precondition_failed", 412
    message = "It was changed meanwhile, and nothing was done. Read it again, then send the change with its new ETag."


def of_thread(thread: Thread, model: Any, *, locked: bool = False) -> str:
    """``model`` is what its answer says of its model, which staff may change without changing the thread."""
    return _tag("thread", {"user": thread.user_id, "id": thread.id}, model, locked=locked)


def of_messages(thread: Thread, address: str) -> str:
    """Of one page of a thread's turns."""
    return _tag("messages", {"user": thread.user_id, "id": thread.id, "since": lowest_since(thread.id)}, address)


def of_artifact(artifact: Artifact, number: int | None = None, *, shown_as: str = "", locked: bool = False) -> str:
    """Of its newest version or of the one with a number; ``shown_as`` tells its forms apart."""
    return _tag("artifact", {"user": artifact.user_id, "id": artifact.id, "number": number}, shown_as, locked=locked)


def unless_known(request: Request, tag: str, answer: Callable[[], Any]) -> Response:
    """The answer with its tag; nothing but the tag where the caller has what bears it (``If-None-Match``)."""
    return not_modified(tag) if is_known(request, tag) else tagged(Response(answer()), tag)


def is_known(request: Request, tag: str) -> bool:
    known = [each.removeprefix("W/") for each in parse_etags(request.headers.get("If-None-Match", ""))]
    return tag in known or known == ["*"]


def not_modified(tag: str) -> Response:
    return tagged(Response(status=304), tag)


def tagged[R: HttpResponseBase](response: R, tag: str) -> R:
    response["ETag"] = tag
    return response


def demand_match(request: Request, tag: str) -> None:
    """Raises ``PreconditionFailed`` where the caller has seen another state than this one (``If-Match``)."""
    wanted = request.headers.get("If-Match")
    if wanted is not None and tag not in (seen := parse_etags(wanted)) and seen != ["*"]:
        raise PreconditionFailed(etag=tag)


def _tag(what: str, values: dict[str, Any], *more: Any, locked: bool = False) -> str:
    with connection.cursor() as cursor:
        cursor.execute(STATEMENTS[what] + (f" FOR NO KEY UPDATE OF {what}" if locked else ""), values)
        row = cursor.fetchone()
    return f'"{hashlib.sha256(repr((row, more)).encode()).hexdigest()[:32]}"'

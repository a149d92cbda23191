"""The one error shape of the REST API: ``{"error": {type, code, message, details, request_id}}``."""

import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from conversations import errors
from conversations.rest import throttling
from conversations.runtime.db import is_away

log = logging.getLogger("openbook.api")

TYPES = {
    400: "invalid_request",
    401: "authentication",
    403: "permission",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    412: "precondition_failed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    502: "model",
    500: "internal",
    503: "unavailable",
}
NOT_SIGNED_IN = "You are not signed in. Sign in, or send a valid token, then try again."


class ReplyFailed(errors.OpenbookError):
    """The user turn is stored, the reply is not. ``details`` names both, so that a program can retry."""

    type, status = "model", 502

    def __init__(self, error: dict[str, Any], **details: Any) -> None:
        super().__init__(error["message"], **error["details"], **details)
        self.type, self.code = error["type"], error["code"]


def message_too_long() -> errors.MessageTooLong:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    message = f"The request body is too large; the limit is {limit:,} bytes. Send a shorter message."
    return errors.MessageTooLong(message, limit=limit)


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook. ``None`` lets an unknown exception become a 500, which is logged with its trace."""
    match _translated(exception):
        case errors.OpenbookError() as error:
            headers = throttling.headers_of(error)
            return Response({"error": errors.describe(error)}, status=error.status, headers=headers)
        case exceptions.APIException() as refusal:
            return _answer(refusal)
    return None


def _translated(exception: Exception) -> Exception:
    """Django's own exceptions as errors that the caller can be told; others as they are."""
    match exception:
        case DatabaseError() | InterfaceError() if is_away(exception):
            log.exception("database unreachable")
            return errors.Unavailable()
        case RequestDataTooBig():
            return message_too_long()
        case RecursionError():
            return exceptions.ParseError("The JSON is nested too deeply.")
        case Http404():
            return exceptions.NotFound(errors.NotFound.message)
        case PermissionDenied():
            return exceptions.PermissionDenied()
        case SuspiciousOperation():
            return exceptions.ParseError("The request can't be read.")
    return exception


def _answer(exception: exceptions.APIException) -> Response:
    headers = {}
    if challenge := getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(exception, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    invalid = isinstance(exception, exceptions.ValidationError)
    body = errors.error_object(
        type=TYPES.get(exception.status_code, "error"),
        code="invalid" if invalid else str(exception.default_code),
        message=NOT_SIGNED_IN if isinstance(exception, exceptions.NotAuthenticated) else _message(exception.detail),
        details={"fields": exception.detail} if invalid else {},
    )
    return Response({"error": body}, status=exception.status_code, headers=headers)


def _message(detail: Any) -> str:
    if isinstance(detail, dict):
        return " ".join(f"{field}: {_first(value)}" for field, value in detail.items())
    return _first(detail)


def _first(detail: Any) -> str:
    while isinstance(detail, (list, dict)) and detail:
        detail = next(iter(detail.values() if isinstance(detail, dict) else detail))
    return str(detail)


def json_error(status: int, code: str, message: str) -> JsonResponse:
    """For failures outside any DRF view."""
    body = errors.error_object(type=TYPES.get(status, "error"), code=code, message=message)
    return JsonResponse({"error": body}, status=status)


@csrf_exempt
def unknown_call(request: HttpRequest, **_: str) -> JsonResponse:
    message = "The API has no such call: addresses end with a slash, and the list of calls is at /api/v1/docs/."
    return json_error(404, "not_found", message)

"""What a failure outside any view of ours answers: JSON where programs call, a page where people are."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views import defaults

from conversations.errors import RateLimited
from conversations.rest import messages_api
from conversations.rest.errors import json_error

SCIM_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"


def scim_error(status: int, code: str, message: str) -> JsonResponse:
    """In the shape of RFC 7644, 3.12."""
    body = {"schemas": [SCIM_ERROR], "status": str(status), "detail": message}
    return JsonResponse(body, status=status, content_type="application/scim+json")


TELL = {"/api/": json_error, "/mcp/": json_error, "/v1/": messages_api.failed, "/scim/": scim_error}
"""Who tells it, by the beginning of the address."""


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    message = "The request can't be read. Check its address, host and headers."
    return _error_response(request, 400, "bad_request", message) or defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    response = _error_response(request, 403, "permission_denied", "You may not do this.")
    return response or defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    message = "There is no such thing here. The list of calls is at /api/v1/docs/."
    return _error_response(request, 404, "not_found", message) or defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    message = "Something went wrong on the server. It is in the log under this request_id."
    return _error_response(request, 500, "internal", message) or defaults.server_error(request)


def https_needed(request: HttpRequest) -> HttpResponse | None:
    """For programs; ``None`` for who can be led there."""
    message = "Call this over https. What you sent was not encrypted: if it held a token, revoke it and make another."
    return _error_response(request, 403, "https_needed", message)


def rate_limited(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Any page that was asked for too often, and says nothing of it itself."""
    if not isinstance(exception, RateLimited):
        return None
    response = render(request, "429.html", {"message": gettext(exception.message)}, status=exception.status)
    response["Retry-After"] = str(exception.details["retry_after"])
    return response


def _error_response(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse | None:
    tell = next((tell for beginning, tell in TELL.items() if request.path.startswith(beginning)), None)
    return tell(status, code, message) if tell else None

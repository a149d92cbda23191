"""What a failure outside any view of ours answers: JSON where programs call, a page where people are."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from conversations.api.errors import json_error

API = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return json_error(400, "bad_request", "The request can't be read. Check its address, host and headers.")
    return defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return json_error(403, "permission_denied", "You may not do this.")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return json_error(404, "not_found", "There is no such thing here. The list of calls is at /api/v1/docs/.")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(API):
        return json_error(
            500, "internal", "Something went wrong on the server. It is in the log under this request_id."
        )
    return defaults.server_error(request)

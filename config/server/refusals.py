"""A line of log for each request that was refused: for who asks (401, 403), for what is asked (400), for how often (429),
whoever said so. By ids, never what was sent."""

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from conversations.accounts import sign_in

log = logging.getLogger("openbook.access")


ACCESS = (401, 403)
LOGGED = (*ACCESS, 400, 429)


def log_refusal(request: HttpRequest, status: int) -> None:
    """The route instead of the address, which may hold a link's token."""
    match = request.resolver_match
    log.info(
        "access refused" if status in ACCESS else "request refused",
        extra={
            "status": status,
            "method": request.method,
            "route": match.route if match else "",
            "user_id": _known_user_id(request),
            "address": sign_in.address_of(request) if settings.OPENBOOK_AUDIT_ADDRESSES else "",
        },
    )


def _known_user_id(request: HttpRequest) -> int | None:
    """Of whoever was looked up already: nobody is for a line of log."""
    known = request.__dict__
    users = (known.get(name) for name in ("user", "_cached_user", "_acached_user"))
    return next((user.pk for user in users if type(user) is User), None)

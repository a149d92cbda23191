"""Browsers in which somebody has signed in before: a signed cookie says for whom, so that strangers who guess a person's
password keep only strangers out."""

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

COOKIE = "openbook_device"
SALT = "openbook.device"
SECONDS = 400 * 86_400
"""As long as browsers keep any cookie."""
MOST_PEOPLE = 8
"""Who shares a browser."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A browser, by a random id, and the people who have signed in there, newest first, by a digest of their names."""

    id: str
    people: tuple[str, ...]

    def knows(self, username: str) -> bool:
        return _digest(username) in self.people


def read_device(request: HttpRequest) -> Device | None:
    """The device that a request comes from; ``None`` where it brings no cookie that was signed here."""
    cookie = request.COOKIES.get(cookie_name())
    if not cookie:
        return None
    try:
        kept = signing.loads(cookie, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return Device(id=kept["id"], people=tuple(kept["people"]))


def remember(request: HttpRequest, response: HttpResponseBase, username: str) -> None:
    """Somebody has signed in here: know this browser as theirs from now on."""
    device = read_device(request) or Device(id=secrets.token_urlsafe(12), people=())
    others = [person for person in device.people if person != _digest(username)]
    response.set_cookie(
        cookie_name(),
        signing.dumps({"id": device.id, "people": [_digest(username), *others][:MOST_PEOPLE]}, salt=SALT),
        max_age=SECONDS,
        httponly=True,
        samesite="Lax",
        secure=bool(settings.SESSION_COOKIE_SECURE),
    )


def cookie_name() -> str:
    return f"{settings.COOKIE_PREFIX}{COOKIE}"


def _digest(username: str) -> str:
    """Only this server can tell whose it is."""
    return salted_hmac(SALT, username.casefold(), algorithm="sha256").hexdigest()[:32]

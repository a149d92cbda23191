"""Limits as programs meet them, and told in the fields of the IETF's draft: ``RateLimit-Policy`` and ``RateLimit``."""

import hashlib
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from conversations import counting
from conversations.errors import RateLimited
from conversations.limits import DAY, MINUTE, REQUESTS, RUNNING, TOKENS, Limits, Quota, count_request, limits_of
from conversations.models import ApiToken

ATTEMPTS = 10
"""Wrong passwords a minute, from one address for one name."""


class RequestsAMinute(BaseThrottle):
    """Leaves with the view what it knows of the caller's limits. Raises ``RateLimited``."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if isinstance(request.user, User):
            token = request.auth if isinstance(request.auth, ApiToken) else None
            view.limits = limits_of(request.user)
            view.quota = count_request(request.user, token)
        return True


def count_attempt(request: Request, username: str) -> str:
    """Count an attempt to sign in, before the password is looked at. Returns what to ``forgive`` it by; raises
    ``RateLimited``."""
    # Neither may be any text that somebody sends: a key is bounded, and a log is not to show who was tried.
    who = f"{request.META.get('REMOTE_ADDR', '')} {username.casefold()}"
    key = f"sign-in.{hashlib.sha256(who.encode('utf-8', 'replace')).hexdigest()}"
    used, seconds = counting.count(key, seconds=MINUTE)
    if used > ATTEMPTS:
        message = f"Too many attempts for this user name. Try again in {seconds} s."
        raise RateLimited(message, limit="sign_in", most=ATTEMPTS, retry_after=seconds)
    return key


def forgive(key: str) -> None:
    """The password was right."""
    counting.forget(key, seconds=MINUTE)


def tell(limits: Limits | None, quota: Quota | None, response: HttpResponseBase) -> None:
    """Put the limits of the caller into the answer's headers, and how much of this minute is left."""
    if limits is None:
        return
    requests = quota.most if quota else limits.requests_minute
    policies = [
        f'"{REQUESTS}";q={requests};w={MINUTE}' if requests else "",
        f'"{RUNNING}";q={limits.running_replies};qu="concurrent-requests"' if limits.running_replies else "",
        f'"{TOKENS}";q={limits.tokens_day};w={DAY};qu="tokens"' if limits.tokens_day else "",
    ]
    if told := ", ".join(filter(None, policies)):
        response["RateLimit-Policy"] = told
    if quota and quota.most:
        left = f'"{REQUESTS}";r={quota.left};t={quota.seconds}'
        response["RateLimit"] = ", ".join(filter(None, [left, response.get("RateLimit", "")]))


def headers_of(error: RateLimited) -> dict[str, str]:
    """When to come again, and which limit it is that was reached."""
    wait = str(error.details["retry_after"])
    return {"Retry-After": wait, "RateLimit": f'"{error.details["limit"]}";r=0;t={wait}'}

"""Limits as programs meet them, and told in the fields of the IETF's draft: ``RateLimit-Policy`` and ``RateLimit``."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from conversations.accounts.limits import (
    DAY,
    MINUTE,
    REQUESTS,
    RUNNING,
    TOKENS,
    Limits,
    Quota,
    count_request,
    limits_of,
    limits_of_token,
    tighter,
)
from conversations.errors import OpenbookError, RateLimited
from conversations.models import ApiToken


class RequestsAMinute(BaseThrottle):
    """Leaves with the view what it knows of the caller's limits. Raises ``RateLimited``."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if isinstance(request.user, User):
            token = request.auth if isinstance(request.auth, ApiToken) else None
            of_user = limits_of(request.user)
            view.limits = tighter(of_user, limits_of_token(token)) if token else of_user
            view.quota = count_request(request.user, token)
        return True


def tell(limits: Limits | None, quota: Quota | None, response: HttpResponseBase) -> None:
    """Put the limits of the caller into the answer's headers, the tighter one of user and token, and how much of this minute
    is left."""
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


def headers_of(error: OpenbookError) -> dict[str, str]:
    """When to come again, and which limit it is that was reached, if it is one of ours."""
    wait = error.details.get("retry_after")
    if wait is None:
        return {}
    limit = {"RateLimit": f'"{error.details["limit"]}";r=0;t={wait}'} if isinstance(error, RateLimited) else {}
    return {"Retry-After": str(wait), **limit}

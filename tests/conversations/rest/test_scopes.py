"""Scopes: what a token was not made for is refused, on every call of both APIs, and nothing happens."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import URLPattern

from artifacts.rest import urls as artifacts_urls
from conversations.accounts import tokens
from conversations.models import Scope
from conversations.rest import messages_urls, urls
from conversations.rest.authentication import HasScope, needed
from conversations.runtime.db import in_database
from memory.rest import urls as memory_urls
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

OPEN = {"auth/token/", "schema/", "docs/", "docs/messages/", "docs/reasons/", "docs/tour/", "^.*$"}
"""What nobody needs a token for."""
READS = {("POST", "/api/v1/threads/x/context/"), ("POST", "/v1/messages/count_tokens")}
EXPORTS = {
    ("GET", f"/api/v1/{path}") for path in ("export/", "threads/x/export/", "artifacts/x/export/", "files/x/content/")
}
ANY = {("GET", "/api/v1/tokens/current/")}
DOORS = {
    "/api/v1/": [*artifacts_urls.urlpatterns, *memory_urls.urlpatterns, *urls.urlpatterns],
    "/v1/": messages_urls.urlpatterns,
}


def view_of(pattern: Any) -> Any:
    return pattern.callback.view_class


def calls() -> Iterator[tuple[str, str]]:
    """Every method of every address that there is, with ids that name nothing."""
    for door, patterns in DOORS.items():
        for each in patterns:
            if isinstance(each, URLPattern) and str(each.pattern) not in OPEN:
                path = door + re.sub(r"<\w+:\w+>", "x", str(each.pattern))
                view = view_of(each)
                yield from ((name.upper(), path) for name in view.http_method_names if hasattr(view, name))


def scope_of(method: str, path: str) -> Scope | None:
    if (method, path) in ANY:
        return None
    if (method, path) in EXPORTS:
        return Scope.EXPORT
    return Scope.READ if method == "GET" or (method, path) in READS else Scope.WRITE


@pytest.mark.parametrize("missing", Scope)
async def test_every_call_demands_its_scope_and_says_which(user: User, missing: Scope) -> None:
    granted = [scope for scope in Scope if scope is not missing]
    user.is_staff = user.is_superuser = True  # who may see what support sees: the scope alone is missing
    await user.asave()
    token = await in_database(tokens.issue)(user=user, name="narrow", scopes=granted)
    api, refused = Api(None, **{"Authorization": f"Token {token}", "X-Api-Key": token}), set()
    for method, path in calls():
        answer = await api.call(method, path)
        assert answer.status != 401
        if answer.status == 403:
            refused.add((method, path))
            told = answer.body["error"]["details"]
            assert {name: told[name] for name in ("scope", "scopes")} == {"scope": missing, "scopes": granted}
    assert refused == {call for call in calls() if scope_of(*call) is missing}


def test_no_view_does_without_the_check() -> None:
    """A view with permissions of its own has to name this one too, and be listed as open otherwise."""
    patterns = [each for door in DOORS.values() for each in door]
    views = [view_of(each) for each in patterns if hasattr(each.callback, "view_class")]
    assert {needed(view, "HEAD") is needed(view, "GET") for view in views} == {True}
    without = {view.__name__ for view in views if HasScope not in view.permission_classes}
    assert without == {"TokenView", "Schema"}


async def test_a_refusal_names_the_scope_and_what_the_token_has(user: User) -> None:
    token = await in_database(tokens.issue)(user=user, name="reader", scopes=["read"])
    answer = await Api(Authorization=f"Token {token}").post("threads/", {"title": "Mine"})
    assert answer.refusal == (
        403,
        {
            "type": "permission",
            "code": "insufficient_scope",
            "message": "This needs a token with the scope `write`; this one has read. "
            "Make one on the page /account/tokens/.",
            "details": {"scope": "write", "scopes": ["read"]},
        },
    )

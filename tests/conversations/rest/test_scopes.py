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
from memory.mcp import urls as mcp_urls
from memory.rest import urls as memory_urls
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

OPEN = {"auth/token/", "embed/token/", "schema/", "docs/", "docs/messages/", "docs/reasons/", "docs/tour/", "^.*$"}
"""What nobody needs a token for."""
READS = {("POST", "/api/v1/threads/x/context/"), ("POST", "/v1/messages/count_tokens")}
EXPORTS = {
    ("GET", f"/api/v1/{path}") for path in ("export/", "threads/x/export/", "artifacts/x/export/", "files/x/content/")
}
ANY = {
    ("POST", "/mcp/"),
    ("GET", "/api/v1/session/"),
    ("GET", "/api/v1/notice/"),
    ("GET", "/api/v1/banners/"),
    ("GET", "/api/v1/tokens/current/"),
}
DOORS = {
    "/api/v1/": [*artifacts_urls.urlpatterns, *memory_urls.urlpatterns, *urls.urlpatterns],
    "/v1/": messages_urls.urlpatterns,
    "/mcp/": mcp_urls.urlpatterns,
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


AUDIT = ("GET", "/api/v1/audit/")
STAFF = {("GET", f"/api/v1/{path}/") for path in ("feedback", "findings", "staff/requests")}
OF_STAFF = {
    Scope.STAFF_ASSISTANTS: re.compile(r"/api/v1/(assistants/.*versions|staff/(assistants|presets))/"),
    Scope.STAFF_MODELS: re.compile(r"/api/v1/staff/(models|connections)/"),
    Scope.STAFF_GROUPS: re.compile(r"/api/v1/staff/(groups|budgets)/"),
    Scope.STAFF_REPLAYS: re.compile(r"/api/v1/staff/replays/"),
    Scope.STAFF_CONTENT: re.compile(r"/api/v1/staff/(experiments/|requests/.*/look/)"),
    Scope.STAFF_FEEDBACK: re.compile(r"/api/v1/(feedback|findings)/.+/"),
    Scope.STAFF_INVITATIONS: re.compile(r"/api/v1/invitations/"),
}
PARTS = {
    Scope.MEMORY: re.compile(r"/api/v1/(memories|topics|days|preferences)/"),
    Scope.FILES: re.compile(r"/api/v1/files/"),
    Scope.SERVERS: re.compile(r"/api/v1/mcp-(servers|calls)/(?!.*/attach/)"),
    Scope.WEBHOOKS: re.compile(r"/api/v1/webhooks/"),
    Scope.CHAT: re.compile(r"/api/v1/(threads/x/messages/|replies/x/(events|stop)/)"),
}


def scopes_of(method: str, path: str) -> tuple[Scope, ...]:
    """Of which one will do, the wide one first; none where any token will."""
    call = (method, path)
    if call in ANY:
        return ()
    if call == AUDIT:
        return (Scope.STAFF_AUDIT,)
    if of_staff := [scope for scope, paths in OF_STAFF.items() if paths.match(path)]:
        return (of_staff[0],)
    if call in STAFF:
        return (Scope.STAFF,)
    reads = method == "GET" or call in READS
    wide = Scope.EXPORT if call in EXPORTS else Scope.READ if reads else Scope.WRITE
    return (wide, *(part for part, paths in PARTS.items() if paths.match(path)))


@pytest.mark.once("read", "chat")
@pytest.mark.parametrize("scope", Scope)
async def test_a_token_of_one_scope_may_what_that_is_for_and_is_told_what_else_lacks(user: User, scope: Scope) -> None:
    user.is_staff = user.is_superuser = True  # has every right: what is refused is for the want of a scope
    await user.asave()
    token = await in_database(tokens.issue)(user=user, name="narrow", scopes=[scope])
    api, refused = Api(None, **{"Authorization": f"Token {token}", "X-Api-Key": token}), {}
    for method, path in calls():
        answer = await api.call(method, path)
        assert answer.status != 401
        if answer.status == 403:
            refused[method, path] = answer.body["error"]["details"].get("scope")
    wanted = {call: scopes_of(*call) for call in calls()}
    assert refused == {call: any_of[0] for call, any_of in wanted.items() if any_of and scope not in any_of}


def test_no_view_does_without_the_check() -> None:
    """A view with permissions of its own has to name this one too, and be listed as open otherwise."""
    patterns = [each for door in DOORS.values() for each in door]
    views = [view_of(each) for each in patterns if hasattr(each.callback, "view_class")]
    assert {needed(view, "HEAD") == needed(view, "GET") for view in views} == {True}
    without = {view.__name__ for view in views if HasScope not in view.permission_classes}
    assert without == {"TokenView", "EmbedTokenView", "Schema"}


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

"""Who may what, on every address and socket that there is: each address × method × kind of caller has an expectation, and an
address without one fails. The admin's own matrix is in ``conversations/admin/test_access.py``, where pages show masked texts.

What another person has does not exist: 404, also for staff and superusers, who look through the admin.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.account.internal.flows import login
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.test import AsyncClient
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from artifacts.models import Artifact, ArtifactVersion
from conversations.accounts import groups, tokens
from conversations.models import (
    ContextSnapshot,
    File,
    FilePart,
    GroupManager,
    GroupSignIn,
    McpCall,
    McpServer,
    McpSignIn,
    McpTool,
    Message,
    Notice,
    Project,
    Reply,
    Schedule,
    Scope,
    ServiceAccount,
    Share,
    Thread,
    Webhook,
    WebhookDelivery,
)
from conversations.models.tokens import OWN_SCOPES
from conversations.runtime import clock
from conversations.runtime.db import in_database
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from tests.belongings import NEEDLE, Row, belongings
from tests.conversations.factories import make_user
from tests.conversations.rest.test_ownership import CALLS
from tests.conversations.rest.test_scopes import scopes_of
from tests.conversations.web.sockets import Socket

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


class Kind(Enum):
    """Of an address: what it answers whom."""

    OPEN = "the same for everybody, known or not"
    PAGE = "a page of whoever is signed in"
    ROW_PAGE = "a page of one row"
    GROUP_PAGE = "a page of a group, for who manages it and staff who have its right"
    FRAME = "what stands in a frame of a page, which tells for itself that nobody is signed in"
    SYSTEM = "a page of staff who have its right"
    CALL = "a call about whoever calls"
    STAFF_CALL = "a call of staff who have its right"
    AUDIT_CALL = "a call of auditors"
    INVITATION_CALL = "a call of staff who may invite, and of managers of groups"
    ASSISTANT_CALL = "a call of staff who may change assistants"
    ADMIN_CALL = "a call to what staff keep, for who may do the same in the admin"
    PROGRAM = "a call that takes a token only"
    ROW_CALL = "a call about one row"
    SCIM = "a call of a directory, which takes a token with its scope"


(
    OPEN,
    PAGE,
    ROW_PAGE,
    GROUP_PAGE,
    FRAME,
    SYSTEM,
    CALL,
    STAFF_CALL,
    AUDIT_CALL,
    INVITATION_CALL,
    ASSISTANT_CALL,
    ADMIN_CALL,
    PROGRAM,
    ROW_CALL,
    SCIM,
) = Kind
ABOUT_ONESELF = (
    *(
        "accesses",
        "account/instructions",
        "assistants",
        "days",
        "export",
        "files",
        "import",
        "leavers",
        "limits",
        "memories",
        "memories/forget",
        "memories/forgetting",
        "models",
        "notice",
        "banners",
        "tags",
    ),
    *("memories/search", "preferences", "projects", "prompts", "schedules", "shares", "webhooks"),
    *("mcp-calls", "mcp-servers"),
    *("auth/tokens", "threads", "tokens", "tokens/current", "topics"),
)
OWN_FACTORS = (
    *("", "reauthenticate/", "totp/activate/", "totp/deactivate/"),
    *("webauthn/", "webauthn/add/", "webauthn/reauthenticate/"),
    *("recovery-codes/", "recovery-codes/generate/", "recovery-codes/download/"),
)
DIRECTORY: dict[str, list[str]] = {
    **{name: ["GET"] for name in ("ServiceProviderConfig", "ResourceTypes", "ResourceTypes/<str:name>")},
    **{name: ["GET"] for name in ("Schemas", "Schemas/<str:name>", "^.*$")},
    **{name: ["POST"] for name in (".search", "Users/.search", "Groups/.search")},
    **{name: ["GET", "POST"] for name in ("Users", "Groups")},
    **{name: ["GET", "PUT", "PATCH", "DELETE"] for name in ("Users/<str:id>", "Groups/<str:id>")},
}
"""Methods of each address of SCIM, whose views are loaded when they are called."""
KEPT = {
    "staff/assistants/": "conversations.{}_assistant",
    "staff/presets/": "artifacts.{}_preset",
    "staff/models/": "conversations.{}_model",
    "staff/connections/": "conversations.{}_connection",
    "staff/groups/": "auth.{}_group",
    "staff/budgets/": "conversations.{}_budget",
}
"""Tables of staff, and the right that each act on one takes."""
ADMINISTERED: dict[str, tuple[str, ...]] = {
    **{path: (right,) for path, right in KEPT.items()},
    **{f"{path}<str:row_id>/": (right,) for path, right in KEPT.items()},
    **{f"staff/connections/<str:row_id>/{act}/": ("conversations.view_connection",) for act in ("test", "models")},
    "staff/requests/": ("conversations.view_contextsnapshot",),
    "staff/requests/<str:request_id>/look/": ("conversations.view_contextsnapshot", "conversations.read_content"),
    **{f"staff/replays/{path}": ("conversations.{}_replay",) for path in ("", "<str:run_id>/")},
    "staff/replays/<str:run_id>/cancel/": ("conversations.view_replay",),
    **{
        f"staff/experiments/{path}": ("conversations.{}_experiment", "conversations.read_content")
        for path in ("", "<str:run_id>/")
    },
    "staff/experiments/<str:run_id>/cancel/": ("conversations.view_experiment", "conversations.read_content"),
    "feedback/<str:feedback_id>/": ("conversations.view_feedback",),
    "findings/<str:finding_id>/": ("conversations.view_lintfinding",),
}
"""Calls of staff's programs, and the rights that they take: of a row that is not there, to see such rows."""
SAML = ("login", "acs", "acs/finish", "sls", "metadata")
EXPECTED: dict[str, Kind] = {
    "": PAGE,
    "memory/": PAGE,
    "prompts/": PAGE,
    "schedules/": PAGE,
    **{f"schedules/<uuid:schedule_id>/{part}": ROW_PAGE for part in ("", "pause/", "delete/")},
    "account/": PAGE,
    "account/delete/": PAGE,
    "account/language/": PAGE,
    "account/sign-out/": PAGE,
    "account/tokens/": PAGE,
    "notice/": PAGE,
    "account/shares/": PAGE,
    "account/servers/": PAGE,
    "account/servers/<uuid:server_id>/": ROW_PAGE,
    **{f"account/servers/<uuid:server_id>/{name}/": ROW_PAGE for name in ("refresh", "switch", "delete")},
    **{f"account/servers/<uuid:server_id>/{name}/": ROW_PAGE for name in ("sign-in", "sign-out", "callback")},
    "mcp-clients/<uuid:server_id>/": OPEN,
    "account/calls/<uuid:call_id>/answer/": ROW_PAGE,
    "account/webhooks/": PAGE,
    "account/webhooks/<uuid:webhook_id>/": ROW_PAGE,
    **{f"account/webhooks/<uuid:webhook_id>/{name}/": ROW_PAGE for name in ("ping", "switch", "delete")},
    "account/webhooks/<uuid:webhook_id>/<uuid:delivery_id>/redeliver/": ROW_PAGE,
    "account/leavers/": PAGE,
    "account/leavers/<int:leaver_id>/": ROW_PAGE,
    "account/budgets/": PAGE,
    "account/export/": PAGE,
    "account/invitations/": PAGE,
    "account/invitations/<uuid:invitation_id>/revoke/": ROW_PAGE,
    **dict.fromkeys(("invitation/", "invitation/<str:secret>/"), OPEN),
    **dict.fromkeys(("accounts/signup/address/<str:token>/", "accounts/operator/<str:token>/"), OPEN),
    "account/budgets/<int:budget_id>/": GROUP_PAGE,
    "account/budgets/<int:budget_id>/use.csv": GROUP_PAGE,
    "account/instructions/": PAGE,
    "projects/": PAGE,
    "projects/<uuid:project_id>/": ROW_PAGE,
    "projects/<uuid:project_id>/new/": ROW_PAGE,
    "projects/<uuid:project_id>/delete/": ROW_PAGE,
    "threads/<uuid:thread_id>/": ROW_PAGE,
    "threads/<uuid:thread_id>/print/": ROW_PAGE,
    "account/tokens/<int:token_id>/revoke/": ROW_PAGE,
    "account/shares/<uuid:share_id>/revoke/": ROW_PAGE,
    "s/<str:token>/": OPEN,
    "s/<str:token>/continue/": PAGE,
    "s/<str:token>/frame/": OPEN,
    "s/<str:token>/files/<uuid:file_id>/": OPEN,
    "robots.txt": OPEN,
    "accessibility/": OPEN,
    "artifacts/<uuid:artifact_id>/versions/<int:number>/frame/": FRAME,
    "artifacts/drawing/": OPEN,
    "accounts/leaving/": OPEN,
    "favicon.ico": OPEN,
    **dict.fromkeys(("manifest.webmanifest", "service-worker.js", "offline/"), OPEN),
    **dict.fromkeys((f"accounts/{name}/" for name in ("login", "logout", "signup", "inactive", "confirm-email")), OPEN),
    **dict.fromkeys(
        (f"accounts/password/reset/{name}" for name in ("", "done/", "key/done/", "key/<uidb36>-<key>/")), OPEN
    ),
    "accounts/confirm-email/<key>/": OPEN,
    "accounts/login/code/confirm/": OPEN,
    **dict.fromkeys(
        (f"accounts/{name}/" for name in ("email", "reauthenticate", "password/change", "password/set")), PAGE
    ),
    **dict.fromkeys((f"accounts/2fa/{name}/" for name in ("authenticate", "webauthn/login")), OPEN),
    **dict.fromkeys((f"accounts/2fa/{name}" for name in OWN_FACTORS), PAGE),
    # They ask first who sits there, and then look whose it is.
    **dict.fromkeys((f"accounts/2fa/webauthn/keys/<int:pk>/{name}/" for name in ("remove", "edit")), PAGE),
    "accounts/again/": PAGE,
    **dict.fromkeys(
        (
            *(f"accounts/oidc/<str:provider_id>/{name}/" for name in ("login", "login/callback", "logout")),
            *(f"accounts/saml/<str:organization_slug>/{name}/" for name in SAML),
            *(f"accounts/3rdparty/{name}/" for name in ("signup", "login/cancelled", "login/error")),
        ),
        OPEN,
    ),
    "accounts/3rdparty/": PAGE,
    **dict.fromkeys(("admin/login/", "admin/logout/"), OPEN),
    "admin/password_change/": PAGE,
    "admin/system/": SYSTEM,
    "admin/system/runbooks/<slug:name>/": SYSTEM,
    **dict.fromkeys(("health/", "health/live/", "health/ready/", "metrics"), OPEN),
    "api/v1/messages/<str:message_id>/feedback/": ROW_CALL,
    "api/v1/auth/token/": OPEN,
    "api/v1/embed/token/": OPEN,
    "api/v1/schema/": OPEN,
    "api/v1/docs/": OPEN,
    "api/v1/docs/messages/": OPEN,
    "api/v1/docs/reasons/": OPEN,
    "api/v1/docs/tour/": OPEN,
    "api/v1/docs/websocket/": OPEN,
    "api/v1/^.*$": OPEN,
    "v1/^.*$": OPEN,
    **{f"scim/v2/{path}": SCIM for path in DIRECTORY},
    **dict.fromkeys((f"api/v1/{path}/" for path in ABOUT_ONESELF), CALL),
    "api/v1/leavers/<str:leaver_id>/shares/": ROW_CALL,
    "api/v1/invitations/<str:invitation_id>/": ROW_CALL,
    "api/v1/session/": CALL,
    "api/v1/feedback/": STAFF_CALL,
    "api/v1/findings/": STAFF_CALL,
    "api/v1/audit/": AUDIT_CALL,
    "api/v1/invitations/": INVITATION_CALL,
    "api/v1/assistants/<str:slug>/versions/": ASSISTANT_CALL,
    "api/v1/assistants/<str:slug>/versions/<str:number>/publish/": ASSISTANT_CALL,
    **dict.fromkeys((f"api/v1/{path}" for path in ADMINISTERED), ADMIN_CALL),
    **dict.fromkeys(("mcp/", "v1/messages", "v1/messages/count_tokens", "v1/models", "v1/models/<str:slug>"), PROGRAM),
    **dict.fromkeys(("v1/chat/completions", "v1/responses"), PROGRAM),
    **dict.fromkeys(
        (
            f"api/v1/{re.sub('{(.*?)}', r'<str:\1_id>', path).partition('?')[0]}"
            for _, path, *_ in CALLS
            if "{" in path.partition("?")[0]
        ),
        ROW_CALL,
    ),
}
"""By route. Whoever adds one says here what it is; ``CALLS`` names the calls about one row, with bodies that they take."""
ALIASES = {
    "prompts/x/": "prompts/<str:prompt_name>/",
    "versions/1/": "versions/<str:number>/",
    "parts/1/": "parts/<str:number>/",
    "pages/1/": "pages/<str:number>/",
    "presets/brd/": "presets/<str:slug>/",
    "<str:answer_id>/feedback/": "<str:message_id>/feedback/",
}
ROWS: dict[type[Model], str] = {
    Thread: "user",
    Message: "thread__user",
    Reply: "thread__user",
    ContextSnapshot: "thread__user",
    Artifact: "thread__user",
    ArtifactVersion: "artifact__thread__user",
    Memory: "user",
    ThreadSummary: "thread__user",
    DailySummary: "user",
    Topic: "user",
    File: "user",
    FilePart: "file__user",
    Project: "user",
    Share: "user",
    Schedule: "user",
    McpServer: "user",
    McpSignIn: "user",
    McpTool: "server__user",
    McpCall: "user",
    Webhook: "user",
    WebhookDelivery: "webhook__user",
}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """``user`` None: nobody. ``headers``: of a program; else it is a browser with a session."""

    user: User | None = None
    scopes: tuple[Scope, ...] = ()
    is_support: bool = False
    is_auditor: bool = False
    manages: bool = False
    is_elsewhere: bool = False
    is_away: bool = False
    """Of staff, outside the networks that staff work from."""
    is_barred: bool = False
    """A session of an account that nobody signs in with."""
    is_lacking: bool = False
    """Of a second factor that they have to have."""
    is_asked: bool = False
    """To accept a notice first."""
    client: AsyncClient = field(default_factory=AsyncClient)
    headers: dict[str, str] = field(default_factory=dict)
    rights: frozenset[str] = frozenset()

    @property
    def is_known(self) -> bool:
        return self.user is not None and self.user.is_active and not self.is_barred

    @property
    def is_program(self) -> bool:
        return bool(self.headers)

    def lacks_the_right_of(self, kind: Kind) -> bool:
        if kind is Kind.INVITATION_CALL:
            return not (
                self.manages or Scope.STAFF_INVITATIONS in self.scopes or (self.user and self.user.is_superuser)
            )
        if kind is Kind.ASSISTANT_CALL:
            return "conversations.change_assistant" not in self.rights
        if kind is Kind.AUDIT_CALL:
            return not (self.is_auditor or (self.user and self.user.is_superuser))
        return not (self.is_support if kind is Kind.STAFF_CALL else self.user and self.user.is_superuser)


def may_administer(caller: Caller, route: str, method: str) -> bool:
    verb = "view" if method == "GET" or "<" in route else "add"
    needed = {right.format(verb) for right in ADMINISTERED[route]}
    return bool(caller.user and caller.user.is_staff and needed <= caller.rights)


def routes() -> Iterator[tuple[str, Any]]:
    """The route and the view of every address, without the admin's."""

    def walk(patterns: list[Any], before: str) -> Iterator[tuple[str, Any]]:
        for each in patterns:
            route = before + plain_route(str(each.pattern))
            if isinstance(each, URLPattern):
                yield route, each.callback
            elif isinstance(each, URLResolver) and route != "admin/":
                yield from walk(each.url_patterns, route)

    return walk(get_resolver().url_patterns, "")


def plain_route(pattern: str) -> str:
    """A regular expression with named groups as a route; others as they are."""
    return re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", pattern).strip("^$") if "(?P<" in pattern else pattern


def kind_of(route: str) -> Kind | None:
    for concrete, general in ALIASES.items():
        if general in route:
            return EXPECTED.get(route) or EXPECTED.get(route.replace(general, concrete))
    return EXPECTED.get(route)


POSTED = (
    "account/instructions/",
    *(f"account/servers/<uuid:server_id>/{what}/" for what in ("refresh", "sign-in")),
    "account/calls/<uuid:call_id>/answer/",
    "schedules/<uuid:schedule_id>/pause/",
    *(f"projects/<uuid:project_id>/{what}/" for what in ("new", "delete")),
)


def methods_of(route: str, view: Any) -> list[str]:
    if route.endswith(("/revoke/", "/sign-out/", "/language/", "/ping/", "/switch/", "/redeliver/")) or route in POSTED:
        return ["POST"]
    if route.startswith("scim/v2/"):
        return DIRECTORY[route.removeprefix("scim/v2/")]
    made_of = getattr(view, "view_class", None)
    names = [name for name in getattr(made_of, "http_method_names", ["get"]) if hasattr(made_of, name)] or ["get"]
    return [name.upper() for name in names if name in ("get", "post", "patch", "delete")] or ["GET"]


def test_every_address_has_an_expectation() -> None:
    assert [route for route, _ in routes() if kind_of(route) is None] == []


FRESH = {
    "accounts/2fa/webauthn/",  # leads to the page of all factors
    *(f"accounts/2fa/{name}" for name in OWN_FACTORS if name),
    *(f"accounts/2fa/webauthn/keys/<int:pk>/{name}/" for name in ("remove", "edit")),
}
"""Pages that ask first who sits there."""
OF_A_LEAVER = ("account/leavers/<int:leaver_id>/", "api/v1/leavers/<str:leaver_id>/shares/")
FILE_PICTURES = [f"api/v1/files/<str:file_id>/{name}/" for name in ("thumbnail", "pages/<str:number>")]
WITHOUT_TEXTS = {
    "prompts/",
    "",
    "account/delete/",
    *(f"accounts/{name}/" for name in ("email", "reauthenticate", "password/change", "password/set", "3rdparty")),
    "account/tokens/",
    "notice/",
    *(f"account/servers/<uuid:server_id>/{name}" for name in ("", "delete/", "callback/")),
    "account/webhooks/",
    *(f"account/webhooks/<uuid:webhook_id>/{name}" for name in ("", "delete/")),
    *(f"api/v1/mcp-servers/<str:server_id>/{name}" for name in ("", "resources/", "prompts/")),
    *(f"api/v1/webhooks/<str:webhook_id>/{name}" for name in ("", "deliveries/")),
    "account/leavers/",
    "account/invitations/",
    "account/export/",
    "api/v1/export/",
    "api/v1/invitations/",
    *(f"account/budgets/{name}" for name in ("", "<int:budget_id>/", "<int:budget_id>/use.csv")),
    "s/<str:token>/continue/",
    "admin/password_change/",
    "artifacts/<uuid:artifact_id>/versions/<int:number>/frame/",
    *(
        f"api/v1/{name}/"
        for name in (
            "accesses",
            "assistants",
            "leavers",
            "limits",
            "models",
            "notice",
            "banners",
            "preferences",
            "session",
            "shares",
            "tokens",
            "tokens/current",
            "auth/tokens",
            "webhooks",
            "mcp-calls",
            "mcp-servers",
        )
    ),
    *(f"api/v1/threads/<str:thread_id>/{name}/" for name in ("clearing", "presets")),
    "api/v1/files/<str:file_id>/given/",
    "api/v1/memories/<str:memory_id>/uses/",
    *FILE_PICTURES,
    *FRESH,
    "accounts/again/",
    "accounts/2fa/",
    *OF_A_LEAVER,
}
"""Routes whose answers hold no text of a person's."""


def with_everything(user: User) -> dict[str, Any]:
    """Ids of what this person has, by the names that routes use."""
    groups.make_groups(using="default")
    rows: Row = belongings(user)
    memory_of = {name: rows[f"memory_{name}"] for name in ("memory", "topic")}
    own = {name: rows[f"conversations_{name}"] for name in ("thread", "message", "reply", "project", "prompt")}
    ids = own | memory_of | {"artifact": rows["artifacts_artifact"], "request": rows["conversations_contextsnapshot"]}
    ids |= {"budget": rows["conversations_budget"], "invitation": rows["conversations_invitation"]}
    ids |= {"token": rows["conversations_apitoken"], "file": rows["conversations_file"]}
    return (
        {f"{name}_id": value for name, value in ids.items()}
        | {
            "share_id": rows["conversations_share"],
            "schedule_id": rows["conversations_schedule"],
            "webhook_id": rows["conversations_webhook"],
            "server_id": rows["conversations_mcpserver"],
            "prompt_name": "review",
            "call_id": rows["conversations_mcpcall"],
            "delivery_id": rows["conversations_webhookdelivery"],
            "leaver_id": user.pk,
            "token": "no-such-token",
            "secret": "no-such-secret",
            "row_id": "0",
            "run_id": "0",
            "feedback_id": "0",
            "finding_id": "0",
            "number": 1,
            "pk": 1,
            "slug": "companion",
            "name": "queue-old",
            "id": "0",
        }
        | {"uidb36": "1", "key": "x", "provider_id": "nobody", "organization_slug": "nobody"}
    )


BODIES = {(method, re.sub("{(.*?)}", r"<str:\1_id>", path).partition("?")[0]): body for method, path, body, _ in CALLS}


def body_of(method: str, route: str) -> Any:
    plain = route.removeprefix("api/v1/")
    for concrete, general in ALIASES.items():
        plain = plain.replace(general, concrete)
    return BODIES.get((method, plain)) or {}


def calling(*, given: dict[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    for route, view in sorted(routes(), key=lambda each: "logout" in each[0]):  # for the session ends with it
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda name: str(given[name[1]]), route.replace("^.*$", "nothing"))
        for method in methods_of(route, view):
            yield route, method, path, body_of(method, route)


async def answered(caller: Caller, method: str, path: str, body: Any) -> tuple[int, str, str]:
    """Status, where it leads to, and the whole body. No browser keeps it: but for pictures of files, which never change, and
    which ``test_file_pictures.py`` draws."""
    data = b"" if method == "GET" else json.dumps(body).encode()
    response: Any = await caller.client.generic(method, path, data, "application/json", headers=caller.headers)
    content = b"".join([part async for part in response]) if response.streaming else response.content
    assert "no-store" in response.headers.get("Cache-Control", ""), (method, path)
    return response.status_code, response.headers.get("Location", ""), content.decode(errors="replace")


def is_led_to_a_factor(kind: Kind, path: str, status: int, location: str) -> bool:
    """Of somebody who has to have a second factor and has none: nothing but what anybody may read, and the way to one."""
    if kind is Kind.OPEN and status not in (401, 403):
        return True
    return status == 403 if path.startswith("/api/") else (status, location) == TO_SET_ONE_UP


def is_led_to_the_notice(kind: Kind, method: str, path: str, status: int, location: str) -> bool:
    """Of somebody who has not accepted it: nothing but what anybody may read."""
    if kind is Kind.OPEN and status not in (401, 403):
        return True
    if path.startswith("/api/"):
        return status == 403
    goal = path if method == "GET" else "/"
    return (status, location) == (302, f"/notice/?{urlencode({'next': goal})}")


def is_right(  # noqa: C901, PLR0912
    kind: Kind, caller: Caller, method: str, path: str, status: int, location: str, *, route: str
) -> bool:
    """Of somebody who doesn't own the rows that the address names."""
    is_signed_in = caller.is_known and not caller.is_program
    match kind:
        case Kind.OPEN:
            return status not in (401, 403) or caller.is_elsewhere
        case Kind.PAGE | Kind.ROW_PAGE | Kind.GROUP_PAGE if not is_signed_in:
            return status == 302 and location.startswith("/accounts/login/")
        case Kind.FRAME if not is_signed_in:
            return status == 403
        case Kind.SYSTEM if not is_signed_in or not (caller.user and caller.user.is_staff):
            return status == 302 and location.startswith("/admin/login/")
        case (
            Kind.CALL
            | Kind.ROW_CALL
            | Kind.STAFF_CALL
            | Kind.AUDIT_CALL
            | Kind.INVITATION_CALL
            | Kind.ASSISTANT_CALL
            | Kind.ADMIN_CALL
        ) if not caller.is_known:
            return status == 401
        case kind if kind in CALLS_OF_PROGRAMS and caller.is_program and not may(caller, method, path):
            return status == 403
        case Kind.CALL if path in FRESH_CALLS and not caller.is_program:
            return status == 403
        case Kind.INVITATION_CALL if method == "POST" and not caller.is_program and not caller.lacks_the_right_of(kind):
            return status == 403  # it takes a fresh sign-in
        case Kind.ADMIN_CALL:
            if not may_administer(caller, route.removeprefix("api/v1/"), method):
                return status == 403
            return status in ((400, 404) if "<" in route else (200, 400))
        case kind if kind in OF_A_RIGHT and caller.lacks_the_right_of(kind):
            return status == 403
        case Kind.PROGRAM | Kind.SCIM if not caller.is_program:
            return status == 401
        case Kind.GROUP_PAGE:
            return status == (200 if caller.manages or not caller.lacks_the_right_of(kind) else 404)
        case Kind.ROW_PAGE | Kind.FRAME | Kind.ROW_CALL:
            return status == 404
    return status not in (401, 403) and (status != 404 or path in NO_TOKEN)


OF_STAFFS_NETWORKS = (
    *("/admin/", "/account/invitations/"),
    *("/api/v1/audit/", "/api/v1/feedback/", "/api/v1/findings/", "/api/v1/invitations/", "/api/v1/staff/"),
    "/api/v1/assistants/companion/",
)
OPEN_ELSEWHERE = {"/admin/logout/"}
AWAY = "superuser elsewhere"
TO_SET_ONE_UP = (302, "/accounts/2fa/")
WITHOUT_FACTOR = {
    f"/accounts/{path}" for path in ("reauthenticate/", "again/", *(f"2fa/{name}" for name in OWN_FACTORS))
}
WITHOUT_NOTICE = {
    "/notice/",
    "/api/v1/notice/",
    "/api/v1/banners/",
    "/account/export/",
    "/api/v1/export/",
    "/account/delete/",
}
"""Open to who has not accepted the notice, beside what it takes to set up a second factor."""
WITHOUT_FACTOR |= {f"/accounts/2fa/webauthn/keys/1/{name}/" for name in ("remove", "edit")}
"""What it takes to set up a second factor."""
FRESH_CALLS = {"/api/v1/export/"}
"""By a session: only for who has just proven who they are."""
OF_SESSIONS = (PAGE, ROW_PAGE, GROUP_PAGE, FRAME, SYSTEM)
OF_A_RIGHT = (Kind.SYSTEM, STAFF_CALL, AUDIT_CALL, INVITATION_CALL, ASSISTANT_CALL, ADMIN_CALL)
CALLS_OF_PROGRAMS = (CALL, ROW_CALL, *OF_A_RIGHT[1:], PROGRAM, SCIM)
NO_TOKEN = {
    "/api/v1/tokens/current/",
    "/api/v1/session/",
    *(
        f"/scim/v2/{path}"
        for path in ("Users/0", "Groups/0", "nothing", "Schemas/queue-old", "ResourceTypes/queue-old")
    ),
}
"""Not found where the caller came with a session, or with none; and what a directory asks for here."""


def may(caller: Caller, method: str, path: str) -> bool:
    if caller.is_elsewhere:
        return False
    if path.startswith("/scim/"):
        return Scope.SCIM in caller.scopes
    any_of = scopes_of(method, re.sub(r"/[^/]*[0-9a-f]{8}-[^/]*/", "/x/", path))
    return not any_of or not set(any_of).isdisjoint(caller.scopes)


SUPPORT = ("Support", "Support lead")
OF_STAFF = tuple(scope for scope in Scope if scope.startswith("staff"))
RIGHTS_OF = {
    Scope.STAFF_INVITATIONS: ("add_invitation",),
    Scope.STAFF_GROUPS: ("view_group", "add_group", "view_budget"),
    Scope.STAFF_MODELS: ("add_model", "add_connection"),
}
"""That the user of such a token has beside those of a lead of support."""
AT_PAGES = f"{Scope.STAFF_CONTENT} token"
"""To pages whoever comes with a token is nobody: shown with this one."""
TOKENS: dict[str, tuple[Scope, ...]] = {
    **{f"{scope} token": (scope,) for scope in (*OF_STAFF, Scope.SCIM)},
    "service token": OWN_SCOPES,
    "token without its rights": (*OF_STAFF, Scope.SCIM),
    "token elsewhere": tuple(Scope),
}
"""Each scope of staff alone, of somebody who has its right; those of a service account; of somebody who has lost the rights of
them; a token that works from other networks only. What a token of each scope may is the matrix of ``test_scopes.py``."""
BY_RIGHT_ALONE = (
    *("staff", *(name for name in groups.GROUPS if name != "Support lead")),
    *(f"{scope} token" for scope in OF_STAFF if scope is not Scope.STAFF_CONTENT),
)
"""They differ from others by their rights alone, and are asked for nothing but what takes one."""
CALLERS = (
    *("nobody", "other", "Support lead", "superuser", "deactivated"),
    "service",  # a session of a service account opens nothing
    "second factor missing",
    "notice not accepted",
    "manager",
    AWAY,
    *(name for name in TOKENS if name not in BY_RIGHT_ALONE),
    *BY_RIGHT_ALONE,
)


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


def with_some_password(user: User) -> None:
    """Without a hash, which takes its time: nobody signs in by it."""
    user.password = "some$hash"
    user.save()


def make_caller(name: str) -> Caller:
    if name == "nobody":
        return Caller()
    scopes = TOKENS.get(name, ())
    of_staff = name in {f"{scope} token" for scope in OF_STAFF}
    is_lacking, is_asked = name == "second factor missing", name == "notice not accepted"
    if is_asked:
        Notice.objects.create(title="Rules", text="Be kind.", version=1, published_at=clock.now())
    user = make_user(
        "somebody",
        is_staff=of_staff or is_lacking or is_asked or name in ("staff", AWAY, *groups.GROUPS),
        is_superuser=name in ("superuser", AWAY) or is_lacking or is_asked,
    )
    with_some_password(user)
    held = (
        "Auditors"
        if name == "staff:audit token"
        else "Support lead"
        if of_staff
        else groups.DIRECTORY
        if name == "scim token"
        else name
    )
    user.groups.set(Group.objects.filter(name="Support lead" if is_lacking else held))
    own = RIGHTS_OF.get(scopes[0], ()) if len(scopes) == 1 else ()
    user.user_permissions.set(Permission.objects.filter(codename__in=own))
    rights = frozenset(User.objects.get(pk=user.pk).get_all_permissions())
    if is_lacking:
        GroupSignIn.objects.create(group=user.groups.get(), requires_second_factor=True)
    if name.startswith("service"):
        ServiceAccount.objects.create(user=user, purpose="a program", created_at=clock.now())
    client = AsyncClient()
    if scopes:
        elsewhere = name == "token elsewhere"
        token = tokens.issue(user=user, name="narrow", scopes=scopes, addresses=["192.0.2.0/24"] if elsewhere else [])
        return Caller(
            user=user,
            client=client,
            headers={"Authorization": f"Token {token}", "X-Api-Key": token},
            scopes=() if name == "token without its rights" else scopes,
            is_support=held == "Support lead",
            is_auditor=held == "Auditors",
            is_elsewhere=elsewhere,
            rights=rights,
        )
    client.force_login(user)
    if name == "deactivated":
        User.objects.filter(pk=user.pk).update(is_active=False)
        user.is_active = False
    manages = name == "manager"
    if manages:
        GroupManager.objects.create(group=Group.objects.get(budget__isnull=False), user=user)
    return Caller(
        user=user,
        client=client,
        is_support=name in SUPPORT,
        is_auditor=name == "Auditors",
        is_barred=name == "service",
        is_lacking=is_lacking,
        is_away=name == AWAY,
        is_asked=is_asked,
        manages=manages,
        rights=rights,
    )


def rows_of(user: User) -> list[Any]:
    return [list(model._default_manager.filter(**{way: user}).order_by("pk").values()) for model, way in ROWS.items()]


@pytest.mark.once("other", "staff token")
@pytest.mark.parametrize("name", CALLERS)
async def test_nobody_reaches_what_is_anothers(user: User, name: str, settings: Settings) -> None:
    if name == AWAY:
        settings.OPENBOOK_STAFF_NETWORKS = (ip_network("192.0.2.0/24"),)
    ids = await in_database(with_everything)(user)
    caller, before = await in_database(make_caller)(name), await in_database(rows_of)(user)
    assert all(before)
    wrong = []
    for route, method, path, body in calling(given=ids):
        kind = kind_of(route)
        assert kind
        if kind in OF_SESSIONS and caller.is_program and name != AT_PAGES:
            continue
        if name in BY_RIGHT_ALONE and kind not in (GROUP_PAGE, *OF_A_RIGHT):
            continue
        status, location, text = await answered(caller, method, path, body)
        is_expected = (
            is_led_to_a_factor(kind, path, status, location)
            if caller.is_lacking and path not in WITHOUT_FACTOR and kind is not Kind.PROGRAM
            else status == 403
            if caller.is_away and path.startswith(OF_STAFFS_NETWORKS) and path not in OPEN_ELSEWHERE
            else is_led_to_the_notice(kind, method, path, status, location)
            if caller.is_asked and path not in WITHOUT_FACTOR | WITHOUT_NOTICE and kind is not PROGRAM
            else is_right(kind, caller, method, path, status, location, route=route)
        )
        if not is_expected or NEEDLE in text or status >= 500:
            wrong.append((method, path, kind.name, status, location, NEEDLE in text))
    assert wrong == []
    assert await in_database(rows_of)(user) == before


@pytest.mark.wide
async def test_their_owner_reads_all_of_it(user: User) -> None:
    """Else the test above would prove nothing."""
    ids = await in_database(with_everything)(user)
    client = AsyncClient()
    await in_database(with_some_password)(user)
    await client.aforce_login(user)
    caller = Caller(user=user, client=client)
    found = {}
    for route, method, path, body in calling(given=ids):
        if method == "GET" and kind_of(route) not in (
            OPEN,
            PROGRAM,
            SYSTEM,
            STAFF_CALL,
            AUDIT_CALL,
            ASSISTANT_CALL,
            ADMIN_CALL,
            SCIM,
        ):
            status, _, text = await answered(caller, method, f"{path}?q={NEEDLE}" if "search" in path else path, body)
            found[route] = (status, NEEDLE in text)
    without = {route for route, (status, has_needle) in found.items() if not has_needle}
    assert {route: status for route, (status, _) in found.items() if status != 200} == {
        **dict.fromkeys(("accounts/password/set/", "admin/password_change/"), 302),  # there is a password
        "notice/": 302,  # there is none
        "s/<str:token>/continue/": 302,  # by a form
        "api/v1/tokens/current/": 404,
        **dict.fromkeys((path for path, kind in EXPECTED.items() if kind is GROUP_PAGE), 404),  # they manage no group
        "artifacts/<uuid:artifact_id>/versions/<int:number>/frame/": 404,  # a document has no frame
        **dict.fromkeys(OF_A_LEAVER, 404),  # they are there
        **dict.fromkeys((*FRESH, "account/export/"), 302),
        **dict.fromkeys(("api/v1/export/", "api/v1/invitations/"), 403),  # fresh alone; they may not invite
        **dict.fromkeys(FILE_PICTURES, 404),  # a text has none
        "account/servers/<uuid:server_id>/callback/": 302,  # with what was wrong
        **dict.fromkeys((f"api/v1/mcp-servers/<str:server_id>/{name}/" for name in ("prompts", "resources")), 409),
    }
    assert without == WITHOUT_TEXTS


LET_GO, NOT_FOR_THIS, NOT_THERE = 4401, 4403, 4404
SOCKET_CODES = {
    **dict.fromkeys(CALLERS, NOT_THERE),
    **dict.fromkeys(("nobody", "deactivated", "service", "second factor missing"), LET_GO),
    **{name: NOT_FOR_THIS for name, scopes in TOKENS.items() if Scope.READ not in scopes},
    "token elsewhere": NOT_FOR_THIS,
    "notice not accepted": NOT_FOR_THIS,
}


@pytest.mark.once("other-*", "nobody-*", "staff token-*")
@pytest.mark.parametrize(("name", "code"), SOCKET_CODES.items())
async def test_no_socket_opens_on_what_is_anothers(user: User, name: str, code: int) -> None:
    ids = await in_database(with_everything)(user)
    caller = await in_database(make_caller)(name)
    cookie = caller.client.cookies.get("sessionid")
    token = caller.headers.get("X-Api-Key", "")
    socket = Socket(ids["thread_id"], session=cookie.value if cookie else "", token=token)
    assert (await socket.connect())[0]
    told = await socket.receive()
    assert (told["type"], await socket.close_code()) == ("error", code)
    assert NEEDLE not in str(told)


async def test_a_fresh_proof_opens_nothing_of_anothers(user: User) -> None:
    """Pages that ask first who sits there, once they know."""

    def scene() -> tuple[Authenticator, AsyncClient]:
        key = Authenticator.objects.create(user=user, type="webauthn", data={"name": NEEDLE, "credential": {}})
        eve, client = make_user("eve"), AsyncClient()
        with_some_password(eve)
        client.force_login(eve)
        session = client.session
        session[login.AUTHENTICATION_METHODS_SESSION_KEY] = [
            {"method": "password", "at": time.time(), "reauthenticated": True}
        ]
        session[login._AUTHENTICATION_METHODS_USER_SESSION_KEY] = str(eve.pk)
        session.save()
        return key, client

    key, client = await in_database(scene)()
    caller = Caller(client=client)
    for name in ("remove", "edit"):
        path = f"/accounts/2fa/webauthn/keys/{key.pk}/{name}/"
        for method in ("GET", "POST"):
            status, location, text = await answered(caller, method, path, {})
            assert (status, NEEDLE in text) == (404, False), (method, path, location)
    for path in ("recovery-codes/", "recovery-codes/download/", "webauthn/", "totp/deactivate/"):
        assert NEEDLE not in (await answered(caller, "GET", f"/accounts/2fa/{path}", {}))[2]
    assert await Authenticator.objects.filter(pk=key.pk, user=user, data__name=NEEDLE).aexists()

"""A person's MCP servers: connected, changed, removed, read; and which of their tools models may be offered."""

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, When

from conversations import audit, threads
from conversations.audit import AuditKind
from conversations.errors import (
    InvalidServer,
    ServerForAllRefused,
    ServerNameTaken,
    ServerNotFound,
    ServerUnreachable,
    ToolChanged,
    TooManyServers,
)
from conversations.mcp_client import programs, sign_ins
from conversations.mcp_client.endpoints import Definition, ServerError, list_tools
from conversations.models import McpServer, McpSignIn, McpTool
from conversations.models.mcp import LOCAL, PURPOSE, URL_CHARS
from conversations.providers.written_urls import UrlProblem, problem_of
from conversations.runtime import clock, encryption

NAME = re.compile(r"\A[a-z0-9]+(?:[-_][a-z0-9]+)*\Z")
"""With single marks, so that two underscores end it in the names of its tools."""
HEADER, SECRET = re.compile(r"\A[A-Za-z0-9-]+\Z"), re.compile(r"\A[ -~]*\Z")
FOR_ALL = "conversations.connect_for_all_mcpserver"


def of(user: User) -> QuerySet[McpServer]:
    """Newest first."""
    return McpServer.objects.filter(user=user).order_by("-id")


def get(user: User, server_id: str | uuid.UUID) -> McpServer:
    """Raises ``ServerNotFound``."""
    return threads.row_with_id(of(user), server_id, ServerNotFound)


def usable_by(user: User) -> QuerySet[McpServer]:
    """Theirs, and everybody's that are on: their own first."""
    everybodys = Q(for_all=True, is_active=True)
    rows = McpServer.objects.filter(Q(user=user) | everybodys)
    return rows.order_by(Case(When(user=user, then=0), default=1), "-id")


def get_usable(user: User, server_id: str | uuid.UUID) -> McpServer:
    """Raises ``ServerNotFound``."""
    server = usable_by(user).filter(id=threads.identifier(server_id, ServerNotFound)).first()
    if server is None:
        raise ServerNotFound
    return server


def tools_of(server: McpServer) -> QuerySet[McpTool]:
    return McpTool.objects.filter(server=server).order_by("name")


def state_of(tool: McpTool) -> str:
    if not tool.allowed:
        return "new"
    return "allowed" if tool.allowed == tool.digest else "changed"


def offered_to(user_id: int) -> QuerySet[McpTool]:
    """The tools that a model may be offered for a person: of servers of theirs and of everybody's, as they were allowed."""
    mine = Q(server__user=user_id) | Q(server__for_all=True)
    return McpTool.objects.filter(mine, server__is_active=True, allowed=F("digest")).exclude(allowed="")


def may_connect_for_all(user: User) -> bool:
    return user.is_active and user.is_staff and user.has_perm(FOR_ALL)


@transaction.atomic
def create(
    user: User, *, name: str, url: str, secret: str = "", header: str = "Authorization", for_all: bool = False
) -> McpServer:
    """Nothing is asked of it yet. Raises ``InvalidServer``, ``TooManyServers``, ``ServerForAllRefused``,
    ``ServerNameTaken``."""
    check_url(user, url)
    if for_all and not may_connect_for_all(user):
        raise ServerForAllRefused
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two at once would both find room for the last one
    if of(user).count() >= settings.OPENBOOK_MCP_SERVERS:
        raise TooManyServers(most=settings.OPENBOOK_MCP_SERVERS)
    _check_name(user, name, for_all=for_all)
    now = clock.now()
    server = McpServer.objects.create(
        user=user,
        name=name,
        url=url,
        for_all=for_all,
        header=header,
        secret=_encrypted(secret),
        created_at=now,
        updated_at=now,
    )
    audit.record(AuditKind.SERVER_CONNECTED, target=server, details={"for_all": for_all})
    return server


@transaction.atomic
def change(server: McpServer, *, allowed: Mapping[str, str] | None = None, **values: Any) -> None:
    """Of ``url``, ``header``, ``secret``, ``is_active`` and, by the names of tools, the digests of those that are ``allowed``:
    all others are not. At another address none is. Raises ``InvalidServer``, ``ToolChanged``."""
    fields = sorted([*values, *(["allowed"] if allowed is not None else [])])
    if "url" in values:
        check_url(server.user, values["url"])
        McpTool.objects.filter(server=server).update(allowed="")
        values["signs_in"] = False
        sign_ins.forget(McpSignIn.objects.filter(server=server))
    if "secret" in values:
        values["secret"] = _encrypted(values["secret"])
    McpServer.objects.filter(id=server.id).update(updated_at=clock.now(), **values)
    if allowed is not None:
        _allow(server, allowed)
    audit.record(AuditKind.SERVER_CHANGED, target=server, details={"fields": fields})


@transaction.atomic
def delete(server: McpServer) -> None:
    """With its tools, with what was asked and answered about their calls, and with people's sign-ins."""
    audit.record(AuditKind.SERVER_REMOVED, target=server)
    sign_ins.forget(McpSignIn.objects.filter(server=server))
    server.delete()


def refresh(server: McpServer) -> None:
    """Read its tools anew. One that is not as it was allowed is offered no more until it is allowed again. Takes seconds, in no
    transaction. Raises ``ServerUnreachable``."""
    try:
        definitions = sign_ins.ask(server, server.user_id, list_tools)
    except ServerError as error:
        McpServer.objects.filter(id=server.id).update(problem=str(error), updated_at=clock.now())
        raise ServerUnreachable(problem=str(error)) from error
    store(server, definitions)


@transaction.atomic
def store(server: McpServer, definitions: Sequence[Definition]) -> None:
    now = clock.now()
    if not McpServer.objects.filter(id=server.id).update(fetched_at=now, problem="", updated_at=now):
        raise ServerNotFound
    McpTool.objects.filter(server=server).exclude(name__in=[tool.name for tool in definitions]).delete()
    McpTool.objects.bulk_create(
        [
            McpTool(
                server=server,
                name=tool.name,
                description=tool.description,
                schema=tool.schema,
                read_only=tool.read_only,
                digest=tool.digest,
            )
            for tool in definitions
        ],
        update_conflicts=True,
        unique_fields=["server", "name"],
        update_fields=["description", "schema", "read_only", "digest"],
    )


def check_url(user: User, url: str) -> None:
    """Raises ``InvalidServer`` unless it may be asked, as far as it can be told without looking its name up. A program of the
    operator's is for staff who may connect servers for everybody."""
    if url.startswith(LOCAL):
        if programs.named(url) is None or not may_connect_for_all(user):
            raise InvalidServer("There is no such program here that you may connect.", field="url")
        return
    match problem_of(url, most=URL_CHARS, networks=settings.OPENBOOK_INNER_NETWORKS):
        case UrlProblem.MALFORMED:
            raise InvalidServer(field="url")
        case UrlProblem.INNER:
            raise InvalidServer("This address is in an inner network, which this server does not open.", field="url")


def _check_name(user: User, name: str, *, for_all: bool) -> None:
    taken = Q(user=user) | Q(for_all=True)
    if McpServer.objects.filter(taken, name=name).exists():
        raise ServerNameTaken


def _allow(server: McpServer, allowed: Mapping[str, str]) -> None:
    tools = list(McpTool.objects.select_for_update().filter(server=server))
    digests = {tool.name: tool.digest for tool in tools}
    if any(digests.get(name) != digest for name, digest in allowed.items()):
        raise ToolChanged
    for tool in tools:
        tool.allowed = tool.digest if tool.name in allowed else ""
    McpTool.objects.bulk_update(tools, ["allowed"])


def _encrypted(secret: str) -> bytes:
    return encryption.encrypt(secret, purpose=PURPOSE) if secret else b""

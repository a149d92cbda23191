"""How a person reaches a server: with its secret, or with their own sign-in, which is begun, made, renewed and ended here."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from conversations import audit
from conversations.audit import AuditKind
from conversations.errors import ServerSignInFailed
from conversations.mcp_client import endpoints, programs
from conversations.mcp_client.endpoints import (
    Beginning,
    ClientAddress,
    Endpoint,
    Granted,
    ServerError,
    SignInFailed,
    SignInRefused,
)
from conversations.models import McpServer, McpSignIn
from conversations.models.mcp import LOCAL, PURPOSE, SIGN_IN_PURPOSE
from conversations.runtime import clock, encryption

PENDING_FOR = timedelta(minutes=10)
SOON = timedelta(seconds=30)
"""Before its end an access token is renewed."""
RENEWING, LOOK_SECONDS = timedelta(seconds=15), 0.1
"""How long nobody else renews a sign-in that somebody does: longer than that takes. Who waits for it looks so often."""
REVOKING_SECONDS = 10.0
AGAIN = "you have to sign in to it again"


def may_be_made(server: McpServer) -> bool:
    """One that is sent a secret, or runs here, asks nobody to sign in."""
    return not server.secret and not server.url.startswith(LOCAL)


def of(user: User) -> QuerySet[McpSignIn]:
    """Those that were made."""
    return McpSignIn.objects.filter(user=user).exclude(grant=b"")


def address_for(site: str, server_id: uuid.UUID) -> ClientAddress:
    """``site``: scheme and host by which the person reaches this one. Each server has a callback of its own, so that what one
    answers is never taken for what another does."""
    paths = (reverse(name, args=[server_id]) for name in ("mcp_sign_in_callback", "mcp_client_document"))
    callback, document = (f"{site}{path}" for path in paths)
    return ClientAddress(callback=callback, document=document)


def begin(user: User, server: McpServer, address: ClientAddress) -> Beginning:
    """Where the person signs in; ``finish`` is for what comes back. Takes seconds, in no transaction. Raises
    ``ServerSignInFailed``."""
    if not may_be_made(server):
        raise ServerSignInFailed(problem="it is sent a secret, or runs here")
    try:
        beginning = asyncio.run(endpoints.begin_sign_in(server.url, address))
    except SignInFailed as error:
        raise ServerSignInFailed(problem=str(error)) from error
    now = clock.now()
    McpSignIn.objects.update_or_create(
        user=user,
        server=server,
        defaults={"pending": _encrypted(beginning.pending), "pending_at": now, "updated_at": now},
    )
    return beginning


def finish(user: User, server: McpServer, *, state: str, code: str, issuer: str | None) -> None:
    """What the callback brought: it is taken once, for a sign-in that this person has begun. Takes seconds, in no transaction.
    Raises ``ServerSignInFailed``."""
    try:
        pending = _taken(user, server)
        granted = asyncio.run(endpoints.finish_sign_in(pending, state=state, code=code, issuer=issuer))
    except SignInFailed as error:
        raise ServerSignInFailed(problem=str(error)) from error
    with transaction.atomic():
        _store(McpSignIn.objects.filter(user=user, server=server), granted)
        if server.user_id == user.pk:
            McpServer.objects.filter(id=server.id).update(signs_in=True)
        audit.record(AuditKind.SERVER_CHANGED, target=server, details={"fields": ["sign_in"]})


def end(user: User, server: McpServer) -> None:
    """Forget it, and have its tokens revoked."""
    forget(McpSignIn.objects.filter(user=user, server=server))
    audit.record(AuditKind.SERVER_CHANGED, target=server, details={"fields": ["sign_in"]})


def forget(rows: QuerySet[McpSignIn]) -> None:
    """Delete them. Their tokens are revoked once that is stored, as far as who gave them can be reached: it takes seconds."""
    grants = [bytes(grant) for grant in rows.exclude(grant=b"").values_list("grant", flat=True)]
    rows.delete()
    if grants:
        transaction.on_commit(lambda: revoke(grants), robust=True)


def revoke(grants: Sequence[bytes]) -> None:
    readable = []
    for grant in grants:
        try:
            readable.append(encryption.decrypt(grant, purpose=SIGN_IN_PURPOSE))
        except encryption.NotDecryptable:
            continue  # there is nothing to be revoked by

    async def within_time() -> None:
        async with asyncio.timeout(REVOKING_SECONDS):
            await endpoints.revoke_sign_ins(readable)

    asyncio.run(within_time())


def endpoint_of(server: McpServer, user_id: int, *, but: Endpoint | None = None) -> Endpoint:
    """Where it is, with what this person sends it. A sign-in is renewed where it has to be, or, ``but``, where the server took
    this one no more. May take seconds. Raises ``ServerError``."""
    if server.url.startswith(LOCAL):
        program = programs.named(server.url)
        if program is None:
            raise ServerError("whoever runs this installation names no such program")
        return Endpoint(url=server.url, headers={}, program=program)
    if server.secret:
        return Endpoint(url=server.url, headers=_secret_of(server))
    row = McpSignIn.objects.filter(user=user_id, server=server).exclude(grant=b"").first()
    if row is None:
        if server.signs_in:
            raise ServerError("you have to sign in to it, at /account/servers/", asks_for_sign_in=True)
        return Endpoint(url=server.url, headers={})
    endpoint = _endpoint(server, row)
    if _counts(row) and endpoint != but:
        return endpoint
    try:
        return _renewed(server, row)
    except SignInRefused:
        McpSignIn.objects.filter(id=row.id, grant=row.grant).update(grant=b"", updated_at=clock.now())
        raise


def ask[T](server: McpServer, user_id: int, question: Callable[[Endpoint], Coroutine[Any, Any, T]]) -> T:
    """Ask a server something for a person; once more where it took their sign-in no more, which is renewed then. Takes seconds,
    in no transaction. Raises ``ServerError``."""
    endpoint = endpoint_of(server, user_id)
    try:
        return asyncio.run(question(endpoint))
    except ServerError as error:
        renewed = endpoint_of(server, user_id, but=endpoint) if error.asks_for_sign_in else endpoint
        if renewed == endpoint:
            raise
        return asyncio.run(question(renewed))


def _secret_of(server: McpServer) -> dict[str, str]:
    try:
        return {server.header: encryption.decrypt(bytes(server.secret), purpose=PURPOSE)}
    except encryption.NotDecryptable:
        raise ServerError("its secret was encrypted with another SECRET_KEY; write it anew") from None


def _renewed(server: McpServer, row: McpSignIn) -> Endpoint:
    """One at a time, as a token that renews counts once: whoever else needs it waits, and is given what was got. No row is
    locked meanwhile."""
    same = McpSignIn.objects.filter(id=row.id, grant=row.grant)
    while not _claim(same):
        current = McpSignIn.objects.filter(id=row.id).exclude(grant=b"").first()
        if current is None:
            raise SignInRefused(AGAIN)
        if bytes(current.grant) != bytes(row.grant):
            return _endpoint(server, current)
        time.sleep(LOOK_SECONDS)
    try:
        granted = asyncio.run(endpoints.renew_sign_in(_grant_of(row)))
    except ServerError:
        same.update(renewing_until=None)
        raise
    if not _store(same, granted):  # signed out, or in anew, meanwhile
        revoke([_encrypted(granted.grant)])
        raise SignInRefused(AGAIN)
    return _bearing(server, granted.grant)


def _claim(same: QuerySet[McpSignIn]) -> bool:
    now = clock.now()
    free = same.filter(Q(renewing_until=None) | Q(renewing_until__lte=now))
    return free.update(renewing_until=now + RENEWING) > 0


def _endpoint(server: McpServer, row: McpSignIn) -> Endpoint:
    return _bearing(server, _grant_of(row))


def _bearing(server: McpServer, grant_json: str) -> Endpoint:
    """Raises ``SignInRefused`` where the tokens are those of another address."""
    grant: dict[str, Any] = json.loads(grant_json)
    if grant["server"] != server.url:
        raise SignInRefused(AGAIN)
    return Endpoint(url=server.url, headers={"Authorization": f"Bearer {grant['token']['access_token']}"})


def _grant_of(row: McpSignIn) -> str:
    try:
        return encryption.decrypt(bytes(row.grant), purpose=SIGN_IN_PURPOSE)
    except encryption.NotDecryptable:
        raise SignInRefused(AGAIN) from None


def _counts(row: McpSignIn) -> bool:
    return row.expires_at is None or clock.now() < row.expires_at - SOON


@transaction.atomic
def _taken(user: User, server: McpServer) -> str:
    """What is under way, which it is no more. Raises ``SignInFailed``."""
    row = McpSignIn.objects.select_for_update().filter(user=user, server=server).first()
    if row is None or not row.pending or row.pending_at is None or clock.now() > row.pending_at + PENDING_FOR:
        raise SignInFailed("no sign-in of yours is under way")
    McpSignIn.objects.filter(id=row.id).update(pending=b"", pending_at=None)
    try:
        return encryption.decrypt(bytes(row.pending), purpose=SIGN_IN_PURPOSE)
    except encryption.NotDecryptable:
        raise SignInFailed("no sign-in of yours is under way") from None


def _store(rows: QuerySet[McpSignIn], granted: Granted) -> bool:
    """Whether it is still there to be stored."""
    now = clock.now()
    return (
        rows.update(
            issuer=granted.issuer,
            grant=_encrypted(granted.grant),
            expires_at=None if granted.seconds is None else now + timedelta(seconds=granted.seconds),
            renewing_until=None,
            updated_at=now,
        )
        > 0
    )


def _encrypted(text: str) -> bytes:
    return encryption.encrypt(text, purpose=SIGN_IN_PURPOSE)

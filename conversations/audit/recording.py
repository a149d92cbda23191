"""One insert, and nothing else: no lock is taken, so that events never wait for each other. Their chain is made later."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.http import HttpRequest
from rest_framework.request import Request

from conversations.models import ApiToken, AuditEvent, AuditKind
from conversations.runtime.ids import time_of, uuid7
from conversations.runtime.request_ids import FrameCaller, current_address, current_request, current_request_id

type Plain = str | int | bool | None
type Details = Mapping[str, Plain | Sequence[str | int]]
type Actor = User | AnonymousUser | ApiToken | None


class Current:
    """Whoever the current request comes from, by session or token; without one, as in workers, the installation itself."""


CURRENT = Current()

LONGEST_TEXT = 200
"""Of a detail. Ids, names of fields and kinds are shorter; content is not meant to fit."""


def record(
    kind: AuditKind,
    *,
    actor: Actor | Current = CURRENT,
    target: Model | tuple[str, object] | None = None,
    outcome: AuditEvent.Outcome = AuditEvent.Outcome.SUCCESS,
    details: Details | None = None,
) -> AuditEvent:
    """Write an event. Within the transaction of what it tells of both are stored or neither; a refusal, which rolls back
    what was tried, is recorded after that.

    ``actor`` is who did it, by default whoever the current request comes from; ``None`` is the installation itself, an
    anonymous user somebody unknown. ``target`` is a row, or the label of its model and its id where it is gone already.
    ``details`` hold ids, names of fields and counts: never content, a secret, or what somebody typed. Raises ``ValueError``
    for any other type.
    Request id and network address are those of the current request.
    """
    id, (target_kind, target_id) = uuid7(), _target(target)
    if isinstance(actor, Current):
        actor = current_actor()
    return AuditEvent.objects.create(
        id=id,
        at=time_of(id),
        kind=AuditKind(kind),
        outcome=outcome,
        **_actor(actor),
        target_kind=target_kind,
        target_id=target_id,
        address=current_address.get()[:45] if settings.OPENBOOK_AUDIT_ADDRESSES else "",
        request_id=current_request_id.get(),
        details=_checked(details or {}) | ({"token": actor.pk} if isinstance(actor, ApiToken) else {}),
    )


def current_actor(*, or_else: User | None = None) -> Actor:
    """Whoever the current request comes from; ``None`` without one. ``or_else``: whom somebody who is not signed in has just
    proven to be."""
    request = current_request.get()
    if request is None:
        return None
    actor = actor_of(request)
    return or_else if or_else and isinstance(actor, AnonymousUser) else actor


def actor_of(request: HttpRequest | Request | FrameCaller) -> Actor:
    """Who asks: the token that a program came with, else the user."""
    token = getattr(request, "auth", None)
    return token if isinstance(token, ApiToken) else getattr(request, "user", AnonymousUser())


def _actor(actor: Actor) -> dict[str, Any]:
    user = actor.user if isinstance(actor, ApiToken) else actor
    if not isinstance(user, User):
        kind = AuditEvent.Actor.SYSTEM if user is None else AuditEvent.Actor.UNKNOWN
        return {"actor_kind": kind, "actor_id": None, "actor_name": ""}
    kind = AuditEvent.Actor.STAFF if user.is_staff else AuditEvent.Actor.PERSON
    if isinstance(actor, ApiToken):
        kind = AuditEvent.Actor.TOKEN
    # Of other people the id alone: nothing that they chose outlives their account.
    return {"actor_kind": kind, "actor_id": user.pk, "actor_name": user.username if user.is_staff else ""}


def _target(target: Model | tuple[str, object] | None) -> tuple[str, str]:
    if target is None:
        return "", ""
    label, id = (target._meta.label, target.pk) if isinstance(target, Model) else target
    return label, str(id)


def _checked(details: Details) -> dict[str, Any]:
    """Raises ``ValueError`` for what no detail is: it is found while somebody writes the call, not by an auditor."""
    for name, value in details.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            if not (each is None or isinstance(each, str | int)) or len(str(each)) > LONGEST_TEXT:
                raise ValueError(f"details of an audit event: {name} is neither an id nor the name of a field")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in details.items()}

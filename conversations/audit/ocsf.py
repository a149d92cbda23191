"""Events in the shape of the Open Cybersecurity Schema Framework, version 1.7.0: classes Account Change (3001), Authentication
(3002) and Entity Management (3004), by the names and numbers of its documentation (https://schema.ocsf.io)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User

from conversations.models import AuditEvent, AuditKind

VERSION = "1.7.0"
CATEGORY = 3  # Identity & Access Management
ACCOUNT_CHANGE, AUTHENTICATION, ENTITY_MANAGEMENT = 3001, 3002, 3004
OTHER = 99
SEVERITIES = {"success": 1, "failure": 2, "denied": 3}  # Informational, Low, Medium
STATUSES = {"success": 1, "failure": 2, "denied": 2}  # Success, Failure
USER_TYPES = {"person": (1, "User"), "staff": (2, "Admin"), "system": (3, "System"), "token": (OTHER, "token")}
AT_ONCE = 1_000

CLASSES: Mapping[str, tuple[int, int]] = {
    AuditKind.SIGN_IN: (AUTHENTICATION, 1),
    AuditKind.SIGN_OUT: (AUTHENTICATION, 2),
    AuditKind.SESSIONS_ENDED: (AUTHENTICATION, 2),
    AuditKind.REAUTHENTICATION: (AUTHENTICATION, OTHER),
    AuditKind.STAFF_ADDRESS_REFUSED: (AUTHENTICATION, OTHER),
    AuditKind.SIGN_UP: (ACCOUNT_CHANGE, 1),
    AuditKind.ACCOUNT_MADE: (ACCOUNT_CHANGE, 1),
    AuditKind.ACCOUNT_REACTIVATED: (ACCOUNT_CHANGE, 2),
    AuditKind.PASSWORD_CHANGED: (ACCOUNT_CHANGE, 3),
    AuditKind.PASSWORD_LINK_MADE: (ACCOUNT_CHANGE, 4),
    AuditKind.ACCOUNT_DEACTIVATED: (ACCOUNT_CHANGE, 5),
    AuditKind.ACCOUNT_DELETED: (ACCOUNT_CHANGE, 6),
    AuditKind.SECOND_FACTOR_ADDED: (ACCOUNT_CHANGE, 10),
    AuditKind.SECOND_FACTOR_REMOVED: (ACCOUNT_CHANGE, 11),
    **dict.fromkeys(
        (
            AuditKind.RECOVERY_CODES_MADE,
            AuditKind.PROVIDER_LINKED,
            AuditKind.PROVIDER_UNLINKED,
            AuditKind.EMAIL_CHANGED,
            AuditKind.ACCOUNT_CHANGED,
            AuditKind.ACCOUNT_LEAVES,
            AuditKind.ACCOUNT_STAYS,
            AuditKind.PERMISSIONS_CHANGED,
        ),
        (ACCOUNT_CHANGE, OTHER),
    ),
    **dict.fromkeys(
        (
            AuditKind.TOKEN_MADE,
            AuditKind.INVITATION_MADE,
            AuditKind.ROW_ADDED,
            AuditKind.IMPORTED,
            AuditKind.SHARE_MADE,
            AuditKind.WEBHOOK_MADE,
            AuditKind.SERVER_CONNECTED,
            AuditKind.HOLD_PLACED,
            AuditKind.NOTICE_ACCEPTED,
            AuditKind.BACKUP_MADE,
        ),
        (ENTITY_MANAGEMENT, 1),
    ),
    **dict.fromkeys((AuditKind.CONTENT_ACCESSED, AuditKind.EXPORTED, AuditKind.AUDIT_EXPORTED), (ENTITY_MANAGEMENT, 2)),
    **dict.fromkeys(
        (
            AuditKind.INVITATION_USED,
            AuditKind.GROUP_CHANGED,
            AuditKind.MEMBERSHIP_CHANGED,
            AuditKind.ROW_CHANGED,
            AuditKind.SETTINGS_CHANGED,
            AuditKind.BUDGET_CHANGED,
            AuditKind.FINDING_CHANGED,
            AuditKind.REPLAY_CHANGED,
            AuditKind.RETENTION_CHANGED,
            AuditKind.THREAD_CLEARED,
            AuditKind.BACKUP_RESTORED,
            AuditKind.WEBHOOK_CHANGED,
            AuditKind.SERVER_CHANGED,
            AuditKind.CALL_ANSWERED,
        ),
        (ENTITY_MANAGEMENT, 3),
    ),
    **dict.fromkeys(
        (
            AuditKind.TOKEN_REVOKED,
            AuditKind.INVITATION_REVOKED,
            AuditKind.ROW_DELETED,
            AuditKind.SHARE_REVOKED,
            AuditKind.WEBHOOK_DELETED,
            AuditKind.SERVER_REMOVED,
            AuditKind.THREAD_DELETED,
            AuditKind.FILE_DELETED,
            AuditKind.FORGOTTEN,
            AuditKind.HOLD_LIFTED,
            AuditKind.AUDIT_PRUNED,
        ),
        (ENTITY_MANAGEMENT, 4),
    ),
    AuditKind.HANDED_OVER: (ENTITY_MANAGEMENT, 5),
    AuditKind.BUDGET_EXCEEDED: (ENTITY_MANAGEMENT, OTHER),
    AuditKind.MODERATION_REFUSED: (ENTITY_MANAGEMENT, OTHER),
}
"""Class and activity of each kind. One that is not here is Entity Management, Other."""


def described(events: Iterable[AuditEvent]) -> Iterator[dict[str, Any]]:
    """Each event as an object, with the names of people as they are now."""
    batch: list[AuditEvent] = []
    for event in events:
        batch.append(event)
        if len(batch) == AT_ONCE:
            yield from _batch(batch)
            batch = []
    yield from _batch(batch)


def names_of(events: Iterable[AuditEvent]) -> dict[int, str]:
    """User names by id, of who acted and to whom; of staff as they were called then, where only the event knows it."""
    events = list(events)
    ids = {id for event in events for id in (event.actor_id, _user(event)) if id is not None}
    names = {event.actor_id: event.actor_name for event in events if event.actor_id and event.actor_name}
    return names | dict(User.objects.filter(pk__in=ids).values_list("pk", "username"))


def _user(event: AuditEvent) -> int | None:
    is_user = event.target_kind == User._meta.label and event.target_id.isdecimal() and len(event.target_id) < 10
    return int(event.target_id) if is_user else None


def _batch(events: list[AuditEvent]) -> Iterator[dict[str, Any]]:
    names = names_of(events)
    for event in events:
        yield as_ocsf(event, names)


def as_ocsf(event: AuditEvent, names: Mapping[int, str]) -> dict[str, Any]:
    """One event. What the schema has no place for – the number and the digest, details – is under ``unmapped``."""
    class_uid, activity = CLASSES.get(event.kind, (ENTITY_MANAGEMENT, OTHER))
    described: dict[str, Any] = {
        "activity_id": activity,
        "category_uid": CATEGORY,
        "class_uid": class_uid,
        "type_uid": class_uid * 100 + activity,
        "severity_id": SEVERITIES.get(event.outcome, 0),
        "status_id": STATUSES.get(event.outcome, 0),
        "status": "Failure" if event.outcome == "denied" else event.outcome.capitalize(),
        "time": int(event.at.timestamp() * 1000),
        "message": event.kind,
        "metadata": {
            "version": VERSION,
            "product": {"name": "Openbook", "vendor_name": "Openbook"},
            "uid": str(event.id),
            "event_code": event.kind,
            "correlation_uid": event.request_id,
        },
        "actor": {"user": _person(event.actor_id, names) | _type(event.actor_kind)},
        "unmapped": {
            "actor_kind": event.actor_kind,
            "number": event.number,
            "digest": bytes(event.digest).hex() if event.digest else None,
            "details": event.details,
            "actor_name": event.actor_name,
        },
    }
    if activity == OTHER:
        described["activity_name"] = event.kind
    if event.address:
        described["src_endpoint"] = {"ip": event.address}
    if class_uid == ENTITY_MANAGEMENT:
        described["entity"] = {"type": event.target_kind or "installation", "uid": event.target_id or "installation"}
    else:
        described["user"] = _person(_user(event), names)
    if class_uid == AUTHENTICATION:
        described["service"] = {"name": "Openbook"}
    return described


def _person(id: int | None, names: Mapping[int, str]) -> dict[str, Any]:
    known = {"uid": str(id), "name": names.get(id, "")} if id is not None else {"uid": "unknown"}
    return {name: value for name, value in known.items() if value}


def _type(actor_kind: str) -> dict[str, Any]:
    id, caption = USER_TYPES.get(actor_kind, (0, "Unknown"))
    return {"type_id": id, "type": caption}

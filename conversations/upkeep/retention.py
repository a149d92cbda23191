"""What is kept for a while only, and for how long: the kinds, each deleted in small transactions, and what would go now."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django_tasks_db.models import DBTaskResult

from conversations.accounts import budgets, lifecycle
from conversations.audit import chain, delivery
from conversations.context.record import snapshots
from conversations.errors import ReplyInProgress
from conversations.files import storage, store
from conversations.holds import coverage
from conversations.models import (
    AuditEvent,
    ContextBlock,
    ContextSnapshot,
    Feedback,
    File,
    Reply,
    Thread,
    TokenReservation,
)
from conversations.runtime import clock, interruption
from conversations.runtime.ids import lowest_uuid7
from conversations.threads import deletion
from conversations.threads.deletion import allow_deletion
from conversations.upkeep import expired, partitions
from conversations.upkeep.expired import Expired
from conversations.upkeep.retention_rules import Rule, in_order
from conversations.upkeep.retention_scope import Scope, rules_of, scopes
from conversations.webhooks import delivery as sending
from memory import forgetting

AT_ONCE = 500
TASKS_KEPT = timedelta(days=7)
RESERVATIONS_KEPT = timedelta(days=2)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is deleted once it is as old as ``kept``; ``None``: kept for good.

    ``setting`` names what ``kept`` follows from; empty: a rule says so, or it is fixed. A kind with rules for groups and
    projects is here once for each of them, as its ``scope``. ``preview`` and ``delete`` are given the time before which it
    goes.
    """

    name: str
    what: str
    setting: str = ""
    kept: timedelta | None
    preview: Callable[[datetime], Expired]
    delete: Callable[[datetime], None]
    scope: Scope | None = None


WHAT = {
    "threads": "conversations without a turn, with all that is remembered of them alone",
    "snapshots": "recorded model requests, but the newest of each conversation and purpose",
    "files": "files, with the replies that quote them",
    "feedback": "feedback on replies",
    "accesses": "notes of staff's accesses to content, in whole months",
    "audit": "events of the audit record",
    "events": "events of ended replies, in whole days",
}
SETTINGS = {
    "threads": "OPENBOOK_THREAD_DAYS",
    "snapshots": "OPENBOOK_SNAPSHOT_DAYS",
    "files": "OPENBOOK_FILE_DAYS",
    "feedback": "OPENBOOK_FEEDBACK_DAYS",
    "accesses": "OPENBOOK_ACCESS_DAYS",
    "audit": "OPENBOOK_AUDIT_DAYS",
    "events": "OPENBOOK_EVENT_MINUTES",
}


def kinds(days: Mapping[str, int] | None = None) -> list[Kind]:
    """All there are. ``days`` by name, 0 for good, hold in place of the settings."""
    scoped = [
        of_scope(kind, scope)
        for kind in ("threads", "snapshots", "files", "feedback")
        for scope in scopes(kind, rules_of(kind, configured_days(kind, days or {})))
    ]
    return [*scoped, *_kinds_of_tables(days or {}), *_fixed_kinds()]


def configured_days(kind: str, days: Mapping[str, int]) -> int:
    configured: int = getattr(settings, SETTINGS[kind])
    return days.get(kind, configured)


def of_scope(kind: str, scope: Scope) -> Kind:
    """A kind where one rule decides."""
    size = {"files": F("size")}.get(kind)
    at = "updated_at" if kind == "threads" else "created_at"

    def preview(before: datetime) -> Expired:
        going = due(kind, before, scope)
        return expired.threads(going) if kind == "threads" else expired.rows(going, at=at, size=size)

    return Kind(
        name=kind,
        what=WHAT[kind],
        setting=SETTINGS[kind] if scope.rule.id is None else "",
        kept=scope.rule.kept,
        preview=preview,
        delete=lambda before: DELETES[kind](before, scope),
        scope=scope,
    )


def overdue(kind: str, before: datetime, scope: Scope) -> QuerySet[Any]:
    """The rows that a rule decides and that are older, the oldest first; what is pinned or held is among them."""
    rows: dict[str, QuerySet[Any]] = {
        "threads": Thread.objects.filter(updated_at__lt=before, temporary=False).order_by("updated_at"),
        "snapshots": _old(before).order_by("id"),
        "files": File.objects.filter(id__lt=lowest_uuid7(before)).order_by("id"),
        "feedback": Feedback.objects.filter(id__lt=lowest_uuid7(before)).order_by("id"),
    }
    return rows[kind].filter(scope.rows)


def due(kind: str, before: datetime, scope: Scope) -> QuerySet[Any]:
    """The rows that go."""
    return overdue(kind, before, scope).exclude(scope.stays)


def _kinds_of_tables(days: Mapping[str, int]) -> list[Kind]:
    """Those of the whole installation."""
    accesses = in_order(rules_of("accesses", configured_days("accesses", days)))[0]
    events = in_order(rules_of("events", 0))[0]
    minutes = timedelta(minutes=settings.OPENBOOK_EVENT_MINUTES)
    return [
        Kind(
            name="accesses",
            what=WHAT["accesses"],
            setting=SETTINGS["accesses"] if accesses.id is None else "",
            kept=accesses.kept,
            preview=lambda before: expired.tables(partitions.ACCESSES, accesses_over(before)),
            delete=_drop_accesses,
        ),
        Kind(
            name="audit",
            what=WHAT["audit"],
            setting=SETTINGS["audit"],
            kept=Rule(days=configured_days("audit", days)).kept,
            preview=lambda before: expired.rows(old_events(before), at="at"),
            delete=_prune_audit,
        ),
        Kind(
            name="events",
            what=WHAT["events"],
            setting=SETTINGS["events"] if events.id is None else "",
            kept=minutes if events.id is None else events.kept,
            preview=lambda before: expired.tables(partitions.EVENTS, partitions.events_over(before)),
            delete=partitions.drop_events,
        ),
    ]


def accesses_over(before: datetime) -> Iterable[partitions.Partition]:
    """None while a legal hold lasts: they tell who saw what it keeps."""
    return () if coverage.is_any_current() else partitions.accesses_over(before)


def _drop_accesses(before: datetime) -> None:
    if not coverage.is_any_current():
        partitions.drop_accesses(before)


def old_events(before: datetime) -> QuerySet[AuditEvent]:
    """What goes of the audit record: nothing while a legal hold lasts, and nothing that a destination has not taken yet."""
    if coverage.is_any_current():
        return AuditEvent.objects.none()
    most = delivery.delivered_to_all()
    events = chain.old_events(before)
    return events if most is None else events.filter(number__lte=most)


def _prune_audit(before: datetime) -> None:
    if not coverage.is_any_current():
        chain.prune(before, most=delivery.delivered_to_all())


def _fixed_kinds() -> list[Kind]:
    return [
        Kind(
            name="unsent_files",
            what="uploaded files that are in no message",
            kept=store.ORPHANED,
            preview=lambda before: expired.rows(store.orphans(before), at="created_at", size=F("size")),
            delete=lambda before: _until_done(partial(store.delete_orphans, before)),
        ),
        Kind(
            name="sign_ins",
            what="sign-ins that have run out",
            kept=timedelta(),
            preview=lambda before: expired.rows(_over(before).order_by("expire_date"), at="expire_date"),
            delete=lifecycle.clear_sign_ins,
        ),
        Kind(
            name="reservations",
            what="tokens that were set aside for calls of models beside replies",
            kept=RESERVATIONS_KEPT,
            preview=lambda before: expired.rows(_old_reservations(before).order_by("created_at"), at="created_at"),
            delete=lambda before: _until_done(partial(delete_reservations, before)),
        ),
        Kind(
            name="charges",
            what="what calls of models took of budgets",
            setting="",
            kept=budgets.CHARGES_KEPT,
            preview=lambda before: expired.rows(budgets.old_charges(before).order_by("day"), at="day"),
            delete=lambda before: _until_done(partial(budgets.delete_charges, before)),
        ),
        Kind(
            name="webhook_deliveries",
            what="what was sent to webhooks, or could not be",
            setting="OPENBOOK_WEBHOOK_DAYS",
            kept=Rule(days=settings.OPENBOOK_WEBHOOK_DAYS).kept,
            preview=lambda before: expired.rows(sending.old(before).order_by("created_at"), at="created_at"),
            delete=lambda before: _until_done(lambda: _delete_some(sending.old(before))),
        ),
        Kind(
            name="tasks",
            what="tasks of workers that have ended",
            kept=TASKS_KEPT,
            preview=lambda before: expired.rows(_ended_tasks(before).order_by("finished_at"), at="finished_at"),
            delete=lambda before: _until_done(partial(delete_tasks, before)),
        ),
    ]


def apply() -> None:
    """Delete what is older than the settings and the rules say. A worker that is killed leaves the rest to the next."""
    now = clock.now()
    partitions.make_ahead(now)
    storage.remove_scratch()
    for kind in kinds():
        if kind.kept is not None:
            kind.delete(now - kind.kept)


def _old_reservations(before: datetime) -> QuerySet[TokenReservation]:
    return TokenReservation.objects.filter(created_at__lt=before)


def delete_reservations(before: datetime) -> int:
    """The oldest rows from before then. Returns how many."""
    return _delete_some(_old_reservations(before))


def _ended_tasks(before: datetime) -> QuerySet[DBTaskResult[..., Any]]:
    return DBTaskResult.objects.finished().filter(finished_at__lt=before)


def delete_tasks(before: datetime) -> int:
    """The oldest rows of tasks that ended before then. Returns how many."""
    return _delete_some(_ended_tasks(before))


def _over(before: datetime) -> QuerySet[Session]:
    return Session.objects.filter(expire_date__lte=before)


def delete_threads(before: datetime, scope: Scope) -> None:
    """Some of those without a turn since then, as their person would. One that a reply is in the way of is for later.

    Raises ``LedgerAway``.
    """
    for thread_id, user_id in list(due("threads", before, scope).values_list("id", "user_id")[:AT_ONCE]):
        if interruption.is_requested():
            return
        try:
            _delete_thread(thread_id, user_id, before, scope)
        except ReplyInProgress:
            continue


@transaction.atomic
def _delete_thread(thread_id: uuid.UUID, user_id: int, before: datetime, scope: Scope) -> None:
    forgetting.hold_off(user_id)
    thread = due("threads", before, scope).filter(id=thread_id).first()
    if thread is not None:  # nobody has gone on with it or pinned it meanwhile
        deletion.delete_thread(thread)


def delete_files(before: datetime, scope: Scope) -> None:
    """Some of those that were given before then, as their person would. Raises ``LedgerAway``."""
    for file in list(due("files", before, scope).select_related("user")[:AT_ONCE]):
        if interruption.is_requested():
            return
        try:
            deletion.delete_file(file)
        except ReplyInProgress:
            continue


def delete_feedback(before: datetime, scope: Scope) -> None:
    """What was said of replies before then."""
    _until_done(lambda: _delete_some(due("feedback", before, scope)))


def _delete_some(rows: QuerySet[Any]) -> int:
    ids = list(rows.values_list("pk", flat=True)[:AT_ONCE])
    deleted: int = rows.model._default_manager.filter(pk__in=ids).delete()[0]
    return deleted


def _delete_requests(before: datetime, scope: Scope) -> None:
    delete_snapshots(before, scope)
    if scope.rule.project is None and scope.rule.group is None:
        partitions.drop_requests(before)


def delete_snapshots(before: datetime, scope: Scope) -> None:
    """Those made before then, with the texts that no other names. The newest of each thread and purpose stays."""
    going = due("snapshots", before, scope)
    for thread_id in list(going.order_by().values_list("thread_id", flat=True).distinct()):
        _until_done(lambda thread_id=thread_id: _delete_snapshots_of(thread_id, going))  # type: ignore[misc]


DELETES: dict[str, Callable[[datetime, Scope], None]] = {
    "threads": delete_threads,
    "snapshots": _delete_requests,
    "files": delete_files,
    "feedback": delete_feedback,
}


def _delete_snapshots_of(thread_id: uuid.UUID, going: QuerySet[ContextSnapshot]) -> int:
    with allow_deletion():
        # A request is recorded by a running reply, or together with the reply by whoever can write to the thread;
        # one for notes of it under this lock.
        if Thread.objects.select_for_update(no_key=True).filter(id=thread_id).first() is None:
            return 0
        if Reply.objects.filter(thread=thread_id, status=Reply.Status.RUNNING).exists():
            return 0
        old = list(_digests_only(going.filter(thread=thread_id).order_by("id"))[:AT_ONCE])
        ContextSnapshot.objects.filter(id__in=[snapshot.id for snapshot in old]).delete()
        unnamed = set(_block_digests(old)) - set(
            _block_digests(_digests_only(ContextSnapshot.objects.filter(thread=thread_id)))
        )
        ContextBlock.objects.filter(thread=thread_id, sha256__in=unnamed).delete()
    return len(old)


def _old(before: datetime) -> QuerySet[ContextSnapshot]:
    # The prompt cache is planned by the newest request of a reply.
    newer = ContextSnapshot.objects.filter(
        thread=OuterRef("thread"), purpose=OuterRef("purpose"), created_at__gt=OuterRef("created_at")
    )
    return ContextSnapshot.objects.filter(Exists(newer), id__lt=lowest_uuid7(before), created_at__lt=before)


def _digests_only(snapshots: QuerySet[ContextSnapshot]) -> QuerySet[ContextSnapshot]:
    return snapshots.only("sections", "additions", "runs", "items")


def _block_digests(requests: Iterable[ContextSnapshot]) -> Iterator[bytes]:
    return (bytes.fromhex(digest) for snapshot in requests for digest in snapshots.digests_of(snapshot))


def _until_done(step: Callable[[], int]) -> None:
    while not interruption.is_requested() and step():
        pass

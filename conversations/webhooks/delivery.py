"""What waits is sent to webhooks: at least once, with the same id each time, and tried again for a day.

One process of the installation sends, by a lease. Each webhook has a few attempts at once, one that failed a single one after a
rest, so that a target that hangs holds up no other.
"""

import logging
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from conversations import audit
from conversations.accounts import mailing
from conversations.audit import AuditKind
from conversations.models import Webhook, WebhookDelivery
from conversations.models.webhooks import PURPOSE
from conversations.runtime import clock, encryption
from conversations.runtime.site import public_address
from conversations.webhooks import messages, webhooks
from conversations.webhooks.outbox import SQL

log = logging.getLogger("openbook.webhooks")

ATTEMPT = timedelta(seconds=30)
"""After that an attempt of which nothing was heard is made again: longer than any takes."""
DELAYS = [
    *(timedelta(seconds=seconds) for seconds in (5, 30)),
    *(timedelta(minutes=minutes) for minutes in (2, 10, 30, 60, 120, 240, 360, 600)),
]
"""After each attempt that failed; after the last one it is given up, a day after the first."""
FIRST_REST, LONGEST_REST = timedelta(seconds=1), timedelta(minutes=5)
"""Of a webhook, after the first attempt that failed; after many of them."""
FAILING = timedelta(days=3)
"""A webhook that fails for so long is switched off."""
MOST, MOST_EACH = 64, 8
GONE = 410


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One that is to be made. ``number`` counts from 1."""

    id: uuid.UUID
    webhook: uuid.UUID
    number: int
    url: str
    event: str
    created_at: datetime
    body: bytes
    keys: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``status`` is that of the answer; ``problem`` is empty where it was taken."""

    status: int | None = None
    answer: str = ""
    problem: str = ""
    milliseconds: int = 0


def take(busy: Counter[uuid.UUID]) -> list[Attempt]:
    """What is to be sent now. ``busy`` counts what is being sent, by webhook."""
    now = clock.now()
    values: dict[str, Any] = {
        "webhooks": list(busy),
        "counts": list(busy.values()),
        "most": max(0, MOST - busy.total()),
        "most_each": MOST_EACH,
        "now": now,
        "attempt": ATTEMPT,
    }
    with connection.cursor() as cursor:
        cursor.execute(SQL["take"], values)
        ids = [id for (id,) in cursor.fetchall()]
    if not ids:
        return []
    found = list(WebhookDelivery.objects.filter(id__in=ids).select_related("webhook__user"))
    lost = {each.webhook_id: each.webhook for each in found if each.webhook.for_all}
    lost = {id: webhook for id, webhook in lost.items() if not webhooks.may_hear_of_all(webhook.user)}
    for webhook in lost.values():
        disable(webhook, Webhook.Cause.RIGHT_LOST)
    return [_attempt(each, now) for each in found if each.webhook_id not in lost]


def _attempt(delivery: WebhookDelivery, now: datetime) -> Attempt:
    return Attempt(
        id=delivery.id,
        webhook=delivery.webhook_id,
        number=delivery.attempts,
        url=delivery.webhook.url,
        event=delivery.event,
        created_at=delivery.created_at,
        body=messages.body_of(delivery.event, delivery.created_at, delivery.data, server=public_address()),
        keys=keys_of(delivery.webhook, now),
    )


def keys_of(webhook: Webhook, now: datetime) -> list[str]:
    """The secrets that count; none where they were encrypted with another SECRET_KEY."""
    stored = [webhook.secret]
    if webhook.former_until and webhook.former_until > now:
        stored.append(webhook.former_secret)
    try:
        return [encryption.decrypt(bytes(each), purpose=PURPOSE) for each in stored]
    except encryption.NotDecryptable:
        return []


def record(attempt: Attempt, outcome: Outcome) -> None:
    """What became of an attempt. One that is late, as another was made meanwhile, changes nothing."""
    now = clock.now()
    mine = WebhookDelivery.objects.filter(id=attempt.id, attempts=attempt.number, delivered_at=None)
    told = {
        "status_code": outcome.status,
        "answer": outcome.answer,
        "problem": outcome.problem[:200],
        "milliseconds": outcome.milliseconds,
    }
    if not outcome.problem:
        mine.update(due_at=None, delivered_at=now, **told)
        Webhook.objects.filter(id=attempt.webhook, failures__gt=0).update(
            failures=0, failing_since=None, rests_until=None
        )
        return
    is_last = attempt.number > len(DELAYS)
    mine.update(due_at=None if is_last else now + DELAYS[attempt.number - 1], **told)
    log.warning("a webhook did not take an event", extra={"webhook": str(attempt.webhook), "cause": outcome.problem})
    _failed(attempt.webhook, now, is_gone=outcome.status == GONE)


def _failed(webhook_id: uuid.UUID, now: datetime, *, is_gone: bool) -> None:
    with transaction.atomic():
        webhook = Webhook.objects.select_for_update(no_key=True).filter(id=webhook_id, is_active=True).first()
        if webhook is None:
            return
        Webhook.objects.filter(id=webhook_id).update(
            failures=F("failures") + 1,
            failing_since=Coalesce("failing_since", now),
            rests_until=now + rest_after(webhook.failures + 1),
        )
        if is_gone:
            disable(webhook, Webhook.Cause.GONE)
        elif webhook.failing_since and webhook.failing_since <= now - FAILING:
            disable(webhook, Webhook.Cause.FAILING)


def rest_after(failures: int) -> timedelta:
    return min(FIRST_REST * (1 << min(failures - 1, 20)), LONGEST_REST)


@transaction.atomic
def disable(webhook: Webhook, cause: Webhook.Cause) -> None:
    """Switch it off, give up what waits, and tell its owner. Nothing happens to one that is off."""
    active = Webhook.objects.filter(id=webhook.id, is_active=True)
    if not active.update(is_active=False, disabled_because=cause, updated_at=clock.now()):
        return
    WebhookDelivery.objects.filter(webhook=webhook, due_at__isnull=False).update(due_at=None, problem="switched off")
    details: audit.Details = {"fields": ["is_active"], "cause": cause.value}
    audit.record(AuditKind.WEBHOOK_CHANGED, actor=None, target=webhook, details=details)
    mailing.notify(webhook.user, "webhook_disabled")
    log.warning("a webhook is switched off", extra={"webhook": str(webhook.id), "cause": cause.value})


def old(before: datetime) -> QuerySet[WebhookDelivery]:
    """Those that were made before then, sent or not."""
    return WebhookDelivery.objects.filter(created_at__lt=before)

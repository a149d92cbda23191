"""A person's webhooks: made, changed, deleted, tried. What isn't theirs is not found."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit, threads
from conversations.audit import AuditKind
from conversations.errors import (
    InvalidWebhook,
    TooManyWebhooks,
    WebhookDeliveryNotFound,
    WebhookForAllRefused,
    WebhookNotFound,
)
from conversations.models import Webhook, WebhookDelivery
from conversations.models.webhooks import PING, PURPOSE, URL_CHARS
from conversations.providers.written_urls import UrlProblem, problem_of
from conversations.runtime import clock, encryption
from conversations.webhooks.messages import new_secret

OVERLAP = timedelta(days=1)
"""How long messages are signed with the former secret, too, after a new one was made."""
FOR_ALL = "conversations.hear_of_all_webhook"


def of(user: User) -> QuerySet[Webhook]:
    """Newest first."""
    return Webhook.objects.filter(user=user).order_by("-id")


def get(user: User, webhook_id: str | uuid.UUID) -> Webhook:
    """Raises ``WebhookNotFound``."""
    return threads.row_with_id(of(user), webhook_id, WebhookNotFound)


def may_hear_of_all(user: User) -> bool:
    return user.is_active and user.is_staff and user.has_perm(FOR_ALL)


@transaction.atomic
def create(user: User, *, name: str, url: str, events: Sequence[str], for_all: bool = False) -> tuple[Webhook, str]:
    """With its secret, which nobody shows again. Raises ``InvalidWebhook``, ``TooManyWebhooks``, ``WebhookForAllRefused``."""
    check_url(url)
    if for_all and not may_hear_of_all(user):
        raise WebhookForAllRefused
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two at once would both find room for the last one
    if of(user).count() >= settings.OPENBOOK_WEBHOOKS:
        raise TooManyWebhooks(most=settings.OPENBOOK_WEBHOOKS)
    secret, now = new_secret(), clock.now()
    webhook = Webhook.objects.create(
        user=user,
        name=name,
        url=url,
        events=sorted(set(events)),
        for_all=for_all,
        secret=encryption.encrypt(secret, purpose=PURPOSE),
        created_at=now,
        updated_at=now,
    )
    details: audit.Details = {"events": webhook.events, "for_all": for_all}
    audit.record(AuditKind.WEBHOOK_MADE, target=webhook, details=details)
    return webhook, secret


@transaction.atomic
def change(webhook: Webhook, **values: Any) -> None:
    """Of ``name``, ``url``, ``events`` and ``is_active``. One that is switched on begins anew. Raises ``InvalidWebhook``."""
    if "url" in values:
        check_url(values["url"])
    if "events" in values:
        values["events"] = sorted(set(values["events"]))
    anew: Mapping[str, Any] = {"failures": 0, "failing_since": None, "rests_until": None, "disabled_because": ""}
    also = anew if values.get("is_active") or "url" in values else {}
    _update(webhook, fields=sorted(values), **values, **also)


@transaction.atomic
def renew_secret(webhook: Webhook) -> str:
    """A new secret, shown this once. For a day messages are signed with the one before, too."""
    secret = new_secret()
    _update(
        webhook,
        fields=["secret"],
        secret=encryption.encrypt(secret, purpose=PURPOSE),
        former_secret=bytes(webhook.secret),
        former_until=clock.now() + OVERLAP,
    )
    return secret


@transaction.atomic
def delete(webhook: Webhook) -> None:
    """With what waits to be sent."""
    audit.record(AuditKind.WEBHOOK_DELETED, target=webhook)
    webhook.delete()


def ping(webhook: Webhook) -> WebhookDelivery:
    """A test: it is sent as any other."""
    now = clock.now()
    data = {"webhook": str(webhook.id), "user": webhook.user_id}
    return WebhookDelivery.objects.create(
        webhook=webhook, user_id=webhook.user_id, event=PING, data=data, created_at=now, due_at=now
    )


def deliveries(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """Newest first."""
    return WebhookDelivery.objects.filter(webhook=webhook).order_by("-created_at", "id")


def redeliver(webhook: Webhook, delivery_id: str | uuid.UUID) -> WebhookDelivery:
    """Send it once more, with the id that it had. Raises ``WebhookDeliveryNotFound``."""
    found = deliveries(webhook).filter(id=threads.identifier(delivery_id, WebhookDeliveryNotFound))
    if not found.update(due_at=clock.now(), attempts=0, delivered_at=None):
        raise WebhookDeliveryNotFound
    return found.get()


def check_url(url: str) -> None:
    """Raises ``InvalidWebhook`` unless it may be sent to, as far as it can be told without looking its name up."""
    match problem_of(url, most=URL_CHARS, networks=settings.OPENBOOK_INNER_NETWORKS):
        case UrlProblem.MALFORMED:
            raise InvalidWebhook(field="url")
        case UrlProblem.INNER:
            raise InvalidWebhook("This address is in an inner network, where no webhook may lead.", field="url")


def _update(webhook: Webhook, *, fields: Sequence[str], **values: Any) -> None:
    Webhook.objects.filter(id=webhook.id).update(updated_at=clock.now(), **values)
    audit.record(AuditKind.WEBHOOK_CHANGED, target=webhook, details={"fields": fields})

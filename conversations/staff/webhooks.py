"""Webhooks that people have, and what was sent to them: whose, to which server, what came of it. Never a secret, nor the
rest of an address, which may hold one."""

from urllib.parse import urlsplit

from django.contrib import admin
from django.utils.translation import gettext

from conversations.models import Webhook, WebhookDelivery
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, user_column


@admin.register(Webhook)
class WebhookAdmin(InspectionAdmin[Webhook]):
    list_display = ["created", "owner", "server", "for_all", "is_active", "failed", "since"]
    list_filter = ["is_active", "for_all", "disabled_because"]
    list_select_related = ["user"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "The id of a webhook, or a user name."
    ordering = ["-id"]
    fields = [
        "identifier", "owner", "server", "heard", "for_all", "is_active", "disabled_because", "failed", "since", "created",
    ]  # fmt: skip
    empty_text = "No webhooks. One appears here when somebody makes one on their page of webhooks or by the API."

    identifier = column("id", "id", display.mono)
    owner = user_column()
    created = column("created", "created_at", display.when, sort="created_at")
    failed = column("failed attempts", "failures", display.number, sort="failures")
    since = column("fails since", "failing_since", display.when)

    @admin.display
    def server(self, webhook: Webhook) -> str:
        return urlsplit(webhook.url).hostname or gettext("none")

    @admin.display
    def heard(self, webhook: Webhook) -> str:
        return ", ".join(webhook.events)


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(InspectionAdmin[WebhookDelivery]):
    list_display = ["created", "hook", "event", "state", "attempts", "status_code", "problem", "due"]
    list_filter = ["created_at", ("due_at", admin.EmptyFieldListFilter), "event"]
    search_fields = ["id__exact", "webhook__id__exact"]
    search_help_text = "The id of a delivery or of a webhook."
    ordering = ["-created_at"]
    fields = ["identifier", "hook", "event", "state", "created", "due", "attempts", "status_code", "problem"]
    empty_text = "Nothing was sent to a webhook. What is sent stands here for OPENBOOK_WEBHOOK_DAYS, 30 by default."

    identifier = column("id", "id", display.mono)
    hook = column("webhook", "webhook_id", display.mono)
    created = column("created", "created_at", display.when, sort="created_at")
    due = column("sent or tried again", "due_at", display.when, sort="due_at")

    @admin.display
    def state(self, delivery: WebhookDelivery) -> str:
        return {"waiting": gettext("waits"), "delivered": gettext("taken"), "failed": gettext("given up")}[
            delivery.state
        ]

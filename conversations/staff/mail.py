"""Mails that wait to be sent, and those that could not be: to whom and why, never what they say."""

from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from conversations.accounts import mailing
from conversations.models import OutgoingMail
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column


@admin.register(OutgoingMail)
class OutgoingMailAdmin(InspectionAdmin[OutgoingMail]):
    list_display = ["created", "kind", "recipient", "state", "attempts", "problem", "due"]
    list_filter = ["created_at", ("due_at", admin.EmptyFieldListFilter), "kind"]
    search_fields = ["recipient"]
    search_help_text = "A part of the address."
    ordering = ["-id"]
    fields = ["kind", "recipient", "state", "created", "due", "attempts", "problem"]
    actions = ["try_again"]
    empty_text = (
        "No mails. One stands here from when it is asked for until a mail server has taken it, mostly some seconds, or for 30 "
        "days where none would."
    )

    created = column("created", "created_at", display.when, sort="created_at")
    due = column("sent or tried again", "due_at", display.when, sort="due_at")

    def has_resend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_outgoingmail")

    @admin.action(
        permissions=["resend"],
        description="Send this mail again",
        description_plural="Send the selected mails again",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def try_again(self, request: HttpRequest, queryset: QuerySet[OutgoingMail]) -> None:
        chosen = list(queryset)
        mailing.try_again(queryset)
        for mail in chosen:
            self.log_change(request, mail, "Sent again.")
        words = filled("Handed to the workers: {mails}.", mails=display.with_noun(len(chosen), "mail"))
        self.message_user(request, words, messages.SUCCESS)

    @admin.display
    def state(self, mail: OutgoingMail) -> str:
        return gettext("waits") if mail.due_at else gettext("given up")

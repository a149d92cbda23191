"""Replies and single turns: recorded, so read-only."""

from functools import partial

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from artifacts.models import Artifact
from artifacts.services import made_by
from conversations.models import ContextSnapshot, Message, Reply
from conversations.runtime.wording import filled, lazy
from conversations.staff import display
from conversations.staff.base import column, thread_column, user_column
from conversations.staff.content import CONTENT_FORM, MaskedInspectionAdmin, content_column, is_shown
from conversations.staff.requests.by_request_id import replies_of
from conversations.staff.trace import trace_views
from conversations.staff.uses import uses_url


def placed(**where: object) -> QuerySet[Message]:
    """Turns without what was said in them."""
    return Message.objects.filter(**where).only("id", "position", "role")


def turn_link(turn: Message) -> SafeString:
    return display.link(Message, turn.pk, turn)


def request_links(snapshots: QuerySet[ContextSnapshot]) -> SafeString | str:
    return display.links(
        display.link(ContextSnapshot, pk, f"{display.purpose(purpose, number)} ({status})")
        for pk, purpose, number, status in snapshots.order_by("id").values_list("id", "purpose", "round", "status")
    )


@admin.register(Reply)
class ReplyAdmin(MaskedInspectionAdmin[Reply]):
    change_form_template = CONTENT_FORM
    list_display = ["created", "owner_of_thread", "thread_link", "made_for", "state", "problem", "duration"]
    list_filter = ["status", ("preset", admin.EmptyFieldListFilter), "created_at"]
    list_select_related = ["thread__user"]
    search_fields = ["id__exact", "thread__id__exact", "thread__user__username"]
    search_help_text = "The id of a reply, thread or HTTP request, or a user name."
    ordering = ["-id"]
    empty_text = "No replies. Each message that somebody sends starts one."
    fields = [
        ("state", "duration", "reason"), "error_object", ("thread_link", "owner_of_thread"), "question", "answer",
        ("model", "goes_on_with"),
        "artifacts", "model_requests",
        ("created", "ended", "stop_requested"), "reported_usage", ("owner", "lease"), ("identifier", "requested_by"),
    ]  # fmt: skip

    identifier = column("id", "id", display.mono)
    reason = column("stop reason", "stop_reason", display.stop_reason)
    created = column("time", "created_at", display.when, sort="created_at")
    owner_of_thread = user_column("thread.user")
    thread_link = thread_column()
    problem = column("error", "error", display.error_code)
    ended = column("ended", "ended_at", display.when)
    stop_requested = column("stop requested", "stop_requested_at", display.when)
    lease = column("lease until", "lease_until", display.when)
    reported_usage = column("usage (reported)", "usage", display.folded_json)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Reply], search_term: str
    ) -> tuple[QuerySet[Reply], bool]:
        if replies := replies_of(search_term):
            return queryset.filter(pk__in=replies), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="request id")
    def requested_by(self, reply: Reply) -> SafeString | str:
        return display.mono(reply.request_id) if reply.request_id else display.NOTHING

    @admin.display(description="status", ordering="status")
    def state(self, reply: Reply) -> SafeString:
        status = display.status(reply.status)
        if reply.status != Reply.Status.RUNNING:
            return status
        url = reverse("admin:conversations_thread_live", args=[reply.thread_id])
        return format_html('{} <a href="{}">watch</a>', status, url)

    @admin.display
    def duration(self, reply: Reply) -> str:
        return display.took(reply.created_at, reply.ended_at)

    @admin.display(description="user turn")
    def question(self, reply: Reply) -> SafeString | str:
        if reply.user_message_id is None:
            return filled("none: the preset “{preset}” works silently", preset=reply.preset)
        return display.links(turn_link(turn) for turn in placed(pk=reply.user_message_id))

    @admin.display(description="assistant turn")
    def answer(self, reply: Reply) -> SafeString | str:
        return display.links(turn_link(turn) for turn in placed(reply=reply))

    @admin.display(description="goes on with")
    def goes_on_with(self, reply: Reply) -> SafeString | str:
        return (
            display.link(Reply, reply.continues_id, gettext("another reply")) if reply.continues_id else display.NOTHING
        )

    @admin.display(description="artifacts")
    def artifacts(self, reply: Reply) -> SafeString | str:
        versions = made_by(reply)
        return display.links(
            display.link(
                Artifact,
                version.artifact_id,
                filled("{artifact}, version {number}", artifact=version.artifact, number=version.number),
            )
            for version in versions
        )

    @admin.display(description="for", ordering="preset")
    def made_for(self, reply: Reply) -> str:
        return filled("preset {preset}", preset=reply.preset) if reply.preset else gettext("a message")

    @admin.display
    def model_requests(self, reply: Reply) -> SafeString | str:
        return request_links(ContextSnapshot.objects.filter(reply=reply))

    @admin.display(description="error")
    def error_object(self, reply: Reply) -> SafeString | str:
        return display.folded(display.error_object(reply.error, shown=is_shown(reply)))


@admin.register(Message)
class MessageAdmin(MaskedInspectionAdmin[Message]):
    list_display = ["created", "thread_link", "position", "role", "status", "tokens"]
    search_fields = ["id__exact", "thread__id__exact"]
    search_help_text = "The id of a turn or thread."
    ordering = ["-id"]
    empty_text = "No turns. They appear here when somebody sends a message."
    fields = [
        ("thread_link", "position", "role", "status"), "text_block", "other_blocks", ("created", "tokens", "is_active"),
        "replies_to_it", "model_requests", "reply_link", "written_by", ("parent_link", "depth"), "client_id", "identifier",
    ]  # fmt: skip

    identifier = column("id", "id", display.mono)
    created = column("time", "created_at", display.when, sort="created_at")
    thread_link = thread_column()
    tokens = column("tokens (estimated)", "token_count", display.number, sort="token_count")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        return super().get_queryset(request).select_related("thread")

    def get_urls(self) -> list[URLPattern]:
        why = self.admin_site.admin_view(partial(trace_views.why_view, self))
        return [path("<uuid:id>/why/", why, name="conversations_message_why"), uses_url(self), *super().get_urls()]

    @admin.display(description="follows")
    def parent_link(self, message: Message) -> SafeString | str:
        return display.links(turn_link(turn) for turn in placed(pk=message.parent_id))

    @admin.display(description="came from reply")
    def reply_link(self, message: Message) -> SafeString | str:
        return display.link(Reply, message.reply_id, message.reply_id) if message.reply_id else display.NOTHING

    @admin.display(description="replies to it")
    def replies_to_it(self, message: Message) -> SafeString | str:
        replies = (
            Reply.objects.filter(thread=message.thread_id, user_message=message)
            .order_by("id")
            .values_list("id", "status")
        )
        return display.links(display.link(Reply, pk, status) for pk, status in replies)

    @admin.display
    def model_requests(self, message: Message) -> SafeString | str:
        snapshots = ContextSnapshot.objects.filter(reply__thread=message.thread_id, reply__user_message=message)
        return request_links(snapshots)

    text_block = content_column("text", "text")

    client_id = content_column(lazy("client message id"), "client_message_id")
    written_by = content_column(lazy("written by (imported)"), "model")

    @admin.display(description="blocks that are no text")
    def other_blocks(self, message: Message) -> SafeString | str:
        if not is_shown(message):
            return display.masked()
        return display.folded_json([block for block in message.blocks if block.get("type") != "text"])

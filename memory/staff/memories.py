"""What is remembered about people, each with the turns that it rests on. Whom it is about changes it, nobody else."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import Message, Thread
from conversations.runtime.wording import filled, lazy
from conversations.staff import display
from conversations.staff.base import CHANGE_LIST, column, thread_column, user_column
from conversations.staff.content import CONTENT_FORM, MaskedInspectionAdmin, content_column
from conversations.staff.uses import uses_url
from memory.models import DailySummary, Memory, ThreadSummary, Topic

LISTED = 3


def numbered(model: type[Model], ids: Sequence[UUID]) -> SafeString | str:
    """Links to the first of them, without asking the database."""
    first = display.links(display.link(model, id, number) for number, id in enumerate(ids[:LISTED], start=1))
    return format_html("{}, … {}", first, len(ids)) if len(ids) > LISTED else first


class RememberedAdmin[M: (Memory, ThreadSummary, DailySummary, Topic)](MaskedInspectionAdmin[M]):
    change_list_template = CHANGE_LIST
    change_form_template = CONTENT_FORM
    list_select_related = ["user"]
    owner_id = "user_id"
    thread_id: str | None = None

    owner = user_column()
    identifier = column("id", "pk", display.mono)


class SourcedAdmin[M: (Memory, ThreadSummary, Topic)](RememberedAdmin[M]):
    @admin.display(description="rests on turns")
    def first_sources(self, row: M) -> SafeString | str:
        return numbered(Message, row.sources)

    @admin.display(description="rests on")
    def turns(self, row: M) -> SafeString | str:
        messages = Message.objects.filter(id__in=row.sources).only("id", "position", "thread")
        return display.links(
            format_html(
                gettext("{} of {}"),
                display.link(Message, turn.pk, filled("turn {position}", position=turn.position)),
                display.id_link(Thread, turn.thread_id),
            )
            for turn in messages.order_by("id")
        )


class SummaryAdmin[M: (ThreadSummary, DailySummary)](RememberedAdmin[M]):
    summary = content_column("summary", "text")
    moments = content_column(lazy("key moments"), "key_moments", "\n".join)


class InThreadAdmin[M: (ThreadSummary, Topic)](SourcedAdmin[M]):
    thread_id = "thread_id"
    thread_link = thread_column()


@admin.register(Memory)
class MemoryAdmin(SourcedAdmin[Memory]):
    list_display = ["created", "owner", "origin", "state", "first_sources"]
    list_filter = ["origin", ("ended_at", admin.EmptyFieldListFilter), "created_at"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "An id or a user name."
    ordering = ["-created_at", "-id"]
    fields = [
        "fact", ("owner", "origin", "state"), "turns", "labels", ("created", "since", "until", "ended"),
        "replaced_by", "identifier",
    ]  # fmt: skip
    empty_text = (
        "No memories. They come from what people say, ten minutes after they have stopped, or are written by hand."
    )

    change_form_template = "admin/conversations/used_form.html"

    created = column("created", "created_at", display.when, sort="created_at")

    def get_urls(self) -> list[URLPattern]:
        return [uses_url(self), *super().get_urls()]

    fact = content_column("memory", "content")
    labels = content_column("tags", "tags", ", ".join)

    @admin.display
    def state(self, row: Memory) -> str:
        if row.superseded_by_id:
            return gettext("replaced")
        return gettext("ended") if row.ended_at else gettext("holds")

    since = column("valid from", "valid_from", display.when)
    until = column("valid until", "valid_until", display.when)
    ended = column("ended", "ended_at", display.when)

    @admin.display
    def replaced_by(self, row: Memory) -> SafeString | str:
        return display.id_link(Memory, row.superseded_by_id) if row.superseded_by_id else display.NOTHING


@admin.register(ThreadSummary)
class ThreadSummaryAdmin(SummaryAdmin[ThreadSummary], InThreadAdmin[ThreadSummary]):
    list_display = ["ended", "owner", "thread_link", "part", "made", "state"]
    list_filter = ["made_by", ("stale_since", admin.EmptyFieldListFilter), "ended_at"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a summary or thread, or a user name."
    ordering = ["-ended_at", "-id"]
    fields = [
        "summary", "moments", ("owner", "thread_link", "part"), "turns", ("started", "ended"),
        ("made", "made_by", "state"), "identifier",
    ]  # fmt: skip
    empty_text = "No summaries. One is made of each part of a thread, ten minutes after somebody has stopped writing."

    started = column("started", "started_at", display.when, sort="started_at")
    ended = column("time", "ended_at", display.when, sort="ended_at")

    @admin.display(description="turns")
    def part(self, row: ThreadSummary) -> str:
        return f"{row.first_position:,}–{row.last_position:,}"

    @admin.display(ordering="made_at")
    def made(self, row: ThreadSummary) -> SafeString:
        return display.with_note(display.when(row.made_at), row.made_by)

    @admin.display
    def state(self, row: ThreadSummary) -> str:
        return gettext("stale: made anew soon") if row.stale_since else gettext("current")


@admin.register(DailySummary)
class DailySummaryAdmin(SummaryAdmin[DailySummary]):
    list_display = ["day", "owner", "first_parts", "updated"]
    list_filter = ["day"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "The id of a summary, or a user name."
    ordering = ["-day", "-id"]
    fields = [("day", "owner"), "summary", "moments", "all_parts", "updated", "identifier"]
    empty_text = "No days. A day is summed up from the parts of threads that began on it."

    @admin.display(description="made of parts")
    def first_parts(self, row: DailySummary) -> SafeString | str:
        return numbered(ThreadSummary, row.parts)

    @admin.display(description="made of")
    def all_parts(self, row: DailySummary) -> SafeString | str:
        summaries = ThreadSummary.objects.filter(id__in=row.parts).defer("text", "key_moments").order_by("started_at")
        return display.links(
            format_html(
                gettext("{} of {}"),
                display.link(
                    ThreadSummary,
                    part.pk,
                    filled(
                        "turns {first}–{last}",
                        first=part.first_position,
                        last=part.last_position,
                    ),
                ),
                display.id_link(Thread, part.thread_id),
            )
            for part in summaries
        )

    updated = column("updated", "updated_at", display.when, sort="updated_at")


@admin.register(Topic)
class TopicAdmin(InThreadAdmin[Topic]):
    list_display = ["opened", "owner", "thread_link", "state", "first_sources"]
    list_filter = [("resolved_at", admin.EmptyFieldListFilter), "opened_at"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a topic or thread, or a user name."
    ordering = ["-opened_at", "-id"]
    fields = ["topic", ("owner", "thread_link", "state"), "turns", ("opened", "resolved"), "identifier"]
    empty_text = "No topics. One is opened when somebody begins something and doesn't finish it."

    topic = content_column("topic", "title")

    @admin.display
    def state(self, row: Topic) -> str:
        return "resolved" if row.resolved_at else "open"

    opened = column("opened", "opened_at", display.when, sort="opened_at")
    resolved = column("resolved", "resolved_at", display.when)

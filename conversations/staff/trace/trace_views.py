"""The pages beside Django's own of a thread and of a turn: the map, and why a turn was forgotten."""

from typing import Any
from uuid import UUID

from django.db.models import Model
from django.forms.widgets import Media
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from conversations.models import Message, Thread
from conversations.runtime.wording import filled
from conversations.staff import access
from conversations.staff.base import STYLES, ReadOnlyAdmin
from conversations.staff.lagging_pages import lagging_page
from conversations.staff.thread_page import position
from conversations.staff.trace.map_page import map_page
from conversations.staff.trace.why_page import why_page

MEDIA = Media(css={"all": [*STYLES["all"], "conversations/admin/trace.css"]})


@lagging_page
def map_view(pages: ReadOnlyAdmin[Thread], request: HttpRequest, id: UUID) -> HttpResponse:
    """All requests of a thread across, its turns down. It holds no content, so it takes no reason."""
    found = Thread.objects.select_related("user", "assistant").filter(pk=id).first()
    thread = pages.allowed(request, found)
    drawn = map_page(thread, until=request.GET.get("until", ""))
    return shown(pages, request, thread, "thread/map.html", title=gettext("Map of a thread"), page=drawn)


def find_view(pages: ReadOnlyAdmin[Thread], request: HttpRequest, id: UUID) -> HttpResponse:
    """From the number of a turn to the page that tells why it was forgotten."""
    thread = pages.allowed(request, Thread.objects.filter(pk=id).first())
    asked = position(request.GET.get("turn", ""))
    turn = Message.objects.filter(thread=thread, position=asked).values_list("pk", flat=True).first() if asked else None
    if turn is None:
        first, last = thread.cleared_through + 1, thread.last_position
        there = (
            filled("This thread has turns {first} to {last}.", first=first, last=last)
            if thread.message_count
            else gettext("This thread has no turns.")
        )
        pages.message_user(request, there, "warning")
        return HttpResponseRedirect(reverse("admin:conversations_thread_map", args=[id]))
    return HttpResponseRedirect(reverse("admin:conversations_message_why", args=[turn]))


def why_view(pages: ReadOnlyAdmin[Message], request: HttpRequest, id: UUID) -> HttpResponse:
    """Why did it forget this? The turn itself is shown with a reason only."""
    messages = (
        Message.objects.select_related("thread__user", "thread__assistant").defer("content", "text").filter(pk=id)
    )
    message = pages.allowed(request, messages.first())
    sight = access.look(
        request, user=message.thread.user_id, what="why of a turn", object_id=id, thread=message.thread_id
    )
    why = why_page(message, shown=sight.shown)
    return shown(
        pages, request, message, "message/why.html", title=gettext("Why did it forget this?"), page=why, sight=sight
    )


def shown[M: Model](
    pages: ReadOnlyAdmin[M], request: HttpRequest, row: M, template: str, **context: Any
) -> HttpResponse:
    whole = {**pages.admin_site.each_context(request), "opts": pages.opts, "original": row, "media": MEDIA, **context}
    return TemplateResponse(request, f"admin/conversations/{template}", whole)

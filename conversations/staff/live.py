"""A reply as it is written, for staff: the page on which they watch it, and its Server-Sent Events, whose words are Openbook's
unless content may be shown."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from django.db import connection
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext

from conversations import replies
from conversations.accounts import session_user
from conversations.errors import OpenbookError, SignInNeeded
from conversations.models import ContextSnapshot, Reply, Thread
from conversations.replies.events import Event, data_of
from conversations.rest import streams
from conversations.runtime.db import in_database
from conversations.runtime.shapes import moment
from conversations.runtime.wording import lazy
from conversations.staff import access, display
from conversations.staff.access import Sight
from conversations.staff.snapshot.bar import budget_x, segments
from conversations.staff.snapshot.evidence import evidence_of
from conversations.staff.snapshot.verdict import verdict
from conversations.tools import registered
from conversations.wire.events import ContextBuiltData

VIEW = "conversations.view_thread"
WORDS = {
    "message.saved": lazy("The message is stored."),
    "artifact.requested": lazy("A preset was started."),
    "reply.started": lazy("The model is asked."),
    "reply.checking": lazy("What it writes is held back until it has been checked."),
    "reply.thinking": lazy("The model thinks, {seconds} s."),
    "tool.started": lazy("A tool is used: {name}."),
    "tool.finished": lazy("The tool has ended."),
    "reply.completed": lazy("The reply is complete."),
    "reply.stopped": lazy("The person stopped it."),
    "reply.interrupted": lazy("It was interrupted."),
    "reply.failed": lazy("It failed: {error}."),
}
CONTENT = {"reply.delta": "text", "tool.delta": "text", "reply.thinking": "summary"}
STEP = 20
"""Characters by which staff see a text grow that they are not shown."""
OVER = lazy("You may not watch any more: signed out, not permitted, or the stated reason has ended. Reload the page.")


def staff_event(event: Event, *, shown: bool) -> dict[str, Any]:
    """The event as staff see it: its words are ours, and its ``text`` is content, here only where that may be shown. Pure."""
    written = event.data.get(CONTENT.get(event.type, ""), "")
    names = {
        "name": tool_name(event.data.get("name")),
        "seconds": event.data.get("seconds", ""),
        "error": display.error_code(event.data.get("error")),
    }
    return {
        "type": event.type,
        "seq": event.seq,
        "at": moment(event.at),
        "words": WORDS.get(event.type, "").format(**names),
        "text": written if shown else "",
        "characters": len(written) if shown else -(-len(written) // STEP) * STEP,
    }


def tool_name(name: object) -> str:
    """One of ours. Any other is the model's own word, and so content."""
    return str(name) if name in registered() else gettext("one that there is not")


def live_page(thread: Thread) -> dict[str, Any]:
    """The reply that runs, else the newest, and what its newest request was given, without a word of it."""
    in_thread = Reply.objects.filter(thread=thread)
    reply = in_thread.filter(status=Reply.Status.RUNNING).first() or in_thread.order_by("-id").first()
    request = ContextSnapshot.objects.filter(reply=reply).order_by("-id").first() if reply else None
    given = request and {
        "request": request,
        "verdict": verdict(request),
        "segments": segments(request, evidence_of(request, shown=False).body["sections"]),
        "budget_x": budget_x(request),
    }
    return {"reply": reply, "runs": reply is not None and reply.status == Reply.Status.RUNNING, "given": given}


async def with_verdict(data: dict[str, Any], event: Event) -> dict[str, Any]:
    """Of a context that was built: what it says on its page."""
    if event.type != "context.built":
        return data
    snapshot = await in_database(ContextSnapshot.objects.filter(pk=data_of(event, ContextBuiltData)["request"]).first)()
    if snapshot is None:
        return data
    return data | {"words": f"{verdict(snapshot)}.", "url": display.change_url(ContextSnapshot, snapshot.pk)}


async def events_of(thread: Thread, reply_id: UUID | None, after: int) -> AsyncGenerator[Event]:
    """Of this reply, else of the one that runs, else of the next: to its end."""
    if reply_id is None:
        watching = replies.watch(thread.user_id, thread.pk)
        reply_id = await anext(watching)
        await watching.aclose()
    async for event in replies.follow(reply_id, after):
        yield event


def problem_of(session_key: str | None, *, user: int, shown: bool) -> OpenbookError | None:
    """Why this session may not see any more what it was shown when it began to watch."""
    request = session_user.as_of_now(session_key)
    if request is None or not (request.user.is_staff and request.user.has_perm(VIEW)):
        return SignInNeeded()
    return None if not shown or access.outlook(request, user=user).is_open else SignInNeeded()


async def frames(
    events: AsyncGenerator[Event], still: streams.Check, *, shown: bool, problem: str = ""
) -> AsyncIterator[bytes]:
    """The events as they come. It ends with the reply, or once who watches may not any more."""
    if problem:
        yield _frame("over", {"words": str(problem)})
        return
    try:
        told = streams.ticking(events, streams.CHECK_SECONDS)
        async with aclosing(streams.while_allowed(told, still)) as coming:
            async for event in coming:
                if event is None:
                    yield b": still here\n\n"
                else:
                    yield _frame(
                        "told",
                        await with_verdict(staff_event(event, shown=shown), event),
                        id=f"{event.reply}/{event.seq}",
                    )
    except streams.AccessEnded:
        yield _frame("over", {"words": str(OVER)})
        return
    yield _frame("over", {"words": ""})


def stream(request: HttpRequest, thread: Thread, sight: Sight) -> StreamingHttpResponse:
    """What happens in the thread, for who looks on. Raises ``Http404`` for a reply that is none of the thread's.

    Holds no database connection while it is open."""
    reply_id, after = resume_point(request)
    if reply_id and not Reply.objects.filter(pk=reply_id, thread=thread).exists():
        raise Http404
    key, user, shown = request.session.session_key, sight.user, sight.shown
    events = events_of(thread, reply_id, after)
    sent = frames(events, lambda: problem_of(key, user=user, shown=shown), shown=shown, problem=sight.problem)
    response = streams.SelfChecked(sent, content_type="text/event-stream")
    connection.close()  # now: a response that is open would keep it from all others
    return response


def resume_point(request: HttpRequest) -> tuple[UUID | None, int]:
    """The reply and the place to go on from: a browser that lost the stream says what it has, a page what it is about."""
    reply, _, after = request.headers.get("Last-Event-ID", request.GET.get("reply", "")).partition("/")
    try:
        return UUID(reply), int(after) if after.isascii() and after.isdecimal() and len(after) < 10 else 0
    except ValueError:
        return None, 0


def _frame(event: str, data: dict[str, Any], *, id: str = "") -> bytes:
    named = f"id: {id}\n" if id else ""
    return f"{named}event: {event}\ndata: {json.dumps(data)}\n\n".encode()

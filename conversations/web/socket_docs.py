"""The page that documents a thread's socket, made from the shapes of frames and events. Event streams carry the same events."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conversations.rest.docs import FieldDoc
from conversations.runtime.shapes import Field, Id, fields_of, read
from conversations.web import access_checks, consumers
from conversations.wire import events

CLIENTS = Path(settings.BASE_DIR) / "templates" / "conversations" / "socket"

ClientId = Annotated[str, "Up to 100 characters of your choice; makes sending idempotent."]
ReplyId = Annotated[Id, "One of the caller's replies, also of another thread."]


class MessageSend(TypedDict):
    """Store a user turn and let the model answer it. At `new` this opens the thread, which is the socket’s then."""

    content: Annotated[
        str | list[dict[str, Any]], "A text, or a list of text blocks. May be empty where there are files."
    ]
    files: NotRequired[Annotated[list[Id], "Ids of files that it brings, of `POST files/`, at most 20."]]
    client_message_id: NotRequired[ClientId]
    assistant: NotRequired[Annotated[str, "The slug of one, for a new thread."]]
    model: NotRequired[
        Annotated[
            str,
            "Of `GET models/`, for this message; any other is refused with `model_not_offered`, and nothing is stored. Left "
            "out: the thread’s.",
        ]
    ]
    thread_model: NotRequired[
        Annotated[str, "For a new thread: its model, of `GET models/`. Left out: the assistant’s own."]
    ]
    project: NotRequired[Annotated[Id, "For a new thread: the project that it is opened in."]]
    edits: NotRequired[
        Annotated[
            Id,
            "A message of the thread that this is another version of. The path through this one becomes the active one.",
        ]
    ]
    temporary: NotRequired[
        Annotated[
            bool,
            "For a new thread: `true`, and it goes a minute after its last socket, an hour after its last turn at the latest.",
        ]
    ]


class PresetRun(TypedDict):
    """Let the model make a preset’s artifact of the thread. No turn is stored."""

    preset: Annotated[str, "Its slug."]
    client_message_id: NotRequired[ClientId]


class OneReply(TypedDict):
    reply: ReplyId


class ReplyRetry(OneReply):
    """Answer the same turn, or run the same preset, once more."""

    model: NotRequired[
        Annotated[
            str,
            "Of `GET models/`, or the assistant’s fallback model; any other is refused with `model_not_offered`. Left out: "
            "the one that answered last.",
        ]
    ]


class ReplyResume(OneReply):
    """Read the events of a reply again, whether it runs or has ended."""

    after: NotRequired[Annotated[int, "The last `seq` that you have; 0, for all, where it is left out."]]


@dataclass(frozen=True)
class FrameDoc:
    """One type of frame, or of event."""

    type: str
    about: str
    fields: tuple[FieldDoc, ...]


@dataclass(frozen=True)
class Close:
    code: int
    about: str


def described(hints: Mapping[str, Any]) -> tuple[FrameDoc, ...]:
    return tuple(_described(type, read(hint)) for type, hint in hints.items())


def _described(type: str, hint: Field) -> FrameDoc:
    [shape] = hint.types
    fields = tuple(
        FieldDoc(name=name, type=field.type_name, required=field.required, about=field.about)
        for name, field in fields_of(shape).items()
    )
    return FrameDoc(type, hint.about or inspect.getdoc(shape) or "", fields)


FRAMES = described(
    {
        "message.send": MessageSend,
        "preset.run": PresetRun,
        "reply.stop": Annotated[OneReply, "Stop a running reply. The text so far is kept."],
        "reply.retry": ReplyRetry,
        "reply.continue": Annotated[OneReply, "Go on where a reply was cut short: its status is `incomplete`."],
        "reply.resume": ReplyResume,
    }
)
EVENTS = described(events.EVENTS)
CLOSES = (
    Close(
        consumers.SIGN_IN,
        "Not signed in, or no longer; the token is unknown, expired or revoked. Don’t just reconnect.",
    ),
    Close(
        consumers.FORBIDDEN,
        "Not allowed: the token lacks the scope `read`. A page of another origin is refused in the handshake, with HTTP 403.",
    ),
    Close(consumers.GONE, "There is no such thread, or it isn’t yours, or it was deleted. Don’t just reconnect."),
    Close(consumers.TOO_SLOW, "Events were not read for too long. Reconnect and resume; the reply goes on."),
    Close(consumers.RESTART, "This server leaves and others go on. Reconnect at once and resume; the reply goes on."),
    Close(consumers.TRY_LATER, "The database is away. Reconnect after a moment."),
)
TRANSPORT_CLOSES = (
    Close(1001, "The server is restarting, or you left. Reconnect."),
    Close(1002, "What was sent is no frame."),
    Close(1006, "The connection broke off without a word. Reconnect."),
    Close(1007, "A text frame was not UTF-8."),
    Close(1009, "A frame was larger than the limit."),
)
"""Codes of the protocol itself, which the server's library closes with."""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    context = {
        "address": request.build_absolute_uri("/ws/threads/").replace("http", "ws", 1),
        "frames": FRAMES,
        "events": EVENTS,
        "closes": (*CLOSES, *TRANSPORT_CLOSES),
        "most_bytes": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        "most_characters": settings.OPENBOOK_MAX_MESSAGE_CHARS,
        "check_seconds": int(access_checks.CHECK_ACCESS_SECONDS),
        "event_minutes": settings.OPENBOOK_EVENT_MINUTES,
        "python": (CLIENTS / "client.py.txt").read_text(),
        "javascript": (CLIENTS / "client.js.txt").read_text(),
    }
    return render(request, "conversations/socket_docs.html", context)

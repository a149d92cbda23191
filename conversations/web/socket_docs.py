"""What goes over a thread's socket, for the page that documents it. Event streams carry the same events."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conversations.web import consumers

CLIENTS = Path(settings.BASE_DIR) / "templates" / "conversations" / "socket"


@dataclass(frozen=True)
class FrameFieldDoc:
    name: str
    type: str
    about: str = ""
    required: bool = True


@dataclass(frozen=True)
class FrameDoc:
    """One type of frame, or of event."""

    type: str
    about: str
    fields: tuple[FrameFieldDoc, ...]


@dataclass(frozen=True)
class Close:
    code: int
    about: str


TURN = "Object as in `threads/{id}/messages/`"
CLICK = FrameFieldDoc(
    "client_message_id", "string", "Up to 100 characters of your choice; makes sending idempotent.", False
)
REPLY = FrameFieldDoc("reply", "uuid", "One of the caller's replies, also of another thread.")
THREAD = FrameFieldDoc("thread", "uuid")
CALL = FrameFieldDoc("id", "string", "Of the tool's call.")
ENDING = (
    THREAD,
    FrameFieldDoc("message", "object or null", f"The assistant turn. {TURN}."),
    FrameFieldDoc("user_message", "uuid or null", "The turn that was answered; null after a preset."),
    FrameFieldDoc(
        "user_message_status", "string or null", "`refused` where the model declined to answer it, else `complete`."
    ),
    FrameFieldDoc("reply", "object", "As in `threads/{id}/messages/`: also what can be done now, in `ways`."),
    FrameFieldDoc("usage", "object", "Tokens, as the provider counted them."),
    FrameFieldDoc("stop_reason", "string"),
    FrameFieldDoc("request", "uuid or null", "The newest model request, at `requests/{id}/`."),
    FrameFieldDoc("artifact", "object or null", "What a preset made.", False),
)
FAILURE = FrameFieldDoc(
    "error",
    "object",
    "type, code, message, details, request_id. `details.retryable` says whether to retry, `details.retry_after`, where it is "
    "known, after how many seconds.",
)

FRAMES = (
    FrameDoc(
        "message.send",
        "Store a user turn and let the model answer it. At `new` this opens the thread, which is the socket’s then.",
        (
            FrameFieldDoc("content", "string or list of blocks"),
            CLICK,
            FrameFieldDoc("assistant", "string", "The slug of one, for a new thread.", False),
        ),
    ),
    FrameDoc(
        "preset.run",
        "Let the model make a preset’s artifact of the thread. No turn is stored.",
        (FrameFieldDoc("preset", "string", "Its slug."), CLICK),
    ),
    FrameDoc("reply.stop", "Stop a running reply. The text so far is kept.", (REPLY,)),
    FrameDoc(
        "reply.retry",
        "Answer the same turn, or run the same preset, once more.",
        (
            REPLY,
            FrameFieldDoc("model", "string", "The assistant’s fallback model or its own; else the one before.", False),
        ),
    ),
    FrameDoc("reply.continue", "Go on where a reply was cut short: its status is `incomplete`.", (REPLY,)),
    FrameDoc(
        "reply.resume",
        "Read the events of a reply again, whether it runs or has ended.",
        (
            REPLY,
            FrameFieldDoc("after", "integer", "The last `seq` that you have; 0, for all, where it is left out.", False),
        ),
    ),
)
EVENTS = (
    FrameDoc(
        "message.saved",
        "The user turn is stored. Always the first event of a reply to one.",
        (THREAD, FrameFieldDoc("title", "string"), FrameFieldDoc("message", "object", f"The user turn. {TURN}.")),
    ),
    FrameDoc(
        "artifact.requested",
        "A preset is to be carried out. Always the first event of its reply.",
        (THREAD, FrameFieldDoc("preset", "string", "Its slug.")),
    ),
    FrameDoc(
        "context.built",
        "A model request is recorded and about to be sent: one, and another after each round of tools.",
        (
            FrameFieldDoc("request", "uuid", "The snapshot, at `requests/{id}/`."),
            FrameFieldDoc("total_tokens", "integer", "Estimated, in tokens of the model, as are the budgets."),
            FrameFieldDoc("budget", "integer", "Tokens that the context should keep to."),
            FrameFieldDoc("hard_cap", "integer", "Tokens that it never exceeds."),
            FrameFieldDoc("message_history_count", "integer", "Earlier turns that it holds."),
            FrameFieldDoc("left_out", "object", "How many turns were left out, by reason."),
        ),
    ),
    FrameDoc(
        "reply.started",
        "The model has been asked. Once more where it declined and another one is asked in its place.",
        (
            FrameFieldDoc("provider", "string"),
            FrameFieldDoc("model", "string"),
            FrameFieldDoc("fallback_for", "string or null", "The model that declined."),
        ),
    ),
    FrameDoc(
        "reply.thinking",
        "The model thinks before it goes on: told when it begins, about every second, with each piece of a summary, and at "
        "the end of it. It may begin again, after a text or a tool.",
        (
            FrameFieldDoc("seconds", "integer", "Whole seconds that it has thought so far, in this reply in all."),
            FrameFieldDoc(
                "summary",
                "string",
                "The next piece of what it shows of its thinking, often empty. All of them joined are the `thinking` blocks of "
                "the stored turn, with an empty line between two; they are no part of its text.",
            ),
        ),
    ),
    FrameDoc(
        "reply.delta",
        "The next piece of the reply. All of them joined are exactly the stored text.",
        (
            FrameFieldDoc("text", "string"),
            FrameFieldDoc("whole", "true", "Where the single events are gone: this is the whole text.", False),
            FrameFieldDoc("earlier", "true", "What the reply goes on with, before anything new.", False),
        ),
    ),
    FrameDoc(
        "tool.started",
        "The model calls a tool.",
        (CALL, FrameFieldDoc("name", "string"), FrameFieldDoc("text", "string", "What happens, for people.")),
    ),
    FrameDoc(
        "tool.delta",
        "The next piece of what the model writes into an artifact.",
        (
            CALL,
            FrameFieldDoc("text", "string"),
            FrameFieldDoc("title", "string", "With the first piece.", False),
            FrameFieldDoc("kind", "string", "With the first piece.", False),
            FrameFieldDoc("language", "string", "With the first piece, of code.", False),
        ),
    ),
    FrameDoc(
        "tool.finished",
        "The tool has run.",
        (
            CALL,
            FrameFieldDoc("name", "string"),
            FrameFieldDoc("text", "string", "What has happened, for people."),
            FrameFieldDoc("is_error", "boolean", "The model is told of an error too, and goes on."),
            FrameFieldDoc("artifact", "object or null", "id, title, kind, language, version, if one was made."),
        ),
    ),
    FrameDoc("reply.completed", "The end: the model is done.", ENDING),
    FrameDoc("reply.stopped", "The end: somebody stopped it. The text so far is kept.", ENDING),
    FrameDoc("reply.interrupted", "The end: its server ended or died. The text so far is kept.", (*ENDING, FAILURE)),
    FrameDoc("reply.failed", "The end: it failed. The user turn is stored.", (*ENDING, FAILURE)),
    FrameDoc(
        "thread.cleared",
        "Its person has cleared the thread: none of the turns before is left. Only sockets are told, within seconds; `reply` "
        "is null and `seq` is 0.",
        (THREAD,),
    ),
    FrameDoc(
        "error",
        "A frame was refused: `reply` is null and `seq` is 0. The socket stays open, unless a close follows.",
        (
            FrameFieldDoc("type", "string", "The family, such as `invalid_request` or `conflict`."),
            FrameFieldDoc("code", "string", "What exactly, stable."),
            FrameFieldDoc("message", "string", "What to do, for people."),
            FrameFieldDoc("details", "object", "Also the `client_message_id` of the frame, where it had one."),
            FrameFieldDoc("request_id", "string", "Finds it in the server’s log."),
        ),
    ),
)
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
        "check_seconds": int(consumers.CHECK_ACCESS_SECONDS),
        "event_minutes": settings.OPENBOOK_EVENT_MINUTES,
        "python": (CLIENTS / "client.py.txt").read_text(),
        "javascript": (CLIENTS / "client.js.txt").read_text(),
    }
    return render(request, "conversations/socket_docs.html", context)

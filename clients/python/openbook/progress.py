"""A reply as its events come, and how to go on after a cut. Nothing is sent here."""

import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from openbook import types
from openbook.call import Call, part
from openbook.errors import ApiError, ReplyFailed

ENDINGS = {"reply.completed", "reply.stopped", "reply.interrupted", "reply.failed"}

EventType = Literal[
    "message.saved", "artifact.requested", "context.built", "reply.started", "reply.thinking", "reply.checking",
    "reply.delta", "tool.started", "tool.delta", "tool.finished",
    "reply.completed", "reply.stopped", "reply.interrupted", "reply.failed",
]  # fmt: skip


class Event(TypedDict):
    """What ``data`` holds stands at ``/api/v1/docs/websocket/``. ``seq`` is from 1, without a hole."""

    type: EventType
    reply: str
    seq: int
    at: str
    data: dict[str, Any]


class MessageOptions(TypedDict, total=False):
    """What goes with a message; ``types.MessageRequest`` says what each means."""

    files: list[str]
    client_message_id: str
    assistant: str | None
    model: str
    thread_model: str
    project: str | None
    edits: str
    temporary: bool


class Progress:
    """What is known of a reply so far. ``thread``, ``reply`` and ``request`` are ids, empty until they are known;
    ``questions`` are ids of the calls of tools that wait for an answer (``calls.mcp_calls_answer_create``)."""

    def __init__(self, call: Call[Any], reply: str = "", seq: int = 0) -> None:
        self._call = call
        self.reply, self.seq = reply, seq
        self.thread = self.request = self.text = self.status = ""
        self.message: types.MessageAnswer | None = None
        self.error: Mapping[str, Any] | None = None
        self.questions: list[str] = []

    @property
    def has_ended(self) -> bool:
        return bool(self.status)

    @property
    def call(self) -> Call[Any]:
        """The one that gives what is still to come. A message that nobody confirmed is sent again, with its id."""
        return events_call(self.reply, self.seq) if self.reply else self._call

    def take(self, event: Event) -> Event | None:
        """The event as its reader is to have it; ``None`` for one that came before."""
        data = event["data"]
        if event["type"] == "reply.delta" and data.get("whole"):
            event = {**event, "data": {**data, "text": data["text"].removeprefix(self.text)}}
        elif event["seq"] <= self.seq:
            return None
        self.seq, self.reply = event["seq"], event["reply"]
        self._note(event["type"], event["data"])
        return event

    def _note(self, type: EventType, data: Mapping[str, Any]) -> None:
        self.thread = data.get("thread") or self.thread
        self.request = data.get("request") or self.request
        if type == "reply.delta":
            self.text += data["text"]
        elif type == "tool.finished" and data.get("question"):
            self.questions.append(data["question"])
        elif type in ENDINGS:
            self.status = type.removeprefix("reply.")
            self.message, self.error = data["message"], data.get("error")

    def check(self) -> None:
        """Raises ``ReplyFailed`` where the reply failed or was interrupted."""
        if self.error is not None:
            raise ReplyFailed(self.error, thread=self.thread, reply=self.reply)


def events_call(reply: str, after: int = 0) -> Call[Any]:
    return Call("GET", f"replies/{part(reply)}/events/", query={"after": after})


def read_event(line: str) -> Event | None:
    """The event of a line of a stream. Raises ``ApiError`` where the server ends the stream early, and says why."""
    if not line.startswith("data:"):
        return None
    value = json.loads(line[5:])
    if "type" not in value and "error" in value:
        raise ApiError(403, value["error"])
    return value  # type: ignore[no-any-return]


def message_call(thread: str | None, body: Mapping[str, Any]) -> Call[Any]:
    return Call("POST", f"threads/{part(thread or 'new')}/messages/stream/", body=body)

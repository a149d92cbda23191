"""The events of replies: what each tells, in ``data``. Sockets and event streams carry the same."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from conversations.context.record.snapshot_shapes import UsageAnswer
from conversations.errors import ErrorObject
from conversations.runtime.shapes import Id, Time
from conversations.wire import MessageAnswer, ReplyAnswer
from conversations.wire.artifacts import ArtifactNote

TURN = "Object as in `threads/{id}/messages/`"
CallId = Annotated[str, "Of the tool's call."]


class Envelope(TypedDict):
    """``reply`` is null, and ``seq`` 0, of what belongs to no reply."""

    type: str
    reply: Id | None
    seq: int
    at: Time
    data: Mapping[str, Any]


class MessageSavedData(TypedDict):
    """The user turn is stored. Always the first event of a reply to one."""

    thread: Id
    title: str
    message: Annotated[MessageAnswer, f"The user turn. {TURN}."]


class ArtifactRequestedData(TypedDict):
    """A preset is to be carried out. Always the first event of its reply."""

    thread: Id
    preset: Annotated[str, "Its slug."]


class ContextBuiltData(TypedDict):
    """A model request is recorded and about to be sent: one, and another after each round of tools."""

    request: Annotated[Id, "The snapshot, at `requests/{id}/`."]
    total_tokens: Annotated[int, "Estimated, in tokens of the model, as are the budgets."]
    budget: Annotated[int, "Tokens that the context should keep to."]
    hard_cap: Annotated[int, "Tokens that it never exceeds."]
    message_history_count: Annotated[int, "Earlier turns that it holds."]
    left_out: Annotated[dict[str, int], "How many turns were left out, by reason."]


class ReplyStartedData(TypedDict):
    """The model has been asked. Once more where another one is asked in its place, as it declined or could not be asked."""

    provider: str
    model: str
    fallback_for: Annotated[str | None, "The model in whose place it is asked."]
    fallback_cause: Annotated[str | None, "The code of why that one did not answer."]


class ReplyThinkingData(TypedDict):
    """The model thinks before it goes on: told when it begins, about every second, with each piece of a summary, and at the
    end of it. It may begin again, after a text or a tool."""

    seconds: Annotated[int, "Whole seconds that it has thought so far, in this reply in all."]
    summary: Annotated[
        str,
        "The next piece of what it shows of its thinking, often empty. All of them joined are the `thinking` blocks of "
        "the stored turn, with an empty line between two; they are no part of its text.",
    ]


class ReplyCheckingData(TypedDict):
    """What the model writes is shown once it has been checked: this server has moderation that may refuse it."""


class ReplyDeltaData(TypedDict):
    """The next piece of the reply. All of them joined are exactly the stored text."""

    text: str
    whole: NotRequired[Annotated[Literal[True], "Where the single events are gone: this is the whole text."]]
    earlier: NotRequired[Annotated[Literal[True], "What the reply goes on with, before anything new."]]


class ToolStartedData(TypedDict):
    """The model calls a tool."""

    id: CallId
    name: str
    text: Annotated[str, "What happens, for people."]


class ToolDeltaData(TypedDict):
    """The next piece of what the model writes into an artifact."""

    id: CallId
    text: str
    title: NotRequired[Annotated[str, "With the first piece."]]
    kind: NotRequired[Annotated[str, "With the first piece."]]
    language: NotRequired[Annotated[str, "With the first piece, of code."]]


class ToolFinishedData(TypedDict):
    """The tool has run."""

    id: CallId
    name: str
    text: Annotated[str, "What has happened, for people."]
    is_error: Annotated[bool, "The model is told of an error too, and goes on."]
    artifact: Annotated[ArtifactNote | None, "id, title, kind, language, version, if one was made."]
    question: Annotated[
        Id | None, "The call that was not made: say by `POST mcp-calls/{id}/answer/` whether it may be."
    ]


class ReplyEndedData(TypedDict):
    thread: Id
    message: Annotated[MessageAnswer | None, f"The assistant turn. {TURN}."]
    user_message: Annotated[Id | None, "The turn that was answered; null after a preset."]
    user_message_status: Annotated[str | None, "`refused` where the model declined to answer it, else `complete`."]
    reply: Annotated[ReplyAnswer, "As in `threads/{id}/messages/`: also what can be done now, in `ways`."]
    usage: Annotated[UsageAnswer, "Tokens, as the provider counted them."]
    stop_reason: str
    request: Annotated[Id | None, "The newest model request, at `requests/{id}/`."]
    artifact: NotRequired[Annotated[ArtifactNote | None, "What a preset made."]]


class ReplyBrokenData(ReplyEndedData):
    error: Annotated[
        ErrorObject,
        "type, code, message, details, request_id. `details.retryable` says whether to retry, `details.retry_after`, "
        "where it is known, after how many seconds.",
    ]


class ThreadClearedData(TypedDict):
    """Its person has cleared the thread: none of the turns before is left. Only sockets are told, within seconds; `reply` is
    null and `seq` is 0."""

    thread: Id


type EventData = (
    MessageSavedData
    | ArtifactRequestedData
    | ContextBuiltData
    | ReplyStartedData
    | ReplyThinkingData
    | ReplyCheckingData
    | ReplyDeltaData
    | ToolStartedData
    | ToolDeltaData
    | ToolFinishedData
    | ReplyEndedData
    | ReplyBrokenData
)
"""What the event log of a reply holds."""

OF_REPLIES: Mapping[str, Any] = {
    "message.saved": MessageSavedData,
    "artifact.requested": ArtifactRequestedData,
    "context.built": ContextBuiltData,
    "reply.started": ReplyStartedData,
    "reply.thinking": ReplyThinkingData,
    "reply.checking": ReplyCheckingData,
    "reply.delta": ReplyDeltaData,
    "tool.started": ToolStartedData,
    "tool.delta": ToolDeltaData,
    "tool.finished": ToolFinishedData,
    "reply.completed": Annotated[ReplyEndedData, "The end: the model is done."],
    "reply.stopped": Annotated[ReplyEndedData, "The end: somebody stopped it. The text so far is kept."],
    "reply.interrupted": Annotated[ReplyBrokenData, "The end: its server ended or died. The text so far is kept."],
    "reply.failed": Annotated[ReplyBrokenData, "The end: it failed. The user turn is stored."],
}
"""The events of a reply by type, the four endings last."""
EVENTS: Mapping[str, Any] = {
    **OF_REPLIES,
    "thread.cleared": ThreadClearedData,
    "error": Annotated[
        ErrorObject,
        "A frame was refused: `reply` is null and `seq` is 0. The socket stays open, unless a close follows. `details` holds "
        "also the `client_message_id` of the frame, where it had one.",
    ],
}
"""Those of sockets. A description beside a shape stands for its own."""

"""The shapes of the Anthropic Messages API, as far as Openbook speaks it; docs/messages-api.md has them in a table. Pure."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from conversations.context.caller_options import CallerOptions
from conversations.context.record.snapshot_shapes import UsageAnswer
from conversations.context.record.usage import told_usage
from conversations.context.tokens.budget import BudgetOrigin
from conversations.errors import ErrorObject, InvalidMessage
from conversations.models import Assistant, text_blocks
from conversations.providers.answering_model import own_row
from conversations.providers.base import COUNTED_TOKENS, Usage
from conversations.replies.events import ENDINGS, Event, data_of
from conversations.replies.user_content import MOST_FILES
from conversations.rest.message_blocks import Content, ContentReader, calls_in
from conversations.rest.message_files import SentFile
from conversations.rest.messages_fields import fields_of, thinking_of
from conversations.runtime.text import clean
from conversations.wire.events import ContextBuiltData, ReplyDeltaData, ReplyEndedData

Json = dict[str, Any]
READ = (
    *("model", "max_tokens", "messages", "metadata", "stream", "system"),
    *("tools", "tool_choice", "stop_sequences", "output_config", "output_format", "thinking"),
)
WITHOUT_EFFECT = ("cache_control",)
"""How prompts are cached is the assistant's, and changes no answer."""

type Refusals = Mapping[str, tuple[str, Sequence[Any]]]

ASSISTANTS = "the assistant decides"
OWN_TOOLS = "the assistant calls its own tools, on the server"
NO_THREAD = "send the whole history, or name a thread of yours by x-openbook-thread"
TOKENS = "who asks is known by the token"
REFUSED: Refusals = {
    "temperature": (ASSISTANTS, [1]),
    "top_p": (ASSISTANTS, [1]),
    "top_k": (ASSISTANTS, []),
    "speed": (ASSISTANTS, ["standard"]),
    "service_tier": (ASSISTANTS, ["auto"]),
    "inference_geo": ("where a model runs is the operator's to say", []),
    "mcp_servers": (OWN_TOOLS, [[]]),
    "container": ("nothing is run on the server", []),
    "context_management": ("what the model is given is chosen from the record of the thread", []),
    "thread": (NO_THREAD, []),
    "user_profile_id": (TOKENS, []),
    "workspace_id": (TOKENS, []),
    "diagnostics": ("what the model was given is at GET /api/v1/requests/{id}/, by the id in x-openbook-request", []),
}
"""What would change the answer and can't be honoured, and with which values it changes nothing."""

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
STATUSES = {502: 500, 503: 529}
"""Of ours, as the Messages API has them."""
FAILURES = {
    "invalid_request": 400,
    "request_too_large": 413,
    "rate_limited": 429,
    "timeout": 504,
    "overloaded": 529,
    "refused_by_moderation": 403,
}
"""How a reply that failed is told, by the code of its error; all others are 500."""

REFUSAL = "refused"
WORDS = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"})
TELLING = frozenset({"reply.thinking", "reply.checking", "reply.delta", "tool.started", *ENDINGS})
"""The events from which on it is known that a reply has begun, or how it ended."""


class SentMessage(NamedTuple):
    """``role`` is user, assistant or system, ``content`` a text or blocks, ``place`` where it stands."""

    role: str
    content: Any
    place: str


@dataclass(frozen=True, kw_only=True)
class SentTurn:
    role: str
    text: str
    files: Sequence[SentFile] = ()
    blocks: Sequence[Json] = ()
    """Calls of the program's tools, or what these gave."""


@dataclass(frozen=True, kw_only=True)
class MessagesCall:
    """What a body asks for. ``newest`` is the text of the turn to answer, which brings ``files`` and the ``results`` of tools,
    ``earlier`` is what the program says went before it. ``thinks``: it asks for thinking. ``tells_usage``: a stream ends with
    what it took, where that has to be asked for. ``names`` are those of parameters that the API calls otherwise. ``previous``
    is the reply that the newest message follows, where it is named, and ``echo`` what of the body its answer repeats."""

    model: str
    options: CallerOptions
    stream: bool
    thread: str | None
    earlier: Sequence[SentTurn]
    newest: Sequence[Json]
    files: Sequence[SentFile] = ()
    results: Sequence[Json] = ()
    thinks: bool = False
    tells_usage: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    previous: uuid.UUID | None = None
    echo: Mapping[str, Any] = field(default_factory=dict)


def read_call(body: Any, *, counting: bool = False) -> MessagesCall:
    """The call of a body; ``counting`` is one that asks for the number of its tokens. Raises ``InvalidMessage``."""
    if not isinstance(body, dict):
        raise InvalidMessage("The body must be a JSON object with `model`, `max_tokens` and `messages`.")
    _refuse(body)
    options = CallerOptions(
        fields=fields_of(body),
        max_tokens=None if counting else tokens_of(body, "max_tokens"),
        thinking_tokens=thinking_of(body.get("thinking")),
    )
    call = call_of(body, message_of=_message, options=options)
    return replace(call, thinks=body.get("thinking") is not None and options.thinking_tokens != 0)


def call_of(
    body: Json,
    *,
    message_of: Callable[[Any, int], SentMessage],
    options: CallerOptions,
    reader: type[ContentReader] = ContentReader,
) -> MessagesCall:
    """What calls of all shapes have in common. ``message_of`` reads one of the messages, ``reader`` its content;
    ``options`` are what is asked for beside them. Raises ``InvalidMessage``."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidMessage("`messages` must be a list of at least one message.", field="messages")
    read = [message_of(message, place) for place, message in enumerate(messages)]
    turns = [message for message in read if message.role != "system"]
    newest = list(takewhile(lambda message: message.role == "user", reversed(turns)))[::-1]
    if not newest:
        raise InvalidMessage(
            "The last message must be the user's. A reply can't be begun for the model.", field="messages"
        )
    system = [body.get("system"), *(message.content for message in read if message.role == "system")]
    instructions = "\n\n".join(filter(None, map(_system_text, system)))
    model, stream = body.get("model"), body.get("stream")
    if not isinstance(model, str) or not model:
        raise InvalidMessage(
            "`model` must be the name of an assistant, or any other text for the default one.", field="model"
        )
    if not isinstance(stream, bool | None):
        raise InvalidMessage("`stream` must be true or false.", field="stream")
    calls = frozenset(
        [block["id"] for message in turns if message.role == "assistant" for block in calls_in(message.content)]
    )
    reading = partial(reader, calls=calls, has_tools=bool(options.fields.tools))
    asked = _newest(newest, reading())
    if options.fields.choice:  # which services refuse beside thinking
        options = replace(options, thinking_tokens=0)
    return MessagesCall(
        model=clean(model),
        options=replace(options, instructions=instructions),
        stream=bool(stream),
        thread=_thread(body.get("metadata")),
        earlier=_joined(turns[: len(turns) - len(newest)], reading),
        newest=[{"type": "text", "text": text} for text in asked.texts],
        files=asked.files,
        results=asked.blocks,
    )


def tokens_of(body: Json, name: str) -> int:
    """So many tokens the answer may have. Raises ``InvalidMessage``."""
    most = body.get(name)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InvalidMessage(f"`{name}` must be a number, 1 or greater.", field=name)
    return most


def message(
    *, id: str, model: str, content: Sequence[Json], stop_reason: str | None, stop_sequence: str | None, usage: Usage
) -> Json:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence if stop_reason == "stop_sequence" else None,
        "usage": _usage(usage),
    }


def answer(ending: Event, *, id: str, model: str, stop_sequence: str | None = None) -> Json:
    """The message that a reply came to, from its last event. One that failed has none, see ``failure``. ``stop_sequence`` is
    the only text at which it was to end."""
    data = data_of(ending, ReplyEndedData)
    text = data["message"]["text"] if data["message"] else ""
    return message(
        id=id,
        model=model,
        content=[*text_blocks(text), *open_calls(ending)] if text else open_calls(ending),
        stop_reason=stop_reason(ending),
        stop_sequence=stop_sequence,
        usage=known_usage(data["usage"]),
    )


def open_calls(ending: Event) -> list[Json]:
    """The calls of the program's tools that a reply ended with."""
    turn = data_of(ending, ReplyEndedData)["message"]
    blocks = turn.get("content", ()) if turn else ()
    given = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
    return [block for block in blocks if block["type"] == "tool_use" and block["id"] not in given]


def stop_reason(ending: Event) -> str:
    """In the words of the Messages API. One that a person stopped has ended for whoever waits for it."""
    if "error" in ending.data:
        return "refusal"
    word = data_of(ending, ReplyEndedData)["stop_reason"]
    if word == "tool_use" and open_calls(ending):
        return word
    return word if word in WORDS else "end_turn"


def failure(ending: Event) -> tuple[int, ErrorObject] | None:
    """Status and error of a reply that failed. To refuse is an answer here."""
    error: ErrorObject | None = ending.data.get("error")
    if error is None or error["code"] == REFUSAL:
        return None
    return FAILURES.get(error["code"], 500), error


def error_body(status: int, error: ErrorObject) -> Json:
    """One of our error objects as the Messages API tells it, with what it says more under ``details``; ``param`` and ``code``
    are what programs for the API of OpenAI look for beside that."""
    return {
        "type": "error",
        "error": {
            "type": ERRORS.get(status, ERRORS[400] if status < 500 else ERRORS[500]),
            "message": error["message"],
            "param": error["details"].get("field"),
            "code": error["code"],
            "details": {**error["details"], "code": error["code"]},
        },
        "request_id": error["request_id"],
    }


def model_object(assistant: Assistant) -> Json:
    """As both APIs have it: each client reads the names that it knows."""
    row = own_row(assistant)
    most = BudgetOrigin.with_model(assistant, row).most if row else assistant.hard_cap_tokens
    return {
        "type": "model",
        "object": "model",
        "id": assistant.slug,
        "display_name": assistant.name,
        "created_at": "1970-01-01T00:00:00Z",  # as the API has it where that isn't known
        "lifecycle": "active",
        "max_input_tokens": most,
        "max_tokens": assistant.max_output_tokens,
        "created": 0,
        "owned_by": "openbook",
    }


@dataclass(kw_only=True)
class MessagesStream:
    """A reply's events as the events of the Messages API, in order."""

    id: str
    model: str
    stop_sequence: str | None = None
    _began: bool = False
    _speaks: bool = False

    def of(self, event: Event) -> Iterator[Json]:
        match event.type:
            case "context.built":
                yield from self.begin(data_of(event, ContextBuiltData)["total_tokens"])
            case "reply.thinking" | "reply.checking":
                yield from self.begin()
                yield PING
            case "reply.delta":
                yield from self._speak()
                delta = {"type": "text_delta", "text": data_of(event, ReplyDeltaData)["text"]}
                yield {"type": "content_block_delta", "index": 0, "delta": delta}
            case _ if event.is_last:
                yield from self._end(event)

    def begin(self, input_tokens: int = 0) -> Iterator[Json]:
        """The first event, once; ``input_tokens`` are estimated, and told exactly at the end."""
        if self._began:
            return
        self._began = True
        usage = Usage(input_tokens=input_tokens)
        start = message(id=self.id, model=self.model, content=[], stop_reason=None, stop_sequence=None, usage=usage)
        yield {"type": "message_start", "message": start}

    def _speak(self) -> Iterator[Json]:
        yield from self.begin()
        if not self._speaks:
            self._speaks = True
            yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

    def _end(self, event: Event) -> Iterator[Json]:
        if failed := failure(event):
            yield error_body(*failed)
            return
        yield from self.begin()
        if self._speaks:
            yield {"type": "content_block_stop", "index": 0}
        for index, block in enumerate(open_calls(event), start=int(self._speaks)):
            yield from _call_events(block, index)
        reason = stop_reason(event)
        delta = {"stop_reason": reason, "stop_sequence": self.stop_sequence if reason == "stop_sequence" else None}
        yield {
            "type": "message_delta",
            "delta": delta,
            "usage": _usage(known_usage(data_of(event, ReplyEndedData)["usage"])),
        }
        yield {"type": "message_stop"}


def _call_events(block: Json, index: int) -> Iterator[Json]:
    """A call, once it is whole."""
    yield {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}
    for piece in pieces_of(block["input"]):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def pieces_of(input: Json) -> Iterator[str]:
    """Its JSON in pieces, as it is streamed."""
    written = json.dumps(input, ensure_ascii=False)
    return (written[start : start + PIECE_CHARS] for start in range(0, len(written), PIECE_CHARS))


PIECE_CHARS = 4_000
PING: Json = {"type": "ping"}


def frame(event: Json) -> bytes:
    """In ASCII: clients that split lines as Python does would break the data at U+2028 and the like."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def known_usage(usage: UsageAnswer) -> Usage:
    """The estimate where nothing was reported: this shape has numbers only."""
    if usage["input_tokens"] is None:
        estimated = usage["estimated_input_tokens"] or 0, usage["estimated_output_tokens"] or 0
        return Usage(input_tokens=estimated[0], output_tokens=estimated[1])
    return told_usage({name: value for name, value in usage.items() if isinstance(value, int)})


def _usage(usage: Usage) -> Json:
    """Numbers that are parts of others stand beside them here."""
    for_an_hour = usage.cache_creation_1h_input_tokens
    return {
        **{name: getattr(usage, name) for name in COUNTED_TOKENS},
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_creation_input_tokens - for_an_hour,
            "ephemeral_1h_input_tokens": for_an_hour,
        },
        "output_tokens_details": {"thinking_tokens": usage.thinking_tokens},
    }


def known(name: str) -> bool:
    """Whether there is such a parameter."""
    return name in READ or name in REFUSED or name in WITHOUT_EFFECT


def refuse(body: Json, refused: Refusals) -> None:
    """Raises ``InvalidMessage`` where a parameter has a value that can't be honoured."""
    for name, (why, harmless) in refused.items():
        value = body.get(name)
        if value is not None and value not in harmless:
            raise InvalidMessage(f"Leave `{name}` out: {why}.", field=name)


def check_metadata(metadata: Any, allowed: Set[str]) -> None:
    """Raises ``InvalidMessage`` for a key that is not known."""
    if isinstance(metadata, dict) and (others := metadata.keys() - allowed):
        raise InvalidMessage(
            f"`metadata` may hold {' and '.join(f'`{name}`' for name in sorted(allowed))}, and nothing else; leave "
            f"`{min(others)[:60]}` out.",
            field="metadata",
        )


def _refuse(body: Json) -> None:
    if body.get("thread") is not None:  # the SDK goes on without, by this code
        details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
        raise InvalidMessage(f"Leave `thread` out: {NO_THREAD}.", field="thread", **details)
    refuse(body, REFUSED)
    check_metadata(body.get("metadata"), {"thread", "user_id"})


def _thread(metadata: Any) -> str | None:
    if metadata is None:
        return None
    named = metadata.get("thread") if isinstance(metadata, dict) else metadata
    if named is not None and not isinstance(named, str):
        raise InvalidMessage("`metadata.thread` must be the id of a thread, or `new`.", field="metadata")
    return named


def _message(message: Any, number: int) -> SentMessage:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("user", "assistant", "system"):
        raise InvalidMessage(
            f"`messages[{number}]` must be an object with `role` (`user` or `assistant`) and `content`.",
            field="messages",
        )
    return sent_message(role, message.get("content"), f"messages[{number}].content")


def sent_message(role: str, content: Any, place: str) -> SentMessage:
    """Raises ``InvalidMessage``."""
    if not _is_content(content):
        raise InvalidMessage(f"`{place}` must be a text or a list of blocks.", field="messages")
    return SentMessage(role, content, place)


def _is_content(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Sequence) and all(isinstance(block, dict) for block in value))


def _newest(messages: Sequence[SentMessage], reader: ContentReader) -> Content:
    """The content of the turn to answer, of which everything counts."""
    for message in messages:
        reader.read(message.content, message.place)
    if len(reader.files) > MOST_FILES:
        raise InvalidMessage(
            f"A message may bring {MOST_FILES} files; this one has {len(reader.files)}. Send it in parts.",
            field="messages",
        )
    return reader.done()


def _joined(messages: Sequence[SentMessage], reader: Callable[[], ContentReader]) -> list[SentTurn]:
    """Earlier messages, neighbours of one role as one; what can't be read is left out."""
    turns = (_earlier(role, list(some), reader()) for role, some in groupby(messages, key=lambda message: message.role))
    return [turn for turn in turns if turn.text or turn.files or turn.blocks]


def _earlier(role: str, messages: Sequence[SentMessage], reader: ContentReader) -> SentTurn:
    for message in messages:
        if role == "user":
            reader.read_known(message.content, message.place)
        else:
            reader.read_answer(message.content)
    content = reader.done()
    return SentTurn(role=role, text=content.text, files=content.files, blocks=content.blocks)


def _system_text(value: Any) -> str:
    if value is not None and not _is_content(value):
        raise InvalidMessage("`system` must be a text or a list of text blocks.", field="system")
    reader = ContentReader()
    reader.read_texts(value or "")
    return reader.done().text

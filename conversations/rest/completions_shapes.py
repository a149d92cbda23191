"""The shapes of OpenAI's Chat Completions API, as far as Openbook speaks it; docs/messages-api.md has them in a table.
Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conversations.context.caller_options import CallerOptions
from conversations.errors import InvalidMessage
from conversations.models import text_blocks
from conversations.providers.base import Usage
from conversations.replies.events import Event, data_of
from conversations.rest.completions_fields import calls_of, fields_of, tool_call
from conversations.rest.completions_parts import PartReader, ToolPart
from conversations.rest.messages_shapes import (
    ASSISTANTS,
    OWN_TOOLS,
    Json,
    MessagesCall,
    Refusals,
    SentMessage,
    call_of,
    check_metadata,
    error_body,
    failure,
    known_usage,
    open_calls,
    pieces_of,
    refuse,
    sent_message,
    stop_reason,
    tokens_of,
)
from conversations.wire.events import ReplyDeltaData, ReplyEndedData

MAX_TOKENS = ("max_tokens", "max_completion_tokens")
READ = (
    *("model", "messages", "metadata", "stream", "stream_options", *MAX_TOKENS),
    *("tools", "tool_choice", "parallel_tool_calls", "stop", "response_format"),
)
NAMES = {"stop_sequences": "stop", "output_config": "response_format", "thinking": "tool_choice"}
"""Of parameters that the Messages API calls otherwise."""
WITHOUT_EFFECT = ("user", "safety_identifier", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention")
"""Who asks is known by the token, and how prompts are cached is the assistant's."""

ONE_ANSWER = "there is one answer to a message"
TEXT_ONLY = "an answer is a text"
REFUSED: Refusals = {
    "n": (ONE_ANSWER, [1]),
    "best_of": (ONE_ANSWER, [1]),
    "logprobs": ("they are not known", [False]),
    "top_logprobs": ("they are not known", [0]),
    "temperature": (ASSISTANTS, [1]),
    "top_p": (ASSISTANTS, [1]),
    "frequency_penalty": (ASSISTANTS, [0]),
    "presence_penalty": (ASSISTANTS, [0]),
    "logit_bias": (ASSISTANTS, [{}]),
    "seed": ("an answer can't be made the same again", []),
    "reasoning_effort": (ASSISTANTS, []),
    "verbosity": (ASSISTANTS, []),
    "service_tier": (ASSISTANTS, ["auto", "default"]),
    "functions": (OWN_TOOLS, [[]]),
    "function_call": (OWN_TOOLS, ["none", "auto"]),
    "web_search_options": (OWN_TOOLS, []),
    "modalities": (TEXT_ONLY, [["text"]]),
    "audio": (TEXT_ONLY, []),
    "prediction": ("no model here takes one", []),
    "moderation": ("what is checked here is the operator's to say", []),
    "store": ("what is said is always stored, in a thread of yours", [True]),
}
"""What would change the answer and can't be honoured, and with which values it changes nothing."""

FINISHED = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""By the stop reason of the Messages API; all others are ``stop``."""
STATUSES = {502: 500, 529: 503}
"""Of ours and of the Messages API, as programs for this API know them."""
WAITING = b": nothing new\n\n"
DONE = b"data: [DONE]\n\n"


def read_call(body: Any) -> MessagesCall:
    """The call of a body. Raises ``InvalidMessage``."""
    if not isinstance(body, dict):
        raise InvalidMessage("The body must be a JSON object with `model` and `messages`.")
    refuse(body, REFUSED)
    given = [name for name in MAX_TOKENS if body.get(name) is not None]
    if len(given) > 1:
        raise InvalidMessage("Leave `max_tokens` out where there is `max_completion_tokens`.", field="max_tokens")
    most = tokens_of(body, given[0]) if given else None
    check_metadata(body.get("metadata"), {"thread"})
    options = CallerOptions(fields=fields_of(body), max_tokens=most)
    call = call_of(body, message_of=_message, options=options, reader=PartReader)
    tells_usage = _tells_usage(body.get("stream_options"), is_stream=call.stream)
    return replace(call, tells_usage=tells_usage, names=NAMES)


def known(name: str) -> bool:
    """Whether there is such a parameter."""
    return name in READ or name in REFUSED or name in WITHOUT_EFFECT


def answer(ending: Event, *, id: str, created: int, model: str) -> Json:
    """The completion that a reply came to, from its last event. One that failed has none."""
    data = data_of(ending, ReplyEndedData)
    text = data["message"]["text"] if data["message"] else ""
    message: Json = {"role": "assistant", "content": text or None, "refusal": None}
    if calls := [tool_call(block) for block in open_calls(ending)]:
        message["tool_calls"] = calls
    return {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(ending)}],
        "usage": _usage(known_usage(data["usage"])),
    }


@dataclass(kw_only=True)
class CompletionsFrames:
    """A reply's events as the chunks of the API, in order, each as an event of a stream."""

    id: str
    created: int
    model: str
    tells_usage: bool
    _began: bool = False

    def of(self, event: Event) -> Iterator[bytes]:
        match event.type:
            case "context.built":
                yield from self._begin()
            case "reply.delta":
                yield from self._begin()
                yield self._choice({"content": data_of(event, ReplyDeltaData)["text"]})
            case _ if event.is_last:
                yield from self._end(event)

    def waiting(self) -> Iterator[bytes]:
        yield from self._begin()
        yield WAITING

    def _begin(self) -> Iterator[bytes]:
        if not self._began:
            self._began = True
            yield self._choice({"role": "assistant", "content": "", "refusal": None})

    def _end(self, event: Event) -> Iterator[bytes]:
        if failed := failure(event):
            status, error = failed
            yield frame(error_body(STATUSES.get(status, status), error))
            return
        yield from self._begin()
        for index, block in enumerate(open_calls(event)):
            called, function = tool_call(block), {"name": block["name"], "arguments": ""}
            yield self._choice({"tool_calls": [{"index": index, **called, "function": function}]})
            for piece in pieces_of(block["input"]):
                yield self._choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield self._choice({}, _finish_reason(event))
        if self.tells_usage:
            yield self._chunk([], _usage(known_usage(data_of(event, ReplyEndedData)["usage"])))
        yield DONE

    def _choice(self, delta: Json, finish_reason: str | None = None) -> bytes:
        return self._chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}])

    def _chunk(self, choices: list[Json], usage: Json | None = None) -> bytes:
        chunk: Json = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }
        return frame(chunk | {"usage": usage} if self.tells_usage else chunk)


def frame(data: Json) -> bytes:
    """In ASCII: clients that split lines as Python does would break the data at U+2028 and the like."""
    return f"data: {json.dumps(data)}\n\n".encode()


def _finish_reason(ending: Event) -> str:
    return FINISHED.get(stop_reason(ending), "stop")


def _usage(usage: Usage) -> Json:
    """Numbers that stand beside others in the Messages API are parts of them here."""
    cached = usage.cache_read_input_tokens
    prompt = usage.input_tokens + usage.cache_creation_input_tokens + cached
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens, "audio_tokens": 0},
    }


def _tells_usage(options: Any, *, is_stream: bool) -> bool:
    if options is None:
        return False
    if not is_stream or not isinstance(options, dict):
        raise InvalidMessage("`stream_options` must be an object, and `stream` true.", field="stream_options")
    for name, value in options.items():
        if name != "include_usage" and value not in (None, False):
            raise InvalidMessage(f"Leave `{name[:60]}` of `stream_options` out.", field="stream_options")
    wanted = options.get("include_usage")
    if not isinstance(wanted, bool | None):
        raise InvalidMessage("`include_usage` must be true or false.", field="stream_options")
    return bool(wanted)


ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system", "tool": "user"}
"""Of this API, as the roles of the Messages API."""


def _message(message: Any, number: int) -> SentMessage:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidMessage(
            f"`messages[{number}]` must be an object with `role` ({', '.join(ROLES)}) and `content`.", field="messages"
        )
    if message.get("name") is not None:
        raise InvalidMessage(
            f"Leave `messages[{number}].name` out: a thread is one person's. Say in the text who speaks.",
            field="messages",
        )
    content, place = message.get("content"), f"messages[{number}].content"
    if role == "tool":
        return SentMessage("user", [ToolPart(content=content, call=message.get("tool_call_id"))], place)
    if role == "assistant" and content is None:
        content = ""  # it called a tool, and said nothing
    if role == "assistant" and (calls := calls_of(message.get("tool_calls"))):
        said = sent_message(role, content, place).content
        return SentMessage(role, [*(text_blocks(said) if isinstance(said, str) else said), *calls], place)
    return sent_message(ROLES[role], content, place)

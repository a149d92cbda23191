"""The kinds of servers: how each of them tells an answer, and what it refuses. As documented, and as issues tell of them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.chat_server.scripts import Call, ChatAnswer, Part, Thought, error, refusal
from tests.model_scripts import BrokenStream, Delay, Gate, Raw, ScriptedRefusal, ScriptedStream, Stall, Step

DONE = b"data: [DONE]\n\n"
PIECE_CHARS, TAG_CHARS = 5, 3
PLAIN_FIELDS = frozenset(
    {"model", "messages", "stream", "stream_options", "max_tokens", "tools", "tool_choice", "reasoning_effort"}
)


@dataclass(frozen=True, kw_only=True)
class ServerKind:
    """``reasoning``: the field for what the model thinks; ``tags`` stand around what of it is left in the text. ``usage``: told
    where ``asked`` for, ``always`` (with the last chunk), in a ``groq`` field, or ``never``. ``whole_calls``: a call comes
    in one piece. ``call_index``: ``own``, ``zero`` or ``none``. ``comments`` come before the answer. ``fields`` are those that
    it takes, where it refuses others. ``roles_in_order``: it refuses what mistral-common's validator does."""

    name: str
    reasoning: tuple[str, ...] = ("reasoning_content",)
    tags: tuple[str, str] | None = None
    usage: str = "asked"
    done: bool = True
    whole_calls: bool = False
    as_objects: bool = False
    call_index: str = "own"
    call_ids: bool = True
    calls_reason: str = "tool_calls"
    comments: bytes = b""
    first: Mapping[str, Any] | None = None
    fields: frozenset[str] = frozenset()
    most_tokens: str = "max_tokens"
    id_pattern: str = ""
    wants_thoughts: bool = False
    needs_key: bool = True
    content_parts: bool = False
    roles_in_order: bool = False

    @property
    def tells_thoughts(self) -> bool:
        return bool(self.reasoning or self.tags or self.content_parts)

    def objection(self, body: Mapping[str, Any]) -> ScriptedRefusal | None:
        """Why it would not take this request."""
        unknown = sorted(set(body) - self.fields) if self.fields else []
        if unknown:
            return self.refuse_field(unknown[0])
        wrong = {"max_tokens", "max_completion_tokens"} - {self.most_tokens}
        if self.name in ("openai", "azure") and wrong & set(body):
            text = f"Unsupported parameter: '{wrong.pop()}' is not supported with this model."
            return error(400, text, code="unsupported_parameter")
        return next((error(400, text) for text in self.faults(body)), None)

    def refuse_field(self, name: str) -> ScriptedRefusal:
        if self.name == "mistral":
            detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]
            return refusal(422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"})
        return error(400, f"Unrecognized request argument supplied: {name}")

    def faults(self, body: Mapping[str, Any]) -> Iterator[str]:
        if not isinstance(body.get("model"), str) or not body.get("model"):
            yield "you must provide a model parameter"
        if not isinstance(body.get(self.most_tokens), int):
            yield f"{self.most_tokens} must be a number"
        for place, message in enumerate(body["messages"]):
            yield from (f"messages[{place}]: {fault}" for fault in self.message_faults(message, place))
        yield from unanswered(body["messages"])
        if self.roles_in_order:
            yield from out_of_order(body["messages"])
        for tool in body.get("tools", ()):
            if tool["type"] != "function" or "parameters" not in tool["function"]:
                yield "tools[].function.parameters is missing"

    def message_faults(self, message: Mapping[str, Any], place: int) -> Iterator[str]:
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls", [])
        if role not in ("system", "user", "assistant", "tool") or (role == "system" and place):
            yield f"role {role!r} is not expected here"
        if isinstance(content, list) and role == "user":
            yield from part_faults(content)
        elif not isinstance(content, str) and not (content is None and calls):
            yield f"content is {content!r}"
        if content == "" and role == "user":
            yield "content is empty"
        if self.wants_thoughts and calls and "reasoning_content" not in message:
            yield "The reasoning_content in the thinking mode must be passed back to the API."
        for call in calls:
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield "arguments must be an object"
            if self.id_pattern and not re.fullmatch(self.id_pattern, call["id"]):
                yield f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."

    def stream(self, answer: ChatAnswer, body: Mapping[str, Any]) -> ScriptedStream:
        return ScriptedStream(steps=tuple(self.steps(answer, body)))

    def steps(self, answer: ChatAnswer, body: Mapping[str, Any]) -> Iterator[Step]:
        if self.comments:
            yield Raw(self.comments)
        if self.first is not None:
            yield dict(self.first)
        yield chunk(body, {"role": "assistant", "content": ""})
        calls = 0
        for part in in_tags(answer.parts, self.tags) if self.tags else answer.parts:
            yield from self.part_steps(part, calls, body)
            calls += isinstance(part, Call)
        if answer.refusal:
            yield chunk(body, {"refusal": answer.refusal})
        if answer.ends:
            yield from self.end(answer, body, self.calls_reason if calls else "stop")

    def part_steps(self, part: Part, calls: int, body: Mapping[str, Any]) -> Iterator[Step]:
        match part:
            case Stall(seconds, b"") if seconds:
                yield Stall(seconds, self.comments or b": keep-alive\n\n")
            case Raw() | Delay() | Gate() | Stall() | BrokenStream():
                yield part
            case Call():
                yield from (chunk(body, {"tool_calls": [piece]}) for piece in self.pieces(part, calls))
            case Thought(text):
                yield chunk(body, self.thinks(text))
            case str(text):
                yield chunk(body, {"content": [{"type": "text", "text": text}] if self.content_parts else text})

    def end(self, answer: ChatAnswer, body: Mapping[str, Any], reason: str) -> Iterator[Step]:
        last = chunk(body, {}, answer.reason if answer.reason != "" else reason)
        asked = (body.get("stream_options") or {}).get("include_usage")
        if self.usage == "always":
            last["usage"] = answer.usage
        elif self.usage == "groq":
            last["x_groq"] = {"id": "req_groq", "usage": answer.usage}
        yield last
        if self.usage == "asked" and asked:
            yield chunk(body, None) | {"usage": answer.usage}
        if self.done:
            yield Raw(DONE)

    def thinks(self, text: str) -> dict[str, Any]:
        if self.content_parts:
            return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
        return {"content": ""} | dict.fromkeys(self.reasoning, text)

    def pieces(self, call: Call, number: int) -> Iterator[dict[str, Any]]:
        place = {"own": {"index": number}, "zero": {"index": 0}, "none": {}}[self.call_index]
        named = ({"id": call.id} if self.call_ids else {}) | {"type": "function"}
        if self.as_objects and isinstance(call.arguments, dict):
            yield {**place, **named, "function": {"name": call.name, "arguments": call.arguments}}
            return
        if self.whole_calls:
            yield {**place, **named, "function": {"name": call.name, "arguments": call.written}}
            return
        yield {**place, **named, "function": {"name": call.name, "arguments": ""}}
        for start in range(0, len(call.written), PIECE_CHARS):
            yield {**place, "function": {"arguments": call.written[start : start + PIECE_CHARS]}}


def in_tags(parts: Sequence[Part], tags: tuple[str, str]) -> Iterator[Part]:
    """Thoughts as the model writes them, the tags cut where tokens end."""
    opening, closing = tags
    is_thinking = False
    for part in parts:
        if isinstance(part, Thought) != is_thinking:
            tag = f"\n{closing}\n\n" if is_thinking else f"{opening}\n"
            yield from (tag[start : start + TAG_CHARS] for start in range(0, len(tag), TAG_CHARS))
            is_thinking = not is_thinking
        yield part.text if isinstance(part, Thought) else part


FOLLOWERS = {
    "system": ("system", "user", "assistant"),
    "user": ("system", "user", "assistant"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool"),
}


def out_of_order(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for before, message in pairwise(messages):
        if message["role"] not in FOLLOWERS[before["role"]]:
            yield f"Unexpected role '{message['role']}' after role '{before['role']}'"
    for message in messages:
        if message["role"] == "assistant" and bool(message.get("content")) == bool(message.get("tool_calls")):
            yield "Assistant message must have either content or tool_calls, but not both."
    if messages[-1]["role"] not in ("user", "tool"):
        yield "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"


def part_faults(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Only the user says anything in parts, and of these some are pictures."""
    if not parts:
        yield "content is empty"
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)} if text:
                pass
            case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith(("data:image/", "https://")):
                pass
            case _:
                yield f"a part of the content is {str(part)[:100]}"


def unanswered(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
            waiting = [id for id in waiting if id != message["tool_call_id"]]
        elif waiting:
            yield f"An assistant message with 'tool_calls' must be followed by tool messages: {waiting}"
        waiting = [*waiting, *(call["id"] for call in message.get("tool_calls", ()))]


def chunk(body: Mapping[str, Any], delta: dict[str, Any] | None, reason: str | None = None) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
    return {
        "id": "chatcmpl-local",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": choices,
    }


OPENAI_FIELDS = PLAIN_FIELDS - {"max_tokens"} | {"max_completion_tokens"}
FILTERED = {
    "id": "",
    "object": "",
    "created": 0,
    "model": "",
    "choices": [],
    "prompt_filter_results": [{"prompt_index": 0}],
}

KINDS = {
    kind.name: kind
    for kind in (
        ServerKind(name="openai", reasoning=(), fields=OPENAI_FIELDS, most_tokens="max_completion_tokens"),
        ServerKind(
            name="azure", reasoning=(), fields=OPENAI_FIELDS, most_tokens="max_completion_tokens", first=FILTERED
        ),
        ServerKind(
            name="ollama",
            reasoning=("reasoning",),
            whole_calls=True,
            call_index="zero",
            calls_reason="stop",
            needs_key=False,
        ),
        ServerKind(name="vllm", reasoning=("reasoning", "reasoning_content"), needs_key=False),
        ServerKind(name="llama_cpp", comments=b":\n\n", needs_key=False),
        ServerKind(name="lm_studio", usage="never", call_ids=False, needs_key=False),
        ServerKind(
            name="openrouter",
            reasoning=("reasoning",),
            comments=b": OPENROUTER PROCESSING\n\n",
            fields=PLAIN_FIELDS | {"reasoning"},
        ),
        ServerKind(
            name="mistral",
            usage="always",
            whole_calls=True,
            content_parts=True,
            fields=PLAIN_FIELDS - {"stream_options"},
            id_pattern="[a-zA-Z0-9]{9}",
            roles_in_order=True,
        ),
        ServerKind(name="groq", reasoning=("reasoning",), usage="groq", most_tokens="max_completion_tokens"),
        ServerKind(name="deepseek", fields=PLAIN_FIELDS | {"thinking"}, wants_thoughts=True),
        # vLLM without --reasoning-parser, llama.cpp with --reasoning-format none, earlier Ollama.
        ServerKind(name="no_parser", reasoning=(), tags=("<think>", "</think>"), needs_key=False),
        # What servers of few users do: no end mark, no indices, objects for JSON.
        ServerKind(name="odd", done=False, usage="never", call_index="none", as_objects=True, needs_key=False),
    )
}
DIALECT_OF = {"lm_studio": "plain", "no_parser": "plain", "odd": "plain"}
"""The row of ``dialects.toml`` that counts for a kind, where it isn't named so."""

"""What the local model server is told to answer: an error before the stream, or a stream made of steps."""

import asyncio
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
# What a script names where it leaves it to the server: it counts, and gives each answer an id and the model that was asked.
MESSAGE_ID, MODEL = "msg_local", "local"
USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 3,
    "cache_read_input_tokens": 5,
    "output_tokens": 1,
    "service_tier": "standard",
}
END_USAGE = {"output_tokens": 7}
TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Gate:
    """A place in a stream where the server waits until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = False
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], object]] = []

    def wait_until_reached(self, seconds: float = 60) -> None:
        assert self.reached.wait(seconds), "the server never came to this gate"

    def open(self) -> None:
        """From any thread; streams that come later pass without a stop."""
        with self._lock:
            self._opened = True
            wakers = self._wakers[:]
        for wake in wakers:
            wake()

    async def passed(self) -> None:
        loop, opened = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            if not self._opened:
                self._wakers.append(lambda: loop.call_soon_threadsafe(opened.set))
            else:
                opened.set()
        self.reached.set()
        await opened.wait()


@dataclass(frozen=True)
class Raw:
    """Bytes of the body as they are."""

    data: bytes


@dataclass(frozen=True)
class Delay:
    seconds: float


@dataclass(frozen=True)
class Stall:
    """Nothing more comes, except pings where an interval is given. ``ping`` are its bytes, of the Messages API without any."""

    ping_seconds: float | None = None
    ping: bytes = b""


@dataclass(frozen=True)
class BrokenStream:
    """The connection breaks off in the middle of the body."""


Step = Event | Raw | Delay | Gate | Stall | BrokenStream


@dataclass(frozen=True, kw_only=True)
class ScriptedStream:
    """``thinks``: where the model thinks by default, it does before this; it can also find that there is no need."""

    steps: tuple[Step, ...]
    headers: dict[str, str] = field(default_factory=dict)
    thinks: bool = True


@dataclass(frozen=True, kw_only=True)
class ScriptedRefusal:
    """An answer without a stream."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


Script = ScriptedStream | ScriptedRefusal
Responder = Callable[[dict[str, Any]], Script]


def error_body(error_type: str, message: str) -> Event:
    return {"type": "error", "error": {"type": error_type, "message": message}, "request_id": "req_local"}


def error(
    status: int, message: str = "", *, error_type: str = "", headers: dict[str, str] | None = None
) -> ScriptedRefusal:
    body = error_body(error_type or TYPES[status], message or f"Local error {status}")
    return ScriptedRefusal(status=status, body=json.dumps(body).encode(), headers=headers or {})


def message_start(usage: dict[str, Any] | None = None, diagnostics: dict[str, Any] | None = None) -> Event:
    message: dict[str, Any] = {
        "id": MESSAGE_ID,
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE if usage is None else usage,
    }
    if diagnostics is not None:
        message["diagnostics"] = diagnostics
    return {"type": "message_start", "message": message}


def block_start(index: int = 0, block: Event | None = None) -> Event:
    content_block = {"type": "text", "text": ""} if block is None else block
    return {"type": "content_block_start", "index": index, "content_block": content_block}


def block_delta(index: int, delta: Event) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def text_delta(text: str, index: int = 0) -> Event:
    return block_delta(index, {"type": "text_delta", "text": text})


def json_delta(piece: str, index: int = 0) -> Event:
    return block_delta(index, {"type": "input_json_delta", "partial_json": piece})


def block_stop(index: int = 0) -> Event:
    return {"type": "content_block_stop", "index": index}


def message_delta(
    stop_reason: str | None = "end_turn", output_tokens: int | None = None, stop_details: Event | None = None
) -> Event:
    delta: Event = {"stop_reason": stop_reason, "stop_sequence": None}
    if stop_details is not None:
        delta["stop_details"] = stop_details
    usage = END_USAGE if output_tokens is None else {"output_tokens": output_tokens}
    return {"type": "message_delta", "delta": delta, "usage": usage}


def message_stop() -> Event:
    return {"type": "message_stop"}


def ping() -> Event:
    return {"type": "ping"}


def stream(*steps: Step, headers: dict[str, str] | None = None, thinks: bool = True) -> ScriptedStream:
    return ScriptedStream(steps=steps, headers=headers or {}, thinks=thinks)


def opening_steps() -> tuple[Step, ...]:
    """How the API opens a stream whose first block is text."""
    return (message_start(), block_start(), ping())


def closing_steps(stop_reason: str | None = "end_turn", index: int = 0) -> tuple[Step, ...]:
    return (block_stop(index), message_delta(stop_reason), message_stop())


def text(*deltas: str | Gate, stop_reason: str | None = "end_turn", delay: float = 0) -> ScriptedStream:
    """A whole reply of text. A gate among the deltas waits there; a delay comes before each delta."""
    steps: list[Step] = []
    for delta in deltas:
        steps.extend([delta] if isinstance(delta, Gate) else [*pause(delay), text_delta(delta)])
    return stream(*opening_steps(), *steps, *closing_steps(stop_reason))


CITED = "what stands in the request"
"""In a citation: the server fills in what is cited, and the title."""


@dataclass(frozen=True, kw_only=True)
class Cited:
    """A text that rests on content blocks of a document of the request, from ``first`` to before ``end``; ``cited`` is what is
    said to stand there."""

    text: str
    first: int
    end: int = 0
    document: int = 0
    cited: str = CITED

    @property
    def citation(self) -> Event:
        return {
            "type": "content_block_location",
            "cited_text": self.cited,
            "document_index": self.document,
            "document_title": None,
            "start_block_index": self.first,
            "end_block_index": self.end or self.first + 1,
        }


def citing(*texts: str | Cited) -> ScriptedStream:
    """A whole reply, a block for each text, as the API writes where documents are cited."""
    steps: list[Step] = [message_start()]
    for index, said in enumerate(texts):
        steps += [block_start(index, {"type": "text", "text": "", "citations": []})]
        steps += [text_delta(said if isinstance(said, str) else said.text, index)]
        if isinstance(said, Cited):
            steps += [block_delta(index, {"type": "citations_delta", "citation": said.citation})]
        steps += [block_stop(index)]
    return stream(*steps, message_delta(), message_stop())


@dataclass(frozen=True, kw_only=True)
class ScriptedToolUse:
    """A tool call. ``input`` may be the JSON itself, be it broken. ``halfway`` are steps in the middle of its stream."""

    name: str
    input: dict[str, Any] | str
    id: str = "toolu_local"
    piece_chars: int = 5
    halfway: tuple[Step, ...] = ()

    def steps(self, index: int) -> list[Step]:
        """As the API streams it: an empty piece first, then small ones that cut words and escapes."""
        written = self.input if isinstance(self.input, str) else json.dumps(self.input)
        starts = range(0, len(written), self.piece_chars)
        pieces = [json_delta(piece, index) for piece in ("", *(written[i : i + self.piece_chars] for i in starts))]
        half = len(pieces) // 2
        block = {"type": "tool_use", "id": self.id, "name": self.name, "input": {}}
        return [block_start(index, block), *pieces[:half], *self.halfway, *pieces[half:], block_stop(index)]


@dataclass(frozen=True, kw_only=True)
class Thought:
    """A block of thinking, silent where it shows no pieces. ``halfway`` are steps before its signature."""

    pieces: tuple[str, ...] = ()
    signature: str = "c2lnbmVk"
    halfway: tuple[Step, ...] = ()

    def steps(self, index: int) -> list[Step]:
        pieces = [block_delta(index, {"type": "thinking_delta", "thinking": piece}) for piece in self.pieces or ("",)]
        signed = block_delta(index, {"type": "signature_delta", "signature": self.signature})
        opened = block_start(index, {"type": "thinking", "thinking": "", "signature": ""})
        return [opened, *pieces, *self.halfway, signed, block_stop(index)]

    @property
    def block(self) -> Event:
        return {"type": "thinking", "thinking": "".join(self.pieces), "signature": self.signature}


def turn(*parts: str | ScriptedToolUse | Thought, stop_reason: str = "") -> ScriptedStream:
    """A whole reply of thinking, texts and tool calls, each of them a block, in this order."""
    steps: list[Step] = []
    for index, part in enumerate(parts):
        if isinstance(part, ScriptedToolUse | Thought):
            steps.extend(part.steps(index))
        else:
            words = re.findall(r"\S+\s*|\s+", part)
            steps.extend([block_start(index), *(text_delta(word, index) for word in words), block_stop(index)])
    calls = any(isinstance(part, ScriptedToolUse) for part in parts)
    ending = message_delta(stop_reason or ("tool_use" if calls else "end_turn"))
    return stream(message_start(), *steps, ending, message_stop())


def tool_use(
    name: str, tool_input: dict[str, Any] | str, *, tool_id: str = "toolu_local", before: str = ""
) -> ScriptedStream:
    """A reply that calls one tool, after an optional text."""
    return turn(*([before] if before else []), ScriptedToolUse(name=name, input=tool_input, id=tool_id))


def refusal(
    *deltas: str, category: str | None = "cyber", explanation: str | None = "It could do harm."
) -> ScriptedStream:
    """The model declines, before it has said anything or after some of it. Some refusals are of no category."""
    details = {"type": "refusal", "category": category, "explanation": explanation if category else None}
    said = [block_start(), *(text_delta(delta) for delta in deltas), block_stop()] if deltas else []
    ending = message_delta("refusal", None if deltas else 0, stop_details=details)
    return stream(message_start(), ping(), *said, ending, message_stop(), thinks=bool(deltas))


def pause(seconds: float) -> Iterable[Delay]:
    return [Delay(seconds)] if seconds else []


def newest_user_text(messages: Sequence[dict[str, Any]]) -> str:
    return " ".join(texts_of(messages[-1]))


def texts_of(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [block["text"] for block in content if block["type"] == "text"]


ASKS_FOR_AN_ARTIFACT = re.compile(
    r"\b(?:generate|create|write|draft|make|prepare)\b(?: me| us)? (?:an?|the|our|some) ([^.!?\n]{1,80})", re.IGNORECASE
)


def repeater(body: dict[str, Any]) -> ScriptedStream:
    """The old fault: makes the first artifact that any user text of the request asks for, be it made long ago or not.

    It answers in words after a tool's result, and where it cannot save or nothing is asked for.
    """
    messages = body["messages"]
    if any(block["type"] == "tool_result" for block in messages[-1]["content"] if isinstance(block, dict)):
        return text("It is ", "saved.")
    said = (found for m in messages if m["role"] == "user" for t in texts_of(m) if (found := asked_for(t)))
    title = next(said, "") if can_save(body) else ""
    if not title:
        return echo(body)
    content = f"# {title}\n\nMade for: {newest_user_text(messages)}"
    tool_id = "toolu_" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:20]
    save = ScriptedToolUse(
        name="save_artifact", input={"title": title, "kind": "document", "content": content}, id=tool_id
    )
    return turn("I make it. ", save)


def asked_for(said: str) -> str:
    match = ASKS_FOR_AN_ARTIFACT.search(said)
    return match[1].strip() if match else ""


def can_save(body: dict[str, Any]) -> bool:
    refused = body.get("tool_choice") == {"type": "none"}
    return not refused and any(tool["name"] == "save_artifact" for tool in body.get("tools", []))


def echo(body: dict[str, Any], *, delay: float = 0) -> ScriptedStream:
    """The default: says how much it was given and quotes the newest user text, word by word."""
    reply = f"I was given {len(body['messages'])} messages. The newest says: “{newest_user_text(body['messages'])}”"
    return text(*(word + " " for word in reply.split(" ")[:-1]), reply.split(" ")[-1], delay=delay)

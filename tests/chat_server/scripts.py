"""What the model behind the local Chat Completions server tells, whatever kind of server it is."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.model_scripts import BrokenStream, Delay, Gate, Raw, ScriptedRefusal, ScriptedStream, Stall, newest_user_text

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 7,
    "total_tokens": 27,
    "prompt_tokens_details": {"cached_tokens": 5},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


@dataclass(frozen=True)
class Thought:
    """A piece of reasoning that the server shows."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call. ``arguments`` may be the JSON itself, be it broken."""

    name: str
    arguments: dict[str, Any] | str
    id: str = "call_local"

    @property
    def written(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


Part = str | Thought | Call | Raw | Delay | Gate | Stall | BrokenStream


@dataclass(frozen=True, kw_only=True)
class ChatAnswer:
    """``reason`` is empty for what the kind says by itself, ``None`` for none. Without ``ends`` the stream stops midway."""

    parts: tuple[Part, ...]
    reason: str | None = ""
    ends: bool = True
    refusal: str = ""
    usage: dict[str, Any] = field(default_factory=lambda: dict(USAGE))


ChatScript = ChatAnswer | ScriptedStream | ScriptedRefusal
ChatResponder = Callable[[dict[str, Any]], ChatScript]


def answer(*parts: Part, reason: str | None = "", ends: bool = True, refusal: str = "") -> ChatAnswer:
    return ChatAnswer(parts=parts, reason=reason, ends=ends, refusal=refusal)


def error(
    status: int, message: str = "", *, code: object = None, error_type: str = "", headers: dict[str, str] | None = None
) -> ScriptedRefusal:
    body = {"error": error_object(message or f"Local error {status}", code=code, error_type=error_type)}
    return refusal(status, body, headers)


def refusal(status: int, body: object, headers: dict[str, str] | None = None) -> ScriptedRefusal:
    return ScriptedRefusal(status=status, body=json.dumps(body).encode(), headers=headers or {})


def error_object(message: str, *, code: object = None, error_type: str = "", **more: Any) -> dict[str, Any]:
    return {"message": message, "type": error_type or "invalid_request_error", "param": None, "code": code, **more}


def event(data: object) -> Raw:
    return Raw(f"data: {json.dumps(data)}\n\n".encode())


def echo(body: dict[str, Any]) -> ChatAnswer:
    """The default: says how much it was given and quotes the newest user text, word by word."""
    turns = [message for message in body["messages"] if message["role"] != "system"]
    said = [message for message in turns if message["role"] == "user"]
    reply = f"I was given {len(turns)} messages. The newest says: “{newest_user_text(said)}”"
    words = reply.split(" ")
    return answer(*(f"{word} " for word in words[:-1]), words[-1])

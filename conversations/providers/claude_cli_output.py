"""What the Claude CLI writes, line by line, as events: pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.providers.base import WHOLE, Finished, TextDelta, ThinkingEvent, UsageSoFar
from conversations.providers.deadline import LONGEST_WAIT_SECONDS
from conversations.providers.errors import BY_WORD, StreamError, code_for_status, code_for_type
from conversations.providers.message_stream import MESSAGE_ID_CHARS, Heard, MessageAccumulator, Progress, as_it_came
from conversations.runtime.text import clean

BEGINNING = (
    *("claude_code_version", "model", "tools", "mcp_servers", "plugins", "skills", "agents", "slash_commands"),
    *("permissionMode", "apiKeySource", "output_style", "fast_mode_state"),
)
"""What is kept of the line that the CLI begins with: what it says that it is, and has. Its folders are gone afterwards."""
TOO_LONG = "Prompt is too long"

Line = Mapping[str, Any]


@dataclass
class Output:
    """What it has written so far. ``began`` is what it said of itself first, ``trouble`` why it is trying again, if it is."""

    reading: MessageAccumulator = field(default_factory=MessageAccumulator)
    has_text: bool = False
    request_id: str = ""
    began: Mapping[str, Any] | None = None
    trouble: StreamError | None = None
    cut: bool = False
    closed: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing more is to be read: it was closed by the CLI, or is cut here."""
        return self.cut or self.closed

    def take(self, written: bytes) -> Sequence[Heard]:
        """One line. Raises ``StreamError`` where it tells of a failure."""
        match parsed(written):
            case {"type": "stream_event", "event": dict(event)}:
                return self.take_event(event)
            case {"type": "system", "subtype": "api_retry"} as line:
                self.note_retry(line)
            case {"type": "system", "subtype": "init"} as line:
                self.began = as_it_came({name: line[name] for name in BEGINNING if name in line})
            case {"type": "assistant", "message": {"stop_reason": "refusal"}}:
                pass  # in the CLI's words; the model's own end follows
            case {"type": "assistant", "is_api_error_message": True} | {"type": "result", "is_error": True} as line:
                raise failure(line)
            case {"type": "assistant", "request_id": str(request_id)}:
                self.request_id = clean(request_id)[:MESSAGE_ID_CHARS]
            case {"type": "result"}:
                self.closed = True
        return ()

    def take_event(self, event: Mapping[str, Any]) -> Sequence[Heard]:
        if event.get("type") == "message_start" and self.reading.begun:
            self.start_again()
        heard = [passed_on(one) for one in self.reading.take_object(event)]
        self.has_text |= any(isinstance(one, TextDelta) for one in heard)
        if event.get("type") == "message_delta" and not (self.has_text and self.reading.last.stop_reason in WHOLE):
            # Of an answer that is cut short or empty the CLI asks for more by itself, which nobody has recorded.
            self.reading.complete = self.cut = True
        if self.reading.complete and not self.reading.last.stop_reason:
            raise StreamError("cut_off")
        return heard

    def start_again(self) -> None:
        if self.has_text:
            raise StreamError("cut_off")
        self.reading = MessageAccumulator()

    def note_retry(self, line: Line) -> None:
        wait = line.get("retry_delay_ms")
        seconds = wait / 1000 if isinstance(wait, int | float) and wait >= 0 else None
        self.trouble = StreamError(code_of(line) or "unreachable", status=status_of(line), retry_after=seconds)
        if seconds is not None and seconds > LONGEST_WAIT_SECONDS:
            raise self.trouble

    def end(self) -> Sequence[Heard]:
        """What is whole now, and its end. Raises ``StreamError``."""
        *rest, end = self.reading.end(self.request_id)
        assert isinstance(end, Finished)
        if self.began:
            end = replace(end, diagnostics={**(end.diagnostics or {}), "program": self.began})
        return [*map(passed_on, rest), end]


def passed_on(heard: Heard) -> Heard:
    """A program that is given no tools calls none of ours."""
    return heard if isinstance(heard, TextDelta | ThinkingEvent | UsageSoFar) else Progress()


def parsed(written: bytes) -> Any:
    """A notice for people is passed over; an object that is broken may have held a part of the answer."""
    if not written.lstrip().startswith(b"{"):
        return None
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        raise StreamError("bad_stream") from None


def failure(line: Line) -> StreamError:
    text = text_of(line)
    code = "request_too_large" if text.startswith(TOO_LONG) else code_of(line)
    return StreamError(code or "cli_failed", text, status=status_of(line))


def code_of(line: Line) -> str | None:
    if known := code_for_type(line.get("api_error_type")):
        return known
    if status := status_of(line):
        return code_for_status(status)
    if line.get("api_error") == "connection_failed":
        return "unreachable"
    return BY_WORD.get(str(line.get("error")))


def status_of(line: Line) -> int | None:
    status = line.get("api_error_status") or line.get("error_status")
    return status if isinstance(status, int) else None


def text_of(line: Line) -> str:
    match line:
        case {"result": str(text)} | {"message": {"content": [{"text": str(text)}, *_]}}:
            return text
        case {"errors": [str(text), *_]}:
            return text
    return ""

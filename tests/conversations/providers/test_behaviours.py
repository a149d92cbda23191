"""What a service may do, and what each provider makes of it: a table whose cells are tests.

A new behaviour is a row in ``EXPECTED`` and a script in each column; a new provider is a column: a class with a script for each
row, and in ``differs`` what it does instead where a behaviour can't be met by it.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.test import override_settings

from conversations.providers import get_provider
from conversations.providers.base import (
    Finished,
    Provider,
    ProviderError,
    TextDelta,
    ToolCalled,
    ToolDelta,
    ToolStarted,
)
from conversations.providers.messages_api import RequestParts
from tests import model_scripts as scripts
from tests.chat_server import ChatServer
from tests.chat_server import scripts as chat
from tests.claude_cli.playing import RESULT, Play, Step, closing_steps, event, opening_steps, play
from tests.conversations.providers.events import without_usage
from tests.local_model import engine_played_by
from tests.model_scripts import BrokenStream, Delay, Raw, ScriptedToolUse, Stall
from tests.model_server import ModelServer

__all__ = ["play"]

PAUSE = 0.4
SAVE = {"name": "save_artifact", "description": "Saves.", "input_schema": {"type": "object"}}
DRAFT = {"title": "Plan", "content": "# Plan\n\nBake."}
OTHER = {"title": "List", "content": "Flour"}
BROKEN = '{"title": "Pl'


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What somebody saw who asked a provider once: texts, calls with their inputs, whether these came in pieces, and the stop
    reason or the code of the error. ``asked`` is how often the service was called for it."""

    said: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, Any] | None], ...] = ()
    in_pieces: bool = False
    end: str = "end_turn"
    error: str = ""
    retryable: bool = False
    retry_after: float | None = None
    asked: int = 1


def failed(code: str, *said: str, retryable: bool = True, retry_after: float | None = None, asked: int = 1) -> Outcome:
    return Outcome(said=said, end="", error=code, retryable=retryable, retry_after=retry_after, asked=asked)


EXPECTED = {
    "streaming": Outcome(said=("Hello ", "wor", "ld")),
    "cut stream": failed("cut_off", "So far"),
    "stream that ends without an end": failed("cut_off", "So far"),
    "garbled event": failed("bad_stream", "So far"),
    "429 with a short time": Outcome(said=("There",), asked=2),
    "429 with a long time": failed("rate_limited", retry_after=120.0),
    "429 without a time": failed("rate_limited", asked=3),
    "5xx": failed("server_error", asked=3),
    "refusal": Outcome(end="refusal"),
    "empty answer": Outcome(),
    "tool call in pieces": Outcome(calls=(("save_artifact", DRAFT),), in_pieces=True, end="tool_use"),
    "parallel tool calls": Outcome(
        calls=(("save_artifact", DRAFT), ("save_artifact", OTHER)), in_pieces=True, end="tool_use"
    ),
    "wrong JSON in a call": Outcome(calls=(("save_artifact", None),), in_pieces=True, end="tool_use"),
    "unknown stop reason": Outcome(said=("So far",), end="a_new_one"),
    "slow first token": failed("timeout"),
    "stall": failed("stalled", "So far"),
}
SETTINGS = {
    "slow first token": {"OPENBOOK_FIRST_TOKEN_SECONDS": 0.5},
    "stall": {"OPENBOOK_STALL_SECONDS": 0.5},
}


class Column(ABC):
    """A provider, and a service behind it that can be told how to behave."""

    provider: str
    differs: Mapping[str, Outcome] = {}
    asked: int = 1

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.request = request

    @abstractmethod
    def prepare(self, behaviour: str) -> None:
        """Have the service behave so when it is asked next."""

    def expected(self, behaviour: str) -> Outcome:
        return self.differs.get(behaviour, EXPECTED[behaviour])

    def seen(self, outcome: Outcome) -> Outcome:
        return replace(outcome, asked=self.asked)

    def question(self, behaviour: str) -> str:
        return "Write a plan"


def draft(id: str = "toolu_1", written: Mapping[str, Any] | str = DRAFT) -> ScriptedToolUse:
    return ScriptedToolUse(
        name="save_artifact", input=dict(written) if isinstance(written, Mapping) else written, id=id
    )


def begun(*steps: scripts.Step) -> scripts.ScriptedStream:
    return scripts.stream(*scripts.opening_steps(), scripts.text_delta("So far"), *steps)


class Anthropic(Column):
    provider = "anthropic"
    answers: Mapping[str, Sequence[scripts.Script]] = {
        "streaming": [
            scripts.stream(
                *scripts.opening_steps(),
                scripts.text_delta("Hello "),
                Delay(PAUSE),
                scripts.text_delta("wor"),
                scripts.text_delta("ld"),
                *scripts.closing_steps(),
            )
        ],
        "cut stream": [begun(BrokenStream())],
        "stream that ends without an end": [begun()],
        "garbled event": [begun(Raw(b"event: content_block_delta\ndata: {half\n\n"))],
        "429 with a short time": [scripts.error(429, headers={"retry-after": "1"}), scripts.text("There")],
        "429 with a long time": [scripts.error(429, headers={"retry-after": "120"})],
        "429 without a time": [scripts.error(429)] * 3,
        "5xx": [scripts.error(500)] * 3,
        "refusal": [scripts.refusal()],
        "empty answer": [scripts.stream(scripts.message_start(), scripts.message_delta(), scripts.message_stop())],
        "tool call in pieces": [scripts.turn(draft())],
        "parallel tool calls": [scripts.turn(draft(), draft("toolu_2", OTHER))],
        "wrong JSON in a call": [scripts.turn(draft(written=BROKEN))],
        "unknown stop reason": [scripts.text("So far", stop_reason="a_new_one")],
        "slow first token": [scripts.stream(Stall())],
        "stall": [begun(Stall(0.05))],
    }

    def prepare(self, behaviour: str) -> None:
        self.server: ModelServer = self.request.getfixturevalue("model")
        self.server.claude.verbatim = True
        self.server.script(*self.answers[behaviour])

    @property
    def asked(self) -> int:  # type: ignore[override]
        return len(self.server.requests)


class Local(Anthropic):
    """The engine's own address file names a server that misbehaves as no real engine can be told to."""

    provider = "local"
    differs = {"slow first token": Outcome(said=("There",))}
    """A long context is read for minutes on a slow machine: only the whole time of the call counts."""
    answers = {
        **Anthropic.answers,
        "slow first token": [
            scripts.stream(Delay(0.8), *scripts.opening_steps(), scripts.text_delta("There"), *scripts.closing_steps())
        ],
    }

    def prepare(self, behaviour: str) -> None:
        settings, folder = self.request.getfixturevalue("settings"), self.request.getfixturevalue("tmp_path")
        self.server = self.request.getfixturevalue("model_server")
        self.server.claude.verbatim = True
        self.server.script(*self.answers[behaviour])
        settings.LOCAL_DIR = folder
        engine = ExitStack()
        self.request.addfinalizer(engine.close)
        self.server.api_key = engine.enter_context(engine_played_by(self.server.url, folder))


class Bedrock(Anthropic):
    provider = fixture = "bedrock"

    def prepare(self, behaviour: str) -> None:
        self.server = self.request.getfixturevalue(self.fixture)
        self.server.claude.verbatim = True
        self.server.script(*self.answers[behaviour])


class Vertex(Bedrock):
    provider = fixture = "vertex"


def call(id: str = "call_1", written: Mapping[str, Any] | str = DRAFT) -> chat.Call:
    return chat.Call(name="save_artifact", arguments=dict(written) if isinstance(written, Mapping) else written, id=id)


class OpenAICompatible(Column):
    provider = "openai"
    # Servers that tell no reason end so, too: the text is kept, as one that may not be whole.
    differs = {"stream that ends without an end": Outcome(said=("So far",), end="unknown")}
    answers: Mapping[str, Sequence[chat.ChatScript]] = {
        "streaming": [chat.answer("Hello ", Delay(PAUSE), "wor", "ld")],
        "cut stream": [chat.answer("So far", BrokenStream(), ends=False)],
        "stream that ends without an end": [chat.answer("So far", ends=False)],
        "garbled event": [chat.answer("So far", Raw(b"data: {half\n\n"))],
        "429 with a short time": [chat.error(429, headers={"retry-after": "1"}), chat.answer("There")],
        "429 with a long time": [chat.error(429, headers={"retry-after": "120"})],
        "429 without a time": [chat.error(429)] * 3,
        "5xx": [chat.error(500)] * 3,
        "refusal": [chat.answer(refusal="I can't help with that.")],
        "empty answer": [chat.answer()],
        "tool call in pieces": [chat.answer(call())],
        "parallel tool calls": [chat.answer(call(), call("call_2", OTHER))],
        "wrong JSON in a call": [chat.answer(call(written=BROKEN))],
        "unknown stop reason": [chat.answer("So far", reason="a_new_one")],
        "slow first token": [chat.answer(Stall(), ends=False)],
        "stall": [chat.answer("So far", Stall(0.05), ends=False)],
    }

    def prepare(self, behaviour: str) -> None:
        self.server: ChatServer = self.request.getfixturevalue("chat_model")
        self.server.say(*self.answers[behaviour])

    @property
    def asked(self) -> int:  # type: ignore[override]
        return len(self.server.chats)


def error_line(status: int) -> Step:
    return {"line": {**RESULT, "is_error": True, "api_error_status": status, "result": "No"}}


def retry_line(seconds: float) -> Step:
    retry = {"type": "system", "subtype": "api_retry", "error_status": 429, "retry_delay_ms": seconds * 1000}
    return {"line": retry}


def written_by(script: scripts.ScriptedStream) -> list[Step]:
    """The events of the Messages API as the program passes them on."""
    return [event(step) for step in script.steps]


class ClaudeCli(Column):
    """The program tries again by itself, and calls no tools: of an answer that does nothing is left but its end."""

    provider = "claude_cli"
    differs = {
        "429 with a short time": Outcome(said=("There",)),
        "429 without a time": failed("rate_limited"),
        "5xx": failed("server_error"),
        "tool call in pieces": Outcome(end="tool_use"),
        "parallel tool calls": Outcome(end="tool_use"),
        "wrong JSON in a call": Outcome(end="tool_use"),
    }
    plays: Mapping[str, Sequence[Step]] = {
        "streaming": [*opening_steps("Hello "), {"wait": PAUSE}, *opening_steps("wor", "ld")[-2:], *closing_steps()],
        "cut stream": [*opening_steps("So far"), {"text": '{"type": "stream_event", "ev'}],
        "stream that ends without an end": opening_steps("So far"),
        "garbled event": [*opening_steps("So far"), {"text": '{"type": "stream_ev\n'}, *closing_steps()],
        "429 with a short time": [retry_line(1), *opening_steps("There"), *closing_steps()],
        "429 with a long time": [retry_line(120)],
        "429 without a time": [error_line(429)],
        "5xx": [error_line(500)],
        "refusal": [*written_by(scripts.refusal()), *closing_steps()[-1:]],
        "empty answer": [*opening_steps(), *closing_steps()],
        "tool call in pieces": written_by(scripts.turn(draft())),
        "parallel tool calls": written_by(scripts.turn(draft(), draft("toolu_2", OTHER))),
        "wrong JSON in a call": written_by(scripts.turn(draft(written=BROKEN))),
        "unknown stop reason": [*opening_steps("So far"), *closing_steps("a_new_one")],
        "slow first token": [{"wait": 60}],
        "stall": [*opening_steps("So far"), {"wait": 60}],
    }

    def prepare(self, behaviour: str) -> None:
        self.request.getfixturevalue("settings").ANTHROPIC_API_KEY = "sk-local"
        play_steps: Play = self.request.getfixturevalue("play")
        play_steps(*self.plays[behaviour])


ANSWERED = Outcome(said=("an answer of its own",), asked=0)
"""There is no service that could fail: it answers at once, from the context alone."""


class Offline(Column):
    provider = "offline"
    asked = 0
    differs = dict.fromkeys(EXPECTED, ANSWERED) | {
        "tool call in pieces": Outcome(
            calls=(("save_artifact", {"title": "Plan"}),), in_pieces=True, end="tool_use", asked=0
        ),
        # It makes one artifact of a message, however many are asked for, and writes its JSON itself.
        "parallel tool calls": Outcome(
            calls=(("save_artifact", {"title": "Plan"}),), in_pieces=True, end="tool_use", asked=0
        ),
        "wrong JSON in a call": Outcome(
            calls=(("save_artifact", {"title": "Plan"}),), in_pieces=True, end="tool_use", asked=0
        ),
    }

    def prepare(self, behaviour: str) -> None:
        self.request.getfixturevalue("settings").OPENBOOK_OFFLINE_WORD_SECONDS = (
            0.1 if behaviour == "streaming" else 0.0
        )

    def question(self, behaviour: str) -> str:
        asked = {
            "tool call in pieces": "Write a plan.",
            "parallel tool calls": "Write a plan. Write a list.",
            "wrong JSON in a call": 'Write a plan. It says {"title": "Pl.',
            "empty answer": " ",
        }
        return asked.get(behaviour, "What is {half of it?")

    def seen(self, outcome: Outcome) -> Outcome:
        calls = tuple((name, {"title": written["title"]} if written else None) for name, written in outcome.calls)
        said = ANSWERED.said if "Offline responder" in "".join(outcome.said) else outcome.said
        return replace(super().seen(outcome), said=said, calls=calls)


COLUMNS: Sequence[Callable[[pytest.FixtureRequest], Column]] = (
    Anthropic,
    OpenAICompatible,
    Local,
    Bedrock,
    Vertex,
    ClaudeCli,
    Offline,
)


async def ask(provider: Provider, question: str, *, tools: bool = True) -> tuple[Outcome, list[float]]:
    """How a provider answered, and when each of its texts came."""
    said: list[str] = []
    times: list[float] = []
    calls: list[tuple[str, Mapping[str, Any] | None]] = []
    pieces: dict[str, int] = {}
    finished: Finished | None = None
    payload = provider.render(
        RequestParts(
            model="local-model",
            max_tokens=64,
            system=[{"type": "text", "text": "Be brief."}],
            messages=[{"role": "user", "content": [{"type": "text", "text": question}]}],
            tools=[SAVE] if provider.calls_tools and tools else (),
        )
    )
    outcome = Outcome(end="")
    try:
        async for told in without_usage(provider.stream(payload, seconds=30)):
            match told:
                case TextDelta():
                    said.append(told.text)
                    times.append(time.monotonic())
                case ToolStarted():
                    pieces[told.id] = 0
                case ToolDelta():
                    pieces[told.id] += 1
                case ToolCalled():
                    calls.append((told.name, told.input))
                case Finished():
                    finished = told
    except ProviderError as error:
        outcome = failed(error.code, retryable=error.retryable, retry_after=error.retry_after)
    return (
        replace(
            outcome,
            said=tuple(said),
            calls=tuple(calls),
            in_pieces=bool(pieces) and min(pieces.values()) > 1,
            end=finished.stop_reason if finished else "",
        ),
        times,
    )


@pytest.mark.once("*-Anthropic", "*-OpenAICompatible")
@pytest.mark.parametrize("make_column", COLUMNS, ids=lambda column: column.__name__)
@pytest.mark.parametrize("behaviour", EXPECTED)
async def test_a_behaviour(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
    make_column: Callable[[pytest.FixtureRequest], Column],
) -> None:
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    column = make_column(request)
    column.prepare(behaviour)
    provider = get_provider(column.provider)
    patient = {"OPENBOOK_FIRST_TOKEN_SECONDS": 20.0, "OPENBOOK_STALL_SECONDS": 20.0}
    with override_settings(**patient | SETTINGS.get(behaviour, {})):
        async with asyncio.timeout(60):
            # A call of a tool may be written in silence.
            outcome, times = await ask(provider, column.question(behaviour), tools=behaviour != "stall")
    assert column.seen(outcome) == column.expected(behaviour)
    if behaviour == "streaming":
        assert times[-1] - times[0] > PAUSE / 4, "it came at once"

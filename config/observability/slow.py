"""A log line for each reply that was slow, with the milliseconds of its steps. Ids and codes, no person's text.

Slow is what let somebody wait: the first word came late, or what is not the model's took long. A long answer is not slow, nor
is a model that thinks, which people see.
"""

import logging
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, Self

from config.observability.measuring import code_of, tool_labels
from conversations.context.built_context import Context
from conversations.models import ContextSnapshot, Reply, Thread
from conversations.providers.base import ModelCall, Usage
from conversations.runtime.telemetry import STEP, ReplyStep, TelemetryListener, TelemetryStep

log = logging.getLogger("openbook.slow")

ELSEWHERE = frozenset({"model", "tool"})
"""Steps whose time is not ours."""


@dataclass
class TimedStep(TelemetryStep):
    """``begun`` and ``ended`` are seconds of ``perf_counter``; ``more`` is told with it."""

    name: str
    more: dict[str, Any] = field(default_factory=dict)
    call: ModelCall | None = None
    answers: bool = False
    """A model's words are the reply's."""
    begun: float = 0.0
    ended: float = 0.0

    def __enter__(self) -> Self:
        self.begun = time.perf_counter()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.ended = time.perf_counter()
        if error and (code := code_of(error)):
            self.failed(code)
        if self.call:
            self.more["first_token_ms"] = self.call.first_token_ms
            self.more["thinking_ms"] = round((self.call.thinking_seconds or 0) * 1000)

    def failed(self, code: str) -> None:
        self.more["error_code"] = code

    def record_context(self, context: Context) -> None:
        self.more["timings_ms"] = dict(context.timings_ms)


class TimedReply(ReplyStep):
    def __init__(self, limit: float, waited: float) -> None:
        self._limit, self.waited = limit, waited
        self._begun = time.perf_counter() - waited
        self._ids: dict[str, str] = {}
        self.steps: list[TimedStep] = []
        self._token: Token[TimedReply | None] | None = None

    def __enter__(self) -> Self:
        self._token = current.set(self)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._token:
            current.reset(self._token)
            self._token = None

    def step(self, name: str, call: ModelCall | None = None, **more: Any) -> TimedStep:
        step = TimedStep(name, more, call)
        self.steps.append(step)
        return step

    def record_opened(self, thread: Thread, reply: Reply) -> None:
        self._ids = {"thread_id": str(thread.id), "reply": str(reply.id)}

    def record_closed(self, status: str, error_code: str | None, usage: Usage) -> None:
        ended = time.perf_counter()
        own, first = own_and_first(self._begun, self.steps, ended)
        if max(own, first) < self._limit:
            return
        log.warning(
            "slow reply",
            extra={
                **self._ids,
                "status": status,
                "error_code": error_code,
                "total_ms": milliseconds(ended - self._begun),
                "first_word_ms": milliseconds(first),
                "own_ms": milliseconds(own),
                "waited_for_threads_ms": milliseconds(self.waited),
                "steps": told(self._begun, self.steps, ended),
            },
        )


current: ContextVar[TimedReply | None] = ContextVar("timed_reply", default=None)
waited_before: ContextVar[float] = ContextVar("waited_before", default=0.0)
"""Seconds that the thread in which a reply begins was waited for."""


class SlowListener(TelemetryListener):
    """``limit`` in seconds."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    def database_step(self, waited: float) -> None:
        if reply := current.get():
            reply.waited += waited
        else:
            waited_before.set(waited)

    def reply(self) -> ReplyStep:
        return TimedReply(self._limit, waited_before.get())

    def context(self) -> TelemetryStep:
        reply = current.get()
        return reply.step("context") if reply else STEP

    def model_request(self, snapshot: ContextSnapshot, call: ModelCall) -> TelemetryStep:
        reply = current.get()
        if not reply:
            return STEP
        step = reply.step("model", call, request=str(snapshot.id))
        step.answers = snapshot.purpose != ContextSnapshot.Purpose.REWRITE
        return step

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        reply = current.get()
        return reply.step("tool", tool=tool_labels(name)["gen_ai.tool.name"]) if reply else STEP


def own_and_first(begun: float, steps: list[TimedStep], ended: float) -> tuple[float, float]:
    """Seconds that were neither a model's nor a tool's, and those until the first word, or the end where none came, without
    what the model thought before it."""
    own = ended - begun - sum(step.ended - step.begun for step in steps if step.name in ELSEWHERE)
    for step in steps:
        if step.answers and step.call and step.call.first_token_ms is not None:
            return own, step.begun - begun + step.call.first_token_ms / 1000 - (step.call.thinking_seconds or 0)
    return own, ended - begun


def told(begun: float, steps: list[TimedStep], ended: float) -> list[Mapping[str, Any]]:
    """The steps in their order; what lies between two is named by the one that comes: ``before model`` is where a request is
    stored, ``before end`` where the answer is."""
    lines: list[Mapping[str, Any]] = []
    at = begun
    for step in steps:
        lines.append({"step": f"before {step.name}", "ms": milliseconds(step.begun - at)})
        lines.append({"step": step.name, "ms": milliseconds(step.ended - step.begun), **step.more})
        at = step.ended
    return [*lines, {"step": "before end", "ms": milliseconds(ended - at)}]


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)

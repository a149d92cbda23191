"""The steps of the work, for whoever listens: ids, counts and times, never a text.

Nobody listens unless `config.observability.telemetry` begins. Until then each step is the same one, which does nothing.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # log lines ask for it before there are models
    from conversations.context.built_context import Context
    from conversations.models import ContextSnapshot, Reply, Thread
    from conversations.providers.base import ModelCall, Usage

PACKAGES = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")


class TelemetryStep:
    """Lasts as long as its block. An error that leaves the block is told by its kind; ``failed`` tells of one that does not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        pass

    def failed(self, code: str) -> None:
        pass

    def record_context(self, context: "Context") -> None:
        """What building the context came to."""


class ReplyStep(TelemetryStep):
    """Outlasts its block, in which the reply begins: it ends with ``closed``, and is never told of where that doesn't come."""

    def record_opened(self, thread: "Thread", reply: "Reply") -> None:
        pass

    def record_closed(self, status: str, error_code: str | None, usage: "Usage") -> None:
        pass


class TelemetryListener:
    """Makes the steps. This one is nobody."""

    def carried_on(self, headers: Mapping[str, str]) -> TelemetryStep:
        """What belongs to the trace that these headers of a request name, if they do."""
        return STEP

    def task(self, name: str) -> TelemetryStep:
        return STEP

    def reply(self) -> ReplyStep:
        return UNTOLD

    def context(self) -> TelemetryStep:
        return STEP

    def model_request(self, snapshot: "ContextSnapshot", call: "ModelCall") -> TelemetryStep:
        """``call`` is read when the block ends, however it does."""
        return STEP

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        return STEP

    def database_step(self, waited: float) -> None:
        """A step begins in a thread for the database, for which it waited so many seconds."""

    def here(self) -> Mapping[str, str]:
        """The ids of the trace and the step that this is part of, for a log line."""
        return NOWHERE


class JoinedStep(ReplyStep):
    """One step for several who listen. The first to begin is the last to end."""

    def __init__(self, steps: Sequence[TelemetryStep]) -> None:
        self._steps = steps

    def __enter__(self) -> Self:
        for step in self._steps:
            step.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        for step in reversed(self._steps):
            step.__exit__(kind, error, trace)

    def failed(self, code: str) -> None:
        for step in self._steps:
            step.failed(code)

    def record_context(self, context: "Context") -> None:
        for step in self._steps:
            step.record_context(context)


class JoinedReplyStep(JoinedStep):
    def __init__(self, steps: Sequence[ReplyStep]) -> None:
        super().__init__(steps)
        self._replies = steps

    def record_opened(self, thread: "Thread", reply: "Reply") -> None:
        for step in self._replies:
            step.record_opened(thread, reply)

    def record_closed(self, status: str, error_code: str | None, usage: "Usage") -> None:
        for step in self._replies:
            step.record_closed(status, error_code, usage)


class JoinedListener(TelemetryListener):
    """Several who listen."""

    def __init__(self, listeners: Sequence[TelemetryListener]) -> None:
        self._listeners = listeners

    def carried_on(self, headers: Mapping[str, str]) -> TelemetryStep:
        return JoinedStep([each.carried_on(headers) for each in self._listeners])

    def task(self, name: str) -> TelemetryStep:
        return JoinedStep([each.task(name) for each in self._listeners])

    def reply(self) -> ReplyStep:
        return JoinedReplyStep([each.reply() for each in self._listeners])

    def context(self) -> TelemetryStep:
        return JoinedStep([each.context() for each in self._listeners])

    def model_request(self, snapshot: "ContextSnapshot", call: "ModelCall") -> TelemetryStep:
        return JoinedStep([each.model_request(snapshot, call) for each in self._listeners])

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        return JoinedStep([each.tool(name, call_id) for each in self._listeners])

    def database_step(self, waited: float) -> None:
        for each in self._listeners:
            each.database_step(waited)

    def here(self) -> Mapping[str, str]:
        return {name: value for each in self._listeners for name, value in each.here().items()}


STEP, UNTOLD, NOWHERE = TelemetryStep(), ReplyStep(), dict[str, str]()
listener = TelemetryListener()


def listen(*to: TelemetryListener) -> None:
    """From now on these are told, and nobody else."""
    global listener
    listener = to[0] if len(to) == 1 else JoinedListener(to)


def possible() -> bool:
    """Whether the packages are there that tell a collector."""
    try:
        return all(find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:  # not even the one around it
        return False

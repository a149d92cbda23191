"""The steps of the work, for whoever listens: ids, counts and times, never a text.

Nobody listens unless `config.observability.telemetry` finds a collector to tell. Until then each step is the same
one, which does nothing.
"""

from collections.abc import Mapping
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

    def here(self) -> Mapping[str, str]:
        """The ids of the trace and the step that this is part of, for a log line."""
        return NOWHERE


STEP, UNTOLD, NOWHERE = TelemetryStep(), ReplyStep(), dict[str, str]()
listener = TelemetryListener()


def listen(to: TelemetryListener) -> None:
    """From now on this one is told."""
    global listener
    listener = to


def possible() -> bool:
    """Whether the packages are there that tell a collector."""
    try:
        return all(find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:  # not even the one around it
        return False

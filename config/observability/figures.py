"""The figures that are told of the work, each defined once: for Prometheus, and for a collector of OpenTelemetry.

Their names are OpenTelemetry's; Prometheus has them by its rules: ``gen_ai.invoke_agent.duration`` in seconds is
``gen_ai_invoke_agent_duration_seconds``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

from config.observability import label_values

Labels = Mapping[str, str]
Record = Callable[[float, Labels], object]

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
REPLY_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
BUILD_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]
STALLED_SECONDS = [0.2, 0.5, 1, 2, 5, 10, 30]
TOKENS = [4**power for power in range(14)]


@dataclass(kw_only=True)
class Figure:
    """A histogram, or a counter where it has no ``boundaries``. A label that a value comes without is empty in Prometheus."""

    name: str
    unit: str
    description: str
    labels: Sequence[str]
    boundaries: Sequence[float] = ()
    sinks: list[Record] = field(default_factory=list)
    """Who is told of each value beside Prometheus."""

    def __post_init__(self) -> None:
        name = self.name.replace(".", "_") + ("_seconds" if self.unit == "s" else "")
        names = [label.replace(".", "_") for label in self.labels]
        kept: Any = (
            Histogram(name, self.description, names, buckets=self.boundaries, registry=REGISTRY)
            if self.boundaries
            else Counter(name, self.description, names, registry=REGISTRY)
        )
        self._kept = kept

    def record(self, value: float, labels: Labels) -> None:
        known = {name: label_values.bounded(name, labels[name]) for name in self.labels if name in labels}
        kept = self._kept.labels(*(known.get(label, "") for label in self.labels))
        kept.observe(value) if self.boundaries else kept.inc(value)
        for tell in self.sinks:
            tell(value, known)


MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model")
REQUEST_SECONDS = Figure(
    name="gen_ai.client.inference.duration",
    unit="s",
    description="GenAI client inference operation duration.",
    labels=[*MODEL, "error.type"],
    boundaries=SECONDS,
)
FIRST_SECONDS = Figure(
    name="gen_ai.client.inference.time_to_first_chunk",
    unit="s",
    description="Time to receive the first chunk.",
    labels=[*MODEL, "error.type"],
    boundaries=SECONDS,
)
TOOL_SECONDS = Figure(
    name="gen_ai.execute_tool.duration",
    unit="s",
    description="The duration of a single tool execution.",
    labels=["gen_ai.tool.name", "gen_ai.tool.type", "error.type"],
    boundaries=SECONDS,
)
REPLY = Figure(
    name="gen_ai.invoke_agent.duration",
    unit="s",
    description="The duration of a reply.",
    labels=["gen_ai.agent.name", "gen_ai.request.model", "error.type"],
    boundaries=REPLY_SECONDS,
)
BUILD = Figure(
    name="openbook.context.duration",
    unit="s",
    description="Building the context of a request.",
    labels=["error.type"],
    boundaries=BUILD_SECONDS,
)


def _used_tokens(kind: str, description: str) -> Figure:
    return Figure(
        name=f"gen_ai.client.inference.usage.{kind}",
        unit="{token}",
        description=description,
        labels=[*MODEL, "gen_ai.token.modality"],
    )


def _operation_tokens(kind: str, description: str) -> Figure:
    return Figure(
        name=f"gen_ai.client.inference.operation.{kind}",
        unit="{token}",
        description=description,
        labels=[*MODEL, "error.type"],
        boundaries=TOKENS,
    )


INPUT = _used_tokens("input_tokens", "The number of input tokens used, including cached tokens.")
OUTPUT = _used_tokens("output_tokens", "The number of output tokens used, including reasoning tokens.")
CACHE_READ = _used_tokens("cache_read.input_tokens", "The number of input tokens served from a prompt cache.")
CACHE_WRITE = _used_tokens("cache_write.input_tokens", "The number of input tokens written to a prompt cache.")
REASONING = _used_tokens("reasoning.output_tokens", "The number of output tokens used for reasoning.")
OPERATION_INPUT = _operation_tokens("input_tokens", "The number of input tokens used per inference operation.")
OPERATION_OUTPUT = _operation_tokens("output_tokens", "The number of output tokens used per inference operation.")
LEFT_OUT = Figure(
    name="openbook.context.left_out",
    unit="{turn}",
    description="Turns that model requests were not given, by reason.",
    labels=["openbook.reason"],
)
STALL_SECONDS = Figure(
    name="openbook.event_loop.stall.duration",
    unit="s",
    description="Steps that kept the event loop from everything else, by the function that took long.",
    labels=["code.function.name"],
    boundaries=STALLED_SECONDS,
)
FIGURES = (
    *(REQUEST_SECONDS, FIRST_SECONDS, TOOL_SECONDS, REPLY, BUILD, LEFT_OUT, STALL_SECONDS),
    *(INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, REASONING, OPERATION_INPUT, OPERATION_OUTPUT),
)

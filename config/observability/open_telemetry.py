"""Steps as OpenTelemetry has them: spans and metrics by its conventions for generative AI. Imported only where it is on.

https://github.com/open-telemetry/semantic-conventions-genai, as of September 2026. No prompt, title, turn, input or result of a
tool, nor what an error says is among the attributes.
"""

import asyncio
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from contextvars import Token
from typing import NamedTuple, Self

from opentelemetry.context import Context as Where
from opentelemetry.context import attach, detach
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from conversations.context import snapshots
from conversations.context.built_context import Context
from conversations.models import ContextSnapshot, Reply, Thread
from conversations.providers import get_provider, model_of, provider_name
from conversations.providers.base import Finished, ModelCall, ProviderError, Usage
from conversations.runtime import lagging
from conversations.runtime.interruption import Stopped
from conversations.runtime.request_ids import current_request_id
from conversations.runtime.telemetry import ReplyStep, TelemetryListener, TelemetryStep
from conversations.tools import registered

Values = Mapping[str, AttributeValue]

PROVIDERS = {
    "offline": "openbook.offline",
    "claude_cli": "anthropic",
    "bedrock": "aws.bedrock",
    "vertex": "gcp.vertex_ai",
}
"""The conventions' names of providers, where they are not ours."""
SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
REPLY_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
BUILD_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]
TOKENS = [4**power for power in range(14)]
SCOPE = "openbook"
PROPAGATOR = TraceContextTextMapPropagator()


class CarriedStep(TelemetryStep):
    """No span of its own: what begins within belongs to the trace that a caller named."""

    def __init__(self, where: Where) -> None:
        self._where = where

    def __enter__(self) -> Self:
        self._before = attach(self._where)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        detach(self._before)


class StartedSpan(NamedTuple):
    span: Span
    at: int


class SpanStep(TelemetryStep):
    """A span, and the duration as a metric, which is the same."""

    _before: Token[Where]

    def __init__(self, begun: StartedSpan, seconds: Histogram | None = None, labels: Values | None = None) -> None:
        self._span, self._began, self._seconds = *begun, seconds
        self._labels: dict[str, AttributeValue] = {**(labels or {})}

    def __enter__(self) -> Self:
        self._before = attach(set_span_in_context(self._span))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error and (code := code_of(error)):
            self.failed(code)
        self._end()
        detach(self._before)

    def failed(self, code: str) -> None:
        self._labels["error.type"] = code
        self._span.set_attribute("error.type", code)
        self._span.set_status(StatusCode.ERROR)

    def _end(self) -> None:
        now = time.time_ns()
        if self._seconds:
            self._seconds.record((now - self._began) / 1e9, self._labels)
        self._span.end(now)


class BuildSpan(SpanStep):
    def record_context(self, context: Context) -> None:
        self._span.set_attributes(
            {
                "openbook.context.turns_loaded": context.turns_loaded,
                "openbook.context.turns_kept": len(context.history),
                "openbook.context.tokens": context.model_tokens,
                **{f"openbook.context.{name}_ms": value for name, value in context.timings_ms.items()},
            }
        )


class ModelRequest(SpanStep):
    def __init__(self, begun: StartedSpan, listener: "SpanListener", labels: Values, call: ModelCall) -> None:
        super().__init__(begun, listener.request_seconds, labels)
        self._listener, self._call = listener, call

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._tell(self._call)
        super().__exit__(kind, error, trace)

    def _tell(self, call: ModelCall) -> None:
        if call.finished:
            if call.finished.model:
                self._labels["gen_ai.response.model"] = call.finished.model
            self._span.set_attributes(response_values(call.finished))
        if call.usage != Usage():
            self._span.set_attributes(usage_values(call.usage))
        if call.first_token_ms is not None:
            seconds = call.first_token_ms / 1000
            self._span.set_attribute("gen_ai.response.time_to_first_chunk", seconds)
            self._listener.first_seconds.record(seconds, self._labels)
        for kind, count in (("input", all_input(call.usage)), ("output", call.usage.output_tokens)):
            if count:
                self._listener.tokens.record(count, {**self._labels, "gen_ai.token.type": kind})


class ReplySpan(SpanStep, ReplyStep):
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        detach(self._before)

    def record_opened(self, thread: Thread, reply: Reply) -> None:
        assistant = thread.assistant
        provider = provider_name(assistant)
        self._labels = {"gen_ai.agent.name": assistant.name}
        with suppress(ProviderError):  # the reply itself says what is wrong
            self._labels["gen_ai.request.model"] = model_of(assistant, get_provider(provider))
        self._span.update_name(f"invoke_agent {assistant.name}")
        self._span.set_attributes(
            {
                **self._labels,
                "gen_ai.agent.id": assistant.slug,
                "gen_ai.provider.name": convention_name(provider),
                **ids(thread=thread.id, reply=reply.id),
            }
        )

    def record_closed(self, status: str, error_code: str | None, usage: Usage) -> None:
        self._span.set_attributes({"openbook.status": status, **usage_values(usage)})
        if error_code:
            self.failed(error_code)
        self._end()


class SpanListener(TelemetryListener):
    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer

        def seconds(name: str, description: str, boundaries: list[float]) -> Histogram:
            return meter.create_histogram(name, "s", description, explicit_bucket_boundaries_advisory=boundaries)

        self.request_seconds = seconds("gen_ai.client.operation.duration", "GenAI operation duration.", SECONDS)
        self.first_seconds = seconds(
            "gen_ai.client.operation.time_to_first_chunk", "Time to receive the first chunk.", SECONDS
        )
        self.tool_seconds = seconds("gen_ai.execute_tool.duration", "The duration of a single tool execution.", SECONDS)
        self.reply_seconds = seconds("gen_ai.invoke_agent.duration", "The duration of a reply.", REPLY_SECONDS)
        self.build_seconds = seconds("openbook.context.duration", "Building the context of a request.", BUILD_SECONDS)
        self.tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )
        self.left_out = meter.create_counter(
            "openbook.context.left_out", "{turn}", "Turns that model requests were not given, by reason."
        )
        meter.create_observable_gauge(
            "openbook.replica.lag", [_replica_lag], "s", "How far the replica was behind when it was last asked."
        )
        meter.create_observable_counter(
            "openbook.replica.fallbacks", [_replica_fallbacks], "{read}", "Reads that the primary answered, by reason."
        )

    def carried_on(self, headers: Mapping[str, str]) -> TelemetryStep:
        named = {name: headers[name] for name in PROPAGATOR.fields if name in headers}
        return CarriedStep(PROPAGATOR.extract(named)) if named else TelemetryStep()

    def task(self, name: str) -> TelemetryStep:
        return SpanStep(self._start_span(name, SpanKind.CONSUMER, {}))

    def reply(self) -> ReplyStep:
        begun = self._start_span("invoke_agent", SpanKind.INTERNAL, {"gen_ai.operation.name": "invoke_agent"})
        return ReplySpan(begun, self.reply_seconds)

    def context(self) -> TelemetryStep:
        return BuildSpan(self._start_span("build_context", SpanKind.INTERNAL, {}), self.build_seconds)

    def model_request(self, snapshot: ContextSnapshot, call: ModelCall) -> TelemetryStep:
        missing = snapshots.left_out(snapshot)
        for reason, count in missing.items():
            self.left_out.add(count, {"openbook.reason": reason})
        labels = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": convention_name(snapshot.provider),
            "gen_ai.request.model": snapshot.model,
        }
        values: dict[str, AttributeValue] = {
            **labels,
            "gen_ai.request.max_tokens": snapshot.max_tokens,
            "gen_ai.request.stream": True,
            "openbook.snapshot": str(snapshot.id),
            "openbook.purpose": str(snapshot.purpose),
            "openbook.round": snapshot.round,
            "openbook.context.tokens": snapshot.total_tokens,
            "openbook.context.turns_kept": snapshot.message_history_count,
            "openbook.context.turns_left_out": missing.total(),
            **ids(thread=snapshot.thread_id, reply=snapshot.reply_id),
        }
        return ModelRequest(self._start_span(f"chat {snapshot.model}", SpanKind.CLIENT, values), self, labels, call)

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        known = name if name in registered() else "unknown"  # what it is called is the model's own word
        values = {"gen_ai.tool.name": known, "gen_ai.tool.type": "function"}
        told = {**values, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": call_id}
        return SpanStep(self._start_span(f"execute_tool {known}", SpanKind.INTERNAL, told), self.tool_seconds, values)

    def here(self) -> Mapping[str, str]:
        found = get_current_span().get_span_context()
        if not found.is_valid:
            return {}
        return {"trace_id": format(found.trace_id, "032x"), "span_id": format(found.span_id, "016x")}

    def _start_span(self, name: str, kind: SpanKind, values: Values) -> StartedSpan:
        now, request_id = time.time_ns(), current_request_id.get()
        known = {"openbook.request_id": request_id} if request_id else {}
        return StartedSpan(
            self._tracer.start_span(name, kind=kind, attributes={**values, **known}, start_time=now), now
        )


def _replica_lag(_: CallbackOptions) -> Iterator[Observation]:
    """Nothing where there is none, or it is away."""
    if lagging.watch.lag is not None:
        yield Observation(lagging.watch.lag)


def _replica_fallbacks(_: CallbackOptions) -> Iterator[Observation]:
    for reason, reads in dict(lagging.watch.fallbacks).items():
        yield Observation(reads, {"reason": reason})


def ids(*, thread: object, reply: object | None) -> dict[str, str]:
    return {
        "gen_ai.conversation.id": str(thread),
        "openbook.thread": str(thread),
        **({"openbook.reply": str(reply)} if reply else {}),
    }


def convention_name(name: str) -> str:
    return PROVIDERS.get(name, name)


def all_input(usage: Usage) -> int:
    """What came from the cache and went into it is counted too; the Messages API counts it apart."""
    return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens


def usage_values(usage: Usage) -> dict[str, AttributeValue]:
    return {
        "gen_ai.usage.input_tokens": all_input(usage),
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_input_tokens,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_creation_input_tokens,
    }


def response_values(finished: Finished) -> dict[str, AttributeValue]:
    values: dict[str, AttributeValue] = {"gen_ai.response.finish_reasons": [finished.stop_reason]}
    if finished.message_id:
        values["gen_ai.response.id"] = finished.message_id
    if finished.model:
        values["gen_ai.response.model"] = finished.model
    return values


def code_of(error: BaseException) -> str | None:
    """A word for the kind of error, never what it says. To be stopped is none."""
    if isinstance(error, asyncio.CancelledError | Stopped):
        return None
    return error.code if isinstance(error, ProviderError) else type(error).__name__


class CollectorExporter:
    """The SDK, which reads the OTEL_* variables by itself. Sends in the background, now and then, and when it is closed.

    Not registered for other libraries to find: what they tell may hold content.
    """

    def __init__(self, signals: Collection[str]) -> None:
        resource = Resource.create().merge(Resource({SERVICE_NAME: SCOPE})).merge(OTELResourceDetector().detect())
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        if "traces" in signals:
            self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if "metrics" in signals else []
        self._metrics = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
        self.tracing = SpanListener(self._traces.get_tracer(SCOPE), self._metrics.get_meter(SCOPE))

    def close(self) -> None:
        """Send what is left. Where nobody answers this takes as long as the SDK's timeouts."""
        self._traces.shutdown()
        self._metrics.shutdown()

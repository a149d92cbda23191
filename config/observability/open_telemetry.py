"""Steps as OpenTelemetry has them: spans and events by its conventions for generative AI, and the figures as its metrics.
Imported only where it is on.

https://github.com/open-telemetry/semantic-conventions-genai, release 0.1.0. No prompt, title, turn, input or result of a
tool, nor what an error says is among the attributes, unless ``OPENBOOK_OTEL_TEXTS`` is on.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from contextvars import Token
from typing import Any, Self

from django.conf import settings
from opentelemetry._logs import Logger, SeverityNumber
from opentelemetry.context import Context as Where
from opentelemetry.context import attach, detach
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from config.observability import label_values
from config.observability.figures import FIGURES, Figure, Record
from config.observability.measuring import (
    all_input,
    code_of,
    convention_name,
    model_labels,
    reply_labels,
    tool_labels,
)
from config.observability.otel_texts import as_json, text_values
from conversations.context.built_context import Context
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Reply, Thread
from conversations.providers import provider_name
from conversations.providers.base import Finished, ModelCall, Usage
from conversations.runtime import lagging
from conversations.runtime.request_ids import current_request_id
from conversations.runtime.telemetry import ReplyStep, TelemetryListener, TelemetryStep

Values = Mapping[str, AttributeValue]

SCOPE = "openbook"
DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds what was sent and written, in structures."""
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


class SpanStep(TelemetryStep):
    _before: Token[Where]

    def __init__(self, span: Span, events: Logger, failure: str = "") -> None:
        """``failure`` names the event that is sent beside a span that failed; without a name none is."""
        self._span, self._events, self._failure = span, events, failure

    def __enter__(self) -> Self:
        self._before = attach(set_span_in_context(self._span))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error and (code := code_of(error)):
            self.failed(code)
        self._span.end()
        detach(self._before)

    def failed(self, code: str) -> None:
        kind = label_values.bounded("error.type", code)
        self._span.set_attribute("error.type", kind)
        self._span.set_status(StatusCode.ERROR)
        if self._failure:
            self._emit(self._failure, SeverityNumber.WARN, {"exception.type": kind})

    def _emit(self, name: str, severity: SeverityNumber, values: Mapping[str, Any]) -> None:
        where = set_span_in_context(self._span)
        self._events.emit(event_name=name, severity_number=severity, attributes=values, context=where)


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
    def __init__(self, span: Span, events: Logger, call: ModelCall, values: Values) -> None:
        super().__init__(span, events, "gen_ai.client.inference.exception")
        self._call, self._values = call, values

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        ended = ended_values(self._call)
        self._span.set_attributes(ended)
        if self._call.payload and settings.OPENBOOK_OTEL_TEXTS:
            texts = text_values(self._call.payload, self._call)
            self._span.set_attributes(as_json(texts))
            self._emit(DETAILS, SeverityNumber.DEBUG, {**self._values, **ended, **texts})
        super().__exit__(kind, error, trace)


class ReplySpan(SpanStep, ReplyStep):
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        detach(self._before)

    def record_opened(self, thread: Thread, reply: Reply) -> None:
        assistant = thread.assistant
        self._span.update_name(f"invoke_agent {assistant.name}")
        self._span.set_attributes(
            {
                **reply_labels(thread),
                "openbook.assistant": assistant.slug,
                "gen_ai.provider.name": convention_name(provider_name(assistant)),
                **ids(thread=thread.id, reply=reply.id),
            }
        )

    def record_closed(self, status: str, error_code: str | None, usage: Usage) -> None:
        self._span.set_attributes({"openbook.status": status, **usage_values(usage)})
        if error_code:
            self.failed(error_code)
        self._span.end()


class SpanListener(TelemetryListener):
    def __init__(self, tracer: Tracer, events: Logger) -> None:
        self._tracer, self._events = tracer, events

    def carried_on(self, headers: Mapping[str, str]) -> TelemetryStep:
        named = {name: headers[name] for name in PROPAGATOR.fields if name in headers}
        return CarriedStep(PROPAGATOR.extract(named)) if named else TelemetryStep()

    def task(self, name: str) -> TelemetryStep:
        return SpanStep(self._start_span(name, SpanKind.CONSUMER, {}), self._events)

    def reply(self) -> ReplyStep:
        values = {"gen_ai.operation.name": "invoke_agent"}
        return ReplySpan(self._start_span("invoke_agent", SpanKind.INTERNAL, values), self._events)

    def context(self) -> TelemetryStep:
        return BuildSpan(self._start_span("build_context", SpanKind.INTERNAL, {}), self._events)

    def model_request(self, snapshot: ContextSnapshot, call: ModelCall) -> TelemetryStep:
        labels = model_labels(snapshot)
        values: dict[str, AttributeValue] = {
            **labels,
            "gen_ai.request.max_tokens": snapshot.max_tokens,
            "gen_ai.request.stream": True,
            "openbook.snapshot": str(snapshot.id),
            "openbook.purpose": str(snapshot.purpose),
            "openbook.round": snapshot.round,
            **context_values(snapshot),
            **ids(thread=snapshot.thread_id, reply=snapshot.reply_id),
        }
        began = time.time_ns() - int((time.perf_counter() - call.began) * 1e9)  # what the call counts from
        span = self._start_span(f"chat {labels['gen_ai.request.model']}", SpanKind.CLIENT, values, began)
        return ModelRequest(span, self._events, call, values)

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        values = {**tool_labels(name), "gen_ai.operation.name": "execute_tool"}
        span = self._start_span(f"execute_tool {values['gen_ai.tool.name']}", SpanKind.INTERNAL, values)
        return SpanStep(span, self._events, "gen_ai.execute_tool.exception")

    def here(self) -> Mapping[str, str]:
        found = get_current_span().get_span_context()
        if not found.is_valid:
            return {}
        return {"trace_id": format(found.trace_id, "032x"), "span_id": format(found.span_id, "016x")}

    def _start_span(self, name: str, kind: SpanKind, values: Values, began: int | None = None) -> Span:
        """``began`` in nanoseconds since 1970, without it now."""
        request_id = current_request_id.get()
        known = {"openbook.request_id": request_id} if request_id else {}
        return self._tracer.start_span(name, kind=kind, attributes={**values, **known}, start_time=began)


def ids(*, thread: object, reply: object | None) -> dict[str, str]:
    return {
        "gen_ai.conversation.id": str(thread),
        "openbook.thread": str(thread),
        **({"openbook.reply": str(reply)} if reply else {}),
    }


def usage_values(usage: Usage) -> dict[str, AttributeValue]:
    return {
        "gen_ai.usage.input_tokens": all_input(usage),
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_input_tokens,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_creation_input_tokens,
        **({"gen_ai.usage.reasoning.output_tokens": usage.thinking_tokens} if usage.thinking_tokens else {}),
    }


def ended_values(call: ModelCall) -> dict[str, AttributeValue]:
    """What is known of a call once it has ended."""
    first = call.first_token_ms
    return {
        **(response_values(call.finished) if call.finished else {}),
        **(usage_values(call.usage) if call.usage.is_told else {}),
        **({"gen_ai.response.time_to_first_chunk": first / 1000} if first is not None else {}),
    }


def context_values(snapshot: ContextSnapshot) -> dict[str, AttributeValue]:
    """How the context of a request was chosen: tokens, budget, turns by reason, and by which version and rules."""
    missing = snapshots.left_out(snapshot)
    chosen_by = {"version": snapshot.version_id, "rules": snapshot.rules}
    return {
        "openbook.context.tokens": snapshot.total_tokens,
        "openbook.context.budget": snapshot.budget,
        "openbook.context.hard_cap": snapshot.hard_cap,
        "openbook.context.turns_kept": snapshot.message_history_count,
        "openbook.context.turns_left_out": missing.total(),
        **{f"openbook.context.left_out.{reason}": count for reason, count in missing.items()},
        **{f"openbook.context.{name}": number for name, number in chosen_by.items() if number is not None},
    }


def response_values(finished: Finished) -> dict[str, AttributeValue]:
    """The service's own id of its answer is in the snapshot, whose id the span has."""
    stop_reason = label_values.bounded("gen_ai.response.finish_reasons", finished.stop_reason)
    values: dict[str, AttributeValue] = {"gen_ai.response.finish_reasons": [stop_reason]}
    if finished.model:
        values["gen_ai.response.model"] = label_values.bounded("gen_ai.response.model", finished.model)
    return values


def instrument(meter: Meter, figure: Figure) -> Record:
    """Where a figure's values are told to this meter."""
    if not figure.boundaries:
        counter = meter.create_counter(figure.name, figure.unit, figure.description)
        return counter.add
    histogram = meter.create_histogram(
        figure.name, figure.unit, figure.description, explicit_bucket_boundaries_advisory=figure.boundaries
    )
    return histogram.record


def _replica_lag(_: CallbackOptions) -> Iterator[Observation]:
    """Nothing where there is none, or it is away."""
    if lagging.watch.lag is not None:
        yield Observation(lagging.watch.lag)


def _replica_fallbacks(_: CallbackOptions) -> Iterator[Observation]:
    for reason, reads in dict(lagging.watch.fallbacks).items():
        yield Observation(reads, {"reason": reason})


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
        self._logs = LoggerProvider(resource=resource, shutdown_on_exit=False)
        if "logs" in signals:
            self._logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        self.tracing = SpanListener(self._traces.get_tracer(SCOPE), self._logs.get_logger(SCOPE))
        meter = self._metrics.get_meter(SCOPE)
        self._sinks = [(figure, instrument(meter, figure)) for figure in FIGURES]
        for figure, sink in self._sinks:
            figure.sinks.append(sink)
        meter.create_observable_gauge(
            "openbook.replica.lag", [_replica_lag], "s", "How far the replica was behind when it was last asked."
        )
        meter.create_observable_counter(
            "openbook.replica.fallbacks", [_replica_fallbacks], "{read}", "Reads that the primary answered, by reason."
        )

    def close(self) -> None:
        """Send what is left. Where nobody answers this takes as long as the SDK's timeouts."""
        for figure, sink in self._sinks:
            if sink in figure.sinks:
                figure.sinks.remove(sink)
        self._traces.shutdown()
        self._metrics.shutdown()
        self._logs.shutdown()

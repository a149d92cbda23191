"""A collector of OpenTelemetry, as far as programs that tell it can see: OTLP over HTTP, in protobuf."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CollectedSpan:
    """A span, in plain values. ``parent`` is empty at the top of a trace."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    seconds: float
    failed: bool
    says: str
    values: Values


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a metric: of a histogram the sum, count and bounds, of a counter the sum, of a gauge the value."""

    values: Values
    sum: float
    count: int = 0
    bounds: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CollectedEvent:
    name: str
    severity: int
    trace: str
    span: str
    values: Values


@dataclass
class Collector:
    """``bodies`` are what came, as it came; ``service`` the resource that told it last."""

    bodies: list[bytes] = field(default_factory=list)
    spans: list[CollectedSpan] = field(default_factory=list)
    points: dict[str, list[Point]] = field(default_factory=dict)
    events: list[CollectedEvent] = field(default_factory=list)
    service: Values = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, name="collector", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def named(self, name: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.name == name]

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for told in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.service = plain(told.resource.attributes)
                self.spans += [as_told(span) for scope in told.scope_spans for span in scope.spans]
        elif path == "/v1/metrics":
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in measured.scope_metrics for metric in scope.metrics):
                    self.points[metric.name] = [
                        Point(values=plain(point.attributes), sum=point.as_double or point.as_int)
                        for point in [*metric.sum.data_points, *metric.gauge.data_points]
                    ] + [
                        Point(
                            values=plain(point.attributes),
                            sum=point.sum,
                            count=point.count,
                            bounds=tuple(point.explicit_bounds),
                        )
                        for point in metric.histogram.data_points
                    ]
        elif path == "/v1/logs":
            for logged in ExportLogsServiceRequest.FromString(body).resource_logs:
                self.events += [
                    CollectedEvent(
                        name=record.event_name,
                        severity=record.severity_number,
                        trace=record.trace_id.hex(),
                        span=record.span_id.hex(),
                        values=plain(record.attributes),
                    )
                    for scope in logged.scope_logs
                    for record in scope.log_records
                ]
        else:
            raise AssertionError(f"nobody collects at {path}")


def handler(collector: Collector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/x-protobuf"
            collector.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def as_told(span: Span) -> CollectedSpan:
    return CollectedSpan(
        name=span.name,
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        says=span.status.message + "".join(event.name for event in span.events),
        values=plain(span.attributes),
    )


def plain(attributes: Iterable[KeyValue]) -> Values:
    return {attribute.key: value_of(attribute.value) for attribute in attributes}


def value_of(value: AnyValue) -> Any:
    if value.HasField("array_value"):
        return [value_of(one) for one in value.array_value.values]
    if value.HasField("kvlist_value"):
        return plain(value.kvlist_value.values)
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None

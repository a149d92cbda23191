"""The OpenTelemetry SDK. It reads the OTEL_* variables by itself, as its specification says. Imported only where it is on."""

from collections.abc import Collection

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from config.observability.open_telemetry import SpanListener

SCOPE = "openbook"


class CollectorExporter:
    """Sends in the background, now and then, and when it is closed.

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

"""Where the steps of the work are told: as figures for Prometheus, in the log where they were slow, and to the OpenTelemetry
collector that the OTEL_* variables name, if they name one. Failures are told to Sentry where SENTRY_DSN names one."""

import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from django.conf import settings

from config.observability.measuring import MeasuringListener
from config.observability.slow import SlowListener
from conversations.runtime import telemetry

END_SECONDS = 2.0
"""What one who is told, and does not answer, may cost the end of a process."""


class Reporter(Protocol):
    def close(self) -> None:
        """Send what is left, however long that takes."""


_reporters: list[Reporter] = []


def begin() -> None:
    """Until ``end``. Imports nothing that is switched off; a system check says what is missing where it is on."""
    listeners: list[telemetry.TelemetryListener] = [MeasuringListener()]
    if settings.OPENBOOK_SLOW_SECONDS:
        listeners.append(SlowListener(settings.OPENBOOK_SLOW_SECONDS))
    if settings.OTEL_SIGNALS and telemetry.possible():
        exporter = import_module("config.observability.open_telemetry").CollectorExporter(settings.OTEL_SIGNALS)
        listeners.append(exporter.tracing)
        _reporters.append(exporter)
    if settings.SENTRY_DSN and find_spec("sentry_sdk"):
        _reporters.append(import_module("config.observability.sentry").FailureReporter(settings.SENTRY_DSN))
    telemetry.listen(*listeners)


def end() -> None:
    """Send what is left, as far as that is done soon."""
    for reporter in _reporters:
        sending = threading.Thread(target=reporter.close, name="telemetry", daemon=True)
        sending.start()
        sending.join(END_SECONDS)

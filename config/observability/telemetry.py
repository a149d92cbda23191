"""Where the steps of the work are told: as figures for Prometheus, and to the OpenTelemetry collector that the OTEL_* variables
name, if they name one."""

import threading
from importlib import import_module
from typing import Protocol

from django.conf import settings

from config.observability.measuring import MeasuringListener
from conversations.runtime import telemetry

END_SECONDS = 2.0
"""What a collector that does not answer may cost the end of a process."""


class Exporter(Protocol):
    tracing: telemetry.TelemetryListener

    def close(self) -> None: ...


_exporters: list[Exporter] = []


def begin() -> None:
    """Until ``end``. Imports nothing of OpenTelemetry where it is off; a system check says what is missing where it is on."""
    listeners: list[telemetry.TelemetryListener] = [MeasuringListener()]
    if settings.OTEL_SIGNALS and telemetry.possible():
        exporter: Exporter = import_module("config.observability.open_telemetry").CollectorExporter(
            settings.OTEL_SIGNALS
        )
        listeners.append(exporter.tracing)
        _exporters.append(exporter)
    telemetry.listen(*listeners)


def end() -> None:
    """Send what is left, as far as that is done soon."""
    for exporter in _exporters:
        sending = threading.Thread(target=exporter.close, name="telemetry", daemon=True)
        sending.start()
        sending.join(END_SECONDS)

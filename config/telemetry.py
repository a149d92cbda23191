"""Where the steps of the work are told: to the OpenTelemetry collector that the OTEL_* variables name, if they name one."""

from importlib import import_module

from django.conf import settings

from conversations import telemetry


def begin() -> None:
    """For as long as this process runs. Imports nothing where it is off; a system check says what is missing where it is on."""
    if settings.OTEL_SIGNALS and telemetry.possible():
        telemetry.listen(import_module("config.collector").Exporting(settings.OTEL_SIGNALS).tracing)

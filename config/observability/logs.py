"""Structured logs: one JSON object a line, each with the id of the request that it belongs to."""

import logging
from typing import Any

from pythonjsonlogger.json import JsonFormatter as BaseJsonFormatter

from conversations.runtime import telemetry
from conversations.runtime.request_ids import current_request_id


class JsonFormatter(BaseJsonFormatter):
    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        super().add_fields(log_data, record, message_dict)
        log_data["at"] = self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z")
        log_data["level"] = record.levelname.lower()
        log_data["logger"] = record.name
        if request_id := current_request_id.get():
            log_data.setdefault("request_id", request_id)
        log_data.update(telemetry.listener.here())

"""Failures for Sentry: which kind, where in the code, and ids to find them by in the log and the admin. Nothing of what people
wrote or sent.

Sentry's own integrations are left out, as they gather much: requests with their headers and bodies, variables, SQL, log lines.
What the log says at level ERROR is told, and of that only what is named here.
"""

import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from sentry_sdk import Client
from sentry_sdk.utils import BadDsn, event_from_exception

from config.observability.version import code_version
from conversations.runtime import telemetry
from conversations.runtime.request_ids import current_request_id

if TYPE_CHECKING:
    from sentry_sdk.types import Event

EVENT = (
    "event_id", "timestamp", "platform", "level", "logger", "logentry", "tags", "release", "environment", "server_name",
)  # fmt: skip
FRAME = ("filename", "function", "module", "lineno", "in_app")
ERROR = ("type", "module", "mechanism")
TAGS = ("thread_id", "reply", "tool", "rule", "status_code")
"""Ids and codes of ours that log lines bring."""
OURS = ("openbook", "django.")
"""Loggers whose words are plain sentences of code. Others fill in what errors say."""
SECONDS = 2.0
log = logging.getLogger("openbook.sentry")


class FailureReporter(logging.Handler):
    """Listens to the whole log until it is closed. Sends in the background; a Sentry that is away costs nobody anything."""

    def __init__(self, dsn: str) -> None:
        super().__init__(logging.ERROR)
        try:
            self._client: Client | None = client(dsn)
        except BadDsn:
            self._client = None  # a system check says so
            return
        logging.getLogger().addHandler(self)
        self._hook, sys.excepthook = sys.excepthook, self._crashed

    def emit(self, record: logging.LogRecord) -> None:
        if self._client and not record.name.startswith(("sentry_sdk", "urllib3")):
            self._client.capture_event(event_of(record, self._client.options))

    def _crashed(self, kind: Any, error: Any, trace: Any) -> None:
        """The end of a process by an error that nobody has logged."""
        if issubclass(kind, Exception):
            log.critical("crashed", exc_info=(kind, error, trace))
        self._hook(kind, error, trace)

    def close(self) -> None:
        logging.getLogger().removeHandler(self)
        if self._client:
            sys.excepthook = self._hook
            self._client.close(timeout=SECONDS)
            self._client = None
        super().close()


def client(dsn: str) -> Client:
    """Raises ``BadDsn``."""
    return Client(
        dsn=dsn,
        release=f"openbook@{code_version()}",
        before_send=lambda event, _: allowed(event),
        default_integrations=False,
        auto_enabling_integrations=False,
        auto_session_tracking=False,
        send_client_reports=False,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        enable_backpressure_handling=False,
    )


def event_of(record: logging.LogRecord, options: dict[str, Any]) -> "Event":
    """The words of the code that logs, without what it fills in."""
    event: dict[str, Any] = {}
    if record.exc_info and record.exc_info[0]:
        event |= event_from_exception(record.exc_info, options)[0]
    event["level"] = "fatal" if record.levelno >= logging.CRITICAL else "error"
    event["logger"] = record.name
    words = record.msg if record.name.startswith(OURS) else f"{record.name} says that something failed"
    event["logentry"] = {"message": str(words)}
    event["tags"] = tags_of(record)
    return cast("Event", event)


def tags_of(record: logging.LogRecord) -> Mapping[str, str]:
    found = {name: str(value) for name in TAGS if (value := getattr(record, name, None)) is not None}
    request = getattr(record, "request", None)
    if request is not None and (match := getattr(request, "resolver_match", None)):
        found |= {"method": str(request.method), "route": match.route}
    if request_id := current_request_id.get():
        found["request_id"] = request_id
    return {**found, **telemetry.listener.here()}


def allowed(event: "Event") -> "Event":
    """Of an event what may leave. What an error says may hold a person's words, so its kind must do."""
    given = cast("dict[str, Any]", event)
    errors = given.get("exception", {}).get("values", [])
    kept: dict[str, Any] = {name: given[name] for name in EVENT if name in given}
    return cast("Event", {**kept, "exception": {"values": [error_of(each) for each in errors]}})


def error_of(error: Mapping[str, Any]) -> dict[str, Any]:
    frames = (error.get("stacktrace") or {}).get("frames", [])
    return {
        **{name: error[name] for name in ERROR if name in error},
        "stacktrace": {"frames": [{name: frame[name] for name in FRAME if name in frame} for frame in frames]},
    }

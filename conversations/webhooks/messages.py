"""What a webhook is sent, and by what it knows that it is ours. Pure.

The signature is that of Standard Webhooks; ``standardwebhooks`` reads it in the tests.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from conversations.models.webhooks import PING, WebhookEvent

PREFIX, SECRET_BYTES = "whsec_", 32
PATHS: Mapping[str, str] = {
    WebhookEvent.REPLY_FINISHED: "threads/{thread}/messages/",
    WebhookEvent.REPLY_FAILED: "threads/{thread}/messages/",
    WebhookEvent.ARTIFACT_CREATED: "artifacts/{artifact}/",
    WebhookEvent.FILE_READ: "files/{file}/",
    WebhookEvent.FEEDBACK_GIVEN: "messages/{message}/feedback/",
    WebhookEvent.LIMIT_REACHED: "limits/",
    WebhookEvent.MEMORY_CHANGED: "memories/",
    WebhookEvent.CONTENT_ACCESSED: "accesses/",
    PING: "webhooks/{webhook}/",
}
"""Where the API tells more, below ``/api/v1/``."""


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def body_of(event: str, at: datetime, data: Mapping[str, Any], *, server: str) -> bytes:
    """The same bytes each time. ``server`` is scheme, host and port of this installation."""
    url = f"{server}/api/v1/{PATHS[event].format(**data)}"
    message = {"type": event, "timestamp": at.isoformat(), "data": {**data, "url": url}}
    return json.dumps(message, separators=(",", ":"), sort_keys=True).encode()


def headers_of(id: object, body: bytes, keys: Sequence[str], *, at: datetime) -> Mapping[str, str]:
    """``keys`` are the secrets that count at the time ``at``: one signature each."""
    number, seconds = f"msg_{id}", str(int(at.timestamp()))
    return {
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "Openbook",
        "webhook-id": number,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(key, f"{number}.{seconds}.".encode() + body) for key in keys),
    }


def _signature(key: str, signed: bytes) -> str:
    digest = hmac.new(base64.b64decode(key.removeprefix(PREFIX)), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"

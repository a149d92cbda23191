"""Events by HTTP, in the shape of OCSF. A destination has taken them once it answers 2xx.

The operator's setting says where it leads, so that it may lie in an inner network.
"""

import asyncio
import json
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from conversations.audit import ocsf
from conversations.audit.destinations import SECONDS, DeliveryFailed, Destination
from conversations.models import AuditEvent
from conversations.providers.signatures import signature_headers

CONTENT_TYPES = {"lines": "application/x-ndjson", "array": "application/json"}


def destination() -> Destination:
    return Destination(
        name="http", place=urlsplit(settings.OPENBOOK_AUDIT_PUSH_URL).netloc.rpartition("@")[2], send=send
    )


def send(events: Sequence[AuditEvent]) -> None:
    body = encode(events, settings.OPENBOOK_AUDIT_PUSH_FORMAT)
    headers = {
        "Content-Type": CONTENT_TYPES[settings.OPENBOOK_AUDIT_PUSH_FORMAT],
        **authorization(settings.OPENBOOK_AUDIT_PUSH_TOKEN),
        **signature_headers(body, settings.OPENBOOK_AUDIT_PUSH_SECRET),
    }
    asyncio.run(_post(settings.OPENBOOK_AUDIT_PUSH_URL, body, headers))


def encode(events: Sequence[AuditEvent], form: str) -> bytes:
    """As JSON lines or as one array."""
    lines = [json.dumps(event, ensure_ascii=False, sort_keys=True) for event in ocsf.described(events)]
    text = f"[{','.join(lines)}]" if form == "array" else "".join(f"{line}\n" for line in lines)
    return text.encode()


def authorization(token: str) -> dict[str, str]:
    """A token is a bearer's; one with its scheme before it, such as ``Splunk …``, is sent as it is."""
    if not token:
        return {}
    return {"Authorization": token if " " in token else f"Bearer {token}"}


async def _post(url: str, body: bytes, headers: dict[str, str]) -> None:
    from conversations.providers.http_client import connection_code, open_client  # noqa: PLC0415  (slow)

    try:
        async with (
            asyncio.timeout(SECONDS),
            open_client(None, connect_seconds=SECONDS) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            status = response.status_code  # it says all; what stands in the answer is left unread
    except TimeoutError:
        raise DeliveryFailed(f"no answer within {SECONDS:g} s") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise DeliveryFailed(f"not reached: {connection_code(error)}") from None
    if not 200 <= status < 300:
        raise DeliveryFailed(f"answered {status} in place of 2xx")

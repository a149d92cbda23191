"""Events by syslog over TLS: messages of RFC 5424, framed by counting octets (RFC 5425).

Syslog has no answer to a message. Each batch is a connection of its own, which is closed as RFC 5425 asks: this side says that
it sends nothing more, and the other one says the same once it has read all there was. Only then has it taken them. One that
refuses a client says goodbye as well, without having read: what tells them apart is TCP, which resets a connection that is
closed with something unread.
"""

import fcntl
import json
import os
import re
import socket
import ssl
import sys
import termios
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from conversations.audit import ocsf
from conversations.audit.destinations import SECONDS, DeliveryFailed, Destination
from conversations.models import AuditEvent

PORT = 6514
FACILITY = 13  # log audit
SEVERITIES = {"success": 6, "failure": 5, "denied": 4}  # informational, notice, warning
UNPRINTABLE = re.compile(r"[^!-~]")


def destination() -> Destination:
    host, port = place_of(settings.OPENBOOK_AUDIT_SYSLOG)
    return Destination(name="syslog", place=f"{host}:{port}", send=send)


def place_of(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or PORT


def send(events: Sequence[AuditEvent]) -> None:
    hostname = header_field(socket.gethostname(), 255)
    messages = b"".join(framed(events, hostname))
    host, port = place_of(settings.OPENBOOK_AUDIT_SYSLOG)
    try:
        context = tls(settings.OPENBOOK_AUDIT_SYSLOG_CA, settings.OPENBOOK_AUDIT_SYSLOG_CERTIFICATE)
        with (
            socket.create_connection((host, port), timeout=SECONDS) as opened,
            context.wrap_socket(opened, server_hostname=host) as stream,
        ):
            stream.sendall(messages)
            with stream.unwrap() as plain:  # waits for the other side's goodbye
                ensure_all_was_read(plain)
    except ssl.SSLCertVerificationError as error:
        raise DeliveryFailed(f"its certificate is not trusted: {error.verify_message}") from None
    except TimeoutError:
        raise DeliveryFailed(f"no answer within {SECONDS:g} s") from None
    except ssl.SSLError as error:
        raise DeliveryFailed(f"TLS failed: {error.reason or type(error).__name__}") from None
    except OSError as error:
        raise DeliveryFailed(f"not reached: {error.strerror or type(error).__name__}") from None


def ensure_all_was_read(plain: socket.socket) -> None:
    """Wait until the other side has closed. Raises ``OSError`` where it did so before all had arrived, or had been read."""
    deadline = time.monotonic() + SECONDS
    while plain.recv(4096):
        pass
    while True:
        if problem := plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(problem, os.strerror(problem))
        if not _unacknowledged(plain):
            return
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)


def _unacknowledged(plain: socket.socket) -> int:
    """Bytes that have not arrived at the other machine; 0 where this system can't tell."""
    try:
        return int.from_bytes(fcntl.ioctl(plain, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    except OSError:
        return 0


@cache
def tls(ca: str, certificate: str) -> ssl.SSLContext:
    """``ca``: a file of authorities in place of this machine's; ``certificate``: a file with this client's own and its key."""
    context = ssl.create_default_context(cafile=ca or None)
    if certificate:
        context.load_cert_chain(certificate)
    return context


def framed(events: Sequence[AuditEvent], hostname: str) -> Iterable[bytes]:
    for event, shape in zip(events, ocsf.described(events), strict=True):
        message = formatted(event, shape, hostname)
        yield b"%d %s" % (len(message), message)


def formatted(event: AuditEvent, shape: Mapping[str, Any], hostname: str) -> bytes:
    """The JSON is ASCII, so that it needs no mark of its encoding, which receivers take for a part of it."""
    priority = FACILITY * 8 + SEVERITIES.get(event.outcome, 5)
    at = event.at.isoformat(timespec="microseconds")
    kind = header_field(event.kind, 32)
    return f"<{priority}>1 {at} {hostname} openbook - {kind} - {json.dumps(shape, sort_keys=True)}".encode()


def header_field(text: str, most: int) -> str:
    return UNPRINTABLE.sub("", text)[:most] or "-"

"""Public identifiers."""

import secrets
import time
import uuid
from datetime import datetime


def uuid7() -> uuid.UUID:
    """A version 7 UUID (RFC 9562): ordered by time, so that index pages fill in order. Python has its own from 3.14 on."""
    milliseconds = time.time_ns() // 1_000_000
    value = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return uuid.UUID(int=value)


def lowest_uuid7(at: datetime) -> uuid.UUID:
    """All ids that were made before then are lower."""
    return uuid.UUID(int=int(at.timestamp() * 1000) << 80)

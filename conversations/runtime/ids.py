"""Public identifiers."""

import secrets
import uuid
from datetime import UTC, datetime, timedelta

from conversations.runtime import clock

LONGEST_REPLY = timedelta(days=2)
"""No reply runs longer, from its first row to its last."""
CLOCK_ERROR = timedelta(days=1)
"""By so much a server's clock may be wrong, or be set while a reply runs."""
MARGIN = int((LONGEST_REPLY + CLOCK_ERROR).total_seconds() * 1000)


def uuid7() -> uuid.UUID:
    """A version 7 UUID (RFC 9562): ordered by time, so that index pages fill in order. Python has its own from 3.14 on."""
    milliseconds = int(clock.seconds() * 1000)
    value = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return uuid.UUID(int=value)


def lowest_uuid7(at: datetime) -> uuid.UUID:
    """All ids that were made before then are lower."""
    return uuid.UUID(int=int(at.timestamp() * 1000) << 80)


def time_of(id: uuid.UUID) -> datetime:
    """When an id was made."""
    return datetime.fromtimestamp((id.int >> 80) / 1000, UTC)


def ids_near(first: uuid.UUID, last: uuid.UUID | None = None) -> tuple[uuid.UUID, uuid.UUID]:
    """Between which ids lie those of all that a reply made, or replies from the first to the last."""
    lowest, highest = (first.int >> 80) - MARGIN, ((last or first).int >> 80) + MARGIN
    return uuid.UUID(int=max(lowest, 0) << 80), uuid.UUID(int=min(highest, (1 << 48) - 1) << 80)


def lowest_since(id: uuid.UUID) -> uuid.UUID:
    """No lower than this is the id of anything that was made in this thread, or since this reply. A thread that was imported
    keeps its id, which may tell no time or one to come."""
    if id.version != 7:
        return uuid.UUID(int=0)
    made_at = min(id.int >> 80, int(clock.seconds() * 1000))
    return uuid.UUID(int=max(made_at - MARGIN, 0) << 80)

"""Turns for the pure parts of memory."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from memory.consolidation.findings import SourceTurn

MONDAY = datetime(2026, 3, 2, 9, tzinfo=ZoneInfo("Europe/Berlin"))


def id_of(position: int) -> uuid.UUID:
    return uuid.UUID(int=position)


def conversation(*texts: str, began: datetime = MONDAY) -> Sequence[SourceTurn]:
    """The person's turns and the assistant's in turn, a minute apart."""
    return [
        SourceTurn(
            id=id_of(n),
            position=n,
            role=["assistant", "user"][n % 2],
            text=text,
            at=began + timedelta(minutes=n - 1),
        )
        for n, text in enumerate(texts, 1)
    ]

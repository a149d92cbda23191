"""Lines that staff show above pages for a time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q

from conversations.models import Banner
from conversations.runtime import clock

KEEP_SECONDS = 5.0
"""How long the rows are kept in memory, as every page asks for them."""


@dataclass
class CachedBanners:
    rows: Sequence[Banner] = ()
    until: float = 0.0


_cached = CachedBanners()


def shown_to(user: User) -> list[Banner]:
    """Those that this person is shown now, in the order in which they began."""
    return chosen(_rows(), now=clock.now(), is_staff=user.is_staff)


def chosen(rows: Sequence[Banner], *, now: datetime, is_staff: bool) -> list[Banner]:
    """Pure."""
    return [
        row
        for row in rows
        if row.starts_at <= now
        and (row.ends_at is None or now < row.ends_at)
        and (is_staff or row.audience != Banner.Audience.STAFF)
    ]


def reread() -> None:
    """Staff have changed one."""
    _cached.until = 0.0


def _rows() -> Sequence[Banner]:
    """All that have not ended. Reads the database once in a few seconds."""
    if time.monotonic() >= _cached.until:
        _cached.rows = tuple(Banner.objects.filter(Q(ends_at=None) | Q(ends_at__gt=clock.now())))
        _cached.until = time.monotonic() + KEEP_SECONDS
    return _cached.rows

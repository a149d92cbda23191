"""How long a sign-in lasts: since it began, and since its person was last there. The strictest rule counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User

from conversations.accounts.user_values import value_of
from conversations.runtime.sql_files import read_statements

TOUCH = timedelta(minutes=1)
"""An end is moved by so much at least, so that not every request writes."""
STATEMENTS = read_statements(__file__)


@dataclass(frozen=True, kw_only=True)
class SessionTimes:
    """``idle`` None: it doesn't matter whether anybody is there."""

    most: timedelta
    idle: timedelta | None = None


def strictest(rules: Iterable[tuple[int | None, int | None]]) -> SessionTimes:
    """Of hours since the beginning and minutes without anybody there; none and 0 of either say nothing. Pure."""
    hours, minutes = zip(*rules, strict=True)
    idle = min(filter(None, minutes), default=None)
    return SessionTimes(most=timedelta(hours=min(filter(None, hours))), idle=timedelta(minutes=idle) if idle else None)


def first_end(times: SessionTimes, began_at: datetime) -> datetime:
    return began_at + min(times.most, times.idle or times.most)


def renewed_end(
    times: SessionTimes, *, began_at: datetime, ends_at: datetime, now: datetime, is_active: bool
) -> datetime:
    """When a session ends, that would have ended at ``ends_at``: later where its person is there, sooner where the rules have
    become stricter. Pure."""
    latest = began_at + times.most
    if times.idle:
        latest = min(latest, now + times.idle)
    if latest < ends_at:
        return latest
    return latest if times.idle and is_active and latest - ends_at >= min(TOUCH, times.idle / 4) else ends_at


def times_of(user: User) -> SessionTimes:
    """Those of the installation, of staff and of the user's groups. Asks the database, unless the row came along with them."""
    hours, minutes = getattr(user, "group_times", None) or value_of(user.pk, STATEMENTS["group_times"]) or (None, None)
    rules = [(hours, minutes), (settings.OPENBOOK_SESSION_HOURS, settings.OPENBOOK_SESSION_IDLE_MINUTES)]
    if user.is_staff:
        rules.append((settings.OPENBOOK_STAFF_SESSION_HOURS, settings.OPENBOOK_STAFF_SESSION_IDLE_MINUTES))
    return strictest(rules)

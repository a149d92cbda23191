"""A session is a run of a user's activity, in whatever threads, without a gap longer than 30 minutes."""

from datetime import datetime

from conversations.runtime.values import dataclass
from memory.parts import LONGEST_PAUSE


@dataclass(frozen=True, kw_only=True)
class Session:
    """``away_since`` is the user's last activity before it, ``None`` where there was none."""

    started_at: datetime
    away_since: datetime | None = None


def session_at(now: datetime, *, last_active: datetime | None, last_session: Session | None) -> Session:
    """The session that activity at ``now`` belongs to: the last one, or a new one after too long a pause. Pure.

    ``last_active`` is the time of the user's last turn in any thread, ``last_session`` the session of that turn. What was
    imported with a time to come says nothing.
    """
    if last_active is None or last_active > now:
        return Session(started_at=now)
    if last_session is None or now - last_active > LONGEST_PAUSE:
        return Session(started_at=now, away_since=last_active)
    return last_session

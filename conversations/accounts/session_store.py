"""Sessions in PostgreSQL as Django keeps them, but for their end: that is set when somebody signs in and moved by whoever
knows whose session it is (``session_user``), and storing something in a session leaves it as it is."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession

from conversations.runtime import clock

BEGAN = "signed_in_at"
"""Of a session: when its person signed in, in seconds since 1970."""


class SessionStore(db.SessionStore):
    ends_at: datetime | None = None
    """None: it is not stored yet, and nobody has signed in."""

    def begin(self, *, began_at: datetime, ends_at: datetime) -> None:
        """Somebody has signed in."""
        self[BEGAN] = began_at.timestamp()
        self.ends_at = ends_at

    def move_end(self, ends_at: datetime) -> None:
        """In the database at once, unless it has ended meanwhile."""
        rows = self.model.objects.filter(session_key=self.session_key, expire_date__gt=clock.now())
        rows.update(expire_date=ends_at)
        self.ends_at = ends_at

    def get_expiry_date(self, **kwargs: Any) -> datetime:
        return self.ends_at or super().get_expiry_date(**kwargs)

    async def aget_expiry_date(self, **kwargs: Any) -> datetime:
        return self.ends_at or await super().aget_expiry_date(**kwargs)

    def flush(self) -> None:
        super().flush()
        self.ends_at = None

    async def aflush(self) -> None:
        await super().aflush()
        self.ends_at = None

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        row: AbstractBaseSession | None = super()._get_session_from_db()  # type: ignore[misc]
        self.ends_at = row.expire_date if row else None
        return row

    async def _aget_session_from_db(self) -> AbstractBaseSession | None:
        row: AbstractBaseSession | None = await super()._aget_session_from_db()  # type: ignore[misc]
        self.ends_at = row.expire_date if row else None
        return row

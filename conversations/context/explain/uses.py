"""Which requests held a note: how many, for how many replies, what it took in them, and when it was last given."""

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime

from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

USES = read_statements(__file__)["uses"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Uses:
    """``requests`` are all model requests that held it, ``replies`` the answers that these were made for; a request to
    consolidate is for none. ``tokens`` of all these requests together, as their models count."""

    requests: int = 0
    replies: int = 0
    tokens: int = 0
    last: datetime | None = None


NONE = Uses()


def uses_of(user_id: int, ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Uses]:
    """Of the user's notes with these ids; one that no request held is missing."""
    if not ids:
        return {}
    return {
        uuid.UUID(id): Uses(requests=requests, replies=replies, tokens=tokens, last=last)
        for id, requests, replies, tokens, last in run(USES, user=user_id, ids=[str(id) for id in ids])
    }

"""Turns handed to the index that recall searches: at once by an import, else right after a reply has ended.

What a killed process left is indexed by whoever comes next; until then a search looks at it as it is.
"""

import logging
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DatabaseError, connections

from conversations.models import Thread
from conversations.runtime import clock, lagging
from conversations.runtime.sql_files import read_statements
from memory.index import word_index
from memory.index.word_index import SaidTurn

log = logging.getLogger("openbook.recall")

BATCH = 500
LATE = timedelta(minutes=1)
"""A turn may be committed this much later than the time that it bears."""

SQL = read_statements(__file__)
NEWEST_UNINDEXED = SQL["newest_unindexed"]


def catch_up(user_id: int, *, recount: bool = False) -> None:
    """Index what is stored of the user and not indexed yet, and count the words anew where that is due, or ``recount``: what
    came at once may have brought speakers of its own."""
    until = clock.now() - LATE
    is_last = is_due = False
    while not is_last:
        turns = _fetch_turns(SQL["oldest_unindexed"], user_id, BATCH)
        is_last = len(turns) < BATCH
        is_due = word_index.store_batch(user_id, turns, until=until if is_last else None)
    if is_due or recount:
        word_index.count_words(user_id, list(Thread.objects.filter(user_id=user_id).values_list("id", flat=True)))
        word_index.store_batch(user_id, [], until=until)  # the first count made the row


def catch_up_if_possible(user_id: int) -> None:
    """``catch_up``, where what fails is left to the next one."""
    try:
        catch_up(user_id)
    except DatabaseError as error:
        log.warning("can't index turns yet", extra={"user_id": user_id, "cause": type(error).__name__})


def said_turn(row: Mapping[str, Any]) -> SaidTurn:
    return SaidTurn(
        thread=uuid.UUID(str(row["thread_id"])),
        depth=row["depth"],
        position=row["position"],
        role=row["role"],
        text=row["text"],
        at=datetime.fromisoformat(str(row["created_at"])).astimezone(UTC),
        path=row.get("path"),
    )


def newest_unindexed(user_id: int, most: int) -> list[SaidTurn]:
    """What a search has to look at itself, newest threads first."""
    return _fetch_turns(NEWEST_UNINDEXED, user_id, most)


def _fetch_turns(statement: str, user_id: int, most: int) -> list[SaidTurn]:
    with connections[lagging.alias()].cursor() as cursor:
        cursor.execute(statement, {"user": user_id, "most": most})
        names = [column.name for column in cursor.description]
        return [said_turn(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]

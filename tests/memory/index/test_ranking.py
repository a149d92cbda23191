"""The statement that ranks, as psycopg is given it, and what a text asks for."""

import re
from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from psycopg import _queries

from conversations.context.gather.fallible_reads import fetch_rows
from conversations.models import Message
from memory.index import word_index
from memory.index.index_turns import said_turn
from memory.index.ranking import STATEMENT, WordCounts, query_of, values_of
from memory.models import IndexedPassage
from tests.conversations.factories import make_thread


def test_the_statement_is_short_enough_to_be_read_once_a_connection() -> None:
    """psycopg keeps what it read of a statement of a bounded length and at most 50 parameters."""
    squeezed = " ".join(STATEMENT.split())
    assert (
        len(squeezed) <= _queries.MAX_CACHED_STATEMENT_LENGTH,
        len(set(re.findall(r"%\((\w+)\)s", squeezed))) < 50,
    ) == (True, True)


@pytest.mark.parametrize(
    ("zone", "text", "first", "last"),
    [
        (UTC, "yesterday", 1, 1),
        (ZoneInfo("Pacific/Kiritimati"), "yesterday", 1, 2),  # it is the third there since ten
        (ZoneInfo("America/Los_Angeles"), "yesterday", 1, 2),  # which begins at eight in UTC
        (ZoneInfo("Pacific/Kiritimati"), "on 3 March 2026", 2, 3),
        (ZoneInfo("America/Los_Angeles"), "on 3 March 2026", 3, 4),
    ],
)
def test_days_are_those_of_the_persons_zone(zone: tzinfo, text: str, first: int, last: int) -> None:
    [span] = query_of(1, f"What did I do {text}?", datetime(2026, 3, 2, 12, tzinfo=UTC), zone).spans
    assert (span.first, span.last) == (date(2026, 3, first), date(2026, 3, last))


def test_the_first_and_the_last_day_of_all_are_spans_in_every_zone() -> None:
    for text in ("on 1 January 0001", "on 31 December 9999"):
        for zone in (ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/Los_Angeles")):
            query_of(1, text, datetime(2026, 3, 2, 12, tzinfo=UTC), zone)


@pytest.mark.django_db
def test_a_turn_that_is_indexed_after_it_was_read_as_not_indexed_is_ranked_once(user: User) -> None:
    thread = make_thread(user, turns=["My boat is called Marisol."])
    [row] = Message.objects.values("thread_id", "depth", "position", "role", "text", "created_at")
    turn = said_turn(row)
    word_index.store(user.id, [turn])
    assert IndexedPassage.objects.count() == 1
    query = query_of(user.id, "What is the name of my boat?", datetime(2026, 3, 2, 12, tzinfo=UTC), UTC)
    values = values_of(query, WordCounts(), [turn], wanted=10) | {"projects": [], "confined": False}
    [(found, *_)] = fetch_rows(STATEMENT, values)
    assert found == thread.id

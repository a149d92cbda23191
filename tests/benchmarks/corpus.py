"""Threads of every length, in a table of half a million turns like those of real chats."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import connection

from conversations.models import Assistant, Message, Thread
from tests.benchmarks.measuring import doing
from tests.conversations.factories import make_thread, make_user

LENGTHS = (100, 1_000, 10_000, 100_000)
TURNS = 500_000
FILLER = 1_000
"""Turns of each of the threads that nobody reads."""

# Lengths as in real chats: 60 tokens in the mean, a few turns of many hundreds, and so about 50 turns fill the Companion's
# window. Rows lie in the order of their time, as they would have come: a thread's turns are spread over the table.
FILL = """
SELECT setseed(0.5);
WITH drawn AS (
    SELECT thread.id AS thread, n, timestamptz '2026-01-01Z' + n * (interval '300 days' / thread.message_count) AS at,
           least(200, greatest(1, round(exp(1.9 + 0.9 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))))::int AS times
    FROM conversations_thread AS thread, LATERAL generate_series(1, thread.message_count) AS n
),
said AS (
    SELECT *, 'Turn ' || n || ': ' || repeat('the harbour lay quiet. ', times) AS body, 10 + 5 * times AS tokens FROM drawn
)
INSERT INTO conversations_message (id, thread_id, position, depth, role, text, status, token_count, token_total,
                                   created_at, is_active)
SELECT gen_random_uuid(), thread, n, n, CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END,
       body, 'complete', tokens,
       sum(tokens) OVER (PARTITION BY thread ORDER BY n), at, true
FROM said ORDER BY at;
VACUUM ANALYZE conversations_message
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusTurn:
    """A turn as a peer needs it."""

    id: uuid.UUID
    role: str
    text: str
    created_at: datetime


def fill() -> dict[int, Thread]:
    """The threads to read, by length."""
    user = make_user("bench")
    with doing(f"filling the table with {TURNS:,} turns"):
        threads = {length: make_long_thread(user, length) for length in LENGTHS}
        for _ in range((TURNS - sum(LENGTHS)) // FILLER):
            make_long_thread(user, FILLER)
        with connection.cursor() as cursor:
            for statement in FILL.split(";"):
                cursor.execute(statement)
    return threads


def make_long_thread(user: User, turns: int) -> Thread:
    """A thread that says it has so many turns; ``FILL`` makes them."""
    thread = make_thread(user, assistant=Assistant.objects.get(slug="companion"), title=f"{turns} turns")
    Thread.objects.filter(id=thread.id).update(message_count=turns, last_position=turns)
    return Thread.objects.select_related("assistant").get(id=thread.id)


def rows_of(thread: Thread) -> list[CorpusTurn]:
    turns = Message.objects.filter(thread=thread).order_by("position").values_list("id", "role", "text", "created_at")
    return [CorpusTurn(id=id, role=role, text=text, created_at=created_at) for id, role, text, created_at in turns]

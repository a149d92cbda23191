"""What is known of a person, read and made into tiers: flat in how much that is, beside a raw prepared statement."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
from django.contrib.auth.models import User
from django.db import connection

from conversations.context.rules.standing import Tier
from conversations.context.sessions import Session
from conversations.models import Thread
from conversations.runtime.db import read_only
from tests.benchmarks.measuring import side_by_side, table
from tests.conversations.factories import make_thread, make_user
from tests.memory.profiles import Profile, build_tiers, known_query, read_profile

AMOUNTS = (0, 100, 1_000, 100_000)
NOW = datetime(2026, 3, 28, 10, tzinfo=UTC)
RAW = "raw prepared binary statement"
BACK = Session(started_at=NOW, away_since=NOW - timedelta(days=3))

# Every third memory belongs to another thread.
FILL = [
    """INSERT INTO memory_memory (id, user_id, content, tags, origin, sources, created_at)
       SELECT gen_random_uuid(), %(user)s, 'She asked about the harbour, time ' || n || '.',
              CASE WHEN n %% 3 = 0 THEN jsonb_build_array('thread:' || gen_random_uuid()) ELSE '[]' END,
              'program', '{}', %(now)s - n * interval '1 hour'
       FROM generate_series(1, %(amount)s) AS n""",
    """INSERT INTO memory_topic (id, user_id, title, sources, opened_at)
       SELECT gen_random_uuid(), %(user)s, 'Topic ' || n, '{}', %(now)s - n * interval '1 day'
       FROM generate_series(1, %(amount)s) AS n""",
    """INSERT INTO memory_dailysummary (id, user_id, day, text, key_moments, parts, updated_at)
       SELECT gen_random_uuid(), %(user)s, %(now)s::date - n, repeat('A day at the harbour. ', 20),
              '["a boat", "a storm"]', '{}', %(now)s
       FROM generate_series(0, least(%(amount)s, 9000) - 1) AS n""",
    """INSERT INTO memory_threadsummary
           (id, user_id, thread_id, first_position, last_position, text, key_moments, sources, made_by, started_at, ended_at,
            made_at)
       SELECT gen_random_uuid(), %(user)s, %(thread)s, n, n, repeat('A talk about boats. ', 20), '[]', '{}', 'rules', %(now)s,
              %(now)s - n * interval '1 day', %(now)s
       FROM generate_series(1, %(amount)s) AS n""",
]


def main() -> None:
    people = {amount: filled(amount) for amount in AMOUNTS}
    with connection.cursor() as cursor:
        for name in ("memory", "topic", "dailysummary", "threadsummary"):
            cursor.execute(f"VACUUM ANALYZE memory_{name}")
    thread = make_thread(make_user())
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"], autocommit=True) as raw:
        raw.execute("SET plan_cache_mode = force_generic_plan")
        calls: dict[str, Callable[[User, Thread], object]] = {
            RAW: partial(read_raw, raw),
            "read": read_person,
            "read, made into tiers": tiers,
        }
        with read_only():
            taken = side_by_side(
                {
                    f"{title:<34} {amount:>7,} of each": partial(call, user, thread)
                    for title, call in calls.items()
                    for amount, user in people.items()
                }
            )
    limit = f"{RAW:<34} {AMOUNTS[1]:>7,} of each"
    table("what is known of a person: 40 memories, 10 topics, 2 summaries", taken, limit=limit)


def read_raw(raw: psycopg.Connection, user: User, thread: Thread) -> None:
    query = known_query(user.pk, thread.id, BACK)
    raw.execute(f"SELECT {', '.join(query.columns.values())}", query.values, prepare=True, binary=True).fetchall()


def read_person(user: User, thread: Thread) -> Profile:
    return read_profile(user_id=user.pk, thread_id=thread.id, session=BACK)


def tiers(user: User, thread: Thread) -> list[Tier]:
    return build_tiers(read_person(user, thread), thread.assistant)


def filled(amount: int) -> User:
    user = make_user()
    with connection.cursor() as cursor:
        for statement in FILL:
            cursor.execute(statement, {"user": user.pk, "thread": make_thread(user).id, "amount": amount, "now": NOW})
    return user

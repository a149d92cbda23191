"""Building a context: flat in the thread's length, beside a raw prepared statement that reads the same rows."""

import os
from collections.abc import Callable
from functools import partial

import psycopg
from django.contrib.auth.models import User
from django.db import connection

from conversations.context.builder import Context, build_context
from conversations.context.windowing import Turn
from conversations.models import Assistant, Message, Thread, text_blocks
from conversations.providers.offline import OfflineProvider
from conversations.sessions import Session
from tests.benchmarks.measuring import side_by_side, table
from tests.conversations.factories import make_thread, make_user

LENGTHS = (100, 1_000, 10_000, 100_000)
RAW = """
SELECT id, position, depth, role, content, token_count FROM conversations_message
WHERE thread_id = %s AND is_active AND position < %s ORDER BY position DESC LIMIT 81
"""

# Turns like those of real chats: about 37 tokens, and so 80 of them fill the Companion's window.
FILL = """
INSERT INTO conversations_message (id, thread_id, position, depth, role, content, text, status, token_count, token_total,
                                   created_at, is_active)
SELECT gen_random_uuid(), %(thread)s, n, n, CASE WHEN n %% 2 = 1 THEN 'user' ELSE 'assistant' END,
       jsonb_build_array(jsonb_build_object('type', 'text', 'text', body)), body, 'complete', 37, 37 * n, now(), true
FROM generate_series(1, %(turns)s) AS n,
     LATERAL (SELECT 'Turn ' || n || ': ' || repeat('the harbour lay quiet. ', 6) AS body) AS texts
"""


def main() -> None:
    user = make_user("bench")
    threads = {length: filled(user, length) for length in LENGTHS}
    filled(user, 500_000 - sum(LENGTHS))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE conversations_message")
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"], autocommit=True) as raw:
        raw.prepare_threshold = 0
        candidates: dict[str, Callable[[], object]] = {}
        for length, thread in threads.items():
            candidates[f"raw prepared binary statement, {length:>7,} turns"] = partial(read_raw, raw, thread, length)
        for length, thread in threads.items():
            candidates[f"whole context build, {length:>7,} turns"] = partial(build, thread, length)
        table(
            "one context of 80 turns, in a table of 500,000",
            side_by_side(candidates),
            limit=f"raw prepared binary statement, {LENGTHS[0]:>7,} turns",
        )


def read_raw(raw: psycopg.Connection, thread: Thread, length: int) -> None:
    raw.execute(RAW, (thread.id, length), prepare=True, binary=True).fetchall()


def build(thread: Thread, length: int) -> Context:
    newest = Turn(position=length, depth=length, role="user", content=text_blocks("And now?"), token_count=8)
    return build_context(
        assistant=thread.assistant,
        provider=OfflineProvider(),
        user_id=thread.user_id,
        thread_id=thread.id,
        newest=newest,
        session=Session(started_at=thread.created_at),
        at=thread.created_at,
    )


def filled(user: User, turns: int) -> Thread:
    thread = make_thread(user, assistant=Assistant.objects.get(slug="companion"), title=f"{turns} turns")
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"thread": thread.id, "turns": turns})
    Thread.objects.filter(id=thread.id).update(message_count=turns, last_position=turns)
    assert Message.objects.filter(thread=thread).count() == turns
    return Thread.objects.select_related("assistant").get(id=thread.id)

"""What is known of a person, written straight into the server's database. Needs no settings, as screenshots have none."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import psycopg
from psycopg import sql

ADD_MEMORY = """
INSERT INTO memory_memory (id, user_id, content, tags, origin, sources, created_at, valid_until)
SELECT gen_random_uuid(), user_id, %(content)s, jsonb_build_array('user:' || user_id), 'program', '{}',
       now() - interval '2 days', %(until)s
FROM conversations_thread WHERE id = %(thread)s
"""
ADD_TOPIC = """
INSERT INTO memory_topic (id, user_id, title, sources, opened_at)
SELECT gen_random_uuid(), user_id, %(title)s, '{}', now() FROM conversations_thread WHERE id = %(thread)s
"""
ADD_TODAY = """
INSERT INTO memory_dailysummary (id, user_id, day, text, key_moments, parts, updated_at)
SELECT gen_random_uuid(), user_id, (now() AT TIME ZONE 'UTC')::date, %(text)s, '[]', '{}', now()
FROM conversations_thread WHERE id = %(thread)s
"""


def add_memory(database: str, thread: str, content: str, until: datetime | None = None) -> None:
    """A fact about whoever the thread belongs to."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_MEMORY, {"thread": thread, "content": content, "until": until})


def add_topic(database: str, thread: str, title: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(ADD_TOPIC, {"thread": thread, "title": title})


def add_today(database: str, thread: str, text: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(ADD_TODAY, {"thread": thread, "text": text})


@contextmanager
def gone(database: str, table: str) -> Iterator[None]:
    """While a table is missing, whatever reads it fails."""
    away, back = (
        sql.SQL("ALTER TABLE {} RENAME TO {}").format(*map(sql.Identifier, names))
        for names in ((table, "gone"), ("gone", table))
    )
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(away)
        try:
            yield
        finally:
            connection.execute(back)

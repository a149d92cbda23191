"""What is known of a person, written straight into the server's database. Needs no settings, as screenshots have none."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime

import psycopg
from psycopg import sql

ADD_MEMORY = """
INSERT INTO memory_memory (id, user_id, content, tags, origin, sources, created_at, valid_until)
SELECT gen_random_uuid(), user_id, %(content)s, jsonb_build_array('user:' || user_id), 'hand', '{}',
    now() - interval '2 days', %(until)s
FROM conversations_thread WHERE id = %(thread)s
"""
ADD_TOPIC = """
INSERT INTO memory_topic (id, user_id, thread_id, title, sources, opened_at)
SELECT gen_random_uuid(), user_id, id, %(title)s, '{}', now() - make_interval(days => %(days)s)
FROM conversations_thread WHERE id = %(thread)s
"""
ADD_FACT = """
INSERT INTO memory_memory (id, user_id, content, tags, origin, sources, created_at)
SELECT gen_random_uuid(), thread.user_id, %(content)s, jsonb_build_array('user:' || thread.user_id), 'conversation',
    ARRAY[turn.id], turn.created_at
FROM conversations_thread AS thread JOIN conversations_message AS turn ON turn.thread_id = thread.id
WHERE thread.id = %(thread)s AND turn.position = %(position)s
"""
ADD_DAY = """
INSERT INTO memory_dailysummary (id, user_id, day, text, key_moments, parts, updated_at)
SELECT gen_random_uuid(), user_id, coalesce(%(day)s, (now() AT TIME ZONE 'UTC')::date), %(text)s, '[]', '{}', now()
FROM conversations_thread WHERE id = %(thread)s
"""
COLUMNS = """
SELECT table_name, column_name,
    CASE data_type WHEN 'bytea' THEN 'encode({}, ''escape'')' ELSE '{}::text' END
FROM information_schema.columns
WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'jsonb', 'bytea')
"""


def add_memory(database: str, thread: str, content: str, until: datetime | None = None) -> None:
    """A fact about whoever the thread belongs to."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_MEMORY, {"thread": thread, "content": content, "until": until})


def add_topic(database: str, thread: str, title: str, days: int = 0) -> None:
    """A topic that was opened so many days ago."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_TOPIC, {"thread": thread, "title": title, "days": days})


def add_fact(database: str, thread: str, content: str, *, position: int) -> None:
    """A fact that was found in a turn."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_FACT, {"thread": thread, "content": content, "position": position})


def add_day(database: str, thread: str, day: date | None, text: str) -> None:
    """The summary of a day, by default of today in UTC."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_DAY, {"thread": thread, "day": day, "text": text})


def add_today(database: str, thread: str, text: str) -> None:
    add_day(database, thread, None, text)


def holding(database: str, word: str) -> list[str]:
    """The columns of the whole database that hold a word."""
    with psycopg.connect(database) as connection:
        columns = connection.execute(COLUMNS).fetchall()
        found = []
        for table, column, text in columns:
            asked = sql.SQL("SELECT count(*) FROM {} WHERE {} ILIKE {}").format(
                sql.Identifier(table), sql.SQL(text).format(sql.Identifier(column)), sql.Literal(f"%{word}%")
            )
            counted = connection.execute(asked).fetchone()
            found += [f"{table}.{column}"] if counted and counted[0] else []
        return found


@contextmanager
def without_table(database: str, table: str) -> Iterator[None]:
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

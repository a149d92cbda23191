"""What would take a browser too long to do by hand, written straight into the server's database."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from psycopg.rows import dict_row

ADD_READER = """
INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
VALUES (%s, %s, %s, %s, true, '', '', '', now()) RETURNING id
"""
ADD_SESSION = (
    "INSERT INTO django_session (session_key, session_data, expire_date) VALUES (%s, %s, now() + interval '1 day')"
)
ADD_TURNS = """
INSERT INTO conversations_message (id, thread_id, position, depth, role, content, text, status, token_count, token_total,
    created_at, is_active, parent_id)
SELECT gen_random_uuid(), last.thread_id, last.position + n, last.depth + n,
    CASE mod(n, 2) WHEN 1 THEN 'user' ELSE 'assistant' END,
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Turn number ' || n)), 'Turn number ' || n,
    'complete', 4, last.token_total + 4 * n, now(), true, last.id
FROM generate_series(1, %(count)s) AS n,
    (SELECT * FROM conversations_message WHERE thread_id = %(thread)s ORDER BY position DESC LIMIT 1) AS last
"""
COUNT_TURNS = """
UPDATE conversations_thread SET last_position = last_position + %(count)s, message_count = message_count + %(count)s
WHERE id = %(thread)s
"""

ADD_ARTIFACT = """
INSERT INTO artifacts_artifact (id, thread_id, title, kind, language, preset, after_position, version, created_at, updated_at)
SELECT %(id)s, id, %(title)s, %(kind)s, '', '', last_position, 1, now(), now()
FROM conversations_thread WHERE id = %(thread)s
"""
ADD_VERSION = """
WITH newer AS (
    UPDATE artifacts_artifact SET version = %(number)s, updated_at = now()
    WHERE thread_id = %(thread)s AND id = coalesce(%(artifact)s::uuid, id) RETURNING id, thread_id
)
INSERT INTO artifacts_artifactversion (artifact_id, thread_id, number, content, origin, created_at)
SELECT id, thread_id, %(number)s, %(content)s, 'program', now() FROM newer
"""

OFFER_MODELS = """
INSERT INTO conversations_assistant_offered_models (assistant_id, model_id)
SELECT assistant.id, model.id FROM conversations_assistant AS assistant, conversations_model AS model
WHERE assistant.slug = 'companion' AND model.provider = 'anthropic' AND model.name = ANY(%s)
"""
ADD_SAID = """
INSERT INTO conversations_message (id, thread_id, position, depth, role, content, text, status, token_count, token_total,
    created_at, is_active, parent_id)
SELECT gen_random_uuid(), last.thread_id, last.position + n, last.depth + n,
    CASE mod(n, 2) WHEN 1 THEN 'user' ELSE 'assistant' END,
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', said.text)), said.text,
    'complete', 4, last.token_total + 4 * n, now(), true, last.id
FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS said (text, n),
    (SELECT * FROM conversations_message WHERE thread_id = %(thread)s ORDER BY position DESC LIMIT 1) AS last
"""
ADD_THREADS = """
INSERT INTO conversations_thread
SELECT (jsonb_populate_record(
    thread, jsonb_build_object('id', gen_random_uuid(), 'title', left(given.title, 200), 'opened_by', null)
)).*
FROM conversations_thread AS thread, unnest(%(titles)s::text[]) AS given (title) WHERE thread.id = %(thread)s
"""
ADD_TITLES = """
INSERT INTO artifacts_artifact
SELECT (jsonb_populate_record(
    artifact, jsonb_build_object('id', gen_random_uuid(), 'title', left(given.title, 200), 'kind', 'svg')
)).*
FROM artifacts_artifact AS artifact, unnest(%(titles)s::text[]) AS given (title) WHERE artifact.thread_id = %(thread)s
"""
ADD_FIRST_VERSIONS = """
INSERT INTO artifacts_artifactversion (artifact_id, thread_id, number, content, origin, created_at)
SELECT id, thread_id, 1, title, 'program', now() FROM artifacts_artifact AS artifact
WHERE thread_id = %(thread)s AND NOT EXISTS (SELECT FROM artifacts_artifactversion WHERE artifact_id = artifact.id)
"""
NAME_READER = """
UPDATE auth_user SET username = left(%(name)s || id, 150), first_name = %(name)s, last_name = %(name)s
WHERE id = (SELECT user_id FROM conversations_thread WHERE id = %(thread)s)
"""
IDS = """
SELECT thread.user_id AS "user", thread.id AS thread,
    (SELECT id FROM conversations_message WHERE thread_id = thread.id ORDER BY position LIMIT 1) AS message,
    (SELECT id FROM conversations_contextsnapshot WHERE thread_id = thread.id ORDER BY created_at DESC LIMIT 1) AS request,
    (SELECT id FROM conversations_reply WHERE thread_id = thread.id LIMIT 1) AS reply,
    (SELECT id FROM conversations_feedback WHERE thread_id = thread.id LIMIT 1) AS feedback,
    (SELECT id FROM artifacts_artifact WHERE thread_id = thread.id LIMIT 1) AS artifact,
    (SELECT id FROM memory_memory WHERE user_id = thread.user_id LIMIT 1) AS memory
FROM conversations_thread AS thread WHERE id = %s
"""


def ids_of(database: str, thread: str) -> dict[str, Any]:
    """Of a thread, and of one of each that belongs to it or to its user."""
    with psycopg.connect(database, row_factory=dict_row) as connection:
        row = connection.execute(IDS, [thread]).fetchone()
        assert row is not None
        return row


def name_fallback(database: str, model: str) -> None:
    """The model that every assistant may ask where its own declines."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE conversations_assistant SET fallback_model = %s", (model,))


def list_fallback(database: str, provider: str) -> None:
    """Who is asked where an assistant's model can't be; nobody where it is empty."""
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM conversations_fallback")
        connection.execute(
            'INSERT INTO conversations_fallback (assistant_id, "order", provider, model) '
            "SELECT id, 0, %(provider)s::text, '' FROM conversations_assistant WHERE %(provider)s::text <> ''",
            {"provider": provider},
        )


def ask_of(database: str, assistant: str, provider: str) -> None:
    """Who is asked for this assistant; the server's default one where it is empty."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE conversations_assistant SET provider = %s WHERE slug = %s", (provider, assistant))


@contextmanager
def with_tools(database: str, *names: str) -> Iterator[None]:
    """The default assistant has these, too."""
    with psycopg.connect(database) as connection:
        (before,) = connection.execute("SELECT tools FROM conversations_assistant WHERE is_default").fetchone() or ([],)
        set_tools = "UPDATE conversations_assistant SET tools = %s WHERE is_default"
        connection.execute(set_tools, [[*before, *names]])
        connection.commit()
        try:
            yield
        finally:
            connection.execute(set_tools, [before])


def add_reader(database: str, *, is_staff: bool = False) -> str:
    """Somebody without a password; returns the key of a session. Hashing a password takes a second. Staff may all."""
    user = User(username=f"reader-{uuid.uuid4().hex[:10]}")
    user.set_unusable_password()
    key = uuid.uuid4().hex
    with psycopg.connect(database) as connection:
        row = connection.execute(ADD_READER, (user.username, user.password, is_staff, is_staff)).fetchone()
        assert row is not None
        data = {
            SESSION_KEY: str(row[0]),
            BACKEND_SESSION_KEY: "conversations.accounts.session_user.SessionUserBackend",
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
        connection.execute(ADD_SESSION, (key, SessionStore().encode(data)))
    return key


def show_thinking(database: str) -> None:
    """Of all assistants, as they do what their model shows of it."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE conversations_assistant SET show_thinking = 'summary'")


def add_turns(database: str, thread: str, count: int) -> None:
    """Complete, numbered turns at the end of a thread, as if they had been said."""
    values = {"count": count, "thread": thread}
    with psycopg.connect(database) as connection:
        connection.execute(ADD_TURNS, values)
        connection.execute(COUNT_TURNS, values)


def add_artifact(database: str, thread: str, *contents: str, title: str, kind: str = "document") -> str:
    """An artifact below a thread's newest turn, with a version of each of these contents; returns its id."""
    values = {"id": str(uuid.uuid4()), "thread": thread, "title": title, "kind": kind}
    with psycopg.connect(database) as connection:
        connection.execute(ADD_ARTIFACT, values)
    for number, content in enumerate(contents, start=1):
        add_version(database, thread, number, content, artifact=values["id"])
    return values["id"]


def add_version(database: str, thread: str, number: int, content: str, artifact: str | None = None) -> None:
    """Of a thread's only artifact, unless one is named."""
    values = {"thread": thread, "number": number, "content": content, "artifact": artifact}
    with psycopg.connect(database) as connection:
        connection.execute(ADD_VERSION, values)


def add_said(database: str, thread: str, texts: list[str]) -> None:
    """Complete turns at the end of a thread that say this, the person's and the assistant's by turns."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_SAID, {"texts": texts, "thread": thread})
        connection.execute(COUNT_TURNS, {"count": len(texts), "thread": thread})


def add_titles(database: str, thread: str, titles: list[str]) -> None:
    """More threads with these titles, and more artifacts beside the thread's only one."""
    with psycopg.connect(database) as connection:
        connection.execute(ADD_THREADS, {"titles": titles, "thread": thread})
        connection.execute(ADD_TITLES, {"titles": titles, "thread": thread})
        connection.execute(ADD_FIRST_VERSIONS, {"thread": thread})


def name_reader(database: str, thread: str, name: str) -> None:
    """What whoever the thread belongs to is called."""
    with psycopg.connect(database) as connection:
        connection.execute(NAME_READER, {"name": name, "thread": thread})


def offer_models(database: str, *names: str) -> None:
    """Exactly these of Anthropic's, beside the default assistant's own."""
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM conversations_assistant_offered_models")
        connection.execute(OFFER_MODELS, [list(names)])


def set_reading(database: str, name: str, *, read: int, of: int) -> None:
    """How far the reading of a file of this name is."""
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE conversations_file SET state = 'reading', kind = 'pdf', pages_read = %s, pages_total = %s WHERE name = %s",
            (read, of, name),
        )


def takes_images(database: str, *, taken: bool) -> None:
    """Whether Anthropic's models do."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE conversations_model SET takes_images = %s WHERE provider = 'anthropic'", (taken,))

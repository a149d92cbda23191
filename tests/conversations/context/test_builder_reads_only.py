"""The builder only reads, on every path, and no clock plays a part in what it makes (C2, W5)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from unittest.mock import patch

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.render.rendering import canonical
from conversations.context.sessions import Session
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, Thread
from conversations.providers import get_provider
from conversations.runtime.db import execute, read_only
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import build_request, make_reply, make_snapshot, make_thread
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

APPS = ("auth", "artifacts", "conversations", "memory")
REFUSE = """
CREATE FUNCTION tests_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'something was written to %', TG_TABLE_NAME; END $$"""
REFUSE_EACH = "CREATE TRIGGER tests_refuse BEFORE INSERT OR UPDATE OR DELETE ON {} EXECUTE FUNCTION tests_refuse()"


def nothing_special(thread: Thread) -> None:
    pass


def a_source_fails(thread: Thread) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_topic RENAME TO memory_topic_elsewhere")


def nearly_all_is_fulfilled(thread: Thread) -> None:
    answers = thread.messages.filter(role="assistant", position__gt=6)
    for answer in answers:
        make_artifact(thread, message=answer, created_at=answer.created_at)


def there_is_no_room(thread: Thread) -> None:
    Assistant.objects.update(total_tokens=300, hard_cap_tokens=300, history_tokens_low=100, history_tokens_high=200)


PATHS = [nothing_special, a_source_fails, nearly_all_is_fulfilled, there_is_no_room]


@pytest.fixture
def thread(user: User) -> Thread:
    """With all that a context can be made of."""
    now = timezone.now()
    for number in range(60):
        make_memory(user, f"Ada owns boat number {number} in the harbour of Hamburg.")
    make_topic(user)
    make_daily_summary(user, now.date().isoformat(), key_moments=["She bought a boat."])
    make_thread_summary(make_thread(user), now - timedelta(days=3))
    thread = make_thread(user, ["Who is Donald Trump?", "A president."] * 150 + ["who are his children and boats"])
    make_snapshot(thread, reply=make_reply(thread))
    return thread


@pytest.mark.once("anthropic-*")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("provider", ["offline", "anthropic"])
def test_no_trigger_fires_on_any_path(thread: Thread, path: Callable[[Thread], None], provider: str) -> None:
    path(thread)
    with refusing_triggers():
        context = build(thread, thread.created_at, provider, within=writable)
    assert [problem.source for problem in context.problems] == (["open_threads"] if path is a_source_fails else [])
    sections = 4 if path is a_source_fails else 1 if path is there_is_no_room else 5
    assert (context.history != [], len(context.sections)) == (True, sections)


def test_the_triggers_would_tell(thread: Thread) -> None:
    with pytest.raises(DatabaseError, match="something was written to conversations_thread"), refusing_triggers():
        Thread.objects.filter(id=thread.id).update(title="other")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_can_only_read_is_enough(thread: Thread) -> None:
    with only_reading():
        context = build(thread, thread.created_at, "offline", within=writable)
        with pytest.raises(DatabaseError, match="read-only transaction"):
            Thread.objects.update(title="other")
    assert (context.problems, len(context.sections)) == ([], 5)


@pytest.mark.parametrize("path", PATHS)
def test_the_same_rows_at_the_same_time_give_the_same_bytes_whenever_that_is(
    thread: Thread, path: Callable[[Thread], None]
) -> None:
    path(thread)
    at = thread.created_at
    first = build(thread, at, "anthropic")
    later = datetime(2080, 1, 1, tzinfo=at.tzinfo)
    with patch("conversations.runtime.clock.now", lambda: later), patch("time.time", later.timestamp):
        second = build(thread, at, "anthropic")
    assert canonical(first.payload) == canonical(second.payload)
    assert (first.runs, first.items, first.recalled, first.cache) == (
        second.runs,
        second.items,
        second.recalled,
        second.cache,
    )


def build(
    thread: Thread, at: datetime, provider: str, *, within: Callable[[], AbstractContextManager[None]] = read_only
) -> Context:
    thread = Thread.objects.select_related("assistant").get(id=thread.id)
    newest = Turn.of(thread.messages.latest("position"))
    with within():
        return build_context(
            build_request(
                thread,
                newest,
                provider=get_provider(provider),
                session=Session(started_at=at, away_since=at - timedelta(days=2)),
                at=at,
            )
        )


@contextmanager
def writable() -> Iterator[None]:
    """As ``read_only`` opens it, but nothing keeps the builder from writing."""
    with transaction.atomic():
        execute("SAVEPOINT opened")
        yield


@contextmanager
def only_reading() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        yield
        cursor.execute("SET default_transaction_read_only = off")


@contextmanager
def refusing_triggers() -> Iterator[None]:
    models = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(REFUSE)
        existing = connection.introspection.table_names(cursor)  # one of them may have been renamed by the test
        for table in {model._meta.db_table for model in models}.intersection(existing):
            cursor.execute(REFUSE_EACH.format(table))
    yield

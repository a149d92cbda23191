"""Partitions in use: what a thread of a year reads, dropping and indexing beside others, and copies by pg_dump."""

import importlib
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations import wire
from conversations.accounts import tokens
from conversations.context.explain.model_switch import switch_before
from conversations.models import ContextSnapshot, Thread
from conversations.replies.model_requests import preview_context
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import run
from conversations.runtime.ids import lowest_uuid7
from conversations.staff.trace import trace_reads
from conversations.upkeep import partitions
from conversations.upkeep.partitions import REQUESTS, Partition
from tests.conversations.factories import chain, make_thread
from tests.conversations.upkeep.kinds import delete_snapshots
from tests.conversations.upkeep.test_partitions import DAY, id_at, make_request, partitions_read, places, settle
from tests.services import fresh_database
from tests.upgrades import dump, load

index_of_errors = importlib.import_module("conversations.migrations.0028_index_of_errors")


def make_months(since: datetime) -> None:
    """Partitions as they are where requests have been stored since then. The tables are empty still."""
    first, *later = partitions.partitions(REQUESTS)
    for each in (first, *later):
        run(f"ALTER TABLE {REQUESTS.name} DETACH PARTITION {each.name}")
    for each in later:
        run(f"DROP TABLE {each.name}")
    end = next(partitions.month_ends(since))
    bounds = f"FROM (MINVALUE) TO ('{lowest_uuid7(end)}')"
    run(f"ALTER TABLE {REQUESTS.name} ATTACH PARTITION {first.name} FOR VALUES {bounds}")
    while end <= timezone.now():
        partitions.make_ahead(end)
        end = partitions.partitions(REQUESTS)[-1].until
    partitions.make_ahead(timezone.now())


def month_of(at: datetime) -> Partition:
    return next(each for each in partitions.partitions(REQUESTS) if at < each.until)


def answer(thread: Thread, request: ContextSnapshot) -> None:
    """The turn that the request's reply made, after the only one of the thread."""
    turn = chain(thread, ["Hello?", "Hello."])[1]
    turn.parent, turn.reply_id = thread.messages.get(), request.reply_id
    turn.save(force_insert=True)
    Thread.objects.filter(pk=thread.pk).update(message_count=2, last_position=2)


@contextmanager
def reading_plans() -> Iterator[list[set[str]]]:
    """Which partitions of requests each statement reads that reads any."""
    plans: list[set[str]] = []
    with CaptureQueriesContext(connection) as captured:
        yield plans
    for query in captured.captured_queries:
        if REQUESTS.name in query["sql"]:
            plans.append(partitions_read(query["sql"])[0])


@pytest.mark.django_db
@pytest.mark.oldest_postgres
def test_a_thread_of_a_year_reads_the_months_since_its_last_reply(user: User) -> None:
    now = timezone.now()
    make_months(now - 400 * DAY)
    began = now - 365 * DAY
    thread = make_thread(user, ["Hello?"], id=id_at(began), created_at=began)
    make_request(thread, began)
    newest = make_request(thread, now)
    answer(thread, newest)
    recent = {each.name for each in partitions.partitions(REQUESTS) if each.until > now - 3 * DAY} | {REQUESTS.rest}
    assert len(partitions.partitions(REQUESTS)) - len(recent) > 10
    with reading_plans() as plans:
        preview_context(NewMessage(user=user, thread_id=thread.id, blocks=[{"type": "text", "text": "Who are you?"}]))
    assert plans, "the request before is read"
    assert all(plan <= recent for plan in plans)
    oldest = ContextSnapshot.objects.exclude(id=newest.id).get()
    names = [each.name for each in partitions.partitions(REQUESTS)]
    with reading_plans() as plans:
        assert switch_before(oldest) is None
        assert len(trace_reads.requests(thread, 1, 9)) == 2
    *before, on_map = plans
    assert [plan & set(names[3:]) for plan in before] == [set(), set()], "nothing after the request"
    assert names[0] not in on_map, "nothing before the thread"


@pytest.mark.django_db
@pytest.mark.oldest_postgres
def test_a_request_whose_month_was_dropped_is_gone_in_words(user: User, client: Client) -> None:
    now = timezone.now()
    make_months(now - 100 * DAY)
    thread = make_thread(user, ["Hello?"], id=id_at(now - 90 * DAY))
    old, newest = make_request(thread, now - 90 * DAY), make_request(thread, now)
    answer(thread, old)
    settle()
    end = month_of(now - 40 * DAY).until
    delete_snapshots(end)
    settle()
    before = len(partitions.partitions(REQUESTS))
    partitions.drop_requests(end)
    assert len(partitions.partitions(REQUESTS)) < before
    assert list(ContextSnapshot.objects.all()) == [newest]
    token = tokens.issue(user=user, name="tests")

    def api(path: str) -> Any:
        return client.get(f"/api/v1/{path}", headers={"Authorization": f"Token {token}"})

    gone = api(f"requests/{old.id}/")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "not_found")
    assert [each["id"] for each in api(f"threads/{thread.id}/requests/").json()["results"]] == [str(newest.id)]
    answers = [each["reply"] for each in wire.messages_with_replies(list(thread.messages.all()))]
    assert [answer["request"] for answer in answers if answer] == [str(newest.id), None]
    client.force_login(User.objects.create_superuser("root"))
    address = f"/admin/conversations/contextsnapshot/{old.id}/change/"
    page = client.get(address, follow=True)
    assert page.status_code == 200
    assert str(old.id) in page.content.decode()
    assert client.get(f"/admin/conversations/contextsnapshot/{old.id}/request.json").status_code == 404
    assert client.get(f"/admin/conversations/thread/{thread.id}/map/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_months_are_dropped_while_requests_are_stored_and_none_fails(user: User) -> None:
    """Where a transaction is open that has stored one, dropping gives up; whoever came after it waits for a moment only."""
    now = timezone.now()
    months = partitions.partitions(REQUESTS)
    old = make_request(make_thread(user, ["Hello?", "Hello."]), months[1].until - DAY)
    threads = [make_thread(user, ["Hello?", "Hello."]) for _ in range(8)]
    other = psycopg.connect(url_here())
    try:
        other.execute("SELECT FROM conversations_contextsnapshot WHERE id = %s", [old.id])
        partitions.drop_requests(months[1].until)
        assert partitions.partitions(REQUESTS) == months, "left for the next time"
    finally:
        other.close()
    with ThreadPoolExecutor(2) as pool:
        stored = [pool.submit(in_thread, thread, now) for thread in threads]
        partitions.drop_requests(months[1].until)
        ids = {each.result() for each in stored}
    partitions.drop_requests(months[1].until)
    assert ids | {old.id} == set(ContextSnapshot.objects.values_list("id", flat=True))
    assert months[1].name not in {each.name for each in partitions.partitions(REQUESTS)}
    partitions.make_ahead(now + 31 * DAY)  # as many as there were, for the tests that share this database


def in_thread(thread: Thread, at: datetime) -> uuid.UUID:
    try:
        with transaction.atomic():
            return make_request(thread, at).id
    finally:
        connection.close()


@pytest.mark.wide
@pytest.mark.django_db(transaction=True)
def test_a_dump_of_several_months_is_restored_with_each_row_in_its_place(user: User) -> None:
    thread = make_thread(user, ["Hello?", "Hello."])
    months = partitions.partitions(REQUESTS)
    for month in months:
        make_request(thread, month.until - DAY)
    make_request(thread, months[-1].until + DAY)
    assert places(ContextSnapshot) == [*(month.name for month in months), REQUESTS.rest]
    with fresh_database() as copy:
        load(dump(url_here()), copy)
        with psycopg.connect(copy) as restored:
            assert rows_of(restored) == rows_here()
            with pytest.raises(psycopg.errors.DatabaseError, match=r"."):
                restored.execute("DELETE FROM conversations_contextsnapshot")
            restored.rollback()
            assert restored.execute(VALID, {"index": "snapshot_of_error"}).fetchone() == (True, len(months) + 1)


ROWS = "SELECT tableoid::regclass::text, id, digest, runs FROM conversations_contextsnapshot ORDER BY id"
VALID = """
SELECT whole.indisvalid, (SELECT count(*) FROM pg_inherits JOIN pg_index AS own ON own.indexrelid = inhrelid
                    WHERE inhparent = whole.indexrelid AND own.indisvalid)
FROM pg_index AS whole WHERE whole.indexrelid = %(index)s::regclass
"""


def rows_of(database: psycopg.Connection) -> list[Any]:
    return database.execute(ROWS).fetchall()


def rows_here() -> list[Any]:
    with psycopg.connect(url_here()) as here:
        return rows_of(here)


def url_here() -> str:
    return urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}"))


@pytest.mark.django_db(transaction=True)
def test_the_index_of_errors_is_built_beside_others_and_goes_on_where_it_was_stopped(user: User) -> None:
    """One partition has its own already, that of another was left invalid."""
    first, second, *_ = partitions.partitions(REQUESTS)
    failed = make_request(
        make_thread(user, ["Hello?"]), first.until - DAY, status="failed", error={"code": "overloaded", "message": ""}
    )
    run("DROP INDEX snapshot_of_error")
    columns = "(coalesce(error ->> 'code', ''), id) WHERE error IS NOT NULL"
    run(f"CREATE INDEX {first.name}_of_error ON {first.name} {columns}")
    with psycopg.connect(url_here()) as writer, psycopg.connect(url_here(), autocommit=True) as builder:
        writer.execute(f"LOCK TABLE {second.name} IN ROW EXCLUSIVE MODE")
        builder.execute("SET statement_timeout = 100")
        with pytest.raises(psycopg.errors.QueryCanceled):
            builder.execute(f"CREATE INDEX CONCURRENTLY {second.name}_of_error ON {second.name} {columns}")
    with connection.schema_editor(atomic=False) as editor:
        for _ in range(2):
            index_of_errors.build(apps, editor)
    assert run(VALID, index="snapshot_of_error") == [(True, len(partitions.partitions(REQUESTS)) + 1)]
    with transaction.atomic():
        run("SET LOCAL enable_seqscan = off")
        run("SET LOCAL enable_indexscan = off")  # of the primary key
        found = ContextSnapshot.objects.filter(error__isnull=False).extra(
            where=["coalesce(error ->> 'code', '') = 'overloaded'"]
        )
        assert "_of_error" in found.explain()
        assert list(found) == [failed]

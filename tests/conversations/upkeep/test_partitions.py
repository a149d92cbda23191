"""Requests, accesses and events in partitions by time: where rows lie, what is made ahead, what is dropped and what stays."""

import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations import wire
from conversations.context.record import snapshots
from conversations.models import ContentAccess, ContextSnapshot, Reply, ReplyEvent, Thread
from conversations.replies import closing, events
from conversations.replies.outcomes import Outcome
from conversations.runtime.db import run
from conversations.runtime.ids import lowest_uuid7, uuid7
from conversations.threads import deletion
from conversations.upkeep import expired, partitions
from conversations.upkeep.partitions import ACCESSES, EVENTS, REQUESTS, Partition, PartitionedTable
from tests.conversations.factories import make_reply, make_snapshot, make_thread
from tests.conversations.upkeep.kinds import delete_snapshots

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

DAY = timedelta(days=1)
TABLES = (REQUESTS, EVENTS, ACCESSES)


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user, ["Hello?", "Hello.", "Who are you?"])


def of_today() -> datetime:
    """A moment of the day on which the tables were made: a run that goes on past midnight has them from yesterday."""
    return min(timezone.now(), *(partitions.partitions(table)[0].until - timedelta(seconds=1) for table in TABLES))


def id_at(at: datetime) -> uuid.UUID:
    return uuid.UUID(int=lowest_uuid7(at).int + (uuid7().int & (1 << 80) - 1))


def make_request(thread: Thread, at: datetime, **values: Any) -> ContextSnapshot:
    """Of a reply that ended then."""
    reply = make_reply(thread, id=id_at(at), created_at=at, ended_at=at)
    snapshot, new_id = make_snapshot(reply=reply, **values), id_at(at)
    with deletion.allow_deletion():
        ContextSnapshot.objects.filter(pk=snapshot.pk).update(id=new_id, created_at=at)
    return ContextSnapshot.objects.get(pk=new_id)


def make_event(thread: Thread, at: datetime, **values: Any) -> ReplyEvent:
    reply = make_reply(thread, id=id_at(at), created_at=at, **values)
    return ReplyEvent.objects.create(
        reply=reply, user=thread.user, seq=2, type="reply.completed", data={}, at=reply.ended_at or at
    )


def make_access(thread: Thread, at: datetime) -> ContentAccess:
    """To what is the thread's."""
    user = thread.user
    return ContentAccess.objects.create(id=id_at(at), at=at, staff=user, user=user, action="read", what="thread")


MAKERS: list[tuple[PartitionedTable, Callable[[Thread, datetime], Model], type[Model]]] = [
    (REQUESTS, make_request, ContextSnapshot),
    (EVENTS, make_event, ReplyEvent),
    (ACCESSES, make_access, ContentAccess),
]


def places(model: type[Model]) -> list[str]:
    """The partition of each row, the oldest row first."""
    table, key = model._meta.db_table, "reply_id" if model is ReplyEvent else "id"
    return [name for (name,) in run(f"SELECT tableoid::regclass::text FROM {table} ORDER BY {key}")]  # noqa: S608


def settle() -> None:
    """What commits check at the end of a transaction."""
    run("SET CONSTRAINTS ALL IMMEDIATE")


def ahead(table: PartitionedTable) -> list[Partition]:
    return partitions.partitions(table)[1:]


def refused(statement: str) -> bool:
    try:
        with transaction.atomic():
            run(statement)
    except DatabaseError:
        return True
    return False


def test_rows_lie_in_the_partition_of_their_ids(thread: Thread) -> None:
    now = of_today()
    for table, make, model in MAKERS:
        first, second, *_, last = partitions.partitions(table)
        assert first.until > now
        for at in (now, second.until - timedelta(milliseconds=1), second.until, last.until):
            make(thread, at)
        third = partitions.partitions(table)[2]
        assert places(model) == [first.name, second.name, third.name, table.rest]


def test_there_are_partitions_for_two_months_and_a_week_ahead() -> None:
    now = of_today()
    assert partitions.partitions(REQUESTS)[-1].until > now + 60 * DAY
    assert partitions.partitions(ACCESSES)[-1].until > now + 60 * DAY
    assert partitions.partitions(EVENTS)[-1].until > now + 7 * DAY


def test_months_and_days_that_come_are_made_once_with_the_rows_that_came_before_them(thread: Thread) -> None:
    for table, make, model in MAKERS:
        before = partitions.partitions(table)
        later = before[-1].until + 70 * DAY
        rows = [make(thread, at) for at in (before[-1].until + DAY, later, later + 1000 * DAY)]
        settle()
        for _ in range(2):
            partitions.make_ahead(later)
        after = partitions.partitions(table)
        assert after[: len(before)] == before
        assert [each.since for each in after[1:]] == [each.until for each in after[:-1]], "no gap"
        gap = after[len(before)]
        assert places(model) == [gap.name, gap.name, table.rest]
        assert list(model._default_manager.order_by("pk")) == rows
        assert after[-1].until > later + 7 * DAY


def test_rows_of_every_partition_are_guarded(thread: Thread) -> None:
    month = ahead(REQUESTS)[-1]
    make_request(thread, month.until + DAY)
    make_access(thread, month.until + DAY)
    settle()
    partitions.make_ahead(month.until + DAY)
    assert places(ContextSnapshot) + places(ContentAccess) == [
        ahead(REQUESTS)[len(ahead(REQUESTS)) - 4].name,
        ahead(ACCESSES)[len(ahead(ACCESSES)) - 4].name,
    ]
    for table in (REQUESTS, ACCESSES):
        names = [table.name, table.rest, *(each.name for each in partitions.partitions(table))]
        assert [name for name in names if not refused(f"TRUNCATE {name}")] == []
    assert refused("DELETE FROM conversations_contextsnapshot")
    assert refused("UPDATE conversations_contextsnapshot SET model = 'other'")
    assert refused("UPDATE conversations_contextsnapshot SET status = 'failed'")
    assert refused("DELETE FROM conversations_contentaccess")


def test_a_round_of_a_reply_is_recorded_once_in_every_partition(thread: Thread) -> None:
    at = ahead(REQUESTS)[-1].until + DAY
    for _ in range(2):
        request = make_request(thread, at)
        request.id = id_at(at)
        with pytest.raises(DatabaseError, match="reply_id"), transaction.atomic():
            ContextSnapshot.objects.bulk_create([request])
        settle()
        partitions.make_ahead(at)


def test_days_of_events_are_dropped_once_their_replies_have_ended(thread: Thread) -> None:
    first, second, third = partitions.partitions(EVENTS)[:3]
    hour = timedelta(hours=1)
    events = [make_event(thread, day.until - hour, ended_at=day.until - hour) for day in (first, second, third)]
    settle()
    partitions.drop_events(first.until - timedelta(seconds=1))
    assert places(ReplyEvent) == [first.name, second.name, third.name]
    partitions.drop_events(first.until)
    assert list(ReplyEvent.objects.order_by("pk")) == events[1:]

    running = make_reply(thread, id=id_at(second.until - DAY), status=Reply.Status.RUNNING)
    partitions.drop_events(third.until + DAY)
    assert list(ReplyEvent.objects.order_by("pk")) == events[1:], "a reply of that day runs still"
    Reply.objects.filter(id=running.id).update(status="completed", ended_at=second.until + 2 * hour)
    partitions.drop_events(second.until + hour)
    assert list(ReplyEvent.objects.order_by("pk")) == events[1:], "it may be followed still"
    partitions.drop_events(second.until + 2 * hour + timedelta(seconds=1))
    assert list(ReplyEvent.objects.order_by("pk")) == events[2:]


def test_events_of_no_day_leave_row_by_row(thread: Thread) -> None:
    event = make_event(thread, partitions.partitions(EVENTS)[-1].until + DAY)
    settle()
    partitions.drop_events(event.at - timedelta(minutes=1))
    assert places(ReplyEvent) == [EVENTS.rest]
    partitions.drop_events(event.at + timedelta(minutes=1))
    assert places(ReplyEvent) == []


def test_months_of_requests_are_dropped_and_the_newest_of_a_thread_stays(thread: Thread) -> None:
    partitions.make_ahead(
        timezone.now() + timedelta(days=31)
    )  # at the end of a month the first one holds the next as well
    first, second, third, fourth, *_ = partitions.partitions(REQUESTS)
    assert second.since
    other = make_thread(thread.user, ["Hello?"])
    alone = make_request(other, second.since + DAY)
    for month in (second, third):
        assert month.since
        make_request(thread, month.since + DAY)
    assert fourth.since
    newest = make_request(thread, fourth.since + DAY)
    settle()
    before = third.until
    delete_snapshots(before)
    settle()
    partitions.drop_requests(before)
    assert [(each.since, each.until) for each in partitions.partitions(REQUESTS)][:2] == [
        (None, third.until),
        (fourth.since, fourth.until),
    ]
    assert list(ContextSnapshot.objects.order_by("id")) == [alone, newest]
    assert places(ContextSnapshot) == [first.name, fourth.name]
    assert all(snapshots.proof(request) for request in (alone, newest))
    assert refused("DELETE FROM conversations_contextsnapshot"), "what moved is guarded"
    deletion.delete_thread(other)
    assert list(ContextSnapshot.objects.all()) == [newest]


def test_a_month_with_too_much_in_it_stays(thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST_MOVED", 1)
    months = partitions.partitions(REQUESTS)
    assert months[1].since
    for _ in range(2):
        make_request(make_thread(thread.user, ["Hello?"]), months[1].since + DAY)
    settle()
    partitions.drop_requests(months[1].until)
    assert partitions.partitions(REQUESTS) == months


def test_a_person_and_a_thread_go_from_all_partitions(user: User, thread: Thread) -> None:
    other = make_thread(user, ["Hello?"])
    for each in (thread, other):
        for month in partitions.partitions(REQUESTS):
            make_request(each, month.until - DAY)
        for day in partitions.partitions(EVENTS):
            make_event(each, day.until - timedelta(hours=1))
    requests, events = ContextSnapshot.objects.count(), ReplyEvent.objects.count()
    deletion.delete_thread(thread)
    assert (ContextSnapshot.objects.count(), ReplyEvent.objects.count()) == (requests // 2, events // 2)
    deletion.delete_user(user)
    assert (ContextSnapshot.objects.count(), ReplyEvent.objects.count()) == (0, 0)


def partitions_read(statement: str) -> tuple[set[str], set[str]]:
    """Those of requests, and of events, that its plan names."""
    plan = (
        "\n".join(line for (line,) in run(f"EXPLAIN {statement}")) if statement.startswith(("SELECT", "WITH")) else ""
    )
    names = set(re.findall(r" on (\w+)", plan))
    children = [
        {name for (name, _) in run(partitions.SQL["partitions"], table=each.name)} for each in (REQUESTS, EVENTS)
    ]
    return names & children[0], names & children[1]


def test_statements_of_a_turn_touch_the_partitions_of_its_time_only(thread: Thread) -> None:
    partitions.make_ahead(partitions.partitions(REQUESTS)[-1].until + 300 * DAY)
    assert len(partitions.partitions(REQUESTS)) > 5
    reply = make_reply(thread, id=id_at(of_today()), status=Reply.Status.RUNNING, owner=events.OWNER, ended_at=None)
    make_snapshot(reply=reply, status="pending", ended_at=None)
    first, second = partitions.partitions(REQUESTS)[:2]
    with CaptureQueriesContext(connection) as captured:
        closing.close(
            reply_id=reply.id, user_id=reply.user_id, owner=events.OWNER, outcome=Outcome(status=Reply.Status.COMPLETED)
        )
        wire.messages_with_replies(list(thread.messages.all()))
        events.read_after(reply.user_id, reply.id, 1)
    statements = [query["sql"] for query in captured.captured_queries if not query["sql"].startswith("SAVEPOINT")]
    read = [(statement, *partitions_read(statement)) for statement in statements]
    assert any("WITH running" in statement and requests for statement, requests, _ in read)
    assert any(days for *_, days in read)
    for statement, requests, days in read:
        assert requests <= {first.name, second.name, REQUESTS.rest}, statement
        assert days <= {partitions.partitions(EVENTS)[0].name}, statement


def test_months_of_accesses_are_dropped_and_the_first_partition_is_emptied(thread: Thread) -> None:
    first, second, third = partitions.partitions(ACCESSES)[:3]
    accesses = [make_access(thread, month.until - DAY) for month in (first, second, third)]
    settle()
    partitions.drop_accesses(first.until - timedelta(seconds=1))
    assert list(ContentAccess.objects.order_by("id")) == accesses
    told = expired.tables(ACCESSES, partitions.accesses_over(second.until))
    assert (told.count, told.oldest and told.oldest.date()) == (2, accesses[0].at.date())
    partitions.drop_accesses(second.until)
    assert list(ContentAccess.objects.order_by("id")) == accesses[2:]
    assert [each.name for each in partitions.partitions(ACCESSES)[:2]] == [first.name, third.name]
    make_access(thread, first.until - DAY)
    assert places(ContentAccess) == [first.name, third.name]
    assert refused("DELETE FROM conversations_contentaccess")
    assert refused(f"TRUNCATE {first.name}")

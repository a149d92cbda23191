"""What the database itself holds, even against a stray statement (requirements T3, S1; issue: constraints in the database)."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from artifacts.models import ArtifactVersion
from conversations.errors import ReplyInProgress
from conversations.models import ContextBlock, ContextSnapshot, Message, Reply, ReplyEvent, Thread, text_blocks
from conversations.threads import deletion
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_snapshot, make_thread, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

MESSAGE_CHANGES = [
    "text = 'other'",
    "content = '[]'",
    "position = position + 100",
    "depth = 1",
    "role = 'user'",
    "token_count = 0",
    "token_total = 999999",
    "status = 'failed'",
    "created_at = now()",
    "client_message_id = 'x'",
    "parent_id = NULL",
]
SNAPSHOT_CHANGES = [
    "digest = '\\x00'",
    "sections = '[]'",
    "runs = '[]'",
    "model = 'other'",
    "max_tokens = 1",
    "total_tokens = 0",
    "message_history_count = 99",
    "created_at = now()",
    "budget = 1",
]


def refused(statement: str) -> bool:
    """Whether the database refuses to run it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError:
        return True
    return False


def truncate(tables: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks to come can't be truncated anyway
        cursor.execute(f"TRUNCATE {tables}")


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user, ["one", "two", "three"])


@pytest.mark.parametrize("change", MESSAGE_CHANGES)
def test_a_stored_turn_cannot_be_changed(thread: Thread, change: str) -> None:
    assert refused(f"UPDATE conversations_message SET {change} WHERE position = 2")  # noqa: S608


def test_a_stored_turn_cannot_be_deleted(thread: Thread) -> None:
    assert refused("DELETE FROM conversations_message WHERE position = 3")
    assert refused("DELETE FROM conversations_thread")
    assert refused("DELETE FROM auth_user")
    assert Message.objects.count() == 3


def test_only_the_mark_of_the_path_may_change(thread: Thread) -> None:
    assert Message.objects.filter(position=3).update(is_active=False) == 1


@pytest.mark.parametrize("change", SNAPSHOT_CHANGES)
def test_a_snapshot_cannot_be_changed(thread: Thread, change: str) -> None:
    make_snapshot(thread, status="pending", ended_at=None)
    assert refused(f"UPDATE conversations_contextsnapshot SET {change}")  # noqa: S608


def test_a_snapshot_takes_its_result_once(thread: Thread) -> None:
    make_snapshot(thread, status="pending", ended_at=None)
    assert not refused("UPDATE conversations_contextsnapshot SET status = 'completed', usage = '{\"input_tokens\": 7}'")
    assert refused("UPDATE conversations_contextsnapshot SET status = 'failed'")
    assert refused("DELETE FROM conversations_contextsnapshot")


def test_a_text_of_a_snapshot_cannot_be_changed(thread: Thread) -> None:
    make_snapshot(thread)
    assert ContextBlock.objects.count() == 1
    assert refused("UPDATE conversations_contextblock SET text = 'other'")
    assert refused("DELETE FROM conversations_contextblock")


@pytest.mark.parametrize("change", ["content = 'other'", "number = 7", "origin = 'hand'", "created_at = now()"])
def test_a_version_of_an_artifact_cannot_be_changed(thread: Thread, change: str) -> None:
    make_artifact(thread, "one", "two")
    assert refused(f"UPDATE artifacts_artifactversion SET {change} WHERE number = 1")  # noqa: S608
    assert refused("DELETE FROM artifacts_artifactversion")
    assert refused("DELETE FROM artifacts_artifact")


GUARDED = [
    *("conversations_message", "conversations_contextsnapshot", "conversations_contextblock"),
    *(
        "conversations_reply CASCADE",
        "artifacts_artifactversion",
        "artifacts_artifact CASCADE",
        "conversations_thread CASCADE",
        "auth_user CASCADE",
    ),
]


@pytest.mark.parametrize("table", GUARDED)
def test_a_table_of_what_was_said_can_not_be_truncated(thread: Thread, table: str) -> None:
    make_snapshot(thread)
    make_artifact(thread)
    with pytest.raises(DatabaseError, match=r"^truncate of .*: turns, requests and versions stay as they are"):
        truncate(table)
    assert (Message.objects.count(), ContextSnapshot.objects.count(), ArtifactVersion.objects.count()) == (3, 1, 1)


def test_the_door_is_open_to_truncate_too(thread: Thread) -> None:
    with deletion.allow_deletion():
        truncate("conversations_message, artifacts_artifactversion")
    assert not Message.objects.exists()


def test_a_reply_that_has_ended_stays_ended(thread: Thread) -> None:
    make_reply(thread)
    assert refused("UPDATE conversations_reply SET status = 'running', ended_at = NULL")


def test_one_reply_at_most_runs_in_a_thread(thread: Thread) -> None:
    make_reply(thread, status="running")
    with pytest.raises(IntegrityError, match="one_running_reply_per_thread"), transaction.atomic():
        make_reply(thread, status="running")
    make_reply(make_thread(thread.user, ["elsewhere"]), status="running")


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"position": 3, "depth": 3, "is_active": False}, "message_position_once"),
        ({"client_message_id": "known"}, "message_sent_once"),
        ({"depth": 2}, "message_one_active_path"),
        ({"role": "system"}, "message_role_known"),
        ({"position": 0}, "message_position_counts_from_one"),
        ({"content": []}, "message_has_a_block"),
        ({"content": {}}, "message_has_a_block"),
        ({"content": None, "text": ""}, "message_has_a_block"),
        ({"token_total": 1}, "message_total_holds_count"),
    ],
)
def test_the_database_refuses_a_turn_that_does_not_fit(
    thread: Thread, values: dict[str, object], constraint: str
) -> None:
    whole = {
        "thread": thread,
        "position": 9,
        "depth": 9,
        "role": "user",
        "content": text_blocks("x"),
        "text": "x",
        "token_count": 5,
        "token_total": 100,
        "created_at": timezone.now(),
    }
    Message.objects.create(**{**whole, "position": 8, "depth": 8, "client_message_id": "known"})
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Message.objects.create(**{**whole, **values})


def test_budgets_out_of_order_are_refused(thread: Thread) -> None:
    assert refused("UPDATE conversations_assistant SET hard_cap_tokens = 1 WHERE slug = 'companion'")
    assert refused("UPDATE conversations_assistant SET is_default = true WHERE slug = 'analyst'")


def test_deleting_a_thread_leaves_nothing_of_it(thread: Thread) -> None:
    kept = make_snapshot(make_thread(thread.user, ["stays"]))
    make_snapshot(thread)
    ContextBlock.objects.create(thread=thread, sha256=b"x" * 32, text="shortened")
    reply = Reply.objects.get(thread=thread)
    ReplyEvent.objects.create(reply=reply, seq=1, type="message.saved", data={}, at=timezone.now())

    deletion.delete_thread(thread)
    assert not Thread.objects.filter(id=thread.id).exists()
    assert list(Message.objects.values_list("text", flat=True)) == ["stays"]
    assert list(ContextSnapshot.objects.values_list("id", flat=True)) == [kept.id]
    assert (ReplyEvent.objects.count(), ContextBlock.objects.filter(thread__isnull=False).count()) == (0, 0)
    assert refused("DELETE FROM conversations_message"), "the door is closed again"


def test_deleting_a_user_leaves_others_alone(thread: Thread) -> None:
    other = make_thread(make_user("eve"), ["hers"])
    deletion.delete_user(thread.user)
    assert list(Thread.objects.values_list("id", flat=True)) == [other.id]


def test_a_thread_is_not_deleted_under_a_running_reply(thread: Thread) -> None:
    make_reply(thread, status="running", lease_until=timezone.now() + timedelta(minutes=5))
    with pytest.raises(ReplyInProgress):
        deletion.delete_thread(thread)
    assert Message.objects.filter(thread=thread).count() == 3

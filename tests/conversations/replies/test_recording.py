"""A turn is stored in few statements and without holding a lock, whoever else writes at the same time (T2, T4, S1)."""

import asyncio
import re
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations import replies
from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.record import snapshot_api
from conversations.errors import ReplyInProgress, ThreadNotFound
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread, text_blocks
from conversations.providers.base import Usage
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.cursor import place_in
from conversations.replies.events import LEASE, OWNER
from conversations.replies.model_requests import OpenedReply
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import in_database
from conversations.threads import deletion
from tests.conversations.factories import make_reply, make_thread
from tests.locks import LOCKS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

TABLE = re.compile(r"(?:FROM|JOIN) \"?((?:conversations|memory|artifacts)_[a-z]+)")
AT_ONCE_SECONDS = 20


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@pytest.fixture
def while_building(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Run something after a thread was looked at and before anything of the turn is written; in each thread once."""

    def arrange(act: Callable[[], object]) -> None:
        done = threading.local()

        def build_and_act(*values: Any) -> Context:
            context = build_context(*values)
            if not getattr(done, "it", False):
                done.it = True
                act()
            return context

        monkeypatch.setattr("conversations.replies.model_requests.build_context", build_and_act)

    return arrange


def send(user: User, thread: Thread | None, text: str = "Hello", client_message_id: str | None = None) -> OpenedReply:
    return opening.open_turn(
        NewMessage(
            user=user,
            thread_id=thread.id if thread else None,
            blocks=text_blocks(text),
            client_message_id=client_message_id,
        )
    )


async def both(first: Callable[[], object], second: Callable[[], object]) -> list[Any]:
    return list(await asyncio.gather(in_database(first)(), in_database(second)(), return_exceptions=True))


def stored_turns() -> list[tuple[int, str, str]]:
    return list(Message.objects.order_by("thread", "position").values_list("position", "role", "text"))


async def test_of_two_messages_at_once_one_is_stored_and_the_other_refused(
    user: User, while_building: Callable[..., None]
) -> None:
    thread = await in_database(make_thread)(user, ["Hello", "Good evening"])
    while_building(threading.Barrier(2, timeout=AT_ONCE_SECONDS).wait)
    answers = await both(lambda: send(user, thread, "Me"), lambda: send(user, thread, "Me"))
    assert sorted(type(answer).__name__ for answer in answers) == ["OpenedReply", "ReplyInProgress"]
    assert await in_database(stored_turns)() == [
        (1, "user", "Hello"),
        (2, "assistant", "Good evening"),
        (3, "user", "Me"),
    ]


@pytest.mark.parametrize("new", [True, False])
async def test_the_same_message_twice_at_once_is_one_turn(
    user: User, while_building: Callable[..., None], new: bool
) -> None:
    thread = None if new else await in_database(make_thread)(user)
    while_building(threading.Barrier(2, timeout=AT_ONCE_SECONDS).wait)
    first, second = await both(
        lambda: send(user, thread, client_message_id="once"), lambda: send(user, thread, client_message_id="once")
    )
    assert (first.thread.id, first.message.id, first.reply.id) == (second.thread.id, second.message.id, second.reply.id)
    assert sorted([first.repeated, second.repeated]) == [False, True]
    assert await in_database(stored_turns)() == [(1, "user", "Hello")]
    counts = await Thread.objects.acount(), await Reply.objects.acount(), await ContextSnapshot.objects.acount()
    assert counts == (1, 1, 1)


async def test_a_turn_that_came_in_between_comes_before(user: User, while_building: Callable[..., None]) -> None:
    thread = await in_database(make_thread)(user)

    def others() -> None:
        opened = send(user, thread, "Faster")
        closing.close(
            reply_id=opened.reply.id,
            user_id=opened.reply.user_id,
            owner=OWNER,
            outcome=outcomes.stopped(),
            progress=closing.ReplyProgress(transcript=ReplyTranscript.of("Indeed")),
        )

    while_building(elsewhere(others))
    opened = await in_database(send)(user, thread, "Me")
    assert await in_database(stored_turns)() == [(1, "user", "Faster"), (2, "assistant", "Indeed"), (3, "user", "Me")]
    assert opened.recorded is not None
    assert [turn.position for turn in opened.recorded[1].history] == [1, 2]


async def test_a_retry_that_came_in_between_is_in_progress(user: User, while_building: Callable[..., None]) -> None:
    thread = await in_database(make_thread)(user, ["Hello", "Good evening"])
    reply = await in_database(make_reply)(thread)
    while_building(elsewhere(lambda: opening.open_retry(user=user, reply_id=reply.id)))
    with pytest.raises(ReplyInProgress):
        await in_database(send)(user, thread, "And now?")
    assert await Reply.objects.filter(thread=thread, status="running").acount() == 1
    assert await in_database(stored_turns)() == [(1, "user", "Hello"), (2, "assistant", "Good evening")]


async def test_a_thread_that_is_deleted_meanwhile_is_not_made_again(
    user: User, while_building: Callable[..., None]
) -> None:
    thread = await in_database(make_thread)(user, ["Hello", "Good evening"])
    while_building(elsewhere(lambda: deletion.delete_thread(thread)))
    with pytest.raises(ThreadNotFound):
        await in_database(send)(user, thread)
    assert await Thread.objects.acount() == 0


def elsewhere(act: Callable[[], object]) -> Callable[[], None]:
    """Do it once, on another connection, and wait for it."""
    done = threading.Event()

    def on_its_own_connection() -> None:
        act()
        connection.close()

    def run() -> None:
        if not done.is_set():
            done.set()
            acting = threading.Thread(target=on_its_own_connection)
            acting.start()
            acting.join(AT_ONCE_SECONDS)

    return run


async def test_a_context_that_cannot_be_built_costs_no_turn(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*values: Any) -> Context:
        raise RuntimeError("a source is broken")

    monkeypatch.setattr("conversations.replies.model_requests.build_context", fail)
    opened = await replies.start(user=user, thread_id=None, content="Keep this")
    async for _ in replies.follow(opened.reply.id):
        pass
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (opened.recorded, reply.status) == (None, "failed")
    assert reply.error is not None
    assert (reply.error["code"], reply.error["details"]) == ("internal", {"retryable": True, "kind": "RuntimeError"})
    assert await in_database(stored_turns)() == [(1, "user", "Keep this")]
    assert await ContextSnapshot.objects.acount() == 0


async def test_a_request_that_is_recorded_while_its_reply_is_stopped_ends_with_it(user: User) -> None:
    """The stop waits for the recording, and then sees what it has recorded."""
    opened = await in_database(send_unbuilt)(user)

    def record_slowly() -> ContextSnapshot:
        with transaction.atomic():
            snapshot, _ = model_requests.record(*model_requests.first_request(opened))
            recording.set()
            assert waits_for_a_lock()
        return snapshot

    def stop() -> None:
        assert recording.wait(AT_ONCE_SECONDS)
        assert (
            closing.close(
                reply_id=opened.reply.id,
                user_id=opened.reply.user_id,
                owner=OWNER,
                outcome=outcomes.stopped(),
                progress=closing.ReplyProgress(transcript=ReplyTranscript.of("")),
            )
            != []
        )

    recording = threading.Event()
    snapshot, stopped = await both(record_slowly, stop)
    assert stopped is None
    assert (await ContextSnapshot.objects.aget(id=snapshot.id)).status == "stopped"


def send_unbuilt(user: User) -> OpenedReply:
    """A turn whose context could not be built when it was stored, and now can."""
    companion = Assistant.objects.filter(slug="companion")
    companion.update(provider="not known")
    opened = send(user, None)
    companion.update(provider="offline")
    assert opened.recorded is None
    return opened


def waits_for_a_lock() -> bool:
    """Whether somebody does, within the time."""
    until = timezone.now() + timedelta(seconds=AT_ONCE_SECONDS)
    while timezone.now() < until:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS ({LOCKS} AND NOT granted)")
            if cursor.fetchone()[0]:
                return True
    return False


async def test_a_reply_ends_once_whoever_ends_it(user: User) -> None:
    opened = await in_database(send)(user, None)

    def stop() -> list[Any]:
        return closing.close(
            reply_id=opened.reply.id,
            user_id=opened.reply.user_id,
            owner=OWNER,
            outcome=outcomes.stopped(),
            progress=closing.ReplyProgress(transcript=ReplyTranscript.of("so far")),
        )

    ended = await both(stop, stop)
    assert sorted(len(events) for events in ended) == [0, 1]
    assert await in_database(stored_turns)() == [(1, "user", "Hello"), (2, "assistant", "so far")]
    thread = await Thread.objects.aget(id=opened.thread.id)
    assert (thread.last_position, thread.message_count) == (2, 2)


async def test_a_reply_that_was_left_behind_makes_room(user: User) -> None:
    thread = await in_database(make_thread)(user, ["Hello"])
    left = await in_database(make_reply)(thread, status="running", lease_until=timezone.now() - LEASE)
    opened = await in_database(send)(user, thread, "Still there?")
    assert (await Reply.objects.aget(id=left.id)).status == "interrupted"
    assert (opened.question.position, opened.question.depth) == (2, 2)
    with pytest.raises(ReplyInProgress):
        await in_database(send)(user, thread, "And now?")


def test_a_turn_takes_few_statements_and_the_end_takes_one(user: User) -> None:
    thread = make_thread(user, ["Hello", "Good evening"])
    first = send(user, None)  # the first of all also makes the user's allowance
    closing.close(reply_id=first.reply.id, user_id=first.reply.user_id, owner=OWNER, outcome=outcomes.stopped())
    with CaptureQueriesContext(connection) as begun:
        opened = send(user, thread)
    outcome = outcomes.Outcome(status=Reply.Status.COMPLETED)
    with CaptureQueriesContext(connection) as ended:
        # The process that runs it knows what it has said, and of which files.
        said = ReplyTranscript.of("Hi")
        closing.close(
            reply_id=opened.reply.id,
            user_id=opened.reply.user_id,
            owner=OWNER,
            outcome=outcome,
            progress=closing.ReplyProgress(transcript=said),
        )
    written = [query["sql"] for query in begun if re.search(r"\b(INSERT|UPDATE)\b", query["sql"])]
    assert (len(written), len(ended)) == (1, 1)
    reading = [query["sql"] for query in begun if query["sql"] not in ("BEGIN", "COMMIT", *written)]
    tables = [set(TABLE.findall(sql)) for sql in reading]
    about = {
        "conversations_message",
        "conversations_contextsnapshot",
        "artifacts_artifact",
        "artifacts_artifactversion",
        "conversations_tokencount",
        "conversations_turnfile",
        "conversations_file",
        "conversations_instructions",
        "conversations_mcpserver",
        "conversations_mcptool",
        "conversations_project",
        "conversations_thread",
    }
    known = {"memory_preferences", "memory_memory", "memory_dailysummary", "memory_topic", "memory_threadsummary"}
    look = {
        "conversations_thread",
        "conversations_assistant",
        "conversations_model",
        "conversations_reply",
        "conversations_message",
        "conversations_allowance",
        "conversations_groupaccess",
        "conversations_project",
    }
    assert [found for found in tables if found] == [
        look,
        about | known,
    ]


def test_what_is_recorded_at_once_is_what_is_recorded_later(user: User) -> None:
    """The two ways to a snapshot differ in nothing but their ids and times."""
    taken = []
    for provider in ("offline", "not known"):
        companion = Assistant.objects.filter(slug="companion")
        thread = make_thread(user, ["Hello", "Good evening"])
        companion.update(provider=provider, recall_tokens=0)  # the second would be reminded of the first
        opened = send(user, thread, "And now?")
        assert (opened.recorded is not None) == (provider == "offline")
        companion.update(provider="offline")
        snapshot, _ = opened.recorded or model_requests.record(*model_requests.first_request(opened))
        taken.append(dict(snapshot_api.body(ContextSnapshot.objects.get(id=snapshot.id))))
    own = {"id", "thread", "message", "reply", "created_at", "timings_ms", "items", "version"}
    first, second = ({name: body[name] for name in body.keys() - own} for body in taken)
    assert first == second


def test_a_session_goes_on_in_whatever_thread_until_a_long_pause(user: User) -> None:
    ago = timezone.now() - timedelta(hours=2)
    earlier = make_thread(user, ["Hello", "Good evening"], updated_at=ago, session_started_at=ago)
    first, second = send(user, None), send(user, earlier, "And here?")
    sessions = [(one.thread.session_started_at, one.thread.away_since) for one in (first, second)]
    assert sessions == [(first.thread.updated_at, ago)] * 2
    assert list(Thread.objects.order_by("-created_at").values_list("session_started_at", "away_since")) == sessions


def test_a_new_thread_is_never_made_under_an_id_that_is_not_known(user: User) -> None:
    with pytest.raises(ThreadNotFound):
        place_in(user, uuid.uuid4())


def test_deleting_looks_up_what_it_takes_along_by_an_index(user: User) -> None:
    """A cascade without one reads the whole table for each row that is deleted."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT constrained.conrelid::regclass || '.' || attname
            FROM pg_constraint AS constrained
            JOIN pg_attribute ON attrelid = constrained.conrelid AND attnum = constrained.conkey[1]
            WHERE contype = 'f' AND confdeltype IN ('c', 'n')
              AND constrained.conrelid::regclass::text LIKE 'conversations%'
              AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = attnum)
        """)
        assert cursor.fetchall() == []


def test_a_request_that_is_recorded_again_is_there_once_and_ends_the_one_before_it(user: User) -> None:
    """Nobody knows what a statement did whose connection was lost."""
    opened = send_unbuilt(user)
    first, context = model_requests.record(*model_requests.first_request(opened))
    request = model_requests.further_request(first, context, [])
    ended = outcomes.Outcome(status=Reply.Status.COMPLETED, stop_reason="tool_use", usage=Usage(output_tokens=7))
    for _ in range(2):
        model_requests.record(*request, before=first, ended=ended)
    stored = ContextSnapshot.objects.filter(reply=opened.reply).order_by("round")
    assert list(stored.values_list("id", "status", "stop_reason", "usage")) == [
        (first.id, "completed", "tool_use", {"output_tokens": 7}),
        (request[0].id, "pending", "", {}),
    ]

"""What is forgotten while something is being made of it does not come back: each test forgets in between, at a known place."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from conversations import replies
from conversations.errors import CannotContinue, ReplyInProgress
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.models.deletion_guard import allow_deletion
from conversations.providers.errors import provider_error
from conversations.replies import closing, cursor, model_requests, opening, outcomes
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.threads import deletion
from memory import forgetting
from memory.consolidation import store
from memory.consolidation.consolidate import consolidate
from memory.index import word_index
from memory.index.index_turns import catch_up
from memory.language.words import stems, term
from memory.models import DailySummary, IndexedPassage, Memory
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_snapshot, make_thread
from tests.locks import LOCKS
from tests.memory.factories import make_memory, make_thread_summary, make_topic
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True)]

PIN = "garage PIN: 4711"


def first_turn(thread: Thread) -> Message:
    return Message.objects.get(thread=thread, position=1)


def in_thread(work: Callable[[], object]) -> threading.Thread:
    def body() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=body)
    thread.start()
    return thread


def once(work: Callable[[], object]) -> Callable[[], None]:
    """Does it at the first call, in a connection of its own, and has done it when it returns."""
    left = [work]

    def step() -> None:
        if left:
            in_thread(left.pop()).join()

    return step


@pytest.mark.parametrize("when", ["before it is looked at", "after"])
def test_a_reply_that_goes_on_with_a_turn_takes_none_that_is_being_forgotten(
    user: User, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The words of the turn are in no request and in no new turn, whenever they are forgotten."""
    thread = make_thread(user, ["How do I get in?", f"With the {PIN}"])
    reply = make_reply(thread)
    answer = Message.objects.get(thread=thread, position=2)
    with allow_deletion():
        Message.objects.filter(id=answer.id).update(status=Message.Status.INCOMPLETE, reply=reply)
    forget = once(lambda: forgetting.forget_turn(user, answer.id))
    look = cursor.place_in

    def look_and_forget(*args: Any) -> Any:
        if when == "after":
            place = look(*args)
            forget()
            return place
        forget()
        return look(*args)

    monkeypatch.setattr(opening, "place_in", look_and_forget)
    with pytest.raises(CannotContinue):
        opening.open_continuation(user=user, reply_id=reply.id)
    assert rows_with("4711") == []


def test_another_attempt_to_go_on_takes_no_turn_that_is_forgotten(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = make_thread(user, ["How do I get in?", f"With the {PIN}"])
    reply = make_reply(thread)
    answer = Message.objects.get(thread=thread, position=2)
    with allow_deletion():
        Message.objects.filter(id=answer.id).update(status=Message.Status.INCOMPLETE, reply=reply)
    failed = make_reply(thread, status="failed", continues=reply, error={"code": "overloaded"})
    forget, look = once(lambda: forgetting.forget_turn(user, answer.id)), cursor.place_in

    def forget_and_look(*args: Any) -> Any:
        forget()
        return look(*args)

    monkeypatch.setattr(opening, "place_in", forget_and_look)
    opened = opening.open_retry(user=user, reply_id=failed.id)
    assert opened.continues is None
    assert rows_with("4711") == []


@pytest.mark.usefixtures("engine")
async def test_a_first_request_that_was_built_before_a_thread_was_deleted_is_built_anew(
    user: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply that waits for a file or a service builds its request later, in a task: nothing tells yet what that holds."""

    def told() -> Thread:
        thread = make_thread(user, [f"Remember my {PIN}", "Noted."])
        catch_up(user.pk)
        return thread

    thread = await in_database(told)()
    delete, build = once(lambda: deletion.delete_thread(thread)), model_requests.first_request
    held: list[bool] = []

    def build_and_delete(*args: Any, **values: Any) -> Any:
        request = build(*args, **values)
        held.append("4711" in json.dumps(request[1].payload))
        delete()
        return request

    monkeypatch.setattr(model_requests, "first_request", build_and_delete)
    monkeypatch.setattr(opening, "build_if_possible", lambda *args, **values: None)
    model.script(scripts.text("I don't know it."))
    opened = await replies.start(user=user, thread_id=None, content="What is my garage PIN?")
    async for _ in replies.follow(opened.reply.id):
        pass
    assert held == [True, False]
    assert "4711" not in json.dumps(model.bodies[-1])
    assert await in_database(rows_with)("4711") == []


@pytest.mark.parametrize("way", ["forget", "clear"])
@pytest.mark.usefixtures("engine")
async def test_nothing_is_forgotten_while_a_reply_is_streamed_and_all_of_it_afterwards(
    user: User, model: ModelServer, way: str
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text(f"Your {PIN}", gate, " it is."))
    opened = await replies.start(user=user, thread_id=None, content=PIN)
    await in_database(gate.wait_until_reached)()
    turn = opened.question

    def take() -> None:
        if way == "forget":
            forgetting.forget_turn(user, turn.id)
        else:
            deletion.clear_thread(opened.thread)

    with pytest.raises(ReplyInProgress):
        await in_database(take)()
    gate.open()
    async for _ in replies.follow(opened.reply.id):
        pass
    answer = await Message.objects.aget(reply=opened.reply)
    await in_database(take)()
    if way == "forget":
        await in_database(forgetting.forget_turn)(user, answer.id)
    assert await in_database(rows_with)("4711") == []


def test_a_note_of_another_thread_that_is_forgotten_is_not_retold(
    user: User, model: ModelServer, settings: Any
) -> None:
    """The model was given it beside the turns of a part, which are all still there."""
    settings.OPENBOOK_PROVIDER = "anthropic"
    now = timezone.now()
    earlier = make_thread(user, ["My boat is called Wendelin.", "Nice."], created_at=now - timedelta(days=20))
    make_thread_summary(earlier, now - timedelta(days=20), "Has a boat.", sources=[first_turn(earlier).id])
    memory = make_memory(user, "My boat is called Wendelin.", sources=[first_turn(earlier).id])
    make_thread(user, ["I painted my boat.", "Good."], created_at=now - timedelta(hours=2))
    gate = scripts.Gate()
    parts: dict[str, Any] = {"facts": [], "topics_opened": [], "topics_resolved": [], "key_moments": []}
    model.script(scripts.text(json.dumps({"summary": "Painted the boat Wendelin."} | parts), gate))
    worker = in_thread(lambda: consolidate(user.pk))
    gate.wait_until_reached()
    assert "My boat is called Wendelin." in json.dumps(model.bodies[0])
    forgetting.forget_memory(user, memory.id)
    gate.open()
    worker.join()
    assert rows_with("Wendelin") == []
    assert not Memory.objects.exists()


def test_what_a_service_says_of_a_request_that_is_gone_is_not_stored(user: User) -> None:
    """A worker has asked about a part, and waits; nobody is refused to forget meanwhile."""
    thread = make_thread(user, [PIN, "Noted."])
    snapshot = make_snapshot(thread, status=ContextSnapshot.Status.PENDING, ended_at=None)
    forgetting.forget_turn(user, first_turn(thread).id)
    error = outcomes.failure(provider_error("empty_reply")).error
    assert error
    outcome = outcomes.failed(error | {"message": f"can't read “{PIN}”"})
    closing.end_request(snapshot, outcome)
    assert rows_with("4711") == []
    assert ContextSnapshot.objects.get(id=snapshot.id).status == "interrupted"


def test_a_day_is_not_told_of_what_is_forgotten_meanwhile(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever forgets waits until the day is stored, and finds it."""
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    thread = make_thread(user, [PIN, "Noted."], created_at=noon)
    make_thread_summary(thread, noon, f"Told the {PIN}.", sources=[first_turn(thread).id])
    started: list[threading.Thread] = []
    read = store._parts_of_day

    def read_and_forget(*args: Any) -> Any:
        found = read(*args)
        started.append(in_thread(lambda: forgetting.forget_turn(user, first_turn(thread).id)))
        until(lambda: not started[0].is_alive() or waits_for_a_lock())
        return found

    monkeypatch.setattr(store, "_parts_of_day", read_and_forget)
    with transaction.atomic():
        store.remake_days(user.pk, [noon.date()], UTC, clock.now())
    started[0].join()
    assert rows_with("4711") == []
    assert not DailySummary.objects.exists()


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"{LOCKS} AND NOT granted")
        return cursor.fetchone() is not None


def test_turns_that_are_indexed_while_they_are_forgotten_leave_no_word(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = make_thread(user, ["Quillhaven", "Noted."])
    forget, keep = once(lambda: forgetting.forget_turn(user, first_turn(thread).id)), word_index.store_batch

    def forget_and_store(*args: Any, **values: Any) -> Any:
        forget()
        return keep(*args, **values)

    monkeypatch.setattr(word_index, "store_batch", forget_and_store)
    catch_up(user.pk)
    words = {term(user.pk, stem) for stem in stems("Quillhaven")}
    assert not [row for row in IndexedPassage.objects.filter(user=user) if words & {*row.terms}]


def test_a_topic_goes_from_recorded_requests(user: User) -> None:
    topic = make_topic(user, "Collect the quibberdane")
    thread = make_thread(user, ["Hello"])
    make_snapshot(thread)
    assert len(rows_with("quibberdane")) == 2
    running = make_reply(thread, status="running")
    with pytest.raises(ReplyInProgress):
        forgetting.forget_topic(topic)
    Reply.objects.filter(id=running.id).update(status="stopped", ended_at=clock.now())
    forgetting.forget_topic(topic)
    assert rows_with("quibberdane") == []

"""What a user said becomes summaries, facts and topics: once, whatever is killed, forgotten or said again meanwhile."""

import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.utils import timezone

from conversations.context.tokens.estimate import turn_tokens
from conversations.models import Message, Thread, text_blocks
from conversations.providers.base import ProviderError
from conversations.threads import deletion
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.consolidation.pending_parts import due_parts
from memory.models import Consolidation, DailySummary, Memory, Preferences, ThreadSummary, Topic
from memory.tags import thread_tag, user_tag
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread, make_user
from tests.memory.factories import make_memory, make_preferences, make_topic
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db]

NOW = datetime(2026, 3, 28, 18, tzinfo=UTC)
MORNING = NOW - timedelta(hours=9)
ADA = ["I live in Hamburg and I have two cats.", "Lovely!", "I need to renew my passport.", "Do it soon."]


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


def say(thread: Thread, *texts: str, at: datetime, roles: str = "ua", replaces: bool = False) -> list[Message]:
    """Turns added to a thread, a minute apart. ``replaces``: in the place of its last turn, as a retry does."""
    last = thread.messages.filter(is_active=True).order_by("position").last()
    if last and replaces:
        thread.messages.filter(id=last.id).update(is_active=False)
        last = thread.messages.filter(is_active=True).order_by("position").last()
    depth, total = (last.depth, last.token_total) if last else (0, 0)
    made = []
    for n, text in enumerate(texts):
        tokens = turn_tokens(text_blocks(text))
        depth, total, thread.last_position = depth + 1, total + tokens, thread.last_position + 1
        made.append(
            Message(
                thread=thread,
                position=thread.last_position,
                depth=depth,
                role={"u": "user", "a": "assistant"}[roles[n % len(roles)]],
                text=text,
                token_count=tokens,
                token_total=total,
                created_at=at + timedelta(minutes=n),
            )
        )
    Message.objects.bulk_create(made)
    thread.message_count, thread.updated_at = depth, made[-1].created_at
    thread.save()
    return made


def say_turns(user: User, *texts: str, at: datetime = MORNING, **values: Any) -> Thread:
    thread = make_thread(user, created_at=at, updated_at=at, **values)
    say(thread, *texts, at=at)
    return thread


def parts() -> list[tuple[int, int]]:
    return list(ThreadSummary.objects.order_by("started_at").values_list("first_position", "last_position"))


def facts(**values: Any) -> list[str]:
    return list(Memory.objects.filter(**values).order_by("created_at", "content").values_list("content", flat=True))


def topics(*, resolved: bool = False) -> list[str]:
    found = Topic.objects.filter(resolved_at__isnull=not resolved)
    return list(found.order_by("opened_at").values_list("title", flat=True))


def everything() -> dict[str, list[Any]]:
    """All rows, without ids and the times at which they were made."""
    return {
        "parts": list(
            ThreadSummary.objects.order_by("thread", "first_position").values_list(
                "thread", "first_position", "last_position", "text", "key_moments", "sources", "made_by", "stale_since"
            )
        ),
        "facts": list(
            Memory.objects.order_by("created_at", "content").values_list("content", "tags", "sources", "ended_at")
        ),
        "topics": list(Topic.objects.order_by("opened_at", "title").values_list("title", "sources", "resolved_at")),
        "days": list(DailySummary.objects.order_by("day").values_list("day", "text", "key_moments")),
    }


def test_a_conversation_is_consolidated_once_with_its_sources(user: User) -> None:
    thread = say_turns(user, *ADA)
    turns = list(thread.messages.order_by("position").values_list("id", flat=True))
    assert consolidate(user.pk, at=NOW) == 1
    assert list(
        Memory.objects.values_list("content", "tags", "origin", "sources", "valid_from", "created_at").order_by(
            "content"
        )
    ) == [
        (text, [user_tag(user.pk), thread_tag(thread.id)], "conversation", [turns[0]], MORNING, MORNING)
        for text in ("I have two cats.", "I live in Hamburg.")
    ]
    assert list(Topic.objects.values_list("title", "sources", "thread", "opened_at")) == [
        ("I need to renew my passport.", [turns[2]], thread.id, MORNING + timedelta(minutes=2))
    ]
    summary = ThreadSummary.objects.get()
    assert (summary.sources, summary.made_by, summary.made_at) == (turns, "rules", NOW)
    assert "User: I live in Hamburg" in summary.text
    day = DailySummary.objects.get()
    assert (day.day, day.text, day.parts) == (date(2026, 3, 28), summary.text, [summary.id])
    before = everything()
    assert consolidate(user.pk, at=NOW + timedelta(hours=1)) == 0
    assert everything() == before


def test_its_progress_is_told_and_it_goes_through(user: User) -> None:
    say_turns(user, *ADA)
    wanted = MORNING
    Consolidation.objects.create(user=user, wanted_at=wanted, failures=3, error="Overloaded", not_before=NOW)
    consolidate(user.pk, at=NOW)
    row = Consolidation.objects.get()
    assert (row.started_at, row.parts_to_do, row.parts_done, row.through) == (NOW, 1, 1, NOW - timedelta(minutes=1))
    assert (row.wanted_at, row.failures, row.error, row.not_before) == (None, 0, "", None)
    assert row.ended_at and row.ended_at > timezone.now() - timedelta(minutes=1)


def test_who_came_back_soon_extends_the_part_and_who_came_late_begins_another(user: User) -> None:
    thread = say_turns(user, *ADA)
    consolidate(user.pk, at=NOW)
    first = ThreadSummary.objects.get().id
    say(thread, "I renewed my passport today.", "Good.", at=MORNING + timedelta(minutes=15))
    assert consolidate(user.pk, at=NOW) == 1
    assert (parts(), ThreadSummary.objects.get().id) == ([(1, 6)], first)
    assert facts() == ["I have two cats.", "I live in Hamburg."]
    assert (topics(), topics(resolved=True)) == ([], ["I need to renew my passport."])
    say(thread, "I bought a boat.", "Nice.", at=MORNING + timedelta(hours=2))
    assert consolidate(user.pk, at=NOW) == 1
    assert (parts(), facts()[-1]) == ([(1, 6), (7, 8)], "I bought a boat.")
    assert list(DailySummary.objects.values_list("day", flat=True)) == [date(2026, 3, 28)]
    assert "I bought a boat" in DailySummary.objects.get().text


@pytest.mark.parametrize(("zone", "day"), [("Asia/Tokyo", 29), ("America/New_York", 28), ("nowhere/at-all", 28)])
def test_the_persons_time_zone_decides_the_day(user: User, zone: str, day: int) -> None:
    make_preferences(user, time_zone=zone)
    say_turns(user, "I have two cats.", at=datetime(2026, 3, 28, 16, tzinfo=UTC))
    consolidate(user.pk, at=NOW)
    assert [row.day for row in DailySummary.objects.all()] == [date(2026, 3, day)]


def test_who_travels_finds_today_under_its_new_name_and_nothing_twice(user: User) -> None:
    preferences = make_preferences(user, time_zone="UTC")
    say_turns(user, "I have two cats.", at=datetime(2026, 3, 28, 16, tzinfo=UTC))
    consolidate(user.pk, at=NOW)
    preferences.time_zone = "Asia/Tokyo"
    preferences.save()
    assert consolidate(user.pk, at=NOW) == 0
    assert [(row.day, row.text) for row in DailySummary.objects.all()] == [
        (date(2026, 3, 29), "User: I have two cats.")
    ]
    say_turns(user, "I bought a boat.", at=datetime(2026, 3, 28, 17, tzinfo=UTC))
    consolidate(user.pk, at=NOW)
    assert [row.text for row in DailySummary.objects.all()] == ["User: I have two cats.\nUser: I bought a boat."]


def test_a_fact_that_replaces_another_ends_it(user: User) -> None:
    say_turns(user, "I live in Hamburg.", at=MORNING - timedelta(days=40))
    say_turns(user, "I just moved to Berlin.")
    consolidate(user.pk, at=NOW)
    old, new = Memory.objects.order_by("created_at")
    assert (old.content, old.ended_at, old.superseded_by) == ("I live in Hamburg.", new.valid_from, new)
    assert (new.content, new.ended_at) == ("I just moved to Berlin. (2026-03-28)", None)
    say_turns(user, "I live in Rome.", at=MORNING - timedelta(days=90))  # imported late, said long ago
    consolidate(user.pk, at=NOW)
    rome = Memory.objects.get(content="I live in Rome.")
    assert rome.superseded_by_id is not None
    assert facts(ended_at=None) == ["I just moved to Berlin. (2026-03-28)"]


def test_what_is_known_or_only_repeated_by_the_assistant_is_not_found_again(user: User) -> None:
    make_memory(user, "I have a dog called Rex.", origin="hand")
    make_topic(user, "I need to renew my passport.", opened_at=MORNING)
    say_turns(
        user,
        "What do you know of me?",
        "I have a dog called Rex. My name is Bob. I need to call Nora.",
        "Right, I have a dog called Rex. I need to renew my passport!",
        at=MORNING + timedelta(hours=1),
    )
    assert consolidate(user.pk, at=NOW) == 1
    assert (facts(), topics()) == (["I have a dog called Rex."], ["I need to renew my passport."])


def test_a_topic_of_another_thread_is_resolved_but_never_by_what_was_said_before_it(user: User) -> None:
    say_turns(user, "I need to renew my passport.", "Do!")
    say_turns(user, "I renewed my passport.", "Good.", at=MORNING - timedelta(days=900))
    consolidate(user.pk, at=NOW)
    assert topics() == ["I need to renew my passport."]
    say_turns(user, "I renewed my passport today.", "Good.", at=MORNING + timedelta(hours=3))
    consolidate(user.pk, at=NOW)
    assert (topics(), Topic.objects.get().resolved_at) == ([], MORNING + timedelta(hours=3))


def test_a_reply_that_was_tried_again_makes_its_part_anew(user: User) -> None:
    thread = say_turns(user, "I live in Hamburg.", "Hamburg lies at the river Weser near Bremen.", at=NOW)
    consolidate(user.pk, at=NOW + timedelta(minutes=10))
    assert "Weser" in ThreadSummary.objects.get().text
    (answer,) = say(
        thread, "Hamburg lies at the river Elbe near Lübeck.", at=NOW + timedelta(hours=2), roles="a", replaces=True
    )
    assert consolidate(user.pk, at=NOW + timedelta(hours=3)) == 2
    assert [
        ("Weser" in row.text, answer.id in row.sources) for row in ThreadSummary.objects.order_by("started_at")
    ] == [
        (False, False),
        (False, True),
    ]
    assert (parts(), facts()) == ([(1, 2), (3, 3)], ["I live in Hamburg."])
    assert "Weser" not in DailySummary.objects.get().text
    assert consolidate(user.pk, at=NOW + timedelta(hours=4)) == 0


def test_what_rests_on_a_turn_that_was_replaced_ends_with_it(user: User) -> None:
    thread = say_turns(user, "Hello!", "Hi!", "I live in Rome. I need to call Nora.", at=NOW)
    consolidate(user.pk, at=NOW + timedelta(minutes=10))
    say(thread, "I live in Bonn.", at=NOW + timedelta(minutes=12), replaces=True)
    consolidate(user.pk, at=NOW + timedelta(minutes=30))
    assert (facts(ended_at=None), topics()) == (["I live in Bonn."], [])


def blank(turn: Message) -> None:
    with deletion.allow_deletion():
        Message.objects.filter(id=turn.id).update(status="forgotten", text="[forgotten]", content=None)


def test_what_was_forgotten_does_not_come_back(user: User) -> None:
    thread = say_turns(user, *ADA)
    consolidate(user.pk, at=NOW)
    blank(thread.messages.get(position=1))
    Memory.objects.all().delete()
    ThreadSummary.objects.update(stale_since=NOW, text="")
    assert consolidate(user.pk, at=NOW) == 1
    summary = ThreadSummary.objects.get()
    assert (facts(), "Hamburg" in summary.text, len(summary.sources)) == ([], False, 3)
    for turn in thread.messages.all():
        blank(turn)
    ThreadSummary.objects.update(stale_since=NOW)
    consolidate(user.pk, at=NOW)
    assert list(ThreadSummary.objects.values_list("text", "sources", "stale_since")) == [("", [], None)]
    assert not DailySummary.objects.exists()
    assert consolidate(user.pk, at=NOW) == 0


def test_a_day_forgets_a_thread_that_was_deleted(user: User) -> None:
    say_turns(user, "I bought a boat.")
    thread = say_turns(user, "I have two cats.", at=MORNING + timedelta(hours=1))
    consolidate(user.pk, at=NOW)
    deletion.delete_thread(thread)
    consolidate(user.pk, at=NOW)
    assert [day.text for day in DailySummary.objects.all()] == ["User: I bought a boat."]


def test_nothing_is_remembered_where_the_person_does_not_want_it(user: User) -> None:
    thread = say_turns(user, *ADA, remembers=False)
    assert (consolidate(user.pk, at=NOW), parts()) == (0, [])
    Thread.objects.filter(id=thread.id).update(remembers=True)
    preferences = make_preferences(user, remembers=False)
    assert (consolidate(user.pk, at=NOW), parts()) == (0, [])
    Preferences.objects.filter(pk=preferences.pk).update(remembers=True)
    assert (consolidate(user.pk, at=NOW), parts()) == (1, [(1, 4)])


def test_a_thread_in_which_a_reply_runs_waits_and_is_not_passed_by(user: User) -> None:
    thread = say_turns(user, "I have two cats.")
    reply = make_reply(thread, status="running")
    assert consolidate(user.pk, at=NOW) == 0
    through = Consolidation.objects.get().through
    assert through and through < thread.updated_at
    type(reply).objects.filter(id=reply.id).update(status="failed", ended_at=NOW)
    assert consolidate(user.pk, at=NOW) == 1


def test_nobody_elses_rows_are_touched(user: User, other_user: User) -> None:
    say_turns(other_user, *ADA)
    make_topic(other_user, "I need to renew my passport.", opened_at=MORNING - timedelta(days=1))
    say_turns(user, "I renewed my passport.")
    assert consolidate(user.pk, at=NOW) == 1
    assert (Topic.objects.get().resolved_at, {part.user_id for part in ThreadSummary.objects.all()}) == (
        None,
        {user.pk},
    )


@contextmanager
def broken(table: str, event: str) -> Iterator[None]:
    """The database refuses this kind of write."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION break_it() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the secret: %', NEW; END $$"
        )
        cursor.execute(f"CREATE TRIGGER breaking AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION break_it()")
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER breaking ON {table}")


@pytest.mark.parametrize(
    ("table", "event"),
    [
        ("memory_threadsummary", "INSERT"),
        ("memory_memory", "INSERT"),
        ("memory_memory", "UPDATE"),
        ("memory_topic", "INSERT"),
        ("memory_topic", "UPDATE"),
        ("memory_dailysummary", "INSERT OR UPDATE"),
    ],
)
def test_what_breaks_at_any_step_doubles_nothing_and_loses_nothing(user: User, table: str, event: str) -> None:
    make_memory(user, "I live in Rome.", created_at=MORNING - timedelta(days=9), id=uuid.UUID(int=7))
    make_topic(user, "I need to call Nora.", opened_at=MORNING - timedelta(days=9), id=uuid.UUID(int=8))
    say_turns(user, *ADA, "I called Nora.", "Good.")
    say_turns(user, "I have a boat.", "Nice.", at=MORNING + timedelta(hours=5))
    before = everything()
    with broken(table, event), pytest.raises(DatabaseError):
        consolidate(user.pk, at=NOW)
    assert everything() == before
    row = Consolidation.objects.get()
    assert (row.failures, row.through, row.parts_done) == (1, None, 0)
    assert "secret" not in row.error
    assert consolidate(user.pk, at=NOW) == 2
    assert (parts(), facts()) == (
        [(1, 6), (1, 2)],
        ["I live in Rome.", "I have two cats.", "I live in Hamburg.", "I have a boat."],
    )
    assert (topics(), topics(resolved=True)) == (["I need to renew my passport."], ["I need to call Nora."])
    assert consolidate(user.pk, at=NOW) == 0


def test_it_stops_between_two_parts_and_goes_on_where_it_stopped(user: User) -> None:
    for hour in range(3):
        say_turns(user, f"I have {hour + 2} cats.", at=MORNING + timedelta(hours=hour))
    answers = iter([True, False])
    assert consolidate(user.pk, at=NOW, alive=lambda: next(answers)) == 1
    assert (len(parts()), Consolidation.objects.get().through) == (1, None)
    assert consolidate(user.pk, at=NOW) == 2
    assert facts() == ["I have 2 cats.", "I have 3 cats.", "I have 4 cats."]


@pytest.mark.django_db(transaction=True)
def test_one_process_at_a_time_consolidates_a_user() -> None:
    user = make_user()
    say_turns(user, *ADA)
    meanwhile: list[int] = []

    def another() -> None:
        meanwhile.append(consolidate(user.pk, at=NOW))
        connection.close()

    def alive() -> bool:
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        return True

    assert (consolidate(user.pk, at=NOW, alive=alive), meanwhile) == (1, [0])
    another()
    assert meanwhile == [0, 0]


def answer(**parts: Any) -> scripts.ScriptedStream:
    return scripts.text(json.dumps({"summary": "Ada told where she lives."} | parts))


FOUND = {
    "key_moments": ["Ada moved."],
    "facts": [{"text": "The person lives in Hamburg.", "turns": [1], "replaces": [1]}],
    "topics_opened": [{"title": "Renew the passport", "turns": [3]}],
    "topics_resolved": [{"topic": 1, "turns": [3]}],
}


def test_a_small_model_is_asked_about_what_was_said_lately(user: User, model: ModelServer) -> None:
    make_memory(user, "The person lives in Rome.", created_at=MORNING - timedelta(days=9))
    make_topic(user, "Call Nora", opened_at=MORNING - timedelta(days=9))
    say_turns(user, "I have a boat.", at=MORNING - timedelta(days=8))  # too long ago to pay for
    say_turns(user, *ADA)
    model.script(answer(**FOUND))
    assert consolidate(user.pk, at=NOW) == 2
    assert len(model.requests) == 1
    asked = json.loads(model.requests[0].body["messages"][0]["content"][0]["text"])
    assert [turn["text"] for turn in asked["turns"]] == ADA
    assert [one["text"] for one in asked["known"]] == ["The person lives in Rome.", "I have a boat."]
    assert facts(ended_at=None) == ["I have a boat.", "The person lives in Hamburg."]
    assert (topics(), topics(resolved=True)) == (["Renew the passport"], ["Call Nora"])
    assert list(ThreadSummary.objects.order_by("started_at").values_list("text", "made_by")) == [
        ("User: I have a boat.", "rules"),
        ("Ada told where she lives.", model.requests[0].body["model"]),
    ]
    assert DailySummary.objects.get(day=NOW.date()).key_moments == ["Ada moved."]


GARBAGE = scripts.text("I'm sorry, I can't do that.")


@pytest.mark.parametrize(
    ("answers", "made_by", "requests"),
    [
        ([GARBAGE, answer()], "claude-haiku-5-5", 2),
        ([GARBAGE, GARBAGE], "rules", 2),
        ([scripts.text('{"summary": "cut', stop_reason="max_tokens")], "rules", 1),
        ([scripts.text("", stop_reason="max_tokens")], "rules", 1),
        ([scripts.text("", stop_reason="refusal")], "rules", 1),
        ([scripts.error(400)], "rules", 1),
    ],
)
def test_a_model_that_cannot_say_it_is_replaced_by_rules(
    user: User, model: ModelServer, answers: Sequence[scripts.Script], made_by: str, requests: int
) -> None:
    say_turns(user, *ADA)
    for script in answers:
        model.script(script)
    assert consolidate(user.pk, at=NOW) == 1
    assert (ThreadSummary.objects.get().made_by, len(model.requests)) == (made_by, requests)


def test_a_model_that_is_overloaded_fails_the_attempt_and_what_was_done_stays(user: User, model: ModelServer) -> None:
    say_turns(user, *ADA)
    say_turns(user, "I have a boat.", at=MORNING + timedelta(hours=3))
    model.script(answer(**FOUND))
    for _ in range(3):
        model.script(scripts.error(529))
    with pytest.raises(ProviderError):
        consolidate(user.pk, at=NOW)
    row = Consolidation.objects.get()
    assert (row.failures, row.error.split(" at ")[0], row.parts_done, row.parts_to_do, row.through) == (
        1,
        "ProviderError (overloaded)",
        1,
        2,
        None,
    )
    model.script(answer(facts=[{"text": "The person has a boat.", "turns": [1]}]))
    assert consolidate(user.pk, at=NOW) == 1
    assert facts() == ["The person lives in Hamburg.", "The person has a boat."]


@pytest.mark.django_db(transaction=True)
def test_what_is_forgotten_while_the_model_thinks_is_not_stored(model: ModelServer) -> None:
    user = make_user()
    thread = say_turns(user, *ADA)
    gate = scripts.Gate()
    model.script(scripts.text(json.dumps({"summary": "Ada lives in Hamburg."} | FOUND), gate))
    done: list[int] = []

    def work() -> None:
        done.append(consolidate(user.pk, at=NOW))
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    gate.wait_until_reached()
    blank(thread.messages.get(position=1))
    gate.open()
    worker.join()
    assert (done, parts(), facts(), Consolidation.objects.get().through) == ([0], [], [], None)
    model.script(answer())
    assert consolidate(user.pk, at=NOW) == 1
    assert len(ThreadSummary.objects.get().sources) == 3


@pytest.mark.django_db(transaction=True)
def test_a_memory_that_is_forgotten_while_the_model_thinks_does_not_come_back(model: ModelServer) -> None:
    user = make_user()
    thread = say_turns(user, *ADA)
    memory = make_memory(user, "I live in Hamburg.", sources=[thread.messages.get(position=1).id])
    gate = scripts.Gate()
    model.script(scripts.text(json.dumps({"summary": "Ada lives in Hamburg."} | FOUND), gate))

    def work() -> None:
        consolidate(user.pk, at=NOW)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    gate.wait_until_reached()
    forgetting.forget_memory(user, memory.id)
    gate.open()
    worker.join()
    assert (parts(), facts(), topics()) == ([], [], [])
    model.script(answer())
    assert consolidate(user.pk, at=NOW) == 1
    assert "Hamburg" not in json.dumps(model.requests[-1].body)
    assert (facts(), DailySummary.objects.get().text) == ([], "Ada told where she lives.")


def test_a_part_made_anew_in_other_words_doubles_nothing(user: User, model: ModelServer) -> None:
    thread = say_turns(user, *ADA)
    model.script(answer(**FOUND | {"facts": [{"text": "The person lives in Hamburg with two cats.", "turns": [1]}]}))
    consolidate(user.pk, at=NOW)
    say(thread, "Thanks!", "Gladly.", at=MORNING + timedelta(minutes=12))
    again = {"topics_opened": [{"title": "Passport renewal", "turns": [3]}], "topics_resolved": []}
    model.script(answer(**FOUND | again))
    assert consolidate(user.pk, at=NOW) == 1
    assert (parts(), facts(), topics()) == (
        [(1, 6)],
        ["The person lives in Hamburg with two cats."],
        ["Renew the passport"],
    )


def test_nothing_is_done_for_a_user_who_is_gone(db: None) -> None:
    assert (consolidate(-1, at=NOW), Consolidation.objects.exists()) == (0, False)


def test_a_long_history_is_looked_through_in_few_statements(user: User, django_assert_num_queries: Any) -> None:
    for hour in range(5):
        say_turns(user, "I have two cats.", at=MORNING + timedelta(hours=hour))
    with django_assert_num_queries(2):
        assert len(due_parts(user.pk, UTC)) == 5


def test_what_is_called_off_is_no_longer_known_and_what_is_done_no_longer_open() -> None:
    user = make_user()
    said = ["I play tennis on Wednesdays. I have a dog.", "Nice!", "I need to call the plumber and the bank.", "Do it."]
    say_turns(user, *said, at=MORNING)
    say_turns(user, "The plumber is done, I called him. I gave up tennis.", "I see.", at=MORNING + timedelta(hours=3))
    consolidate(user.pk, at=NOW)
    ended = Memory.objects.filter(user=user, ended_at__isnull=False)
    assert list(ended.values_list("content", "ended_at", "superseded_by")) == [
        ("I play tennis on Wednesdays.", MORNING + timedelta(hours=3), None)
    ]
    assert consolidate(user.pk, at=NOW, waits=True) == 0
    assert ended.count() == 1

"""What a small model is asked to note of a conversation is in the open book, as what a reply asks is (S1–S4)."""

import json
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from conversations.context.record import snapshot_api, snapshots
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Thread
from conversations.models import Model as LanguageModel
from conversations.providers import model_catalog
from conversations.providers.base import ProviderError
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.consolidation.note_request import runs_of_part
from memory.models import Memory
from tests import model_scripts as scripts
from tests.chat_server import ChatServer
from tests.chat_server import scripts as chat
from tests.conversations.factories import make_thread, make_user
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.html import as_read
from tests.memory.consolidation.test_consolidate import ADA, FOUND, GARBAGE, MORNING, NOW, answer, say, say_turns
from tests.memory.factories import make_memory, make_topic
from tests.memory.forgetting.test_forgetting import is_gone, rows_with
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db

USAGE = {
    "input_tokens": 12,
    "output_tokens": 9,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 3,
}


def note_requests() -> list[ContextSnapshot]:
    return list(ContextSnapshot.objects.filter(purpose="consolidation").order_by("id"))


def test_notes_are_asked_of_whom_the_assistant_asks(
    model: ModelServer, chat_model: ChatServer, settings: Settings
) -> None:
    settings.OPENBOOK_PROVIDER = "offline"
    companion, analyst = (Assistant.objects.get(slug=slug) for slug in ("companion", "analyst"))
    Assistant.objects.filter(pk=companion.pk).update(provider="openai", model="local-model")
    Assistant.objects.filter(pk=analyst.pk).update(provider="anthropic")
    found = json.dumps({"summary": "Ada told where she lives."} | FOUND)
    model.script(scripts.text(found))
    chat_model.say(chat.answer(found))
    user = make_user()
    say_turns(user, *ADA, assistant=companion)
    say_turns(user, *ADA, assistant=analyst)
    assert consolidate(user.pk, at=NOW) == 2
    asked = sorted((each.provider, each.model, each.status) for each in note_requests())
    assert asked == [("anthropic", "claude-haiku-5-5", "completed"), ("openai", "local-model", "completed")]


@pytest.mark.parametrize("why", ["no such connection", "no model", "too small"])
def test_the_rules_make_notes_where_no_model_can(model: ModelServer, settings: Settings, why: str) -> None:
    match why:
        case "no such connection":
            Assistant.objects.update(provider="gone")
        case "no model":
            Assistant.objects.update(provider="offline")
        case _:
            LanguageModel.objects.update(uses_memory=False)
            model_catalog.reread()
    user = make_user()
    say_turns(user, *ADA)
    assert (consolidate(user.pk, at=NOW), note_requests(), model.requests) == (1, [], [])
    assert Memory.objects.filter(user=user).count() == 2


def in_thread(work: Any) -> threading.Thread:
    """Work with a database connection of its own."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    worker = threading.Thread(target=run)
    worker.start()
    return worker


@pytest.mark.django_db(transaction=True)
def test_it_is_recorded_before_the_model_is_asked_and_can_be_proven(model: ModelServer) -> None:
    user = make_user()
    memory = make_memory(user, "The person lives in Rome.", created_at=MORNING - timedelta(days=9))
    topic = make_topic(user, "Call Nora", opened_at=MORNING - timedelta(days=9))
    thread = say_turns(user, *ADA)
    gate = scripts.Gate()
    model.script(scripts.text(json.dumps({"summary": "Ada told where she lives."} | FOUND), gate))
    worker = in_thread(lambda: consolidate(user.pk, at=NOW))
    gate.wait_until_reached()
    [pending] = note_requests()
    body = snapshot_api.body(pending)
    gate.open()
    worker.join()

    assert (body["status"], body["reply"], body["message"], body["thread"]) == ("pending", None, None, str(thread.id))
    sent = model.requests[0].body
    assert body["request"] == sent
    assert (sent["model"], sent["max_tokens"], sent["thinking"]) == ("claude-haiku-5-5", 2_000, {"type": "disabled"})
    assert [(section["name"], section["text"]) for section in body["sections"]] == [
        ("base", sent["system"][0]["text"]),
        ("message", sent["messages"][0]["content"][0]["text"]),
    ]
    turns = list(thread.messages.order_by("position"))
    assert [(item["kind"], item["id"], item["included"]) for item in body["items"]] == [
        *(("message", str(turn.id), True) for turn in turns),
        ("memory", str(memory.id), True),
        ("topic", str(topic.id), True),
    ]
    assert sum(section["tokens"] for section in body["sections"]) == body["total_tokens"] <= body["hard_cap"]

    [ended] = note_requests()
    assert (ended.status, ended.stop_reason, ended.error, ended.ended_at is not None) == (
        "completed", "end_turn", None, True,
    )  # fmt: skip
    assert set(ended.usage) <= set(USAGE) and ended.usage["input_tokens"] > ended.total_tokens
    assert snapshots.proof(ended)


CUT = scripts.text('{"summary": "cut', stop_reason="max_tokens")


@pytest.mark.parametrize(
    ("answers", "ends"),
    [
        ([GARBAGE, answer()], [("failed", "unusable_answer", "end_turn"), ("completed", None, "end_turn")]),
        ([GARBAGE, GARBAGE], [("failed", "unusable_answer", "end_turn")] * 2),
        ([CUT], [("failed", "unusable_answer", "max_tokens")]),
        ([scripts.error(400)], [("failed", "invalid_request", "")]),
        ([scripts.error(529)] * 3, [("failed", "overloaded", "")]),
    ],
)
def test_each_attempt_ends_as_it_ended(
    user: User, model: ModelServer, answers: Sequence[scripts.Script], ends: list[tuple[str, str | None, str]]
) -> None:
    say_turns(user, *ADA)
    for script in answers:
        model.script(script)
    with suppress(ProviderError):
        consolidate(user.pk, at=NOW)
    rows = note_requests()
    assert [(row.status, row.error["code"] if row.error else None, row.stop_reason) for row in rows] == ends
    assert [row.round for row in rows] == [*range(1, len(rows) + 1)]
    assert [snapshots.proof(row) for row in rows] == [True] * len(rows)
    assert [bool(row.usage.get("output_tokens")) for row in rows] == [bool(reason) for *_, reason in ends]


def test_a_model_that_cannot_but_think_is_told_to_think_little_and_has_room_for_it(
    user: User, model: ModelServer
) -> None:
    LanguageModel.objects.update(small_model="claude-opus-5-5")
    model_catalog.reread()
    say_turns(user, *ADA)
    model.script(answer())
    consolidate(user.pk, at=NOW)
    [sent] = model.bodies
    assert (sent["model"], sent["max_tokens"]) == ("claude-opus-5-5", 2_000 + 4_096)
    assert (sent["thinking"]["type"], sent["output_config"]) == ("adaptive", {"effort": "low"})
    assert [snapshots.proof(row) for row in note_requests()] == [True]


def test_where_the_model_declines_the_record_says_that_the_rules_did_it(user: User, model: ModelServer) -> None:
    say_turns(user, *ADA)
    model.script(scripts.text("", stop_reason="refusal"))
    consolidate(user.pk, at=NOW)
    [row] = note_requests()
    assert row.error and row.error["message"] == "The model stopped: refusal. What is noted comes from rules."


@pytest.mark.django_db(transaction=True)
def test_one_whose_worker_died_is_interrupted_and_asked_again(model: ModelServer) -> None:
    user = make_user()
    say_turns(user, *ADA)
    gate, backends = scripts.Gate(), []
    model.script(scripts.text(json.dumps({"summary": "Ada told where she lives."}), gate))

    def die() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backends.append(cursor.fetchone()[0])
        with pytest.raises(OperationalError):
            consolidate(user.pk, at=NOW)

    worker = in_thread(die)
    gate.wait_until_reached()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backends[0]])
    gate.open()
    worker.join()
    assert [row.status for row in note_requests()] == ["pending"]

    model.script(answer())
    assert consolidate(user.pk, at=NOW) == 1
    ends = [(row.status, row.error["code"] if row.error else None, row.ended_at is not None) for row in note_requests()]
    assert ends == [("interrupted", "interrupted", True), ("completed", None, True)]


def test_forgetting_a_turn_blanks_what_was_told_of_it_and_what_was_known_by_it(user: User, model: ModelServer) -> None:
    told = say_turns(user, "My Wendelin sails.", "Lovely!")  # too short to be found by its words alone
    say_turns(user, "It is raining.", at=MORNING - timedelta(hours=3))
    model.script(answer(), answer(facts=[{"text": "The person's boat is called Wendelin.", "turns": [1]}]))
    consolidate(user.pk, at=NOW)
    other = say_turns(user, "I painted my boat Wendelin today.", at=MORNING + timedelta(hours=3))
    model.script(answer(summary="A boat was painted."))
    consolidate(user.pk, at=NOW)
    of_rain, of_told, of_other = note_requests()
    assert "Wendelin." in (snapshot_api.body(of_other)["sections"][1]["text"] or ""), (
        "as known, since the words are shared"
    )

    source = told.messages.get(position=1)
    seen = forgetting.what_turn(user, source.id)
    assert forgetting.forget_turn(user, source.id) == seen
    assert (is_gone(of_told), is_gone(of_other), snapshots.proof(of_rain)) == (True, True, True)
    assert seen.snapshots == 2
    assert rows_with("Wendelin sails", "called Wendelin") == []
    assert other.messages.get().text == "I painted my boat Wendelin today."
    assert not Memory.objects.exists()


def test_what_one_request_of_a_worker_was_given_says_nothing_of_its_others(user: User, model: ModelServer) -> None:
    """They answer no turn, so nothing but their own texts tells that they were given a fact."""
    told = say_turns(user, "My boat is called Quillhaven.", "Lovely!")
    pubs = say_turns(
        user, "A pub was named Quillhaven.", "Was it?", title="Quillhaven pubs", at=MORNING - timedelta(hours=3)
    )
    model.script(answer(), answer(facts=[{"text": "The person's boat is called Quillhaven.", "turns": [1]}]))
    consolidate(user.pk, at=NOW)
    of_pubs, of_boat = note_requests()
    forgetting.forget_memory(user, Memory.objects.get().id)
    pubs.refresh_from_db()
    assert (pubs.title, [turn.text for turn in pubs.messages.order_by("position")]) == (
        "Quillhaven pubs",
        ["A pub was named Quillhaven.", "Was it?"],
    )
    assert (is_gone(of_boat), snapshots.proof(of_pubs)) == (True, True)
    assert told.messages.get(position=1).text == "[forgotten]"


def test_what_is_forgotten_during_the_run_is_told_to_no_model(user: User, model: ModelServer) -> None:
    memory = make_memory(user, "The person has a boat called Wendelin.", created_at=MORNING - timedelta(days=9))
    say_turns(user, "I painted my boat.")

    def alive() -> bool:
        forgetting.forget_memory(user, memory.id)
        return True

    model.script(answer())
    assert consolidate(user.pk, at=NOW, alive=alive) == 1
    [body] = model.bodies
    told = json.loads(body["messages"][0]["content"][0]["text"])
    assert (told["known"], rows_with("Wendelin")) == ([], [])


@pytest.mark.django_db(transaction=True)
def test_what_is_forgotten_between_two_attempts_is_not_told_again(model: ModelServer) -> None:
    user = make_user()
    thread = say_turns(user, *ADA)
    gate = scripts.Gate()
    model.script(scripts.text("I can't do that.", gate))
    worker = in_thread(lambda: consolidate(user.pk, at=NOW))
    gate.wait_until_reached()
    forgetting.forget_turn(user, thread.messages.get(position=1).id)
    gate.open()
    worker.join()
    [row] = note_requests()
    assert (len(model.requests), row.status, is_gone(row), rows_with("Hamburg")) == (1, "interrupted", True, [])


def test_a_part_of_a_thread_accounts_for_every_turn() -> None:
    thread = make_thread(turns=[f"turn {n}" for n in range(1, 10)])
    part = [Turn.of(turn) for turn in thread.messages.order_by("position")[3:7]]
    runs = [(run.first, run.last, run.count, run.included) for run in runs_of_part([part[0], *part[2:]], thread)]
    assert runs == [(1, 3, 3, False), (4, 4, 1, True), (5, 5, 1, False), (6, 7, 2, True), (8, 9, 2, False)]


@pytest.fixture
def noted(user: User, model: ModelServer) -> Thread:
    """A thread of two parts, the second of them asked about twice."""
    thread = say_turns(user, *ADA)
    say(thread, "I have a boat.", "Nice.", at=MORNING + timedelta(hours=3))
    model.script(answer(), GARBAGE, answer())
    consolidate(user.pk, at=NOW)
    return thread


def test_staff_read_it_as_what_it_is(noted: Thread) -> None:
    client = StaffReader()
    client.force_login(User.objects.create_superuser("root"))
    first, failed, second = note_requests()
    page = client.read(page_url("contextsnapshot", failed.pk))
    [verdict] = re.findall(r'<p class="ob-verdict">(.*?)</p>', page.text)
    assert verdict == (
        f"{failed.model} asked for what to note of a conversation, given 2 turns, 4 left out: 4 outside part; "
        f"{failed.total_tokens:,} tokens; unusable_answer"
    )
    shown = page.context["page"]
    labels = ["Instructions", "Turns, what is noted and topics, as JSON"]
    assert [segment.label for segment in shown.segments] == labels
    assert [bool(part.text) for part in (*shown.sent.before, *shown.sent.after)] == [True, True]
    assert (shown.proven, shown.relatives.others, shown.rewritten.outcome, shown.budget_x) == (True, [], "", None)
    assert (shown.relatives.previous, shown.relatives.next) == (first, second)
    assert [turn.excerpt for turn in shown.sent.open] == ["I have a boat.", "Nice."]

    of_thread = as_read(client.get(page_url("thread", noted.pk)).text)
    names = re.findall(r'<a href="([^"]+)">(Notes of a conversation[^<]*)</a>', of_thread)
    assert names == [
        (page_url("contextsnapshot", first.pk), "Notes of a conversation"),
        (page_url("contextsnapshot", failed.pk), "Notes of a conversation"),
        (page_url("contextsnapshot", second.pk), "Notes of a conversation, attempt 2"),
    ]
    listed = client.get(list_url("contextsnapshot", purpose__exact="consolidation"))
    assert list(listed.context["cl"].queryset) == [second, failed, first]


def test_the_person_reads_it_over_the_api(noted: Thread, client: Client) -> None:
    client.force_login(noted.user)
    listed = client.get(f"/api/v1/threads/{noted.id}/requests/").json()["results"]
    assert [(each["purpose"], each["round"], each["status"]) for each in listed] == [
        ("consolidation", 2, "completed"),
        ("consolidation", 1, "failed"),
        ("consolidation", 1, "completed"),
    ]
    one = client.get(f"/api/v1/requests/{listed[0]['id']}/").json()
    assert (one, one["reply"], one["rewriting"]) == (listed[0], None, {"outcome": "off", "query": None})

"""A source of thirty lines, written here, is in the request, its record, its pages, comparison, replay and forgetting."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from conversations.context import replay
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.request_record import record_of
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.excerpts import bullet, fit_list
from conversations.context.sources import Fitted, ItemKind, Place, Reading, Row, Source, SourceItem
from conversations.models import Assistant, ContextSnapshot, Thread
from conversations.runtime.db import read_only
from memory import forgetting
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread
from tests.conversations.staff.conftest import StaffReader, page_url
from tests.html import as_read
from tests.memory.factories import make_memory

pytestmark = pytest.mark.django_db


class OtherConversations(Source[tuple[tuple[str, str], ...]]):
    """What the person's other conversations are called."""

    name = "other_conversations"
    place = Place.STANDING
    label = "Other conversations"
    personal_label = "Your other conversations"
    kinds = (ItemKind(code="conversation", what="conversation", model=Thread, text="title", thread="id"),)
    cut_order = 4
    statement = """
SELECT json_agg(json_build_array(id, title)) FROM (
    SELECT id, title FROM conversations_thread WHERE user_id = %(user)s AND id <> %(thread)s AND title <> ''
    ORDER BY updated_at DESC LIMIT 20
) AS others"""

    def tokens(self, assistant: Assistant) -> int:
        return 40

    def read(self, rows: Sequence[Row], reading: Reading) -> tuple[tuple[str, str], ...]:
        return tuple((id, bullet(title)) for id, title in rows)

    def fit(self, candidates: tuple[tuple[str, str], ...], tokens: int) -> Fitted:
        text, lines = fit_list("## Other Conversations", dict(candidates), tokens)
        reasons = {id: lines.get(id, (Reason.OVER_BUDGET, 0)) for id, _ in candidates}
        return Fitted(
            text=text,
            items=[
                SourceItem(kind="conversation", id=id, included=id in lines, reason=reason, tokens=tokens)
                for id, (reason, tokens) in reasons.items()
            ],
        )

    def rule(self, assistant: Assistant) -> str:
        return "The list of other conversations takes at most 40 tokens."


@pytest.fixture(autouse=True)
def source(settings: Settings) -> Iterator[None]:
    path = f"{__name__}.{OtherConversations.__name__}"
    settings.CONTEXT_SOURCES = [*settings.CONTEXT_SOURCES[:4], path, *settings.CONTEXT_SOURCES[4:]]
    yield


BEES = "Ada keeps bees in Turku"


@pytest.fixture
def others(user: User) -> list[Thread]:
    titles = [BEES, "The tax return of last year, and what is missing for it", "A long talk about harbours " * 4]
    return [make_thread(user, title=title) for title in titles]


@pytest.fixture
def snapshot(user: User, others: list[Thread]) -> ContextSnapshot:
    return make_snapshot(make_thread(user, ["Hello?", "Hello.", "What do I keep?"]))


def test_it_is_in_the_request_within_its_budget_and_each_row_is_accounted_for(
    snapshot: ContextSnapshot, others: list[Thread]
) -> None:
    body: Any = snapshot_api.body(snapshot)
    (section,) = [section for section in body["sections"] if section["name"] == "other_conversations"]
    assert section["text"].startswith("## Other Conversations\n\n") and f"- {BEES}" in section["text"]
    assert 0 < section["tokens"] <= 40
    assert section["text"] in [block["text"] for block in body["request"]["system"]]
    fates = {item["id"]: (item["included"], item["reason"]) for item in body["items"] if item["kind"] == "conversation"}
    assert fates == {
        str(others[0].id): (True, "remembered"),
        str(others[1].id): (False, "over_budget"),
        str(others[2].id): (True, "remembered"),
    }
    assert sum(section["tokens"] for section in body["sections"]) == body["total_tokens"]
    assert snapshots.proof(snapshot)


def test_it_keeps_its_place_and_is_the_first_to_be_cut(user: User, others: list[Thread]) -> None:
    make_memory(user, "Ada lives in Hamburg.")
    reply = make_reply(make_thread(user, ["What do I keep?"]))
    assert [section.name for section in make_context(reply).sections][-2:] == ["memory", "other_conversations"]
    reply.thread.assistant.total_tokens = reply.thread.assistant.hard_cap_tokens = 520
    assert [section.name for section in make_context(reply).sections][-1:] == ["memory"]


def test_staff_see_it_with_what_was_left_out_and_by_which_rule(staff: StaffReader, snapshot: ContextSnapshot) -> None:
    text = as_read(staff.read(page_url("contextsnapshot", snapshot.pk)).text)
    assert "Other conversations" in text and BEES in text
    assert "conversation" in text and "The list of other conversations takes at most 40 tokens." in text


def test_a_comparison_names_it_and_a_replay_tells_where_it_comes_from(
    staff: StaffReader, user: User, snapshot: ContextSnapshot
) -> None:
    make_thread(user, title="Boats")
    later = make_snapshot(snapshot.thread)
    compared = as_read(staff.read(page_url("contextsnapshot", later.pk, "compare")).text)
    assert "Other conversations was rewritten" in compared
    asked = as_read(staff.read(page_url("contextsnapshot", snapshot.pk, "what_if") + "?total_tokens=3000").text)
    assert "Other conversations" in asked and "the record" in asked


def test_it_is_made_again_as_it_was_and_cut_where_there_is_less_room(snapshot: ContextSnapshot) -> None:
    make_thread(snapshot.thread.user, title="Boats")
    record = record_of(ContextSnapshot.objects.get(pk=snapshot.pk))
    assistant = copy.copy(record.settings.assistant)
    assistant.total_tokens = assistant.hard_cap_tokens = 400
    with read_only():
        remade = replay.remake(record, replace(record.settings, assistant=assistant))
    assert remade.is_exact
    assert "other_conversations" not in [section.name for section in remade.other.sections]
    assert {item.reason for item in remade.other.items} == {Reason.OVER_BUDGET}


def test_what_is_forgotten_goes_from_what_it_was_recorded_with(user: User, snapshot: ContextSnapshot) -> None:
    memory = make_memory(user, f"{BEES}.", created_at=timezone.now())
    forgotten = forgetting.forget_memory(user, memory.id)
    assert forgotten.snapshots == 1
    snapshot.refresh_from_db()
    body: Any = snapshot_api.body(snapshot)
    (section,) = [section for section in body["sections"] if section["name"] == "other_conversations"]
    assert section["text"] is None and section["forgotten_at"]
    with pytest.raises(NotRebuildable):
        snapshots.rebuild(snapshot)


def test_with_memory_switched_off_it_is_gone(user: User, others: list[Thread]) -> None:
    thread = make_thread(user, ["What do I keep?"])
    thread.assistant.uses_memory = False
    reply = make_reply(thread)
    assert [section.name for section in make_context(reply).sections] == ["base"]

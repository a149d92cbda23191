"""The verdict over any story and any change is what each request, built twice, says for itself."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conversations import versions
from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.record.assistant_versions import assistant_then, at_version
from conversations.context.record.request_record import record_of
from conversations.context.render.rendering import canonical
from conversations.models import Assistant, ContextSnapshot, Message, Reply, text_blocks
from conversations.regression.replaying import Change, replay_requests, requests_of
from conversations.regression.report import Report
from conversations.regression.settings_at import settings_at
from conversations.replies import closing, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime import clock
from conversations.runtime.db import read_only
from memory.index.index_turns import catch_up
from tests.conversations.context.test_whole_builder import budgets
from tests.conversations.factories import make_thread, make_user
from tests.memory.factories import make_memory
from tests.told_stories import rolled_back

pytestmark = pytest.mark.django_db
STORIES = settings(max_examples=4, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
WEEK = timedelta(days=7)
TALK = ["My harbour cafe is in Lisbon.", "A fine place.", "Who sells lemon cake?", "The baker by the river does."]
says = st.sampled_from(
    ["ok", "And why?", "Where is my harbour cafe?", "Who sells lemon cake? " * 30, "天地玄黃。" * 20, "Boats. " * 400]
)
switches = st.fixed_dictionaries(
    {},
    optional={
        "uses_memory": st.booleans(),
        "filters_artifacts": st.booleans(),
        "rewriting": st.sampled_from(["off", "local"]),
        "system_prompt": st.sampled_from(["Be kind.", "Be kind. " * 60]),
    },
)


@STORIES
@given(
    talk=st.integers(0, 12),
    notes=st.integers(0, 8),
    before=budgets() | st.just({}),
    said=st.lists(says, min_size=2, max_size=5),
    budget=budgets() | st.just({}),
    switched=switches,
)
def test_the_verdict_is_what_each_request_says_for_itself(
    talk: int, notes: int, before: dict[str, int], said: list[str], budget: dict[str, int], switched: dict[str, Any]
) -> None:
    with rolled_back():
        assistant = told(talk, notes, before, said)
        same = versions.make_draft(assistant, {}, author=None)
        unchanged = verdict(assistant, Change(assistant=assistant, wanted=at_version(assistant, same)))
        replayable = ContextSnapshot.objects.filter(purpose="reply").count() - unchanged["not_replayable"]
        assert (unchanged["identical"], unchanged["inexact"]) == (replayable, 0)
        draft = versions.make_draft(assistant, {**budget, **switched}, author=None)
        wanted = at_version(assistant, draft)
        report = verdict(assistant, Change(assistant=assistant, wanted=wanted))
        naive = recomputed(wanted)
        assert {name: report[name] for name in naive} == naive


def told(talk: int, notes: int, before: dict[str, int], said: list[str]) -> Assistant:
    """A thread of one person, through the application's own doors."""
    Assistant.objects.filter(slug="companion").update(**before)
    user = make_user()
    for number in range(notes):
        make_memory(user, f"Boat number {number} is green.", created_at=clock.now() - WEEK)
    thread = make_thread(user, TALK * talk)
    catch_up(user.pk)
    for text in said:
        opened = opening.open_turn(NewMessage(user=user, thread_id=thread.id, blocks=text_blocks(text)))
        closing.close(
            reply_id=opened.reply.id,
            user_id=user.pk,
            owner=OWNER,
            outcome=outcomes.Outcome(status=Reply.Status.COMPLETED),
            progress=closing.ReplyProgress(transcript=ReplyTranscript.of("They came at first light.")),
        )
    return Assistant.objects.get(slug="companion")


def verdict(assistant: Assistant, change: Change) -> dict[str, Any]:
    report = Report()
    ids = requests_of(assistant, since=clock.now() - WEEK)
    assert len([*replay_requests(ids, change, report)]) >= 1
    return {**report.answer([])}


def recomputed(wanted: Assistant) -> dict[str, Any]:
    """Request by request, of what stands in each context: nothing of the account is asked."""
    figures: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    gained: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for snapshot in ContextSnapshot.objects.filter(purpose="reply"):
        with read_only():
            record = record_of(snapshot)
            own = replay.build(record, record.settings)
            then = settings_at(record, assistant_then(snapshot, snapshot.thread.assistant), wanted)
            other = replay.build(record, then, own.material.beside if own.material else None)
            figures["requests"] += 1
            figures["identical"] += canonical(own.payload) == canonical(other.payload)
            for kind, given_by in (("turns", turns), ("memories", memories)):
                was, now = given_by(own), given_by(other)
                lost[kind] += len(was - now)
                gained[kind] += len(now - was)
        tokens["before"] += own.model_tokens
        tokens["after"] += other.model_tokens
    parts = {"parts": 0}
    return {
        "requests": figures["requests"],
        "identical": figures["identical"],
        "lost": {**lost} | parts,
        "gained": {**gained} | parts,
        "tokens": {**tokens},
    }


def turns(context: Context) -> set[int]:
    """Positions of those in it, whole or recalled."""
    recalled = [item.id for item in context.recalled if item.kind == "message" and item.included]
    places = Message.objects.filter(id__in=recalled).values_list("position", flat=True)
    return {turn.position for turn in context.parts.turns} | {*places}


def memories(context: Context) -> set[tuple[str, str]]:
    items = (*context.items, *context.recalled)
    return {(item.kind, item.id) for item in items if item.included and item.kind != "message"}

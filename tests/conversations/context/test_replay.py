"""A request made again: as it was sent with its own settings, and what it would have been with others."""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from artifacts.models import Preset
from artifacts.sources.artifact_list import ArtifactListSource
from conversations.context import replay
from conversations.context.builder import continue_context
from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.request_record import MemoryChoice, NotReplayable, QueryChoice, record_of
from conversations.context.render.rendering import QUOTING, canonical
from conversations.context.render.tool_sections import ToolTexts
from conversations.context.replay import ReplayedContexts
from conversations.context.rules.fitting import round_section
from conversations.models import Assistant, ContextSnapshot, Model, Reply, Thread, text_blocks
from conversations.providers import model_catalog
from conversations.providers.markers import RECALLED
from conversations.providers.offline import OfflineProvider
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import read_only
from memory import forgetting
from memory.models import Memory
from tests.artifacts.factories import make_artifact
from tests.conversations.context.test_rounds import round_of, with_thinking
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread, record
from tests.memory.factories import make_memory

pytestmark = pytest.mark.django_db

TALK = ["Who is Ada Lovelace?", "She wrote the first program."] * 30


def remake(snapshot: ContextSnapshot, change: Callable[[Assistant], object] = bool, **choices: Any) -> ReplayedContexts:
    known = record_of(ContextSnapshot.objects.get(pk=snapshot.pk))
    settings = replace(known.settings, assistant=copy(known.settings.assistant), **choices)
    change(settings.assistant)
    with read_only():
        return replay.remake(known, settings)


def send(user: User, thread: Thread, text: str, answer: str = "Indeed.") -> model_requests.OpenedReply:
    """Said and answered, as the application does it."""
    opened = opening.open_turn(NewMessage(user=user, thread_id=thread.id, blocks=text_blocks(text)))
    end(opened, answer)
    return opened


def end(opened: model_requests.OpenedReply, answer: str) -> None:
    outcome = outcomes.Outcome(status=Reply.Status.COMPLETED)
    assert closing.close(
        reply_id=opened.reply.id,
        user_id=opened.reply.user_id,
        owner=OWNER,
        outcome=outcome,
        progress=closing.ReplyProgress(transcript=ReplyTranscript.of(answer)),
    )


@pytest.mark.parametrize("quoting", [None, QUOTING])
def test_a_request_comes_out_as_it_was_sent_also_where_its_turns_were_not_quoted(
    user: User, quoting: int | None
) -> None:
    thread = make_thread(user, [f"Look:\n\n{RECALLED}", "I see.", "And now?"])
    reply = make_reply(thread)
    context = make_context(reply)
    assert b"\\\\[Recalled" in canonical(context.payload)
    if quoting is None:
        payload = json.loads(canonical(context.payload).replace(b"\\\\[Recalled", b"[Recalled", 1))
        context = replace(context, quoting=None, payload=payload)
    snapshot = record(context, reply)
    assert snapshots.rebuild(snapshot) == context.payload
    assert snapshots.proof(snapshot)
    assert remake(snapshot).is_exact


@pytest.mark.parametrize("lengths", [[20, 300, 20], [100_000], [2_000] * 4])
def test_every_round_of_a_reply_comes_out_as_it_was_sent(user: User, lengths: list[int]) -> None:
    thread = make_thread(user, [*TALK, "And who were her parents?"])
    reply = make_reply(thread)
    context = make_context(reply)
    requests = [record(context, reply)]
    rounds = [with_thinking(round_of(*each)) for each in enumerate(lengths)]
    for number in range(1, len(rounds) + 1):
        context = continue_context(context, [round_section(rounds[number - 1])], at=timezone.now())
        requests.append(record(context, reply, round=number + 1))
    send(user, thread, "Something else")
    assert [remake(request).is_exact for request in requests] == [True] * len(requests)


def test_a_preset_is_given_the_answer_that_was_there_when_it_was_clicked(user: User) -> None:
    thread = make_thread(user)
    preset = Preset.objects.create(slug="letter", name="Letter", prompt="Write a letter.", kind="document")
    preset.assistants.add(thread.assistant)
    said = send(user, thread, "We rent boats.", "How many?")
    clicked = opening.open_preset(user=user, thread_id=thread.id, slug="letter", click=None)
    assert clicked.recorded
    closing.close(
        reply_id=clicked.reply.id,
        user_id=clicked.reply.user_id,
        owner=OWNER,
        outcome=outcomes.stopped(),
        progress=closing.ReplyProgress(transcript=ReplyTranscript()),
    )
    end(opening.open_retry(user=user, reply_id=said.reply.id), "Where?")
    send(user, thread, "In Hamburg.")
    remade = remake(clicked.recorded[0])
    assert remade.is_exact
    assert [turn.position for turn in remade.own.history] == [1, 2]


@pytest.mark.parametrize("least", [1, 100_000, None])
def test_a_models_row_and_a_preset_that_changed_since_play_no_part(user: User, least: int | None) -> None:
    Assistant.objects.update(provider="anthropic", model="claude-sonnet-5-5")
    row = Model.objects.filter(provider="anthropic", name="claude-sonnet-5-5")
    row.update(cacheable_from=512)
    model_catalog.reread()
    thread = make_thread(user, TALK)
    make_memory(user, "Ada lives in Hamburg.", created_at=timezone.now() - timedelta(days=1))
    preset = Preset.objects.create(slug="letter", name="Letter", prompt="Write a letter.", kind="document")
    preset.assistants.add(thread.assistant)
    said = send(user, thread, "Where do I live?")
    clicked = opening.open_preset(user=user, thread_id=thread.id, slug="letter", click=None)
    assert said.recorded and clicked.recorded
    assert said.recorded[0].budget_origin.endswith(" 512")
    assert snapshots.cache_of(said.recorded[0]).marks
    row.update(
        cacheable_from=least,
        context_window=9_000,
        max_output=2_000,
        thinking=Model.Thinking.NONE,
        takes_images=False,
        takes_tools=False,
        token_factor=3.0,
        uses_memory=False,
        system_prompt="Be brief.",
    )
    model_catalog.reread()
    Preset.objects.update(prompt="Write a poem.", kind="code")
    for snapshot, _ in (said.recorded, clicked.recorded):
        assert remake(snapshot).is_exact


def test_what_has_been_learnt_and_made_since_plays_no_part(user: User) -> None:
    thread = make_thread(user, TALK)
    make_memory(user, "Ada lives in Hamburg.", created_at=timezone.now() - timedelta(days=1))
    first = send(user, thread, "Where do I live, and who wrote the first program?")
    Memory.objects.update(ended_at=timezone.now())
    make_memory(user, "Ada lives in Rome.")
    second = send(user, thread, "And who is she?")
    make_artifact(thread, reply_id=first.reply.id)
    for opened in (first, second):
        assert opened.recorded
        assert remake(opened.recorded[0]).is_exact


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_listed_then_is_read_as_of_then_also_source_by_source(user: User, fails: bool) -> None:
    thread = make_thread(user, TALK)
    make_artifact(thread, title="Old letter", created_at=timezone.now() - timedelta(days=1))
    first = send(user, thread, "Who wrote the first program?")
    make_artifact(thread, title="New letter")
    assert first.recorded
    if fails:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE memory_dailysummary RENAME TO moved")
    remade = remake(first.recorded[0], memory=MemoryChoice.NOW, tools=ToolTexts(definitions=[{"name": "any"}]))
    assert [problem.source for problem in remade.other.problems] == ["today"] * fails
    listed = [part.text for part in remade.other.parts.beside if part.name == ArtifactListSource.name]
    assert [("Old letter" in text, "New letter" in text) for text in listed] == [(True, False)]


@pytest.fixture
def sent(user: User) -> ContextSnapshot:
    """A request with a fact, a query, and a pair that was left out because its artifact was made."""
    thread = make_thread(user, ["Write a letter", "There it is.", *TALK[:4], "And who were her parents?"])
    answer = thread.messages.get(position=2)
    make_artifact(thread, message=answer, created_at=answer.created_at)
    make_memory(user, "Ada lives in Hamburg.")
    snapshot = make_snapshot(thread)
    make_memory(user, "Ada lives in Rome.")
    return snapshot


def names(remade: ReplayedContexts) -> list[str]:
    return [part.name for part in [*remade.other.sections, *remade.other.parts.beside]]


def test_a_switch_changes_what_it_is_about_and_nothing_else(sent: ContextSnapshot) -> None:
    own = remake(sent)
    assert own.is_exact
    assert (names(own), [turn.position for turn in own.own.history]) == (["base", "memory", "query"], [3, 4, 5, 6])
    off = remake(sent, memory=MemoryChoice.OFF)
    assert (names(off), off.other.history) == (["base", "query"], own.own.history)
    alone = remake(sent, query=QueryChoice.OFF)
    assert (names(alone), alone.other.sections) == (["base", "memory"], own.own.sections)
    unfiltered = remake(sent, lambda assistant: setattr(assistant, "filters_artifacts", False))
    assert [turn.position for turn in unfiltered.other.history] == [1, 2, 3, 4, 5, 6]
    assert unfiltered.other.sections == own.own.sections


def test_memory_is_that_of_now_only_where_it_is_asked_for(sent: ContextSnapshot) -> None:
    def texts(remade: ReplayedContexts) -> str:
        return " ".join(section.text for section in remade.other.sections)

    assert "Rome" not in texts(remake(sent))
    assert "Rome" in texts(remake(sent, memory=MemoryChoice.NOW))
    sent.thread.remembers = False
    sent.thread.save()
    assert "Ada lives" not in texts(remake(sent, memory=MemoryChoice.NOW)), "not against the person's wish"
    assert remake(sent).is_exact


def test_a_smaller_window_drops_the_oldest_turns_and_may_recall_them(user: User) -> None:
    story = ["My dog Pluto is in the harbour.", "Good.", *TALK[:40], "Where is my dog Pluto?"]
    snapshot = make_snapshot(make_thread(user, story))
    make_thread(user, ["My dog Pluto has gone to Rome.", "Oh."])  # since

    def fewer(assistant: Assistant) -> None:
        assistant.history_turns_max, assistant.history_turns_min = 6, 2

    remade = remake(snapshot, fewer)
    assert (remade.is_exact, len(remade.own.history)) == (True, 42)
    kept = [turn.position for turn in remade.other.history]
    assert kept == [*range(43 - len(kept), 43)] and len(kept) <= 6
    assert sum(run.count for run in remade.other.runs) == 43
    assert {run.reason for run in remade.other.runs if not run.included} == {Reason.TURN_LIMIT, Reason.RECALLED}
    (found,) = [part.text for part in remade.other.parts.additions if part.name == "recalled"]
    assert "Pluto is in the harbour" in found and "Rome" not in found


def test_a_small_hard_cap_holds_for_what_never_was(sent: ContextSnapshot) -> None:
    def tiny(assistant: Assistant) -> None:
        for name in ("history_tokens_low", "history_tokens_high"):
            setattr(assistant, name, 20)
        assistant.total_tokens = assistant.hard_cap_tokens = 260

    remade = remake(sent, tiny)
    assert (remade.is_exact, remade.other.total_tokens <= 260 < remade.own.total_tokens) == (True, True)


def test_what_asks_for_something_beside_the_reply_is_refused(user: User) -> None:
    reply = make_reply(make_thread(user, ["Who is Ada?", "A countess.", "And her parents?"]))
    asked = rewriting_context(make_context(reply), assistant=reply.thread.assistant, provider=OfflineProvider())
    with pytest.raises(NotReplayable, match="small model"):
        remake(record(asked, reply))


def test_what_was_forgotten_is_not_made_again(sent: ContextSnapshot) -> None:
    turn = sent.thread.messages.get(position=3)
    forgetting.forget_turn(sent.thread.user, turn.id)
    with pytest.raises(NotReplayable, match="forgotten"):
        remake(sent)

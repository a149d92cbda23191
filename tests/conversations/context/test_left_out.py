"""Random stories of several threads: no request to a real model holds what the rule leaves out, and each turn has its reason.

What is left out is told here by the rule itself, asked of whole threads: with all artifacts for other threads, with those that
are there for its own (F5, F10, F11, P6).
"""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.test import override_settings
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from artifacts import services
from artifacts.models import Artifact, ArtifactVersion
from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.snapshots import runs_of
from conversations.context.render.invariants import broken
from conversations.context.sessions import Session
from conversations.context.tokens.estimate import turn_tokens
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot, Message, Thread, text_blocks
from conversations.providers import get_provider
from conversations.runtime.db import read_only
from conversations.runtime.ids import uuid7
from memory.consolidation import invalidation
from memory.consolidation.consolidate import consolidate
from memory.consolidation.findings import RULES
from memory.models import Memory, ThreadSummary
from memory.sources.recall import RecallQuery, search
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.context.promises import check_account, check_request
from tests.conversations.factories import build_request, make_reply, make_thread, make_user, record
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db

BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
FEW = settings(FEW, max_examples=max(FEW.max_examples // 3, 1))

type End = Literal["said", "made", "made by clock", "refused", "declined", "failed", "offline"]
ENDS: tuple[End, ...] = ("said", "said", "made", "made by clock", "refused", "declined", "failed", "offline")
THREADS = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), THREADS, st.sampled_from(ENDS)),
        st.tuples(st.just("say"), THREADS, st.sampled_from(ENDS)),
        st.tuples(st.just("make late"), THREADS, st.integers(0, 9)),
        st.tuples(st.just("delete or restore"), THREADS, st.integers(0, 9)),
        st.tuples(st.just("answer anew"), THREADS, st.sampled_from(["made", "refused", "said"])),
        st.tuples(st.just("consolidate"), st.just(0), st.sampled_from(["anthropic", "offline"])),
        st.tuples(st.just("pause"), THREADS, st.sampled_from([1, 40, 60 * 26])),
        st.tuples(st.just("look"), THREADS, st.none()),
    ),
    min_size=3,
    max_size=16,
)


def quoting(body: dict[str, Any]) -> scripts.ScriptedStream:
    """A small model that notes all that it is told, word for word."""
    told = json.loads(body["messages"][0]["content"][0]["text"])
    turns = [(turn["number"], turn["text"]) for turn in told["turns"]]
    persons = [
        (number, text) for (number, text), turn in zip(turns, told["turns"], strict=True) if turn["role"] == "user"
    ]
    return scripts.text(
        json.dumps(
            {
                "summary": " ".join(text for _, text in turns)[:1_000],
                "key_moments": [text for _, text in turns][:6],
                "facts": [{"text": text, "turns": [number]} for number, text in persons][:12],
                "topics_opened": [{"title": text[:100], "turns": [number]} for number, text in persons][:5],
            }
        )
    )


@dataclass
class StoredStory:
    """What happens, in rows as the application stores them. Each turn holds a word of its own."""

    user: User
    threads: Sequence[Thread]
    model: ModelServer
    now: datetime = BEGIN
    number: int = 0
    artifacts: list[Artifact] = field(default_factory=list)

    def do(self, step: str, place: int, what: Any) -> None:
        thread = self.threads[place]
        self.now += timedelta(seconds=20)
        match step:
            case "say":
                self.say(thread, what)
            case "make late":
                self.make_late(thread, what)
            case "delete or restore":
                self.delete_or_restore(what)
            case "answer anew":
                self.answer_anew(thread, what)
            case "consolidate":
                self.consolidate(what)
            case "pause":
                self.now += timedelta(minutes=what)
            case "look":
                self.look()

    def say(self, thread: Thread, end: End) -> None:
        question = self.add(thread, "user", status="refused" if end in ("refused", "declined") else "complete")
        if end != "declined":
            self.answer(thread, question, end)

    def answer(self, thread: Thread, question: Message, end: str) -> Message:
        status = end if end in ("refused", "failed") else "complete"
        answer = self.add(thread, "assistant", status=status, offline=end == "offline", parent=question)
        if end == "made":
            self.make(thread, reply_id=answer.reply_id, at=answer.created_at - timedelta(seconds=9))
        elif end == "made by clock":
            self.make(thread, at=answer.created_at + timedelta(seconds=3))
        return answer

    def add(self, thread: Thread, role: str, *, parent: Message | None = None, **values: Any) -> Message:
        """At the end of the path, or after its last question in place of what answered that."""
        self.number += 1
        self.now += timedelta(seconds=10)
        text = {
            "user": f"I need to write the boat plan word{self.number}x. My boat is called name{self.number}x.",
            "assistant": f"Here is the boat plan word{self.number}x.",
        }[role]
        last = parent or thread.messages.filter(is_active=True).order_by("depth").last()
        tokens, depth = turn_tokens(text_blocks(text)), last.depth + 1 if last else 1
        thread.last_position += 1
        message = Message.objects.create(
            id=uuid7(),
            thread=thread,
            position=thread.last_position,
            depth=depth,
            role=role,
            text=text,
            parent=last,
            token_count=tokens,
            token_total=tokens + (last.token_total if last else 0),
            created_at=self.now,
            reply_id=uuid.uuid4() if role == "assistant" else None,
            **values,
        )
        thread.message_count, thread.updated_at = depth, self.now
        thread.save()
        return message

    def make(self, thread: Thread, *, at: datetime, **values: Any) -> None:
        self.artifacts.append(make_artifact(thread, title=f"Document {self.number}", created_at=at, **values))

    def make_late(self, thread: Thread, which: int) -> None:
        """By a program that says which turn it belongs to."""
        answers = list(thread.messages.filter(is_active=True, role="assistant").order_by("position"))
        if answers:
            with transaction.atomic():
                invalidation.lock(thread.user_id, thread.id)
                self.make(thread, message=answers[which % len(answers)], at=self.now)
                invalidation.artifact_changed(self.artifacts[-1])

    def delete_or_restore(self, which: int) -> None:
        if self.artifacts:
            artifact = self.artifacts[which % len(self.artifacts)]
            artifact.refresh_from_db()
            with transaction.atomic():
                invalidation.lock(artifact.user_id, artifact.thread_id)
                if artifact.deleted_at:
                    services.restore(artifact)
                else:
                    services.delete(artifact, at=self.now)
                invalidation.artifact_changed(artifact)

    def answer_anew(self, thread: Thread, end: str) -> None:
        """A retry, as the end of a reply stores it."""
        question = thread.messages.filter(is_active=True, role="user").order_by("position").last()
        if question is None:
            return
        thread.messages.filter(is_active=True, depth=question.depth + 1).update(is_active=False)
        Message.objects.filter(pk=question.pk).update(status="refused" if end == "refused" else "complete")
        self.answer(thread, question, end)
        invalidation.answered_anew(thread.user_id, thread.id, question.id)

    def consolidate(self, provider: str) -> None:
        asked, noted = len(self.model.bodies), set(self.notings().values_list("pk", flat=True))
        with override_settings(OPENBOOK_PROVIDER=provider):
            consolidate(self.user.pk, at=self.now)
        assert_without(self.hidden(None), json.dumps(self.model.bodies[asked:]))
        reasons = self.left_out(None)
        for noting in self.notings().exclude(pk__in=noted).select_related("thread"):
            fates = {place: run for run in runs_of(noting) for place in range(run.first, run.last + 1)}
            assert {*fates} == {*range(1, noting.thread.last_position + 1)}
            for turn in self.path(noting.thread):
                told = fates[turn.position]
                assert told.reason in (reasons.get(turn.id, Reason.RECENT), Reason.OUTSIDE_PART)
                assert told.included == (told.reason is Reason.RECENT)

    def notings(self) -> QuerySet[ContextSnapshot]:
        return ContextSnapshot.objects.filter(thread__user=self.user, purpose=ContextSnapshot.Purpose.CONSOLIDATION)

    def path(self, thread: Thread) -> list[Message]:
        return list(thread.messages.filter(is_active=True).order_by("depth"))

    def left_out(self, here: Thread | None) -> dict[uuid.UUID, Reason]:
        """By the rule, asked of whole threads, for what the thread ``here`` is given."""
        reasons: dict[uuid.UUID, Reason] = {}
        for thread in self.threads:
            versions = ArtifactVersion.objects.filter(thread=thread)
            if thread == here:
                versions = versions.filter(artifact__deleted_at=None)
            made = [
                FilterArtifact(created_at=one.created_at, message=one.message_id, reply=one.reply_id)
                for one in versions
            ]
            reasons |= exclusions([Turn.of(turn) for turn in self.path(thread)], made)
        return reasons

    def hidden(self, here: Thread | None) -> list[str]:
        """The words that the thread ``here`` must not be given."""
        turns = Message.objects.filter(id__in=self.left_out(here))
        return [word for turn in turns for word in words_of(turn)]

    def look(self) -> None:
        """A message in each thread would be given the right turns."""
        for thread in self.threads:
            self.check(thread, self.built(thread, self.newest(thread)))
        with read_only():
            found = search(RecallQuery(user_id=self.user.pk, text="the boat plan", at=self.now, everywhere=True))
        assert_without(self.hidden(None), " ".join(one.text for one in found if one.kind == "message"))

    def ask(self) -> None:
        """Messages in all threads, recorded as requests of replies."""
        for thread in self.threads:
            hidden = self.hidden(thread)
            question = self.add(thread, "user")
            context = self.built(thread, Turn.of(question))
            snapshot = record(context, make_reply(thread, user_message=question))
            assert snapshots.proof(snapshot) and runs_of(snapshot) == context.runs
            assert_without(hidden, json.dumps(context.payload))

    def newest(self, thread: Thread) -> Turn:
        return Turn(
            position=thread.last_position + 1,
            depth=thread.message_count + 1,
            role="user",
            content=text_blocks("What about the boat plan?"),
            token_count=12,
        )

    def built(self, thread: Thread, newest: Turn, *, provider: str = "anthropic") -> Context:
        with read_only():
            return build_context(
                build_request(
                    thread,
                    newest,
                    provider=get_provider(provider),
                    session=Session(started_at=self.now, away_since=self.now - timedelta(days=2)),
                    at=self.now,
                )
            )

    def check(self, thread: Thread, context: Context) -> None:
        payload, reasons = json.dumps(context.payload), self.left_out(thread)
        assert_without(self.hidden(thread), payload)
        check_request(context)
        check_account(context, list(thread.messages.order_by("position")))
        fates = {place: run for run in context.runs for place in range(run.first, run.last + 1)}
        for turn in self.path(thread):
            expected = (reasons[turn.id], False) if turn.id in reasons else (Reason.RECENT, True)
            assert (fates[turn.position].reason, fates[turn.position].included) == expected
            assert turn.id in reasons or turn.text in payload
            assert turn.id in reasons or not (turn.status in ("refused", "failed") or turn.offline), (
                "whatever the rule says"
            )


def words_of(turn: Message) -> list[str]:
    return re.findall(r"[a-z]+\d+x", turn.text)


def assert_without(words: Sequence[str], text: str) -> None:
    assert [word for word in words if word in text] == []


EVERY_STEP: list[tuple[str, int, Any]] = [
    *(("say", 0, end) for end in ENDS),
    *(("say", 1, end) for end in ENDS),
    ("consolidate", 0, "anthropic"),
    ("look", 0, None),
    *(("make late", 0, which) for which in range(4)),
    ("look", 0, None),
    ("consolidate", 0, "offline"),
    *(("delete or restore", 0, which) for which in range(4)),
    ("look", 0, None),
    ("consolidate", 0, "anthropic"),
    ("look", 0, None),
    *(("delete or restore", 0, which) for which in range(3)),
    ("answer anew", 1, "refused"),
    ("look", 0, None),
    ("pause", 0, 60 * 26),
    ("answer anew", 1, "said"),
    ("consolidate", 0, "offline"),
]


@pytest.mark.wide
@FEW
@given(STEPS)
@example(EVERY_STEP)
def test_no_text_of_a_turn_that_is_left_out_is_in_any_request_and_each_has_its_reason(
    model: ModelServer, steps: list[tuple[str, int, Any]]
) -> None:
    model.script(quoting)
    user = make_user()
    story = StoredStory(user=user, threads=[make_thread(user, created_at=BEGIN) for _ in range(3)], model=model)
    for step, place, what in steps:
        story.do(step, place, what)
    story.look()
    story.ask()


def test_a_story_is_noted_word_for_word_by_the_model_and_by_rules(model: ModelServer) -> None:
    """Else the stories would prove nothing of notes."""
    model.script(quoting)
    user = make_user()
    threads = [make_thread(user, created_at=BEGIN) for _ in range(3)]
    for provider, thread in zip(("anthropic", "offline"), threads, strict=False):
        story = StoredStory(user=user, threads=threads, model=model)
        story.do("say", threads.index(thread), "said")
        story.do("consolidate", 0, provider)
        part = ThreadSummary.objects.get(thread=thread)
        assert (part.made_by == RULES) == (provider == "offline")
        assert "word1x" in part.text and Memory.objects.filter(content__contains="name1x").exists()
        other = story.built(threads[2], story.newest(threads[2]))
        assert "word1x" in json.dumps(other.payload["system"])


@pytest.mark.parametrize("provider", ["anthropic", "claude_cli", "offline"])
def test_words_of_the_offline_responder_stay_with_it(model: ModelServer, provider: str) -> None:
    """P6; and T7 is checked with it, so it keeps its thread."""
    user = make_user()
    story = StoredStory(user=user, threads=[make_thread(user, created_at=BEGIN)], model=model)
    for end in ("offline", "said", "offline"):
        story.do("say", 0, end)
    thread = story.threads[0]
    context = story.built(thread, story.newest(thread), provider=provider)
    kept = [turn.position for turn in context.history]
    assert kept == ([1, 2, 3, 4, 5, 6] if provider == "offline" else [1, 3, 4, 5])
    assert [*broken(context.payload, newest="the boat plan", total_tokens=1, hard_cap=1)] == []
    assert ("word2x" in json.dumps(context.payload)) == (provider == "offline")
    assert context.left_out == ({} if provider == "offline" else {"offline": 2})

"""The whole builder against any story: real rows, written by the application itself; after each request all promises."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from artifacts.models import Artifact, ArtifactVersion
from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.query.rewriting import Rewriting, RewritingOutcome
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.context.render.rendering import canonical
from conversations.context.rules import prompt_cache
from conversations.context.rules.fitting import history_room, tiers_room
from conversations.context.rules.standing import Tier, cut_tiers
from conversations.context.rules.windowing import whole, window
from conversations.context.tokens import calibration as token_calibration
from conversations.context.tokens.budget import Budget, in_tokens
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Message, Reply, TokenCount, TokenFactor, text_blocks
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.cursor import session_of
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import read_only
from memory.models import DailySummary, Memory, Topic
from tests.artifacts.factories import make_artifact
from tests.conversations.context import promises
from tests.conversations.factories import make_thread
from tests.conversations.import_export.books import store_thread
from tests.memory.factories import (
    make_daily_summary,
    make_memory,
    make_thread_summary,
    make_topic,
)
from tests.told_stories import ToldStory

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

STORIES = settings(stateful_step_count=20, suppress_health_check=[*HealthCheck])
STORIES = settings(STORIES, max_examples=STORIES.max_examples * 3 // 4)
START = datetime(2026, 3, 1, 21, tzinfo=UTC)
CALL = {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "boats"}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "found"}
LONG_CALL = CALL | {"input": {"q": "boats " * 9_000}}
LONG_RESULT = RESULT | {"content": "found " * 9_000}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 300}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}

EXCHANGES: dict[str, list[tuple[str, Any]]] = {
    "answered": [("user", "Who is Ada Lovelace?"), ("assistant", "She wrote the first program.")],
    "unanswered": [("user", "Are you there?")],
    "greeting": [("assistant", "Hello!")],
    "with a tool": [("user", "Find boats"), ("assistant", [CALL]), ("user", [RESULT]), ("assistant", "Two boats.")],
    "with words and a tool": [
        ("user", "Find boats"),
        ("assistant", [{"type": "text", "text": "I look."}, CALL]),
        ("user", [RESULT, {"type": "text", "text": "And cars."}]),
        ("assistant", "Two boats."),
    ],
    "with a long call": [("user", "Find"), ("assistant", [LONG_CALL]), ("user", [RESULT]), ("assistant", "Two.")],
    "with a long result": [("user", "Find"), ("assistant", [CALL]), ("user", [LONG_RESULT]), ("assistant", "Two.")],
    "with many tools": [
        ("user", "Find all"),
        *[("assistant", [CALL]), ("user", [RESULT])] * 45,
        ("assistant", "Ninety boats."),
    ],
    "broken off": [("user", "Find boats"), ("assistant", [CALL])],
    "half a result": [("user", [RESULT])],
    "half results": [("user", [RESULT])] * 30,
    "a picture": [("user", [PICTURE]), ("assistant", "A boat.")],
    "a thought": [("user", "Think"), ("assistant", [THOUGHT])],
}

words = st.sampled_from(
    [
        "ok",
        "why?",
        "And his children?",
        "天地玄黃。",
        "🎉👩‍👩‍👧",
        "# Not a heading\n",
        "it's a C:\\path 'q' & | !",
        "Ada Lovelace ",
    ]
)
texts = st.one_of(words, st.builds(lambda word, times: word * times, words, st.sampled_from([2, 40, 300, 3_000])))
places = st.integers(0, 10_000)


@st.composite
def budgets(draw: st.DrawFn) -> dict[str, int]:
    """Any that the database allows, often near the edges."""
    size = st.one_of(st.sampled_from([0, 1, 60, 300, 1_500]), st.integers(0, 6_000))
    low, high, total, cap = sorted(draw(st.lists(size, min_size=4, max_size=4)))
    least, most = sorted(draw(st.lists(st.one_of(st.just(2), st.integers(0, 90)), min_size=2, max_size=2)))
    tiers = ("memory_tokens", "today_tokens", "open_threads_tokens", "last_conversation_tokens", "recall_tokens")
    return {
        "history_tokens_low": low,
        "history_tokens_high": high,
        "total_tokens": total,
        "hard_cap_tokens": cap,
        "history_turns_min": least,
        "history_turns_max": max(most, 2),
    } | {name: draw(st.sampled_from([0, 30, 300, 500])) for name in tiers}


class Story(ToldStory):
    """One thread of one user, told through the doors of the application."""

    start = START

    def __init__(self) -> None:
        super().__init__()
        self.last: tuple[ContextSnapshot, Context] | None = None
        self.started_at: datetime | None = None
        self.changed = self.roomy = True
        self.reply: Reply | None = None
        self.told: list[tuple[ContextSnapshot, Assistant, bool]] = []
        self.bodies: dict[uuid.UUID, dict[str, Any]] = {}

    def teardown(self) -> None:
        super().teardown()
        token_calibration.forget()

    @initialize(
        kinds=st.lists(st.sampled_from(sorted(EXCHANGES)), max_size=12),
        talk=st.integers(0, 60),
        memories=st.lists(texts, max_size=6),
        factor=st.sampled_from([1.0, 1.0, 1.3, 0.75]),
    )
    def begin(self, kinds: list[str], talk: int, memories: list[str], factor: float) -> None:
        TokenFactor.objects.create(
            provider="offline", model="offline", value=factor, samples=token_calibration.NEWEST, learnt_at=START
        )
        token_calibration.forget()
        told = [turn for kind in kinds for turn in EXCHANGES[kind]] + EXCHANGES["answered"] * talk
        times = [START - timedelta(seconds=7 * left) for left in range(len(told), 0, -1)]
        messages = [
            {"role": role, "content": content, "created_at": time.isoformat()}
            for (role, content), time in zip(told, times, strict=True)
        ]
        document = {
            "format": "openbook/1",
            "threads": [{"messages": messages}],
            "memories": [{"content": text[:9_000]} for text in memories],
        }
        self.thread = store_thread(self.user, document, START - timedelta(days=2))

    @rule(text=texts, answer=st.one_of(texts, st.sampled_from(["", " \n"])), seconds=st.integers(1, 20))
    def say(self, text: str, answer: str, seconds: int) -> None:
        self.now += timedelta(seconds=1)
        blocks = text_blocks(text)
        preview, again = (
            model_requests.preview_context(NewMessage(user=self.user, thread_id=self.thread.id, blocks=blocks))
            for _ in range(2)
        )
        assert promises.same(preview) == promises.same(again), "the same rows, the same time, the same context"
        opened = opening.open_turn(NewMessage(user=self.user, thread_id=self.thread.id, blocks=blocks))
        body = self.check(opened)
        if body["rewriting"]["outcome"] == preview["rewriting"]["outcome"]:  # else a model was asked meanwhile
            assert promises.same(preview) == promises.same(body), "what the preview promised"
        self.end(opened, answer, seconds)

    @precondition(lambda self: self.reply is not None)
    @rule(answer=st.one_of(texts, st.just("")), seconds=st.integers(1, 20))
    def retry(self, answer: str, seconds: int) -> None:
        assert self.reply
        self.now += timedelta(seconds=1)
        opened = opening.open_retry(user=self.user, reply_id=self.reply.id)
        self.check(opened)
        self.end(opened, answer, seconds)

    @precondition(lambda self: self.thread.messages.exists())
    @rule(place=places, seconds=st.integers(0, 7), by=st.sampled_from(["message", "reply", "the clock"]))
    def make_an_artifact(self, place: int, seconds: int, by: str) -> None:
        turns = list(self.thread.messages.order_by("-position")[:30])
        turn = turns[place % len(turns)]
        self.told.clear()  # it is made in hindsight: requests since the turn were made without it
        make_artifact(
            self.thread,
            title="Boats",
            message=turn if by == "message" else None,
            reply_id=turn.reply_id if by == "reply" else None,
            created_at=turn.created_at + timedelta(seconds=seconds),
        )
        self.changed = True

    @rule()
    def delete_the_artifacts(self) -> None:
        self.changed |= bool(Artifact.objects.filter(deleted_at=None).update(deleted_at=self.now))

    @rule(text=texts, days=st.sampled_from([None, -1, 1]), here=st.booleans())
    def learn(self, text: str, days: int | None, here: bool) -> None:
        until = None if days is None else self.now + timedelta(days=days)
        tags = [f"thread:{self.thread.id}"] if here else [f"user:{self.user.id}"]
        make_memory(self.user, text, tags=tags, created_at=self.now, valid_until=until)
        self.changed = True

    @rule()
    def forget(self) -> None:
        newest = Memory.objects.filter(ended_at=None).order_by("-created_at")[:2]
        self.changed |= bool(Memory.objects.filter(id__in=[memory.id for memory in newest]).update(ended_at=self.now))

    @rule(title=words, days=st.sampled_from([-400, -8, 0, 3]))
    def open_a_topic(self, title: str, days: int) -> None:
        make_topic(self.user, title, opened_at=self.now + timedelta(days=days))
        self.changed = True

    @rule()
    def resolve_the_topics(self) -> None:
        self.changed |= bool(Topic.objects.update(resolved_at=self.now))

    @rule(text=texts, days=st.sampled_from([-3, -1, 0]))
    def summarise(self, text: str, days: int) -> None:
        make_thread_summary(make_thread(self.user), self.now + timedelta(days=days), text)
        day = (self.now + timedelta(days=days)).date().isoformat()
        if not DailySummary.objects.filter(user=self.user, day=day).exists():
            make_daily_summary(self.user, day, text, key_moments=[text[:200], "She bought a boat."])
        self.changed = True

    @rule(budget=budgets())
    def change_the_budget(self, budget: dict[str, int]) -> None:
        self.set(**budget)

    @rule(
        uses_memory=st.booleans(),
        filters_artifacts=st.booleans(),
        rewriting=st.sampled_from(["off", "local", "model"]),
        provider=st.sampled_from(["", "offline", "anthropic"]),
        model=st.sampled_from(["", "other"]),
        budget_share=st.sampled_from([None, None, 1, 100]),
        system_prompt=st.sampled_from(["Be kind.", "Be kind. " * 60, "天地玄黃" * 400]),
    )
    def change_the_assistant(self, **values: Any) -> None:
        self.set(**values)

    @rule()
    def back_to_normal(self) -> None:
        fresh = Assistant(system_prompt="Be kind.")
        names = [field.attname for field in Assistant._meta.concrete_fields]
        own = ("id", "slug", "name", "is_default", "is_active")
        self.set(**{name: getattr(fresh, name) for name in names if name not in own})

    @precondition(lambda self: self.bodies)
    @rule()
    def trace(self) -> None:
        promises.check_traces(self.thread, self.bodies)

    @rule(place=places, times=st.sampled_from([0.2, 0.5, 0.9, 1.4, 2.5]))
    def count_turns(self, place: int, times: float) -> None:
        """The providers have counted some turns, to be less or more than the estimate."""
        turns = list(self.thread.messages.order_by("-position")[:40])[place % 5 :: 1 + place % 4]
        counted = [
            TokenCount(
                thread=self.thread,
                position=turn.position,
                provider=provider,
                model=model,
                tokens=max(1, int(turn.token_count * times)),
            )
            for turn in turns
            for provider, model in (("offline", "offline"), ("offline", "other"))
        ]
        TokenCount.objects.bulk_create(counted, ignore_conflicts=True)

    @rule(minutes=st.sampled_from([1, 6, 29, 31, 600, 1_500]))
    def pause(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @precondition(lambda self: self.told)
    @rule(place=places)
    def look_back(self, place: int) -> None:
        """What was sent comes out again, whatever the thread, the memory and the assistant have become since."""
        recorded, assistant, gave_way = self.told[place % len(self.told)]
        snapshot = ContextSnapshot.objects.get(id=recorded.id)
        snapshot.thread.assistant = assistant
        record = record_of(snapshot)
        with read_only():
            remade = replay.remake(record, record.settings)
        assert remade.is_exact or gave_way
        assert canonical(remade.other.payload) == canonical(remade.own.payload)

    def set(self, **values: Any) -> None:
        Assistant.objects.filter(slug="companion").update(**values)
        self.changed = True

    def end(self, opened: model_requests.OpenedReply, answer: str, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        status = Reply.Status.COMPLETED if answer.strip() else Reply.Status.FAILED
        outcome = outcomes.Outcome(status=status, provider_message_id="msg_1")
        assert closing.close(
            reply_id=opened.reply.id,
            user_id=opened.reply.user_id,
            owner=OWNER,
            outcome=outcome,
            progress=closing.ReplyProgress(transcript=ReplyTranscript.of(answer)),
        )
        self.reply = opened.reply

    def check(self, opened: model_requests.OpenedReply) -> dict[str, Any]:
        earlier = Message.objects.filter(thread=self.thread, position__lt=opened.question.position)
        stored = list(earlier.order_by("position"))
        assert opened.recorded
        snapshot, context = opened.recorded
        if snapshot.purpose == ContextSnapshot.Purpose.REWRITE:
            assert snapshots.proof(ContextSnapshot.objects.get(id=snapshot.id))
            query = Rewriting(query="What about the boats?", outcome=RewritingOutcome.REWRITTEN)
            snapshot, context = model_requests.record(*model_requests.first_request(opened, query=query))
        promises.check_context(context, stored)
        body = self.bodies[snapshot.id] = promises.check_record(context, snapshot)
        roomy = self.check_window(context, stored)
        started_at = session_of(opened.thread).started_at if context.parts.tiers else None
        if self.last:
            promises.check_change(*self.last, snapshot, context)
            if roomy and self.roomy and started_at == self.started_at and not self.changed:
                assert context.sections == self.last[1].sections, "the same to the byte all session long"
        self.last, self.started_at, self.roomy, self.changed = (snapshot, context), started_at, roomy, False
        assistant = in_tokens(Assistant.objects.get(slug="companion"), context.origin.window)
        gave_way = sent_tiers(context, assistant) != context.parts.tiers or not context.parts.additions
        self.told.append((snapshot, assistant, gave_way and not roomy))
        return body

    def check_window(self, context: Context, stored: list[Message]) -> bool:
        """F6, W1: as if the whole thread had been read, and as it was while the provider's cache is warm.

        Tells whether all that belongs there had room; else the tiers and the oldest turns have given way.
        """
        assistant = in_tokens(Assistant.objects.get(slug="companion"), context.origin.window)
        counts = dict(
            TokenCount.objects.filter(thread=self.thread, provider=context.provider, model=context.model).values_list(
                "position", "tokens"
            )
        )
        path = [Turn.of(message) for message in stored if message.is_active]
        path = [
            replace(turn, token_count=context.factor.of_counted(counts[turn.position]))
            if turn.position in counts
            else turn
            for turn in path
        ]
        made = [
            FilterArtifact(created_at=version.created_at, message=version.message_id, reply=version.reply_id)
            for version in ArtifactVersion.objects.filter(thread=self.thread, artifact__deleted_at=None)
        ]
        keeps_offline = context.provider == "offline"
        gone = exclusions(path, made if assistant.filters_artifacts else (), keeps_offline=keeps_offline)
        usable, _ = whole([turn for turn in path if turn.id not in gone])
        begin_at = self.last[1].parts.turns[0].position if self.last and self.is_warm(*self.last, context) else None
        budget = history_room(context.parts.prefix_tokens, Budget.of(assistant).estimated(context.factor))
        expected, _ = window(usable, budget, begin_at=begin_at)
        mine, theirs = [turn.position for turn in context.history], [turn.position for turn in expected]
        sizes = (context.parts.prefix_tokens, *(turn.token_count for turn in expected), context.parts.message_tokens)
        roomy = sum(sizes) <= budget.total_tokens and sent_tiers(context, assistant) == context.parts.tiers
        assert mine == theirs if roomy else set(mine) <= {turn.position for turn in usable}
        return roomy

    def is_warm(self, snapshot: ContextSnapshot, before: Context, context: Context) -> bool:
        same_model = (snapshot.provider, snapshot.model) == (context.provider, context.model)
        lives = prompt_cache.LIVES[before.cache.lifetime.name]
        return same_model and before.sections == context.sections and self.now - snapshot.created_at <= lives


def sent_tiers(context: Context, assistant: Assistant) -> Sequence[Tier]:
    """The tiers before a message or a pair that is too long makes them give way."""
    room = tiers_room(context.parts.fixed_tokens, Budget.of(assistant).estimated(context.factor))
    budgets = {tier.name: tier.source.tokens(assistant) or 0 for tier in context.parts.tiers}
    return cut_tiers(
        [tier.within(context.factor.to_estimate(budgets[tier.name])) for tier in context.parts.tiers], room
    )


def test_every_promise_holds_in_any_story() -> None:
    run_state_machine_as_test(Story, settings=STORIES)

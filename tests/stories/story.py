"""A story: read, played through the application's own doors, and what each of its requests held. No model is asked."""

import tomllib
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.contrib.auth.models import User

from conversations.context.files.account import given_parts
from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, File, Message, Reply, text_blocks
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from memory.models import Memory
from tests.conversations.factories import make_file, make_thread, make_user
from tests.conversations.proofs import remade_exactly
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.stories.expectations import FOLDER, Requests

BEGINS = datetime(2026, 3, 2, 9, tzinfo=UTC)
MODEL = {"provider": "anthropic", "model": "claude-sonnet-5-5", "rewriting": Assistant.Rewriting.LOCAL}


def play(name: str) -> Requests:
    """What its requests held, in their order."""
    story = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    with _Player() as player:
        player.prepare(story)
        return [player.turn(turn) for turn in story["turns"]]


class _Player:
    """One person and one thread; its time is the story's own."""

    def __init__(self) -> None:
        self.now = BEGINS
        self.stack = ExitStack()
        self.files: dict[str, uuid.UUID] = {}
        self.thread: uuid.UUID | None = None
        self.user: User

    def __enter__(self) -> "_Player":
        for place in ("django.utils.timezone.now", "conversations.runtime.clock.now"):
            self.stack.enter_context(patch(place, lambda: self.now))
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def prepare(self, story: Mapping[str, Any]) -> None:
        self.user = make_user("mara")
        Assistant.objects.filter(slug="companion").update(
            system_prompt="Be kind.", **MODEL, **story.get("settings", {})
        )
        for note in story.get("notes", ()):
            make_memory(self.user, note["text"], created_at=self._ago(note))
        for topic in story.get("topics", ()):
            make_topic(self.user, topic["text"], opened_at=self._ago(topic))
        for day in story.get("days", ()):
            make_daily_summary(self.user, self._ago(day).date().isoformat(), day["text"])
        for earlier in story.get("earlier", ()):
            at = self._ago(earlier)
            thread = make_thread(self.user, earlier["turns"], created_at=at)
            make_thread_summary(thread, at, earlier["summary"])

    def _ago(self, row: Mapping[str, Any]) -> datetime:
        return BEGINS - timedelta(days=row["days_ago"])

    def turn(self, turn: Mapping[str, Any]) -> dict[str, Any]:
        """Said and answered, and what was asked of the model."""
        self.now += timedelta(minutes=turn.get("minutes", 1))
        if changed := turn.get("settings"):
            Assistant.objects.filter(slug="companion").update(**changed)
        for text in turn.get("forgotten", ()):
            Memory.objects.filter(user=self.user, content=text).update(ended_at=self.now)
        message = NewMessage(
            user=self.user,
            thread_id=self.thread,
            blocks=text_blocks(turn["says"]),
            files=[self._file(file).id for file in turn.get("files", ())],
            assistant=None if self.thread else "companion",
        )
        opened = opening.open_turn(message)
        recorded, _ = opened.recorded or model_requests.record(*model_requests.first_request(opened))
        self.thread = opened.thread.id
        snapshot = ContextSnapshot.objects.get(pk=recorded.pk)
        assert remade_exactly(snapshot), "it does not come out again as it was sent"
        account = self.account(snapshot, turn["says"])
        self._end(opened, turn.get("answer", "I see."))
        return account

    def _file(self, file: Mapping[str, Any]) -> File:
        # The model is told the id.
        made = make_file(
            self.user, parts=file["parts"], name=file["name"], id=uuid.uuid5(uuid.NAMESPACE_DNS, file["name"])
        )
        self.files[str(made.id)] = file["name"]
        return made

    def _end(self, opened: model_requests.OpenedReply, answer: str) -> None:
        self.now += timedelta(seconds=7)
        closing.close(
            reply_id=opened.reply.id,
            user_id=self.user.pk,
            owner=OWNER,
            outcome=outcomes.Outcome(status=Reply.Status.COMPLETED, provider_message_id="msg_1"),
            progress=closing.ReplyProgress(transcript=ReplyTranscript.of(answer)),
        )

    def account(self, snapshot: ContextSnapshot, says: str) -> dict[str, Any]:
        """What a request held, and why not more, without anything that differs from one run to the next."""
        items = snapshots.items_of(snapshot, snapshots.material_of(snapshot))
        parts = [*snapshots.sections_of(snapshot), *snapshots.additions_of(snapshot)]
        return {
            "says": says if len(says) <= 60 else f"{says[:60]}…",
            "rules": snapshot.rules,
            "tokens": f"{snapshot.total_tokens} of {snapshot.budget}",
            "sections": [f"{part.name} {part.tokens}" for part in parts],
            "turns": [_run(each) for each in snapshots.runs_of(snapshot)],
            "items": [f"{self._name(item)}: {_fate(item)}" for item in items],
            "parts": sorted(f"{self.files[file]} {number}" for file, number in given_parts(snapshot.files)),
            "cache": snapshots.cache_of(snapshot).state.value,
            "digest": bytes(snapshot.digest).hex(),
        }

    def _name(self, item: Mapping[str, Any]) -> str:
        if item["kind"] == "message":
            return f"turn “{Message.objects.get(user=self.user, id=item['id']).text[:60]}”"
        if item["kind"] == "memory":
            return f"note “{Memory.objects.get(id=item['id']).content[:60]}”"
        return str(item["kind"])


def _run(run: Any) -> str:
    turns = str(run.first) if run.first == run.last else f"{run.first}-{run.last}"
    given = f"given, {run.tokens} tokens" if run.included else "left out"
    return f"{turns} {given}: {run.reason.value}"


def _fate(item: Mapping[str, Any]) -> str:
    return f"{'given' if item['included'] else 'left out'}, {item['reason']}, {item['tokens']} tokens"

"""Two tabs of a person do something with the same message at the same moment: both are done, one after the other, or one of
them is told why not. Nothing is lost, and the path stays a path."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connections

from conversations.errors import ReplyInProgress
from conversations.models import Message, Reply, Thread
from conversations.replies import closing, opening
from conversations.replies.closing import ReplyProgress
from conversations.replies.events import OWNER
from conversations.replies.outcomes import Outcome
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage, user_blocks
from conversations.threads import paths

pytestmark = [pytest.mark.django_db(transaction=True)]
ROUNDS = 3


def send(user: User, thread: UUID | None, text: str, **values: Any) -> Message:
    """A message that has its answer when it returns."""
    opened = opening.open_turn(NewMessage(user=user, thread_id=thread, blocks=user_blocks(text), **values))
    progress = ReplyProgress(transcript=ReplyTranscript.of(f"Noted: {text}"))
    done = Outcome(status=Reply.Status.COMPLETED)
    assert closing.close(reply_id=opened.reply.id, user_id=user.pk, owner=OWNER, outcome=done, progress=progress)
    return opened.question


@pytest.mark.parametrize("other", ["edits it too", "sends another", "goes elsewhere"])
def test_two_tabs_at_once_lose_nothing(user: User, other: str) -> None:
    first = send(user, None, "One.")
    thread = first.thread_id
    edited = send(user, thread, "Two.")
    elsewhere = send(user, thread, "Two, in other words.", edits=str(edited.id))
    said = ["One.", "Two.", "Two, in other words."]
    for number in range(ROUNDS):
        mine, theirs = f"Mine {number}.", f"Theirs {number}."
        also: dict[str, Callable[[], object]] = {
            "edits it too": partial(send, user, thread, theirs, edits=str(edited.id)),
            "sends another": partial(send, user, thread, theirs),
            "goes elsewhere": partial(paths.activate, user, thread, elsewhere.id),
        }
        refused = at_once(partial(send, user, thread, mine, edits=str(edited.id)), also[other])
        for again in refused:
            again()
        said += [mine] if other == "goes elsewhere" else [mine, theirs]
    turns = list(Message.objects.filter(thread=thread).order_by("position"))
    assert sorted(turn.text for turn in turns if turn.role == "user") == sorted(said)
    versions = {turn.text for turn in turns if turn.id in paths.versions([edited])[edited.id].ids}
    edits = [text for text in said[3:] if text.startswith("Mine") or other == "edits it too"]
    assert versions == {"Two.", "Two, in other words.", *edits}
    path = sorted((turn for turn in turns if turn.is_active), key=lambda turn: turn.depth)
    assert [turn.parent_id for turn in path] == [None, *(turn.id for turn in path[:-1])]
    assert Thread.objects.get(id=thread).message_count == len(path)


def at_once(*calls: Callable[[], object]) -> list[Callable[[], object]]:
    """Those of the calls that were told that a reply is running; with connections of their own."""
    start = Barrier(len(calls))

    def call(each: Callable[[], object]) -> bool:
        start.wait()
        try:
            each()
        except ReplyInProgress:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(len(calls)) as pool:
        return [each for each, done in zip(calls, pool.map(call, calls), strict=True) if not done]

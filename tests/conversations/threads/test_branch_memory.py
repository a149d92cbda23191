"""What is known of turns that an edit or another answer leaves is in no request that is made of it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings

from conversations.context.record import snapshots
from conversations.models import Message, Reply, Thread
from conversations.replies import closing, opening
from conversations.replies.closing import ReplyProgress
from conversations.replies.events import OWNER
from conversations.replies.model_requests import OpenedReply, first_request, record, upcoming
from conversations.replies.outcomes import Outcome
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage, user_blocks
from conversations.threads import projects
from memory.consolidation.consolidate import consolidate
from memory.index.index_turns import catch_up
from memory.models import IndexedPassage, Memory, ThreadSummary, Topic
from tests.conversations.factories import make_project
from tests.conversations.proofs import remade_exactly

pytestmark = [pytest.mark.django_db]
ANSWER = "Zanzibar it is."


@pytest.fixture(autouse=True)
def _provider(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "anthropic"
    settings.ANTHROPIC_API_KEY = "never asked"


def answered(opened: OpenedReply) -> OpenedReply:
    """With its first request recorded, and an answer."""
    if not opened.recorded:
        record(*first_request(opened))
    progress = ReplyProgress(transcript=ReplyTranscript.of(ANSWER))
    done = Outcome(status=Reply.Status.COMPLETED)
    user = opened.reply.user_id
    assert closing.close(reply_id=opened.reply.id, user_id=user, owner=OWNER, outcome=done, progress=progress)
    catch_up(user)
    return opened


def send(user: User, text: str, **values: object) -> OpenedReply:
    message = NewMessage(user=user, blocks=user_blocks(text), **{"thread_id": None, **values})  # type: ignore[arg-type]
    return answered(opening.open_turn(message))


def learn(user: User) -> None:
    with override_settings(OPENBOOK_PROVIDER="offline"):  # by rules
        consolidate(user.pk, at=timezone.now() + timedelta(hours=1))


def sent(opened: OpenedReply) -> str:
    return str(snapshots.rebuild(opened.reply.snapshots.get()))


@pytest.mark.parametrize("way", ["edit", "answer again"])
def test_what_was_noted_of_turns_that_are_left_is_not_sent(user: User, way: str) -> None:
    first = send(user, "Good morning.")
    thread = first.thread.id
    second = send(user, "I live in Lisbon.", thread_id=thread)
    learn(user)
    assert Memory.objects.filter(user=user, content__contains="Lisbon").exists()
    if way == "edit":
        again = send(user, "Where do I live?", thread_id=thread, edits=str(second.question.id))
    else:
        again = answered(opening.open_retry(user=user, reply_id=first.reply.id))
    assert "Lisbon" not in sent(again)


def test_a_preview_of_an_edit_is_the_request_to_the_byte_and_changes_nothing(user: User) -> None:
    thread = send(user, "Good morning.").thread.id
    left = send(user, "I live in Lisbon.", thread_id=thread).question
    send(user, "My dog is called Rex.", thread_id=thread)
    learn(user)
    newer = send(user, "I live in Porto.", thread_id=thread, edits=str(left.id)).question
    learn(user)
    for edited in (newer, left):  # on the path, and on the branch that was left
        before = rows(user)
        assert "Porto" in str(before["memories"])
        blocks = user_blocks("Where do I live?")
        message = NewMessage(user=user, thread_id=thread, blocks=blocks, edits=str(edited.id))
        preview = str(upcoming(message).context.payload)
        assert rows(user) == before
        again = send(user, "Where do I live?", thread_id=thread, edits=str(edited.id))
        assert preview == sent(again)
        assert "Porto" not in preview
        send(user, "I live in Porto.", thread_id=thread)
        learn(user)


def rows(user: User) -> dict[str, list[object]]:
    """What a move of the path changes."""
    return {
        "turns": [*Message.objects.filter(user=user, is_active=True).order_by("position").values_list("id", flat=True)],
        "threads": [*Thread.objects.filter(user=user).order_by("id").values()],
        "memories": [*Memory.objects.filter(user=user).order_by("id").values_list("content", flat=True)],
        "passages": [*IndexedPassage.objects.filter(user=user).order_by("pk").values()],
        "summaries": [*ThreadSummary.objects.filter(user=user).order_by("id").values()],
        "topics": [*Topic.objects.filter(user=user).order_by("id").values()],
    }


def test_nothing_is_known_of_an_answer_that_another_one_replaced(user: User) -> None:
    first = send(user, "I live in Lisbon. Where should I go?")
    learn(user)
    answered(opening.open_retry(user=user, reply_id=first.reply.id))
    left = Message.objects.get(user=user, is_active=False)
    assert left.text == ANSWER
    assert not IndexedPassage.objects.filter(user=user, thread=first.thread, position=left.position).exists()
    assert "Zanzibar" not in str(ThreadSummary.objects.filter(user=user).values_list("text", "key_moments"))


def test_a_request_that_was_given_nothing_of_a_closed_project_is_made_again_after_that_was_opened(user: User) -> None:
    project = make_project(user)
    told = send(user, "My dog is called Rex.", project=project.id).thread
    asked = send(user, "What is my dog called?")
    assert "Rex" not in sent(asked)
    projects.move(Thread.objects.select_related("user").get(id=told.id), None)
    assert remade_exactly(asked.reply.snapshots.get())

"""What no model is given is in no note either, and comes back when it counts again (F5, F10, P6)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from artifacts import services
from artifacts.models import Artifact
from conversations.context.reasons import Reason
from conversations.context.record.snapshots import runs_of
from conversations.models import ContextSnapshot, Message, Thread
from conversations.models.deletion_guard import allow_deletion
from memory.consolidation.consolidate import consolidate
from memory.consolidation.invalidation import answered_anew, artifact_changed
from memory.consolidation.pending_parts import due_parts
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.tags import thread_tag
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db]

NOW = datetime(2026, 3, 28, 18, tzinfo=UTC)
MORNING = NOW - timedelta(hours=9)
REQUEST = "Please write a business requirements document for the bike shop."
FACT = "I live in Hamburg and I have two cats."
TALK = [FACT, "Lovely!", REQUEST, "Here it is.", "I need to renew my passport.", "Do it soon."]


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@pytest.fixture
def thread(user: User) -> Thread:
    made = make_thread(user, TALK, created_at=MORNING, updated_at=MORNING)
    for position in range(1, len(TALK) + 1):
        change(made, position, created_at=MORNING + timedelta(minutes=position))
    return made


def change(thread: Thread, position: int, **values: Any) -> None:
    """As if the row had been stored so."""
    with allow_deletion():
        Message.objects.filter(thread=thread, position=position).update(**values)


def document(thread: Thread) -> Artifact:
    answer = thread.messages.get(position=4)
    return make_artifact(thread, title="Bike shop requirements", created_at=answer.created_at, message=answer)


def delete(artifact: Artifact) -> None:
    services.delete(artifact, at=timezone.now())


def notes() -> str:
    """All that is kept of what was said."""
    rows: list[Any] = [
        *ThreadSummary.objects.values_list("text", "key_moments"),
        *DailySummary.objects.values_list("text", "key_moments"),
        *Memory.objects.filter(ended_at=None).values_list("content", flat=True),
        *Topic.objects.values_list("title", flat=True),
    ]
    return json.dumps(rows, ensure_ascii=False)


def test_a_fulfilled_request_is_in_no_note_but_what_was_made_is_named(user: User, thread: Thread) -> None:
    document(thread)
    assert consolidate(user.pk, at=NOW) == 1
    kept = notes()
    assert "requirements document" not in kept and "Here it is" not in kept
    assert "made: *Bike shop requirements*" in kept
    assert FACT in kept and "renew my passport" in kept
    assert due_parts(user.pk, UTC) == [], "what is left out makes no part due for ever"


def test_a_deleted_artifact_is_named_no_more_and_what_asked_for_it_counts_in_its_own_thread_alone(
    user: User, thread: Thread
) -> None:
    """F5, F11: summaries, topics and facts without the tag of a thread alone are given to every thread."""
    change(thread, 3, text=f"{REQUEST} My shop is called Pedal.")
    artifact = document(thread)
    consolidate(user.pk, at=NOW)
    for step, is_there in ((delete, False), (services.restore, True), (delete, False)):
        step(artifact)
        artifact_changed(artifact)
        assert consolidate(user.pk, at=timezone.now()) == 1
        assert ("made: *Bike shop requirements*" in notes()) is is_there
        assert "requirements document" not in notes()
        known = list(Memory.objects.filter(content__contains="Pedal", ended_at=None).values_list("tags", flat=True))
        assert known == ([] if is_there else [[thread_tag(thread.id)]])
        assert due_parts(user.pk, UTC) == []


def test_what_comes_to_be_left_out_leaves_the_notes_at_once(user: User, thread: Thread) -> None:
    """Not only when a worker has come by: by then it would have been given to other threads."""
    consolidate(user.pk, at=NOW)
    assert "requirements document" in notes()
    artifact_changed(document(thread))
    assert "requirements document" not in notes() and "Here it is" not in notes()
    assert len(due_parts(user.pk, UTC)) == 1 and "I live in Hamburg." in notes()
    assert consolidate(user.pk, at=timezone.now()) == 1
    assert "made: *Bike shop requirements*" in notes() and "renew my passport" in notes()


def test_a_turn_that_is_refused_after_all_leaves_the_notes_at_once(user: User, thread: Thread) -> None:
    question = thread.messages.get(position=1)
    consolidate(user.pk, at=NOW)
    assert FACT in notes()
    for status, is_noted in ((Message.Status.REFUSED, False), (Message.Status.COMPLETE, True)):
        Message.objects.filter(pk=question.pk).update(status=status)
        answered_anew(thread.user_id, thread.id, question.id)
        assert FACT not in notes()
        assert consolidate(user.pk, at=timezone.now()) == 1
        assert (FACT in notes()) is is_noted


def test_a_question_that_is_answered_late_is_looked_at_again(user: User, thread: Thread) -> None:
    """Its part was made before the answer came that made what it asks for."""
    change(thread, 6, is_active=False)
    change(thread, 5, text="Please draft a marketing plan for the tea house.")
    consolidate(user.pk, at=NOW)
    assert "marketing plan" in notes()
    late = Message.objects.create(
        thread=thread,
        position=7,
        depth=6,
        role="assistant",
        text="Made.",
        token_count=9,
        token_total=999,
        created_at=NOW,
        parent=thread.messages.get(position=5),
    )
    make_artifact(thread, message=late)
    Thread.objects.filter(pk=thread.pk).update(updated_at=NOW, last_position=7)
    assert consolidate(user.pk, at=NOW + timedelta(hours=1)) == 2
    assert "marketing plan" not in notes() and "made: *BRD*" in notes()


@pytest.mark.parametrize(
    ("positions", "values", "reason"),
    [
        ([3], {"status": Message.Status.REFUSED}, Reason.REFUSED),
        ([4], {"status": Message.Status.REFUSED}, Reason.REFUSED),
        ([4], {"status": Message.Status.FAILED}, Reason.FAILED),
        ([2, 4, 6], {"offline": True}, Reason.OFFLINE),
    ],
)
def test_words_that_no_model_is_given_are_no_notes_and_are_accounted_for(
    user: User, thread: Thread, model: ModelServer, positions: list[int], values: dict[str, Any], reason: Reason
) -> None:
    for position in positions:
        change(thread, position, **values)
    model.script(scripts.text(json.dumps({"summary": "They talked about cats."})))
    consolidate(user.pk, at=NOW)
    (snapshot,) = ContextSnapshot.objects.filter(purpose=ContextSnapshot.Purpose.CONSOLIDATION)
    runs = [run for run in runs_of(snapshot) if run.reason is reason]
    left_out = {position for run in runs for position in range(run.first, run.last + 1)}
    assert left_out.issuperset(positions)
    sent = json.dumps(model.bodies[-1], ensure_ascii=False)
    for turn in thread.messages.all():
        assert (turn.text in sent) is (turn.position not in left_out), turn.text


def test_a_request_that_is_refused_later_leaves_the_notes(user: User, thread: Thread) -> None:
    consolidate(user.pk, at=NOW)
    assert "requirements document" in notes()
    Message.objects.filter(thread=thread, position=3).update(status=Message.Status.REFUSED)
    Thread.objects.filter(pk=thread.pk).update(updated_at=timezone.now())
    assert consolidate(user.pk, at=timezone.now()) == 1
    assert "requirements document" not in notes()

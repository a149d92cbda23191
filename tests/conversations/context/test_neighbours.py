"""What is read around turns is enough to leave out just those that the rule leaves out of their whole threads (F10, F11)."""

import uuid
from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from artifacts.models import ArtifactVersion
from conversations.context.reasons import Reason
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact
from conversations.context.turns.neighbours import PathPlace, read_exclusions
from conversations.context.turns.turn import Turn
from conversations.models import Message, Thread
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import chain, make_thread

pytestmark = pytest.mark.django_db

BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
ENDS = st.sampled_from(["complete"] * 6 + ["refused", "failed", "stopped"])


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[tuple[str, bool, int]], list[tuple[int | None, int, bool]]]:
    """Turns as how they ended, whether they are offline, seconds since the one before; artifacts as the turn that they name,
    if any, their second, and whether they are deleted."""
    turns = draw(st.lists(st.tuples(ENDS, st.booleans(), st.integers(0, 4)), min_size=1, max_size=60))
    of_turn = st.one_of(st.none(), st.integers(0, len(turns) - 1))
    return turns, draw(st.lists(st.tuples(of_turn, st.integers(0, 120), st.booleans()), max_size=4))


def store_story(user: User, story: tuple[list[tuple[str, bool, int]], list[tuple[int | None, int, bool]]]) -> Thread:
    turns, artifacts = story
    thread = make_thread(user)
    messages = chain(thread, ["…"] * len(turns))
    seconds = accumulate(pause for _, _, pause in turns)
    for message, (end, offline, _), second in zip(messages, turns, seconds, strict=True):
        is_answer = message.role == "assistant"
        message.status = end if is_answer or end == "refused" else "complete"
        message.offline, message.created_at = offline and is_answer, BEGIN + timedelta(seconds=second)
        message.reply_id = uuid.uuid4() if is_answer else None
    Message.objects.bulk_create(messages)
    for number, (maker, second, deleted) in enumerate(artifacts):
        at = BEGIN + timedelta(seconds=second)
        named = messages[maker] if maker is not None else None
        by_turn, by_reply = (named, None) if number % 2 else (None, named and named.reply_id)
        deleted_at = BEGIN if deleted else None
        make_artifact(thread, message=by_turn, reply_id=by_reply, created_at=at, deleted_at=deleted_at)
    return thread


def by_the_rule(thread: Thread, *, own: bool) -> dict[uuid.UUID, Reason]:
    """Of the whole thread, read as it is."""
    versions = ArtifactVersion.objects.filter(thread=thread)
    if own:
        versions = versions.filter(artifact__deleted_at=None)
    made = [FilterArtifact(created_at=one.created_at, message=one.message_id, reply=one.reply_id) for one in versions]
    return exclusions([Turn.of(message) for message in thread.messages.order_by("depth")], made)


@FEW
@given(st.lists(stories(), min_size=1, max_size=3), st.data())
def test_a_part_of_a_thread_is_judged_as_the_whole_is(
    user: User, told: list[tuple[list[tuple[str, bool, int]], list[tuple[int | None, int, bool]]]], data: st.DataObject
) -> None:
    with transaction.atomic():
        threads = [store_story(user, story) for story in told]
        expected: dict[uuid.UUID, Reason] = {}
        for thread in threads:
            expected |= by_the_rule(thread, own=thread == threads[0])
        turns = list(Message.objects.filter(thread__in=threads).order_by("id"))
        asked = data.draw(st.lists(st.sampled_from(turns), min_size=1, max_size=8))
        places = [PathPlace(thread=one.thread_id, depth=one.depth, at=one.created_at) for one in asked]
        found = read_exclusions(user.pk, places, here=threads[0].id)
        depends = {turn.id: expected.get(turn.id) for turn in asked if expected.get(turn.id) not in OWN}
        assert {id: found.get(id) for id in depends} == depends
        transaction.set_rollback(True)


OWN = (Reason.FAILED, Reason.OFFLINE)
"""What a turn tells of itself is not looked for around it."""


def test_what_a_thread_filters_off_it_still_keeps_from_others(user: User) -> None:
    thread = make_thread(user, ["Write the plan.", "Here it is.", "Which?", "A small one."])
    make_artifact(thread, message=thread.messages.get(position=2), deleted_at=BEGIN)
    places = [PathPlace(thread=thread.id, depth=depth, at=thread.created_at) for depth in range(1, 5)]
    made = dict.fromkeys(
        thread.messages.filter(position__lte=2).values_list("id", flat=True), Reason.FULFILLED_ARTIFACT
    )
    assert (
        read_exclusions(user.pk, places, here=thread.id)
        == read_exclusions(user.pk, places, here=thread.id, filtering=False)
        == {}
    )
    assert (
        read_exclusions(user.pk, places) == read_exclusions(user.pk, places, here=uuid.uuid4(), filtering=False) == made
    )


def test_no_turns_are_read_far_from_what_was_made(
    user: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    thread = make_thread(user, ["…"] * 200)
    make_artifact(thread, message=thread.messages.get(position=100))
    far = [PathPlace(thread=thread.id, depth=depth, at=thread.created_at) for depth in (1, 50, 89, 111, 200)]
    with django_assert_num_queries(2):
        assert read_exclusions(user.pk, far) == {}

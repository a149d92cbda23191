"""A fact that two threads told stays in each scope in which it was said, wherever one of them goes."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import Project, Thread
from conversations.threads import deletion, projects
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.consolidation.invalidation import answered_anew
from memory.models import Memory
from memory.tags import project_tag, thread_tag, user_tag
from tests.conversations.factories import make_project
from tests.memory.consolidation.test_consolidate import MORNING, NOW, say_turns

pytestmark = pytest.mark.django_db
TOLD = ("I live in Hamburg.", "Lovely!")


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@pytest.fixture
def threads(user: User) -> tuple[Thread, Thread]:
    first, second = (say_turns(user, *TOLD, at=MORNING.replace(hour=hour)) for hour in (8, 9))
    assert consolidate(user.pk, at=NOW) == 2
    return first, second


def notes() -> dict[tuple[str, ...], list[uuid.UUID]]:
    """The turns that each note rests on, by its tags."""
    assert {*Memory.objects.values_list("content", flat=True)} <= {TOLD[0]}
    return {tuple(sorted(tags)): sources for tags, sources in Memory.objects.values_list("tags", "sources")}


def tagged(user: User, *threads: Thread, project: Project | None = None) -> tuple[str, ...]:
    whose = project_tag(project.id) if project else user_tag(user.pk)
    return tuple(sorted([whose, *(thread_tag(thread.id) for thread in threads)]))


def test_it_stays_where_each_of_them_is(user: User, threads: tuple[Thread, Thread]) -> None:
    first, second = threads
    said, again = (thread.messages.get(position=1).id for thread in threads)
    both = {tagged(user, first, second): [said, again]}
    assert notes() == both
    garden = make_project(user)
    projects.move(first, garden)
    assert notes() == {tagged(user, second): [again], tagged(user, first, project=garden): [said]}
    projects.move(second, garden)
    assert notes() == {tagged(user, first, second, project=garden): [said, again]}
    projects.move(first, None)
    projects.move(second, None)
    assert notes() == both
    assert consolidate(user.pk, at=NOW) == 0


def test_it_goes_with_the_last_of_them(user: User, threads: tuple[Thread, Thread]) -> None:
    first, second = threads
    again = second.messages.get(position=1)
    deletion.delete_thread(first)
    assert next(iter(notes().values()))[-1] == again.id
    forgetting.forget_turn(user, again.id)
    assert notes() == {}


def test_a_turn_that_counts_no_more_takes_its_own_telling_alone(user: User, threads: tuple[Thread, Thread]) -> None:
    first, second = threads
    answered_anew(user.pk, second.id, second.messages.get(position=1).id)
    assert notes() == {tagged(user, first): [first.messages.get(position=1).id]}

"""Many versions of a turn: each is numbered among all of them, and names those that are next to it."""

import pytest

from conversations.models import Message, Thread
from conversations.threads import paths
from conversations.threads.paths import NEAR_VERSIONS
from tests.conversations.factories import chain, make_thread

pytestmark = [pytest.mark.django_db]
MANY = 3 * NEAR_VERSIONS


def add_versions(thread: Thread, turn: Message | None, count: int) -> list[Message]:
    """Turns that follow a turn, or are first ones, the last of them on the active path."""
    depth = turn.depth + 1 if turn else 1
    Message.objects.filter(thread=thread, depth__gte=depth).update(is_active=False)
    start = Message.objects.filter(thread=thread).count()
    versions = chain(thread, ["Hello."] * count)
    for number, version in enumerate(versions, 1):
        version.parent_id, version.depth, version.position = turn.id if turn else None, depth, start + number
        version.token_total, version.is_active = 10**6, number == count
    return Message.objects.bulk_create(versions)


@pytest.mark.parametrize("is_first", [False, True])
def test_of_many_versions_a_turn_names_those_next_to_it(is_first: bool) -> None:
    thread = make_thread(turns=["One.", "Two."])
    first, second = thread.messages.order_by("position")
    before = [first] if is_first else []
    made = [*before, *add_versions(thread, None if is_first else second, MANY - len(before))]
    ids, found = [turn.id for turn in made], paths.versions([*made, second])
    for number in (1, 2, NEAR_VERSIONS + 2, MANY - 1, MANY):
        of_it = found[ids[number - 1]]
        assert (of_it.number, of_it.count) == (number, MANY)
        assert of_it.ids == ids[max(0, number - 1 - NEAR_VERSIONS) : number + NEAR_VERSIONS]
        assert of_it.ids[of_it.index] == ids[number - 1]
        assert ids[of_it.first - 1] == of_it.ids[0]
    assert (found[second.id].ids, found[second.id].count) == ([second.id], 1)
    assert paths.versions([made[-1]])[ids[-1]] == found[ids[-1]]

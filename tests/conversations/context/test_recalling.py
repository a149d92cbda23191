"""What is recalled for one message: within its room, best first, accounted for row by row; pure but for one test."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.reasons import Reason
from conversations.context.recalling import fitted, recall
from conversations.context.tiers import Standing, Tier, TierItem
from conversations.db import read_only
from conversations.providers.base import RECALLED
from tests.conversations.factories import make_thread
from tests.memory.factories import make_memory

NO_PLACE = TierItem(
    kind="memory", id="00000000-0000-4000-8000-000000000000", included=False, reason=Reason.OVER_BUDGET, tokens=0
)


@given(st.lists(st.text(min_size=1, max_size=200), max_size=12), st.integers(0, 400))
def test_what_is_recalled_keeps_its_room_and_every_row_is_accounted_for(texts: list[str], room: int) -> None:
    found = [(str(n), text) for n, text in enumerate(texts)]
    recalled = fitted(found, room)
    assert sum(section.tokens for section in recalled.sections) <= room
    assert [item.id for item in recalled.items] == [id for id, _ in found]
    lines = [line for section in recalled.sections for line in section.text.splitlines()]
    assert lines[:1] in ([], [RECALLED])
    assert len(lines[1:]) == sum(item.included for item in recalled.items)
    assert {item.reason for item in recalled.items if item.included} <= {Reason.RECALLED}


@pytest.mark.django_db
def test_only_what_the_person_may_be_reminded_of_here_is_found(user: User, other_user: User) -> None:
    here, elsewhere = make_thread(user), make_thread(user)
    wanted = make_memory(user, "The boat is called Marisol.", tags=[f"thread:{here.id}"])
    make_memory(user, "The boat has sails.", tags=[f"thread:{elsewhere.id}"])
    make_memory(user, "The boat was sold.", ended_at=timezone.now())
    make_memory(user, "The boat is at sea until noon.", valid_until=timezone.now())
    make_memory(user, "Likes figs.")
    make_memory(other_user, "The boat of somebody else.")
    standing = Standing(began_at=timezone.now())
    tier = Tier(name="memory", text="…", tokens=1, items=[NO_PLACE], standing=standing)
    with read_only():
        recalled = recall(
            user_id=user.pk,
            thread_id=here.id,
            text="What's the boat's name? Tell me about the boat!",
            at=timezone.now(),
            tiers=[tier],
            room=200,
        )
    assert [item.id for item in recalled.items] == [str(wanted.id)]

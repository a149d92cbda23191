"""What staff see of memory, and that they can have it consolidated now."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django_tasks_db.models import DBTaskResult

from memory.models import Consolidation
from memory.staff.consolidation import state_of
from tests.conversations.factories import make_thread
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BEFORE, LATER = NOW - timedelta(hours=1), NOW + timedelta(minutes=5)


@pytest.mark.parametrize(
    ("row", "newest", "state"),
    [
        ({"through": NOW}, BEFORE, ("up to date", "")),
        ({"through": BEFORE}, NOW, ("waiting", "until 2026-11-20 12:10:00 UTC")),
        ({}, BEFORE, ("waiting", "until now")),
        ({"through": NOW, "wanted_at": NOW}, BEFORE, ("waiting", "until 2026-11-20 12:10:00 UTC")),
        ({"started_at": NOW, "ended_at": BEFORE, "parts_done": 3, "parts_to_do": 7}, NOW, ("running", "3 of 7 parts")),
        (
            {"failures": 2, "error": "ProviderError (overloaded) at memory/parts.py:7", "not_before": LATER},
            NOW,
            ("failed", "2 times: ProviderError (overloaded) at memory/parts.py:7; again 2026-11-20 12:05:00 UTC"),
        ),
    ],
)
def test_a_state_in_words(row: dict[str, Any], newest: datetime, state: tuple[str, str]) -> None:
    assert state_of(Consolidation(**row), newest=newest, is_off=False, now=NOW) == state
    assert state_of(Consolidation(**row), newest=newest, is_off=True, now=NOW) == ("switched off", "by the user")


def test_staff_have_a_user_consolidated_now(staff: StaffReader, signed_in: SignIn, user: User) -> None:
    Consolidation.objects.create(user=user, failures=3, not_before=LATER + timedelta(days=9), error="TimeoutError")
    asked = {"action": "consolidate_now", "_selected_action": [user.pk]}
    signed_in("view_consolidation").post(list_url("consolidation"), asked)
    assert not DBTaskResult.objects.exists()
    assert "Handed to the workers: 1 user." in staff.post(list_url("consolidation"), asked, follow=True).text
    assert DBTaskResult.objects.get().args_kwargs == {"args": [user.pk], "kwargs": {}}
    assert Consolidation.objects.get().not_before is None


def test_what_is_remembered_links_to_where_it_comes_from(staff: StaffReader, user: User) -> None:
    thread = make_thread(user, ["I moved to Porto.", "How nice."], title="Moving")
    (turn,) = thread.messages.filter(position=1)
    part = make_thread_summary(thread, NOW, sources=[turn.pk])
    newer = make_memory(user, "Ada lives in Porto.", sources=[turn.pk])
    older = make_memory(user, "Ada lives in Hamburg.", ended_at=NOW, superseded_by=newer)
    topic = make_topic(user, thread=thread, sources=[turn.pk])
    day = make_daily_summary(user, "2026-11-20", parts=[part.pk])
    expected = {
        ("memory", newer.pk): [page_url("message", turn.pk), page_url("thread", thread.pk)],
        ("memory", older.pk): [page_url("memory", newer.pk)],
        ("threadsummary", part.pk): [page_url("message", turn.pk), page_url("thread", thread.pk)],
        ("topic", topic.pk): [page_url("message", turn.pk), page_url("thread", thread.pk)],
        ("dailysummary", day.pk): [page_url("threadsummary", part.pk), page_url("thread", thread.pk)],
    }
    for (model, pk), links in expected.items():
        found = set(re.findall(r'href="([^"]+)"', staff.get(page_url(model, pk)).text))
        assert set(links) - found == set()

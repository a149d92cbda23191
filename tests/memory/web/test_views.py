"""The memory page as it leaves the server: whole without a script, one person's alone, and no dearer with more rows."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import ContentAccess, Message
from conversations.threads import deletion
from memory.models import Memory
from memory.tags import thread_tag
from memory.web.views import origin_of
from tests.conversations.factories import make_thread, numbers
from tests.html import as_read
from tests.memory.factories import (
    make_daily_summary,
    make_memory,
    make_preferences,
    make_thread_summary,
    make_topic,
)

pytestmark = pytest.mark.django_db

LISBON = ZoneInfo("Europe/Lisbon")
NEW_YEAR = datetime(2026, 1, 1, 0, 30, tzinfo=LISBON)


@pytest.mark.parametrize(
    ("origin", "said", "at", "words"),
    [
        ("conversation", True, NEW_YEAR, "You said so on 1 January"),
        ("conversation", True, NEW_YEAR - timedelta(hours=1), "You said so on 31 December 2025"),
        ("conversation", False, NEW_YEAR, "From a conversation of 1 January that is gone"),
        ("hand", False, NEW_YEAR, "You wrote it down on 1 January"),
        ("program", False, NEW_YEAR, "A program added it on 1 January"),
        ("program", True, NEW_YEAR, "From a conversation on 1 January"),
    ],
)
def test_where_a_note_came_from_is_told_by_the_persons_own_calendar(
    origin: str, said: bool, at: datetime, words: str
) -> None:
    memory = Memory(origin=origin, created_at=at.astimezone(UTC))
    source = Message(created_at=at.astimezone(UTC)) if said else None
    assert origin_of(memory, source, LISBON, NEW_YEAR) == words


def looked(user: User, **values: Any) -> None:
    given = {
        "id": uuid.UUID(int=next(numbers)),  # those of one millisecond have no order
        "at": timezone.now(),
        "action": "read",
        "what": "thread",
        "object_id": "x",
        "reason": "R",
        "request_id": "r",
    }
    ContentAccess.objects.create(staff=user, staff_name="kim", user=user, **given | values)


def fill(user: User, number: int) -> None:
    """A note, a topic, a day and a look, with all that the page tells of them."""
    thread = make_thread(user, [f"I bake rye {number}", "Noted."], title=f"Baking {number}")
    turn = thread.messages.get(position=1)
    day = timezone.now() - timedelta(days=number)
    part = make_thread_summary(thread, day)
    tags = [thread_tag(thread.id)]
    make_memory(user, f"Bakes rye {number}.", sources=[turn.id], origin="conversation", tags=tags)
    make_topic(user, f"Flour {number}", thread=thread, sources=[turn.id])
    make_topic(user, f"Oven {number}", thread=thread, resolved_at=day)
    make_daily_summary(user, str(day.date()), f"Baked {number}.", key_moments=[f"Loaf {number}."], parts=[part.id])
    looked(user, what="message", thread_id=thread.id, object_id=str(turn.id))


def page_text(client: Client, address: str = "/memory/") -> str:
    return client.get(address).content.decode()


def test_all_of_it_can_be_read_without_a_script_and_nobody_elses(client: Client, user: User, other_user: User) -> None:
    fill(user, 1)
    fill(other_user, 2)
    make_preferences(user, remembers=False, time_zone="Europe/Lisbon")
    assert client.get("/memory/").headers["Location"] == "/accounts/login/?next=/memory/"
    client.force_login(user)
    page = page_text(client)
    turn = Message.objects.get(text="I bake rye 1")
    for told in (
        "Bakes rye 1.",
        "Flour 1",
        "Oven 1",
        "Baked 1.",
        "Loaf 1.",
        "Baking 1",
        "Europe/Lisbon",
        "Memory is off",
    ):
        assert told in page, told
    assert page.count(f'href="/threads/{turn.thread_id}/#turn-1"') == 3  # note, topic and look
    assert not re.search(r"(rye|Flour|Oven|Baked|Loaf|Baking) 2", page)
    assert re.findall(r"<script(?![^>]*(?:\bsrc=|application/json))", page) == []
    assert "style=" not in page


def words_of(html: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def test_a_notes_history_and_what_ended_stand_as_past(client: Client, user: User) -> None:
    new_year = datetime(2024, 12, 31, 23, 30, tzinfo=UTC)
    values = {"created_at": new_year - timedelta(days=90), "ended_at": new_year}
    rome = make_memory(user, "I live in Rome.")
    porto = make_memory(user, "I live in Porto.", superseded_by=rome, **values)
    make_memory(user, "I live in Lisbon.", superseded_by=porto, **values | {"ended_at": new_year - timedelta(days=90)})
    make_memory(user, "I have a dog.", **values)
    make_preferences(user, time_zone="Europe/Berlin")
    client.force_login(user)
    page = words_of(page_text(client))
    current, _, ended = page.partition("No longer so 1")
    for told in (
        "I live in Rome.",
        "Before that 2",
        "Until 1 January 2025 I live in Porto.",
        "Not so I live in Lisbon.",
    ):
        assert told in current, told
    assert "Until 1 January 2025 I have a dog." in ended
    found = words_of(page_text(client, "/memory/?q=porto"))
    assert "Until 1 January 2025 I live in Porto." in found
    assert "dog" not in found


def test_what_is_searched_and_the_day_that_is_asked_for_are_shown_without_a_script(client: Client, user: User) -> None:
    for number in range(3):
        fill(user, number)
    client.force_login(user)
    listed = re.findall(r'<p class="note-text" dir="auto">([^<]+)</p>', page_text(client, "/memory/?q=RYE 1"))
    assert listed == ["Bakes rye 1."]
    asked = (timezone.now() - timedelta(days=2)).date()
    for address, wanted in (("/memory/", 0), (f"/memory/?day={asked}", 2), ("/memory/?day=never", 0)):
        days = re.findall(
            r'<article class="day-page" data-day="[\d-]+"( hidden)?>.*?Baked (\d)', page_text(client, address), re.S
        )
        assert [number for hidden, number in days if not hidden] == [str(wanted)]


def test_more_rows_cost_no_more_statements(client: Client, user: User) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            page_text(client)
        return len(statements)

    client.force_login(user)
    counts = []
    for number in range(3):
        fill(user, number)
        counts.append(min(count(), count()))  # what a process reads once a minute is read in one of them at most
    assert counts[1:] == counts[:1] * 2


def looks_on(page: str) -> list[tuple[str, str, list[str]]]:
    """Who looked, for what reason, and at what, without markup."""
    visits = re.findall(
        r'<li class="visit">.*?<strong>(.*?)</strong>.*?dir="auto">(.*?)</p>(.*?)</ul>', page, re.DOTALL
    )
    return [(who, why, re.findall(r"<span>(.*?)</span>", as_read(looks))) for who, why, looks in visits]


def test_people_read_who_looked_at_what_and_why_newest_first(client: Client, user: User, other_user: User) -> None:
    client.force_login(user)
    assert "Nobody of the staff has looked at what you wrote." in page_text(client)
    kept, gone = make_thread(user, ["One", "Two"]), make_thread(user)
    turn = kept.messages.get(position=2)
    looked(user, what="thread", thread_id=kept.id, object_id=str(kept.id), reason="Ticket 7 <b>")
    looked(user, what="message", thread_id=kept.id, object_id=str(turn.id), reason="Ticket 7 <b>")
    looked(user, what="memory", action="export")
    looked(user, what="thread", thread_id=gone.id, object_id=str(gone.id))
    looked(user, what="thread", thread_id=make_thread(other_user).id)
    looked(other_user, reason="Not mine")
    deletion.delete_thread(gone)
    assert looks_on(page_text(client)) == [
        ("kim", "“R”", ["read a conversation", "read a conversation", "downloaded a note"]),
        (
            "kim",
            "“Ticket 7 &lt;b&gt;”",
            [
                f'read <a href="/threads/{kept.id}/#turn-2">a message</a>',
                f'read <a href="/threads/{kept.id}/">a conversation</a>',
            ],
        ),
    ]

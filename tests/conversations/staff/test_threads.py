"""The page of one thread."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Message, Thread
from conversations.staff.thread_page import thread_page
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_snapshot, make_thread
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.html import as_read

pytestmark = pytest.mark.django_db


def positions(thread: Thread, before: str = "") -> list[int]:
    return [turn.message.position for turn in thread_page(thread, before=before, shown=True).turns]


def test_a_thread_opens_with_its_newest_turns_and_leads_to_older_ones() -> None:
    thread = make_thread(turns=[f"turn {number}" for number in range(1, 121)])
    pages = [thread_page(thread, before=before, shown=True) for before in ("", "71", "21")]
    shown = [[turn.message.position for turn in page.turns] for page in pages]
    assert shown == [[*range(71, 121)], [*range(21, 71)], [*range(1, 21)]]
    assert [page.older for page in pages] == [71, 21, None]
    assert [page.is_newest for page in pages] == [True, False, False]


def test_a_thread_of_exactly_one_page_has_no_older_turns() -> None:
    assert thread_page(make_thread(turns=["text"] * 50), before="", shown=True).older is None


@pytest.mark.parametrize("before", ["", "abc", "-1", "1.5", "²", "9" * 18, "9" * 40])
def test_a_place_that_makes_no_sense_shows_the_newest_turns(before: str) -> None:
    assert positions(make_thread(turns=["one", "two"]), before) == [1, 2]


def test_before_the_first_turn_there_is_nothing(staff: StaffReader) -> None:
    thread = make_thread(turns=["one", "two"])
    page = staff.read(page_url("thread", thread.pk) + "?before=1").text
    assert "No turns before this one." in page
    assert '<a href="?">Newest turns</a>' in page


def test_a_long_turn_is_cut_and_leads_to_its_whole_text(staff: StaffReader) -> None:
    thread = make_thread(turns=["x" * 99_000 + "the end"])
    page = staff.read(page_url("thread", thread.pk)).text
    turn = thread.messages.get()
    assert len(page) < 40_000
    assert f'<a href="{page_url("message", turn.pk)}">All 99,007 characters</a>' in as_read(page)
    assert "the end" in staff.read(page_url("message", turn.pk)).text


def test_a_turn_shows_its_replies_with_their_model_requests(staff: StaffReader) -> None:
    thread = make_thread(turns=["Hello?"])
    error = {"type": "model", "code": "overloaded", "message": "", "details": {}, "request_id": ""}
    failed = make_snapshot(reply=make_reply(thread, status="failed", error=error), status="failed")
    done = make_snapshot(thread)
    page = as_read(staff.read(page_url("thread", thread.pk)).text)
    links = re.findall(r'class="ob-attempt"><a href="([^"]+)">.*?<a href="([^"]+)">Model request</a>', page, re.DOTALL)
    assert links == [
        (page_url("reply", snapshot.reply_id), page_url("contextsnapshot", snapshot.pk)) for snapshot in (failed, done)
    ]
    assert '<span class="ob-error">overloaded</span>' in page


def test_a_replaced_attempt_is_shown_and_said_to_be_replaced(staff: StaffReader) -> None:
    thread = make_thread(turns=["Hello?", "First answer."])
    Message.objects.filter(thread=thread, position=2).update(is_active=False)
    assert "replaced, not on the active path" in staff.read(page_url("thread", thread.pk)).text


def test_the_page_costs_the_same_for_one_turn_as_for_many(staff: StaffReader) -> None:
    short, long = make_thread(turns=["Hello?"]), make_thread(turns=["turn"] * 45)
    make_snapshot(short)
    make_snapshot(long)
    counts = []
    for thread in (short, short, long):
        with CaptureQueriesContext(connection) as queries:
            staff.read(page_url("thread", thread.pk))
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_what_people_wrote_is_never_markup(staff: StaffReader) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    thread = make_thread(turns=[evil, evil * 40, evil], title=evil)
    snapshot = make_snapshot(thread)
    artifact = make_artifact(thread, evil * 200, evil, title=evil, language=evil[:40], reply_id=snapshot.reply_id)
    pages = {
        list_url("artifact"),
        page_url("artifact", artifact.pk),
        list_url("thread"),
        list_url("reply"),
        list_url("message"),
        list_url("contextsnapshot"),
        page_url("thread", thread.pk),
        page_url("thread", thread.pk, "delete"),
        page_url("reply", snapshot.reply_id),
        page_url("message", snapshot.message_id),
        page_url("contextsnapshot", snapshot.pk),
    }
    assert {url: "<script>alert" in text or "<img src=x" in text for url in pages if (text := staff.get(url).text)} == (
        dict.fromkeys(pages, False)
    )
    assert "&lt;script&gt;alert(1)" in staff.read(page_url("thread", thread.pk)).text

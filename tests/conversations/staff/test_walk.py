"""A support lead's way from what people complain of to a version that mends it, in a real browser."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from conversations.context.record import snapshots
from conversations.linter import lint
from conversations.models import Assistant, ContextSnapshot
from conversations.regression import replays
from conversations.runtime import clock
from memory.models import Memory
from tests.conversations.factories import make_context, make_feedback, make_reply, make_thread, make_user, record
from tests.conversations.staff.conftest import StaffReader, list_url
from tests.conversations.staff.test_browser import signed_in_at
from tests.memory.factories import make_memory

pytestmark = pytest.mark.django_db(transaction=True)

REQUESTS, COMPLAINTS = 31, 5
LONG = "Bakes bread with rye and caraway on each Sunday of the month, early in the morning. " * 3
WORDS = "It forgot my dog."


def ask(user: User, times: int) -> list[ContextSnapshot]:
    """Conversations of one question each."""
    threads = [make_thread(user, ["What is my dog called?", "I don't know."]) for _ in range(times)]
    return [record(make_context(reply), reply) for reply in map(make_reply, threads)]


def holds(snapshot: ContextSnapshot, note: Memory) -> bool:
    items = snapshots.standing_items_of(snapshot, snapshots.material_of(snapshot))
    return any(item["id"] == str(note.pk) and item["included"] for item in items)


def beside(work: Callable[[], Any]) -> Any:
    """Done while the browser waits: Playwright's own thread may not ask the database."""

    def alone() -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(alone).result()


def test_a_forgotten_dog_is_found_mended_and_seen_to_be_gone(chromium_path: str, live_server: LiveServer) -> None:
    Assistant.objects.filter(slug="companion").update(memory_tokens=100, recall_tokens=0)
    person, now = make_user(), clock.now()
    dog = make_memory(person, "Has a dog called Momo.", created_at=now - timedelta(days=2))
    make_memory(person, LONG, created_at=now - timedelta(days=1))
    for snapshot in ask(person, REQUESTS)[:COMPLAINTS]:
        assert not holds(snapshot, dog)
        answer = snapshot.thread.messages.get(position=2)
        make_feedback(answer, text=WORDS, reason="forgot", shown_since=now, request_id=snapshot.pk)
    lint.lint(clock.now())
    lead, client = make_user("lead", is_staff=True), StaffReader()
    lead.groups.set(Group.objects.filter(name="Support lead"))
    client.force_login(lead)

    with signed_in_at(chromium_path, live_server, client) as staff:
        page = staff.page
        staff.open(list_url("feedback"))
        rows = page.locator("#result_list tbody tr")
        expect(rows).to_have_count(COMPLAINTS)
        rows.first.get_by_role("link").first.click()
        expect(page.get_by_text(WORDS)).to_be_visible()
        page.get_by_role("link", name="A section is cut every time: memory").click()
        page.get_by_role("link", name="memory tokens").click()
        page.get_by_label("Memory tokens").fill("500")
        page.get_by_role("button", name="Save as draft").click()
        page.get_by_role("link", name="Try the newest on past requests…").click()
        page.get_by_role("button", name="Start").click()
        beside(lambda: replays.advance(lambda: False))
        page.reload()
        gained = page.get_by_role("row", name="Notes and topics").get_by_role("cell").nth(2)
        expect(gained).to_have_text(str(REQUESTS))
        page.get_by_role("button", name="Publish version").click()
        expect(page.get_by_text("from the next message on")).to_be_visible()

        later = beside(lambda: ask(User.objects.get(pk=person.pk), lint.SHOWN_BY))
        assert all(beside(lambda: [holds(each, dog) for each in later]))
        staff.open(list_url("lintfinding", state__exact="open"))
        page.get_by_role("button", name="Look again now").click()
        expect(page.get_by_text("Workers look now")).to_be_visible()
        beside(lambda: lint.lint(clock.now()))
        staff.open(list_url("lintfinding", state__exact="mended"))
        expect(page.get_by_role("link", name="A section is cut every time")).to_be_visible()

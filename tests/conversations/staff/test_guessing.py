"""Who may not read what people wrote learns nothing that depends on it: no page lets anybody try guesses."""

import re
from hashlib import sha256

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django_tasks_db.models import DBTaskResult

from conversations.models import ContextSnapshot, Feedback, File
from conversations.replies.events import Event
from conversations.runtime import clock
from conversations.staff.live import staff_event
from conversations.staff.snapshot import timing
from tests import belongings
from tests.conversations.factories import make_user
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.conversations.staff.test_access import DOWNLOAD, READ, STREAM, pages

pytestmark = pytest.mark.django_db

ONE, OTHER = "Xylophonist", "Zylophonest"
VARIES = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}…[0-9a-f]{4}|…[0-9a-f]{4}|[0-9a-f]{8}…"
    r"|\b[0-9a-f]{64}</code> keyed|\btickets-[0-9a-f]{8}"
    r"|\bada\b|\beve\b|user \d+|\"user\": \d+|,\d+(?=,[0-9a-f]{8}-)"
    r"|\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|\.\d{6}[+Z]|\d+(\.\d+)? ms"
    r"|\b\d+(?=/(change|delete|history|added))|exact=\d+|(value|nonce|x|width|data-[a-z]+)=\"[^\"]*\""
)
"""Ids, names, times and keyed digests."""


def masked_pages(client: Client, name: str, needle: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(belongings, "NEEDLE", needle)
    monkeypatch.setattr(timing, "QUICK", 0)  # each step has its line, however long it took
    DBTaskResult.objects.all().delete()  # of the other one
    Feedback.objects.all().delete()  # its queue is downloaded whole
    rows = belongings.belongings(make_user(name))
    found = {page: url for page, url in pages(rows).items() if page not in (STREAM, DOWNLOAD)}
    own = {
        page: url
        for page, url in found.items()
        if not page.endswith(("_changelist", "_overview")) and any(page.startswith(model) for model in READ)
    }
    return {page: VARIES.sub("…", client.get(url).text) for page, url in own.items()}


@pytest.mark.wide
def test_masked_pages_of_two_people_who_wrote_other_words_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    client, staff = Client(), make_user(is_staff=True)
    staff.groups.set(Group.objects.filter(name="Support"))
    client.force_login(staff)
    one, other = (masked_pages(client, *of, monkeypatch) for of in (("ada", ONE), ("eve", OTHER)))
    changed = {
        (page, *lines)
        for page in one
        for lines in zip(*(of[page].splitlines() for of in (one, other)), strict=True)
        if len({*lines}) > 1
    }
    assert changed == set()
    assert len(one) > 20


def test_a_digest_of_content_is_of_use_to_who_may_read_that_alone(staff: StaffReader) -> None:
    rows = belongings.belongings(make_user("ada"))
    file = File.objects.get(pk=str(rows["conversations_file"]))
    snapshot = ContextSnapshot.objects.get(pk=str(rows["conversations_contextsnapshot"]))
    shown = {
        page_url("file", file.pk): sha256(ONE.encode()).hexdigest(),
        page_url("contextsnapshot", snapshot.pk): bytes(snapshot.digest).hex(),
        page_url("contextsnapshot", snapshot.pk, "prove"): bytes(snapshot.digest).hex(),
    }
    assert [digest in staff.get(url).text for url, digest in shown.items()] == [False] * 3
    assert [digest in staff.read(url).text for url, digest in shown.items()] == [True] * 3
    assert staff.get(list_url("file")).status_code == 200


@pytest.mark.parametrize(
    ("name", "told"), [("search_messages", "search_messages"), ("my PIN is 4711", "one that there is not")]
)
def test_the_name_of_a_tool_that_a_model_made_up_is_content(name: str, told: str) -> None:
    event = Event(reply=None, seq=1, type="tool.started", at=clock.now(), data={"name": name})  # type: ignore[arg-type]
    assert staff_event(event, shown=False)["words"] == f"A tool is used: {told}."

"""Artifacts and presets in the admin, and replies that work silently."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from artifacts.models import Preset
from artifacts.sources.preset import instruction_text
from artifacts.staff.artifact_page import artifact_page
from conversations.models import Assistant, ContextSnapshot, Message
from conversations.replies import opening
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_snapshot, make_thread
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.html import as_read

pytestmark = pytest.mark.django_db


def silent_request(user: User) -> ContextSnapshot:
    """The recorded request of a preset that was clicked just now."""
    thread = make_thread(user, ["We rent boats.", "I see."], assistant=Assistant.objects.get(slug="analyst"))
    opened = opening.open_preset(user=user, thread_id=thread.id, slug="brd", click=None)
    return ContextSnapshot.objects.get(reply=opened.reply)


def test_a_version_leads_to_the_turn_the_reply_and_the_request_that_made_it(staff: StaffReader) -> None:
    thread = make_thread(turns=["Write a BRD"])
    reply = make_reply(thread)
    values = {"role": "assistant", "text": "Done", "token_count": 5, "token_total": 10, "created_at": reply.created_at}
    answer = Message.objects.create(thread=thread, position=2, depth=2, reply=reply, **values)
    first, second = make_snapshot(reply=reply), make_snapshot(reply=reply, round=2)
    artifact = make_artifact(thread, "# BRD", reply_id=reply.id)
    later = make_snapshot(reply=reply, round=3)
    assert first.created_at < second.created_at < artifact.created_at < later.created_at
    page = as_read(staff.get(page_url("artifact", artifact.pk)).text)
    links = re.findall(r'<a href="([^"]+)">(Turn|Reply|Model request)</a>', page)
    assert links == [
        (page_url("message", answer.pk), "Turn"),
        (page_url("reply", reply.pk), "Reply"),
        (page_url("contextsnapshot", second.pk), "Model request"),
    ]
    assert (
        f'<a href="{page_url("contextsnapshot", second.pk)}">model request</a>' in staff.get(list_url("artifact")).text
    )
    assert (
        f'<a href="{page_url("artifact", artifact.pk)}">artifact {artifact.pk}, version 1</a>'
        in staff.get(page_url("reply", reply.pk)).text
    )


def test_many_versions_come_page_by_page_and_a_long_one_whole_by_itself(staff: StaffReader) -> None:
    artifact = make_artifact(make_thread(), *(f"{number}" for number in range(1, 41)), "x" * 99_000 + "the end")
    pages = [artifact_page(artifact, before=before, version="", shown=True) for before in ("", "22", "2")]
    assert [[each.row.number for each in page.versions] for page in pages] == [
        [*range(41, 21, -1)],
        [*range(21, 1, -1)],
        [1],
    ]
    assert [page.older for page in pages] == [22, 2, None]
    text = staff.read(page_url("artifact", artifact.pk)).text
    assert ('<a href="?version=41">All 99,007 characters</a>' in text, "the end" in text) == (True, False)
    whole = staff.read(page_url("artifact", artifact.pk) + "?version=41").text
    assert ("the end" in whole, "All 99,007" in whole) == (True, False)
    assert "No versions here." in staff.get(page_url("artifact", artifact.pk) + "?version=42").text


def test_the_page_costs_the_same_for_one_version_as_for_many(staff: StaffReader) -> None:
    one, many = make_artifact(make_thread(), "x"), make_artifact(make_thread(), *map(str, range(30)))
    counts = []
    for artifact in (one, one, many):
        with CaptureQueriesContext(connection) as queries:
            staff.read(page_url("artifact", artifact.pk))
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_staff_find_deleted_artifacts_and_those_of_presets(staff: StaffReader) -> None:
    thread = make_thread()
    kept, preset = make_artifact(thread, title="kept"), make_artifact(thread, title="preset", preset="brd")
    gone = make_artifact(thread, title="gone", deleted_at=thread.created_at)

    def found(**query: str) -> set[object]:
        return {row.pk for row in staff.get(list_url("artifact", **query)).context["cl"].queryset}

    assert found(deleted_at__isempty="0") == {gone.pk}
    assert found(preset__isempty="0") == found(preset__exact="brd") == {preset.pk}
    assert found(kind__exact="document") == {kept.pk, preset.pk, gone.pk}


def test_staff_change_a_preset_and_see_what_is_sent(staff: StaffReader) -> None:
    preset, companion = Preset.objects.get(slug="brd"), Assistant.objects.get(slug="companion")
    values = {"name": "BRD", "slug": "brd", "prompt": "Write <it> down.", "kind": "table", "order": 9}
    response = staff.post(page_url("preset", preset.pk), values | {"assistants": [companion.pk], "is_active": "on"})
    assert response.status_code == 302
    preset.refresh_from_db()
    told = (preset.name, preset.prompt, preset.kind, [*preset.assistants.all()])
    assert told == ("BRD", "Write <it> down.", "table", [companion])
    assert "Write &lt;it&gt; down." in staff.get(page_url("preset", preset.pk)).text
    assert "“BRD”" in instruction_text(preset)


def test_a_silent_reply_says_which_preset_it_works_for(staff: StaffReader, root: User) -> None:
    snapshot = silent_request(root)
    page = staff.get(page_url("reply", snapshot.reply_id)).text
    assert "none: the preset “brd” works silently" in page
    assert f'<a href="{page_url("contextsnapshot", snapshot.pk)}">silent artifact, round 1 (pending)</a>' in page
    assert "preset brd" in staff.get(list_url("reply")).text


def test_the_request_of_a_silent_reply_shows_its_instruction_and_no_message(staff: StaffReader, root: User) -> None:
    snapshot = silent_request(root)
    page = staff.read(page_url("contextsnapshot", snapshot.pk)).text
    assert "no turn, but the preset “brd”" in page
    assert "The preset&#x27;s instruction" in page
    assert "Write a business requirements document" in page
    assert "proven ✓" in page
    assert "round 1" in staff.get(list_url("contextsnapshot")).text

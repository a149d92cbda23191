"""The lists: what they cost, how they are searched, and what they say while they are empty."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from artifacts.models import Preset
from conversations.accounts.tokens import issue
from conversations.models import Assistant, ContentAccess, Model, ModelPrice, Thread
from memory.models import Consolidation, ThreadSummary, Topic
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_file, make_snapshot, make_thread, make_user
from tests.conversations.staff.conftest import MEMORY, StaffReader, list_url, page_url
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

pytestmark = pytest.mark.django_db

LISTS = [
    "thread",
    "reply",
    "message",
    "contextsnapshot",
    "apitoken",
    "assistant",
    "model",
    "artifact",
    "file",
    "preset",
    *MEMORY,
]
AT = datetime(2026, 11, 20, 23, 59, 1, tzinfo=UTC)


def make_rows() -> None:
    user = make_user()
    issue(user=user, name="script")
    snapshot = make_snapshot(make_thread(user, ["Hello?", "Hello.", "Who are you?"]))
    make_artifact(snapshot.thread, "old", "new", reply_id=snapshot.reply_id)
    make_file(user, thread=snapshot.thread)
    make_remembered(snapshot.thread)
    preset = Preset.objects.create(slug=f"preset{snapshot.pk}", name="A preset", prompt="Write.")
    preset.assistants.set(Assistant.objects.all())
    model = Model.objects.create(provider="offline", name=f"m{snapshot.pk}", context_window=9, max_output=1)
    ModelPrice.objects.create(model=model, input=1, output=1, cache_write=1, cache_write_hour=1, cache_read=1)


def make_remembered(thread: Thread) -> None:
    """One row of each kind."""
    sources = list(thread.messages.values_list("id", flat=True))
    part = make_thread_summary(thread, AT, sources=sources)
    make_memory(thread.user, sources=sources)
    make_daily_summary(thread.user, "2026-11-20", parts=[part.pk])
    make_topic(thread.user, thread=thread, sources=sources)
    Consolidation.objects.create(user=thread.user, through=AT)


def queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


@pytest.mark.wide
def test_a_list_of_three_costs_as_many_queries_as_a_list_of_one(staff: StaffReader) -> None:
    urls = ["/admin/auth/user/", *map(list_url, LISTS)]
    make_rows()
    for url in urls:
        queries(staff, url)  # content types are read once a process
    of_one = {url: queries(staff, url) for url in urls}
    make_rows()
    make_rows()
    assert {url: queries(staff, url) for url in urls} == of_one


EMPTY = {
    "thread": "No threads. One appears here when somebody sends a first message.",
    "reply": "No replies. Each message that somebody sends starts one.",
    "message": "No turns. They appear here when somebody sends a message.",
    "contextsnapshot": "No model requests. Each message that somebody sends makes one",
    "apitoken": "No tokens. People make them at /account/tokens/, programs with their password at POST",
    "artifact": "No artifacts. The assistant makes them when somebody asks for one, or clicks a preset.",
    "file": "No files. One appears here when somebody uploads it",
    "model": "No models. Add those that your assistants name: until then they are taken for plain ones.",
    "preset": "No presets. Add one, and choose which assistants offer it.",
    "memory": "No memories. They come from what people say, ten minutes after they have stopped",
    "threadsummary": "No summaries. One is made of each part of a thread",
    "dailysummary": "No days. A day is summed up from the parts of threads that began on it.",
    "topic": "No topics. One is opened when somebody begins something and doesn&#x27;t finish it.",
    "consolidation": "Nothing is consolidated yet. It happens ten minutes after somebody has stopped writing.",
    "assistant": "No assistants. Add one: without it nobody can open a thread.",
}


def test_an_empty_list_says_how_it_fills(staff: StaffReader) -> None:
    for kind in (Assistant, Preset, Model):
        kind._default_manager.all().delete()
    assert [model for model in LISTS if EMPTY[model] not in staff.get(list_url(model)).text] == []


def count_results(client: Client, model: str, query: str) -> int:
    count: int = client.get(list_url(model, q=query)).context["cl"].result_count
    return count


def test_staff_find_rows_by_id_by_thread_and_by_user(staff: StaffReader) -> None:
    make_rows()
    snapshot = make_snapshot(make_thread(make_user("ada"), ["Hello?"]))
    artifact = make_artifact(snapshot.thread)
    make_remembered(snapshot.thread)
    own = {
        "thread": snapshot.thread_id,
        "reply": snapshot.reply_id,
        "contextsnapshot": snapshot.pk,
        "artifact": artifact.pk,
        "topic": Topic.objects.get(thread=snapshot.thread_id).pk,
        "threadsummary": ThreadSummary.objects.get(thread=snapshot.thread_id).pk,
    }
    for model, pk in own.items():
        searches = [str(pk), str(snapshot.thread_id), "ada", "nobody", "01a1fba9"]
        assert [count_results(staff, model, query) for query in searches] == [1, 1, 1, 0, 0], model


def test_a_search_without_a_hit_offers_the_whole_list(staff: StaffReader) -> None:
    make_rows()
    assert 'Nothing matches. <a href="?">Show all</a>.' in staff.get(list_url("thread", q="nobody")).text


def test_times_are_shown_with_their_zone(staff: StaffReader) -> None:
    thread = make_thread(created_at=AT, updated_at=AT)
    page = staff.get(list_url("thread", q=str(thread.pk))).text
    assert 'datetime="2026-11-20T23:59:01+00:00"><span>2026-11-20</span> <span>23:59:01 UTC</span></time>' in page


def test_a_title_stands_on_the_page_and_in_the_list_once_its_content_is_open(staff: StaffReader) -> None:
    thread = make_thread(title="word " * 39 + "end")
    assert "word end" not in staff.get(list_url("thread")).text
    assert "word end</dd>" in staff.read(page_url("thread", thread.pk)).text
    assert "word end</div>" in staff.get(list_url("thread")).text
    assert ContentAccess.objects.filter(user=thread.user, what="titles of threads").count() == 1

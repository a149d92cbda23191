"""Temporary chats: a word said in one is in nothing that outlives it, and in no other conversation while it is there."""

import json
import shutil
import uuid
from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from config.backups import backup
from conversations import schedule
from conversations.files import progress, storage
from conversations.models import TemporaryHour, Thread
from conversations.runtime.db import in_database
from conversations.tasks import close_temporary
from conversations.threads import temporary
from conversations.upkeep import hourly_figures
from memory.consolidation.pending_parts import due_parts
from memory.index.index_turns import catch_up
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory
from tests.memory.forgetting.test_canary import files_with, hexed
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer
from tests.uploads import FORM, form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SAID, NAME, WRITTEN, MADE, RATED = WORDS = ("zqsaidvix", "zqnamevix", "zqwrittenvix", "zqmadevix", "zqratedvix")


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


async def said_in_one(api: Api, model: ModelServer) -> str:
    """A temporary chat with a file, an artifact, feedback and a recorded request. Returns its id."""
    uploaded = (await api.send("POST", "files/", form(f"{WRITTEN}\n".encode(), f"{NAME}.md"), FORM)).body
    await in_database(progress.read_file)(uuid.UUID(uploaded["id"]))
    made = {"title": MADE, "kind": "document", "content": MADE}
    model.script(scripts.tool_use("save_artifact", made), scripts.text(f"I see, {SAID}."))
    message = {"content": f"My {SAID} is broken.", "files": [uploaded["id"]], "assistant": "analyst", "temporary": True}
    answer = (await api.post("threads/new/messages/", message)).body
    rated = {"value": -1, "text": RATED, "show_conversation": True}
    assert (await api.post(f"messages/{answer['assistant_message']['id']}/feedback/", rated)).status == 200
    return str(answer["thread"])


def kept(folder: Path, words: tuple[str, ...]) -> list[str]:
    """The words that stand in a backup that is made now."""
    backup.back_up(folder, key="", bytes_a_second=0, replica=False, progress=lambda what, size: None)
    unpacked = folder.with_suffix(".plain")
    unpacked.mkdir()
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            is_packed = path.suffix == ".gz"
            (unpacked / f"{len(list(unpacked.iterdir()))}").write_bytes(_unzipped(content) if is_packed else content)
    return [word for word in words if list(files_with(unpacked, [word]))]


def _unzipped(content: bytes) -> bytes:
    import gzip  # noqa: PLC0415

    return gzip.decompress(content)


async def test_what_is_said_in_one_is_nowhere_else_and_goes_with_it(
    user: User, api: Api, model: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    earlier = (await api.post("threads/new/messages/", {"content": "Good morning."})).body["thread"]
    thread = await said_in_one(api, model)
    await in_database(catch_up)(user.pk)

    lists = ("threads/", f"threads/?q={SAID}", "files/", f"memories/search/?q={SAID}", "export/", "tags/")
    shown = json.dumps([(await api.get(path)).body for path in lists], ensure_ascii=False)
    assert [word for word in WORDS if word in shown] == []
    assert {str(part.thread) for part in await in_database(due_parts)(user.pk, UTC)} == {earlier}
    sent = len(model.bodies)
    for place in ("new", earlier):
        model.script(scripts.tool_use("search_messages", {"query": SAID}), scripts.text("No."))
        await api.post(f"threads/{place}/messages/", {"content": f"What about the {SAID}?", "assistant": "analyst"})
    asked = json.dumps(model.bodies[sent:], ensure_ascii=False)
    assert "is broken" not in asked
    assert [word for word in WORDS[1:] if word in asked] == []
    assert await in_database(kept)(tmp_path / "open", WORDS[1:]) == []

    assert (await api.call("DELETE", f"threads/{thread}/")).status == 204
    await in_database(storage.remove_due)(timezone.now())
    gone = await in_database(rows_with)(*WORDS[1:])
    assert [row for row in gone if any(word in row or hexed(word) in row for word in WORDS[1:])] == []
    assert list(files_with(settings.OPENBOOK_FILES_DIR, list(WORDS))) == []
    assert thread not in json.dumps(await in_database(rows_with)(thread))
    [row] = [row async for row in TemporaryHour.objects.all()]
    assert (row.figures["temporary"], row.figures["status completed"]) == (1, 2)


async def test_nothing_remembered_is_used_in_one_unless_it_is_switched_on(
    user: User, api: Api, model: ModelServer
) -> None:
    await in_database(make_memory)(user, "Keeps a zqremembervix.")
    thread = (await api.post("threads/", {"temporary": True})).body
    assert (thread["temporary"], thread["remembers"]) == (True, False)
    await api.post(f"threads/{thread['id']}/messages/", {"content": "Hello"})
    assert "zqremembervix" not in json.dumps(model.bodies[-1])
    assert (await api.call("PATCH", f"threads/{thread['id']}/", {"remembers": True})).body["remembers"] is True
    await api.post(f"threads/{thread['id']}/messages/", {"content": "And now?"})
    assert "zqremembervix" in json.dumps(model.bodies[-1])
    refused = await api.call("PATCH", f"threads/{thread['id']}/", {"temporary": False})
    assert refused.code == (400, "invalid_request", "invalid_message")


async def test_that_something_is_remembered_and_left_out_is_told_by_its_place_alone(
    user: User, api: Api, model: ModelServer
) -> None:
    earlier = (await api.post("threads/new/messages/", {"content": "My boat is called Zqboatvix."})).body["thread"]
    await in_database(catch_up)(user.pk)
    thread = (await api.post("threads/", {"temporary": True})).body["id"]
    for remembers in (True, False):
        await api.call("PATCH", "preferences/", {"remembers": remembers})
        await api.post(f"threads/{thread}/messages/", {"content": "What is my boat called?"})
    off, on = (await api.get(f"threads/{thread}/requests/")).body["results"]
    of_others = [[item for item in request["items"] if item.get("thread") == earlier] for request in (on, off)]
    assert [{(item["included"], item["reason"]) for item in items} for items in of_others] == [
        {(False, "temporary")},
        set(),
    ]
    assert "zqboatvix" not in json.dumps([model.bodies[-2:], of_others]).lower()


def test_one_that_is_due_goes_once_the_server_is_back(user: User) -> None:
    now = timezone.now()
    make_thread(user, ["Hello"], temporary=True, updated_at=now - timedelta(days=3))
    schedule.sweep(at=now)
    assert DBTaskResult.objects.filter(task_path=close_temporary.module_path).count() == 1
    close_temporary.call()
    assert not Thread.objects.exists()


def test_one_goes_when_it_was_left_or_idle_and_a_page_that_comes_back_keeps_it(user: User) -> None:
    now = timezone.now()

    def chat(**values: object) -> Thread:
        return make_thread(user, ["Hello"], temporary=True, **values)

    there, left = chat(), chat(left_at=now - temporary.GRACE - timedelta(seconds=1))
    back, idle = chat(left_at=now - temporary.GRACE * 2), chat(updated_at=now - temporary.IDLE - timedelta(seconds=1))
    other = make_thread(user, ["Hello"], updated_at=now - timedelta(days=9))
    temporary.stay(user.pk, back.id)
    temporary.leave(user.pk, other.id)
    assert {thread.id for thread in temporary.due(now)} == {left.id, idle.id}
    assert temporary.close_due(now) == 2
    assert {*Thread.objects.values_list("id", flat=True)} == {there.id, back.id, other.id}


def test_figures_of_closed_ones_are_in_the_overview(user: User) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    figures = {"temporary": 1, "input": 7}
    TemporaryHour.objects.create(
        hour=hour, assistant=make_thread(user).assistant, provider="anthropic", model="m", above=0, figures=figures
    )
    [told] = hourly_figures.hours(hour, timezone.now())
    assert dict(told.figures) == figures

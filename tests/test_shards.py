"""Ready to shard: with the tables of persons spread over partitions by person, all that a person waits for touches one
partition of each, so that a sharded PostgreSQL can answer it from one server. What crosses persons is named."""

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient
from pytest_django import Settings

from conversations.files import progress
from conversations.runtime.db import in_database
from conversations.threads import deletion
from memory.backends.mirroring import mirror
from memory.consolidation import consolidation_state
from memory.consolidation.consolidate import consolidate
from memory.index.index_anew import index_anew
from memory.index.index_turns import catch_up
from memory.models import Memory, StaleIndex
from tests import model_scripts as scripts
from tests.conftest import work_in
from tests.conversations.factories import make_user
from tests.conversations.rest.client import Api
from tests.conversations.web.conftest import signed_in
from tests.conversations.web.sockets import connected
from tests.memory.factories import make_memory
from tests.memory_server import MemoryServer
from tests.model_server import ModelServer
from tests.services import fresh_database
from tests.shards import Planned, planned, spread
from tests.uploads import FORM, form

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture
def spread_tables(transactional_db: None, migrated: str) -> Iterator[list[str]]:
    """Django works in a database of its own, whose tables of persons are spread by person."""
    before = connection.settings_dict["NAME"]
    with fresh_database(migrated) as url:
        with psycopg.connect(url) as maker:
            tables = spread(maker)
        work_in(urlsplit(url).path[1:])
        yield tables
        work_in(before)


@pytest.fixture
def user(spread_tables: list[str]) -> User:
    make_user("somebody")
    return make_user("ada")


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


CROSSING = {
    "what estimated tokens come to": '"conversations_contextsnapshot"."token_factor"',
    "whose a reply is": 'SELECT "conversations_reply"."user_id" AS "user" FROM "conversations_reply"',
    "whose a file is": 'WHERE ("conversations_file"."id" = %s AND "conversations_file"."state" = %s)',
    "whose a shared link is": 'AND "conversations_share"."digest" = %s',
}
"""What looks at rows of all persons while one is served or a worker works for one, by the words of docs/scaling.md, and a part
of the statement."""


async def talk(api: Api, user: User, model: ModelServer) -> str:
    """What a person waits for: replies, streams, lists, earlier turns, previews, recall."""
    first = (await api.post("threads/new/messages/", {"content": "The ferry to Orust leaves at nine."})).body
    thread = first["thread"]
    asked = {"content": "And back?"}
    told = [each async for each in api.events("POST", f"threads/{thread}/messages/stream/", asked)]
    assert told[-1]["type"] == "reply.completed"
    await in_database(catch_up)(user.pk)
    recalled = (await api.post("threads/new/messages/", {"content": "When does the ferry to Orust leave?"})).body
    assert recalled["reply"]["status"] == "completed"
    read = [
        await api.post(f"threads/{thread}/context/", {"content": "When does the ferry leave?"}),
        await api.get("threads/"),
        await api.get(f"threads/{thread}/"),
        await api.get(f"threads/{thread}/messages/"),
    ]
    assert [each.status for each in read] == [200] * 4
    again = [each async for each in api.events("GET", f"replies/{told[-1]['reply']}/events/")]
    assert again[-1] == told[-1]
    return str(thread)


async def answer_otherwise(api: Api, model: ModelServer, session: str, thread: str) -> None:
    """A reply is stopped and tried again; a socket and the chat page; a request looked at."""
    gate = scripts.Gate()
    model.script(scripts.text("The first half", gate, " never came."))
    async with connected(thread, session=session) as socket:
        await socket.send("message.send", content="Tell me of the ferry", client_message_id="1")
        [*_, half] = await socket.until("reply.delta")
        stopped = await api.post(f"replies/{half['reply']}/stop/")
        assert stopped.status in {200, 202}
        gate.open()
        assert (await socket.reply())[-1]["type"] == "reply.stopped"
    model.script(scripts.text("At nine.", stop_reason="max_tokens"))
    begun = await api.post(f"replies/{half['reply']}/retry/")
    again = [each async for each in api.events("GET", f"replies/{begun.body['id']}/events/")]
    assert again[-1]["type"] == "reply.completed"
    further = await api.post(f"replies/{again[-1]['reply']}/continue/")
    gone_on = [each async for each in api.events("GET", f"replies/{further.body['id']}/events/")]
    assert gone_on[-1]["type"] == "reply.completed"
    await page(f"/threads/{thread}/", session)
    [request, *_] = (await api.get(f"threads/{thread}/requests/")).body["results"]
    assert (await api.get(f"requests/{request['id']}/")).status == 200


async def make_artifacts(api: Api, model: ModelServer) -> None:
    thread = (await api.post("threads/", {"assistant": "analyst"})).body["id"]
    saved = {"title": "Plan", "kind": "document", "content": "# Plan"}
    model.script(scripts.tool_use("save_artifact", saved), scripts.text("Saved."))
    said = await api.post(f"threads/{thread}/messages/", {"content": "Write a plan of the journey."})
    assert said.body["reply"]["status"] == "completed"
    [artifact] = (await api.get(f"threads/{thread}/artifacts/")).body["results"]
    model.script(scripts.tool_use("read_artifact", {"artifact": artifact["id"]}), scripts.text("Read."))
    assert (await api.post(f"threads/{thread}/messages/", {"content": "What is in it?"})).status == 201
    path = f"artifacts/{artifact['id']}/"
    changed = await api.call("PATCH", path, {"content": "# Another plan"})
    made = await api.post(f"threads/{thread}/artifacts/", {"title": "List", "content": "- a"})
    read = [await api.get(f"{path}{each}") for each in ("", "versions/", "versions/1/", "export/")]
    assert [each.status for each in (made, changed, *read)] == [201] + [200] * (1 + len(read))
    assert (await api.call("DELETE", path)).status == 204
    assert (await api.post(f"{path}restore/")).status == 200
    assert (await api.post(f"threads/{thread}/presets/brd/")).status == 201
    assert (await api.get(f"threads/{thread}/presets/")).body["results"]


async def use_files(api: Api, model: ModelServer) -> None:
    uploaded = await api.send("POST", "files/", form(b"The greenhouse keeps 300 orchids."), FORM)
    assert uploaded.status == 201, uploaded.body
    file = uploaded.body["id"]
    await in_database(progress.read_file)(uuid.UUID(file))
    model.script(scripts.tool_use("read_file", {"file": "notes.txt", "parts": "1"}), scripts.text("300."))
    said = await api.post("threads/new/messages/", {"content": "How many orchids?", "files": [file]})
    assert said.body["reply"]["status"] == "completed"
    read = [await api.get(f"files/{path}") for path in ("", f"{file}/", f"{file}/parts/", f"{file}/content/")]
    assert [each.status for each in read] == [200] * 4


async def search(api: Api, model: ModelServer, session: str) -> None:
    """By the person, in lists, pages and what is remembered, and by the model."""
    found = [await api.get(f"{path}orchids") for path in ("threads/?q=", "memories/search/?q=", "memories/?q=")]
    assert [each.status for each in found] == [200] * 3
    assert found[0].body["results"] and found[1].body["results"]
    await page("/?q=orchids greenhouse", session)
    model.script(scripts.tool_use("search_messages", {"query": "greenhouse orchids"}), scripts.text("300."))
    thread = (await api.post("threads/", {"assistant": "analyst"})).body["id"]
    said = await api.post(f"threads/{thread}/messages/", {"content": "Search for what the greenhouse keeps."})
    assert said.body["reply"]["status"] == "completed"


async def share(api: Api, session: str, thread: str, settings: Settings) -> None:
    """A thread and an artifact, each by a link that somebody opens, and that is revoked."""
    settings.OPENBOOK_SHARING = True
    made = await api.post(f"threads/{thread}/artifacts/", {"title": "Towns", "content": "- Orust"})
    for path in (f"threads/{thread}", f"artifacts/{made.body['id']}"):
        shared = await api.post(f"{path}/shares/", {"book": True, "files": True})
        assert shared.status == 201, shared.body
        await page(urlsplit(shared.body["url"]).path, session)
        assert (await api.get("shares/")).body["results"]
        assert (await api.call("DELETE", f"shares/{shared.body['id']}/")).status == 204


async def page(path: str, session: str) -> None:
    response = await AsyncClient().get(path, headers={"Cookie": f"sessionid={session}"})
    assert response.status_code == 200


async def remember(api: Api, model: ModelServer, user: User, session: str, thread: str) -> dict[str, Any]:
    """A worker makes notes, by rules and by a model; the person reads, writes, corrects and ends them. Returns a note that
    rests on a turn."""
    told = ("I live in Hamburg and I have two cats.", "I need to renew my passport by Friday.", "I moved to Bremen.")
    for text in told:
        assert (await api.post(f"threads/{thread}/messages/", {"content": text})).status == 201
        await in_database(consolidate)(user.pk)
    await in_database(consolidation_state.record_failure)(user.pk, "unreachable")
    made = await api.post("memories/", {"content": "Ada's locker is 12.", "tags": [f"thread:{thread}"]})
    changed = await api.call("PATCH", f"memories/{made.body['id']}/", {"content": "Ada's locker is 13."})
    lists = [
        "memories/",
        "memories/?ended=true",
        f"memories/?thread={thread}",
        "topics/",
        "topics/?resolved=true",
        "days/",
    ]
    read = [await api.get(each) for each in [*lists, f"memories/{made.body['id']}/", "preferences/", "accesses/"]]
    assert [each.status for each in (made, changed, *read)] == [201] + [200] * (len(read) + 1)
    notes, topics, days = (read[place].body["results"] for place in (0, 3, 5))
    [note, *_] = [each for each in notes if each["sources"]]
    assert (await api.call("PATCH", f"memories/{note['id']}/", {"content": "Ada lives in Hamburg."})).status == 200
    [topic, *_] = topics
    assert days and topic["thread"]
    assert (await api.call("PATCH", f"topics/{topic['id']}/", {"resolved": True})).status == 200
    await page("/memory/", session)
    await page("/memory/?q=locker", session)
    assert (await api.call("PATCH", "preferences/", {"time_zone": "Europe/Lisbon"})).status == 200
    assert (await api.call("DELETE", f"topics/{topic['id']}/")).status == 204
    await in_database(consolidate)(user.pk)
    assert (await api.get("limits/")).status == 200
    return dict(note)


async def bring(api: Api, model: ModelServer, thread: str) -> None:
    """What was said elsewhere, by the Messages API: a thread with its history, and the next question to it; sent twice."""
    said = [
        "My dachshund is called Waldemar.",
        "A fine name.",
        "How old may he get?",
        "About 14 years.",
        "And a greyhound?",
    ]
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    for number in (3, 5, 5):
        call = {"model": "companion", "max_tokens": 500, "messages": messages[:number]}
        model.script(scripts.text("About 14 years."))
        answer = await api.post(
            "/v1/messages", call, **{"x-api-key": api.headers["Authorization"].removeprefix("Token ")}
        )
        assert answer.status == 200, answer.body
    twice = [
        await api.post(f"threads/{thread}/messages/", {"content": "Once.", "client_message_id": "once"})
        for _ in range(2)
    ]
    assert twice[0].body["user_message"]["id"] == twice[1].body["user_message"]["id"]
    assert (await api.call("PATCH", f"threads/{thread}/", {"title": "The ferry"})).status == 200


async def carry(api: Api) -> None:
    """All of it out, and in again beside it."""
    threads = (await api.get("threads/")).body["results"]
    out = [await api.get(path) for path in ("export/", *(f"threads/{each['id']}/export/" for each in threads))]
    assert {each.status for each in out} == {200}
    archive: Any = await api.client.get("/api/v1/export/?as=zip", headers=api.headers)
    content = b"".join([piece async for piece in archive])
    stored = await api.send("POST", "import/?ids=new", content, "application/zip")
    assert stored.status == 201 and stored.body["files"] and stored.body["memories"]


def index_again(user: User) -> None:
    """As after an upgrade that brought other rules for words."""
    StaleIndex.objects.create(user=user)
    index_anew(user.pk, lambda: True)


async def forget(api: Api, user: User, session: str, note: dict[str, Any], thread: str) -> None:
    """A note, a turn, all turns of a thread, a file, a thread, all that is remembered, and the account."""
    [turn, *_] = (await api.get(f"threads/{thread}/messages/")).body["results"]
    threads = [each["id"] for each in (await api.get("threads/")).body["results"]]
    [file, *_] = (await api.get("files/")).body["results"]
    assert (await api.get(f"files/{file['id']}/given/")).status == 200
    for path in (f"memories/{note['id']}", f"messages/{turn['id']}"):
        told, done = await api.get(f"{path}/forgetting/"), await api.post(f"{path}/forget/")
        assert (told.status, done.status) == (200, 200)
        assert told.body["turns"] and told.body == done.body
    await in_database(consolidate)(user.pk)
    assert (await api.call("DELETE", f"files/{file['id']}/")).status == 204
    assert (await api.get(f"threads/{thread}/clearing/")).body["messages"]
    assert (await api.post(f"threads/{thread}/clear/")).status == 200
    assert (await api.call("DELETE", f"threads/{thread}/")).status == 204
    other = next(each for each in threads if each != thread)
    assert (await api.call("DELETE", f"threads/{other}/")).status == 204
    await api.post("threads/new/messages/", {"content": "I live in Porto and I have a dog."})
    await in_database(consolidate)(user.pk)
    assert (await api.get("memories/forgetting/")).status == 200
    assert (await api.post("memories/forget/", {"all": True})).status == 200
    await page("/account/", session)
    await in_database(deletion.delete_user)(user)


@pytest.mark.wide
async def test_what_is_one_persons_touches_one_partition(
    user: User,
    api: Api,
    model: ModelServer,
    spread_tables: list[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    session = await in_database(signed_in)(user)
    with planned(monkeypatch) as seen:
        thread = await talk(api, user, model)
        await answer_otherwise(api, model, session, thread)
        await make_artifacts(api, model)
        await use_files(api, model)
        await search(api, model, session)
        await bring(api, model, thread)
        await share(api, session, thread, settings)
        note = await remember(api, model, user, session, thread)
        await in_database(index_again)(user)
        await carry(api)
        await forget(api, user, session, note, thread)
    assert unnamed(seen) == []
    crossing = [each.statement for each in seen if each.crosses_persons]
    assert [name for name, part in CROSSING.items() if not any(part in each for each in crossing)] == []
    touched = {table for each in seen for table in each.partitions}
    assert touched == {*spread_tables} - {"memory_mirroredmemory", "conversations_heldrow"}


def unnamed(seen: Sequence[Planned]) -> list[tuple[str, dict[str, int], str]]:
    """The statements that look at rows of others and are not among ``CROSSING``: where each is asked, and how many partitions
    of which tables it touches."""
    return [
        (
            each.asked_at,
            {table: len(places) for table, places in each.partitions.items() if len(places) > 1},
            each.statement,
        )
        for each in {each.statement: each for each in seen if each.crosses_persons}.values()
        if not any(part in each.statement for part in CROSSING.values())
    ]


@pytest.mark.wide
def test_another_memory_service_is_kept_up_from_one_partition(
    user: User, memory_service: MemoryServer, spread_tables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, gone = make_memory(user, "Ada sails."), make_memory(user, "Ada smokes.")
    with planned(monkeypatch) as seen:
        assert mirror(user.pk) == 2
        Memory.objects.filter(user=user, id=gone.id).delete()
        Memory.objects.filter(user=user, id=kept.id).update(content="Ada sails to Orust.")
        assert (mirror(user.pk), len(memory_service.documents)) == (2, 1)
    assert unnamed(seen) == []
    assert {"memory_memory", "memory_mirroredmemory"} <= {table for each in seen for table in each.partitions}


def test_what_crosses_persons_is_named_in_the_docs() -> None:
    text = " ".join((ROOT / "docs" / "scaling.md").read_text().split())
    assert [name for name in CROSSING if name not in text] == []

"""Ready to shard: with the tables of persons spread over partitions by person, all that a person waits for touches one
partition of each, so that a sharded PostgreSQL can answer it from one server. What crosses persons is named."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient

from conversations.files import progress
from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up
from tests import model_scripts as scripts
from tests.conftest import work_in
from tests.conversations.factories import make_user
from tests.conversations.rest.client import Api
from tests.conversations.web.conftest import signed_in
from tests.conversations.web.sockets import connected
from tests.model_server import ModelServer
from tests.services import fresh_database
from tests.shards import planned, spread
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
    "by the row that it stands beside": '"U0"."user_id" = ("artifacts_artifact"."user_id")',
}
"""What looks at rows of all persons while one is served, by the words of docs/scaling.md, and a part of the statement."""


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
    page = await AsyncClient().get(f"/threads/{thread}/", headers={"Cookie": f"sessionid={session}"})
    assert page.status_code == 200
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
    assert (await api.get(f"artifacts/{artifact['id']}/")).status == 200


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


async def test_what_a_person_waits_for_touches_one_partition(
    user: User, api: Api, model: ModelServer, spread_tables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await in_database(signed_in)(user)
    with planned(monkeypatch) as seen:
        thread = await talk(api, user, model)
        await answer_otherwise(api, model, session, thread)
        await make_artifacts(api, model)
        await use_files(api, model)
    crossing = {each.statement: each.partitions for each in seen if each.crosses_persons}
    named = {name for statement in crossing for name, part in CROSSING.items() if part in statement}
    unnamed = [
        ({table: len(places) for table, places in partitions.items() if len(places) > 1}, statement)
        for statement, partitions in crossing.items()
        if not any(part in statement for part in CROSSING.values())
    ]
    assert unnamed == []
    assert named == CROSSING.keys()
    touched = {table for each in seen for table in each.partitions}
    assert touched >= {f"conversations_{name}" for name in ("thread", "message", "reply", "contextsnapshot")}
    assert touched <= {*spread_tables}


def test_what_crosses_persons_is_named_in_the_docs() -> None:
    text = " ".join((ROOT / "docs" / "scaling.md").read_text().split())
    assert [name for name in CROSSING if name not in text] == []

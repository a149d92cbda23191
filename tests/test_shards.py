"""Ready to shard: with the tables of persons spread over partitions by person, all that a person waits for touches one
partition of each, so that a sharded PostgreSQL can answer it from one server. What crosses persons is named."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection

from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up
from tests.conftest import work_in
from tests.conversations.factories import make_user
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer
from tests.services import fresh_database
from tests.shards import planned, spread

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
}
"""What looks at rows of all persons while one is served, by the words of docs/scaling.md, and a part of the statement."""


async def talk(api: Api, user: User, model: ModelServer) -> None:
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


async def test_what_a_person_waits_for_touches_one_partition(
    user: User, api: Api, model: ModelServer, spread_tables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with planned(monkeypatch) as seen:
        await talk(api, user, model)
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

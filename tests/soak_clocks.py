"""Two servers, one of which has a clock that is two days ahead or behind, and is set right, or wrong the other
way, in mid-reply; and a worker with such a clock.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from conversations.replies.events import LEASE
from tests import model_scripts as scripts
from tests.clients import Json, ServerClient
from tests.clocks import Clock
from tests.model_server import ModelServer
from tests.processes import ROOT, server_process, started_in
from tests.services import fresh_database
from tests.test_files import upload
from tests.test_processes import PASSWORD, text_of
from tests.waiting import until

RIGHT, AHEAD, BEHIND = timedelta(0), timedelta(days=2), timedelta(days=-2)
RETAIN, DELETE = "conversations.tasks.retain", "conversations.tasks.delete_accounts"
LEAVING = """
WITH leaving AS (
    INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
    VALUES ('leaving', '', false, false, true, '', '', '', now()) RETURNING id
)
INSERT INTO conversations_accountdeletion (user_id, asked_at, due_at) SELECT id, now(), now() + interval '1 day' FROM leaving
"""
AS_LATER = "UPDATE django_tasks_database_dbtaskresult SET enqueued_at = enqueued_at - interval '11 minutes'"
TASKS = "SELECT task_path, status FROM django_tasks_database_dbtaskresult WHERE task_path = ANY(%s)"
LEFT = "SELECT lease_until - now(), lease_until FROM conversations_reply WHERE id = %s AND status = 'running'"
REST = """
SELECT (SELECT count(*) FROM conversations_contextsnapshot_rest) + (SELECT count(*) FROM conversations_replyevent_rest)
"""


@dataclass(frozen=True)
class Installation:
    """``off`` is the server whose clock is set, ``true`` the other."""

    clock: Clock
    off: ServerClient
    true: ServerClient
    model: ModelServer
    database: str

    def lease(self, reply: str) -> tuple[timedelta, datetime] | None:
        """What is left of it by the database's clock, and its end."""
        with psycopg.connect(self.database) as connection:
            return connection.execute(LEFT, [reply]).fetchone()


@pytest.fixture
def installation(migrated: str, redis_url: str, tmp_path: Path) -> Iterator[Installation]:
    clock = Clock(tmp_path / "clock")
    clock.set(RIGHT)
    with ExitStack() as stack:
        database = stack.enter_context(fresh_database(migrated))
        model = stack.enter_context(ModelServer())
        environment = {
            "REDIS_URL": redis_url,
            "OPENBOOK_DATA_DIR": str(tmp_path / "data"),
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_LIMIT_REQUESTS_MINUTE": "1000",
            "OPENBOOK_LIMIT_RUNNING_REPLIES": "2",
        }
        true = stack.enter_context(server_process(database, **environment))
        off = stack.enter_context(server_process(database, **clock.environment, **environment))
        token = ServerClient.signed_in(true.url, password=PASSWORD).token
        client = ServerClient(off.url, token)
        # libfaketime makes threads that import at the same time very slow.
        client.call("POST", "threads/new/messages/", {"content": "Are you there?"}, seconds=240)
        yield Installation(clock, client, ServerClient(true.url, token), model, database)


def begin(client: ServerClient, thread: str, content: str) -> tuple[Iterator[Json], list[Json]]:
    """A reply that has begun to speak: its stream, and what came of it."""
    stream = client.events(f"threads/{thread}/messages/stream/", {"content": content})
    events = [next(stream)]
    while events[-1]["type"] != "reply.delta":
        events.append(next(stream))
    return stream, events


@pytest.mark.parametrize(
    ("by", "then"),
    [(AHEAD, RIGHT), (BEHIND, RIGHT), (AHEAD, BEHIND), (BEHIND, AHEAD)],
    ids=["ahead", "behind", "ahead and then behind", "behind and then ahead"],
)
def test_a_server_whose_clock_is_wrong_and_set_in_the_midst(
    installation: Installation, by: timedelta, then: timedelta
) -> None:
    clock, off, true, model = installation.clock, installation.off, installation.true, installation.model
    gates = {"First": scripts.Gate(), "Second": scripts.Gate(), "Fourth": scripts.Gate()}

    def answer(body: Json) -> scripts.ScriptedStream:
        asked = scripts.newest_user_text(body["messages"]).split()[-1]
        return scripts.text(f"{asked} ", *(gate for word, gate in gates.items() if word == asked), "answered")

    model.script(answer)

    stream, first = begin(off, "new", "First")
    thread = first[0]["data"]["thread"]
    clock.set(by)
    keeps_its_lease(installation, first[0]["reply"])
    gates["First"].open()
    first += stream
    assert (first[-1]["type"], text_of(first)) == ("reply.completed", "First answered")

    stream, second = begin(off, thread, "Second")
    keeps_its_lease(installation, second[0]["reply"])
    gates["Second"].open()
    # Read on at the other server, whose clock is right.
    second += true.events(f"replies/{second[0]['reply']}/events/?after={len(second)}")
    assert (second[-1]["type"], text_of(second)) == ("reply.completed", "Second answered")

    again = retried(true, second[0]["reply"])
    once_more = retried(off, again)
    third = true.call("POST", f"threads/{thread}/messages/", {"content": "Third"})["reply"]["id"]

    stream, fourth = begin(off, thread, "Fourth")
    clock.set(then)
    keeps_its_lease(installation, fourth[0]["reply"])
    gates["Fourth"].open()
    fourth += stream
    assert (fourth[-1]["type"], text_of(fourth)) == ("reply.completed", "Fourth answered")
    four_again = retried(true, fourth[0]["reply"])
    fifth = off.call("POST", f"threads/{thread}/messages/", {"content": "Fifth"})["reply"]["id"]

    turns = true.messages(thread)
    words = ("First", "Second", "Third", "Fourth", "Fifth")
    said = [text for word in words for text in (word, f"{word} answered")]
    assert [turn["text"] for turn in turns] == said
    assert [turn["position"] for turn in turns] == sorted(turn["position"] for turn in turns)
    assert [turn["reply"]["id"] for turn in turns if turn["role"] == "user"] == [
        first[0]["reply"], once_more, third, four_again, fifth,
    ]  # fmt: skip
    given = list(pages(true, f"threads/{thread}/requests/"))
    assert [request["status"] for request in given] == ["completed"] * 8
    whole = [true.call("GET", f"requests/{request['id']}/") for request in given]
    last = next(request for request in whole if "Fifth" in str(request["request"]["messages"][-1]))
    sent = str(last["request"]["messages"])
    places = [sent.index(f"'{text}") for text in said[:-1]]
    assert places == sorted(places)
    assert without_partition(installation) == 0
    for client in (off, true):
        client.call("GET", "limits/")
        assert ServerClient.signed_in(client.url, password=PASSWORD).call("GET", f"threads/{thread}/")["id"] == thread


def keeps_its_lease(installation: Installation, reply: str) -> None:
    """By the database's clock it has some seconds, and gets more again and again."""
    found = installation.lease(reply)
    assert found
    until(lambda: (now := installation.lease(reply)) and now[1] > found[1] + timedelta(seconds=1))
    left = installation.lease(reply)
    assert left
    assert timedelta(0) < left[0] <= LEASE


def retried(client: ServerClient, reply: str) -> str:
    """The id of the attempt that took its place."""
    again = str(client.call("POST", f"replies/{reply}/retry/")["id"])
    assert list(client.events(f"replies/{again}/events/"))[-1]["type"] == "reply.completed"
    return again


def pages(client: ServerClient, path: str) -> Iterator[Json]:
    page = client.call("GET", path)
    while True:
        yield from page["results"]
        if not page["next"]:
            return
        page = client.call("GET", page["next"].partition("/api/v1/")[2])


def without_partition(installation: Installation) -> int:
    with psycopg.connect(installation.database) as connection:
        found = connection.execute(REST).fetchone()
    assert found
    return int(found[0])


@pytest.mark.parametrize("by", [AHEAD, BEHIND], ids=["ahead", "behind"])
def test_a_worker_whose_clock_is_wrong_deletes_nothing_too_early_and_does_what_is_due(
    migrated: str, tmp_path: Path, by: timedelta
) -> None:
    """What was not sent yet stays for a day, as does an account that is to go, and upkeep is done every ten minutes."""
    clock = Clock(tmp_path / "clock")
    clock.set(by)
    environment = {"OPENBOOK_DATA_DIR": str(tmp_path / "data"), "OPENBOOK_FILES_DIR": str(tmp_path / "files")}
    with ExitStack() as stack:
        database = stack.enter_context(fresh_database(migrated))
        rows = stack.enter_context(psycopg.connect(database, autocommit=True))
        running = stack.enter_context(server_process(database, DJANGO_SUPERUSER_PASSWORD=PASSWORD, **environment))
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        file = upload(client, b"The ferry leaves at nine.")
        rows.execute(LEAVING)
        worker = stack.enter_context(
            started_in(ROOT, "work", "--skip-checks", DATABASE_URL=database, **clock.environment, **environment)
        )
        for number, then in enumerate((by, -by, RIGHT), 1):
            clock.set(then)
            until(lambda number=number: tasks(rows) == [(RETAIN, "SUCCESSFUL")] * number, seconds=240)  # type: ignore[misc]
            assert client.call("GET", f"files/{file['id']}/")["status"] in {"reading", "ready"}
            rows.execute(AS_LATER)
        again = upload(client, b"The train leaves at ten.")
        until(lambda: client.call("GET", f"files/{again['id']}/")["status"] == "ready")
        assert "this machine's clock is wrong" in worker.output
        assert rows.execute("SELECT count(*) FROM auth_user WHERE username = 'leaving'").fetchone() == (1,)


def tasks(rows: psycopg.Connection) -> list[tuple[str, str]]:
    """Those that delete."""
    return rows.execute(TASKS, [[RETAIN, DELETE]]).fetchall()

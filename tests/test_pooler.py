"""Servers, workers and commands through a PgBouncer in transaction mode with two connections for all of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg
import pytest

from tests.clients import ServerClient
from tests.pooler import Pooler, pgbouncer
from tests.processes import server, started
from tests.services import fresh_database
from tests.test_files import upload
from tests.test_processes import PASSWORD, QUICK, text_of
from tests.waiting import until

pytestmark = [pytest.mark.timeout(300), pytest.mark.operate]

CHEAP = {"DJANGO_SETTINGS_MODULE": "tests.server_settings"}
DELETE_ACCOUNT = """
INSERT INTO conversations_accountdeletion (user_id, asked_at, due_at) SELECT id, now(), now() FROM auth_user
WHERE username = 'grace'
"""


@dataclass(frozen=True)
class Installation:
    """Two servers, one of them with workers, whose database is met through the pooler; ``database`` is the way past it."""

    pooler: Pooler
    database: str
    one: ServerClient
    other: ServerClient

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def installation(migrated: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    shared = {**QUICK, "REDIS_URL": redis_url, "OPENBOOK_FILES_DIR": str(tmp_path_factory.mktemp("files"))}
    with (
        fresh_database(migrated) as database,
        pgbouncer(database) as pooler,
        server(pooler.url, **shared, OPENBOOK_WORKER="on") as one,
        server(pooler.url, **shared) as other,
    ):
        client = ServerClient.signed_in(one.url, password=PASSWORD)
        yield Installation(pooler, database, client, ServerClient(other.url, client.token))
        assert pooler.left_in_sessions() == set()


def test_many_who_talk_at_once_are_answered_and_every_turn_is_kept_once(installation: Installation) -> None:
    def talk(number: int) -> tuple[list[str], list[str]]:
        client = (installation.one, installation.other)[number % 2]
        first = list(client.events("threads/new/messages/stream/", {"content": f"Word {number}"}))
        thread = first[0]["data"]["thread"]
        second = client.call("POST", f"threads/{thread}/messages/", {"content": "And now?"})
        found = installation.one.messages(thread)
        texts = [f"Word {number}", text_of(first), "And now?", second["assistant_message"]["text"]]
        return [message["text"] for message in found], texts

    with ThreadPoolExecutor(4) as pool:
        for kept, said in pool.map(talk, range(8)):
            assert kept == said


def test_a_stream_goes_on_when_the_pooler_is_killed_and_started_again(installation: Installation) -> None:
    stream = installation.one.events("threads/new/messages/stream/", {"content": "Go"})
    saved = next(stream)
    begun = [next(stream), next(stream)]
    installation.pooler.kill()
    installation.pooler.start()
    whole = [saved, *begun, *stream]
    assert whole[-1]["type"] == "reply.completed"
    assert list(installation.other.events(f"replies/{saved['reply']}/events/")) == whole
    assert [turn["text"] for turn in installation.other.messages(saved["data"]["thread"])] == ["Go", text_of(whole)]


def test_workers_read_files_and_what_a_dead_one_left_is_done_by_another(installation: Installation) -> None:
    file = upload(installation.other, b"The ferry leaves at nine.")
    until(lambda: installation.one.call("GET", f"files/{file['id']}/")["status"] == "ready")
    workers = "SELECT name FROM conversations_lease WHERE name LIKE 'worker %' AND lease_until > now()"
    until(lambda: len(installation.ask(workers)) == 2)  # the first to be there may have read it
    installation.ask(
        "UPDATE django_tasks_database_dbtaskresult SET status = 'RUNNING', worker_ids = '[\"dead\"]', finished_at = NULL"
        " WHERE task_path LIKE '%read_file'"
    )
    again = "SELECT status FROM django_tasks_database_dbtaskresult WHERE task_path LIKE '%read_file'"
    until(lambda: installation.ask(again) == [("SUCCESSFUL",)])


def test_what_is_exported_is_imported_and_an_account_is_deleted(installation: Installation) -> None:
    installation.one.call("POST", "threads/new/messages/", {"content": "I moved to Porto."})
    document = installation.one.call("GET", "export/")
    assert document["threads"]
    with started(
        "createsuperuser", "--noinput", "--username", "grace", "--email", "", "--skip-checks",
        DATABASE_URL=installation.pooler.url, DJANGO_SUPERUSER_PASSWORD=PASSWORD, **CHEAP,
    ) as command:  # fmt: skip
        assert command.process.wait(60) == 0
    until(lambda: installation.ask("SELECT 1 FROM auth_user WHERE username = 'grace'"))
    grace = ServerClient.signed_in(installation.other.url, "grace", PASSWORD)
    done = grace.call("POST", "import/?ids=new", document)
    assert len(done["threads"]) == len(document["threads"])
    texts = [sorted(turn["text"] for turn in grace.messages(thread["id"])) for thread in done["threads"]]
    assert any("I moved to Porto." in of_thread for of_thread in texts)
    installation.ask(DELETE_ACCOUNT)
    until(lambda: not installation.ask("SELECT 1 FROM auth_user WHERE username = 'grace'"))

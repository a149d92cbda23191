"""What may lag is read from a real standby while that follows closely, and else from the primary."""

import json
import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg
import pytest

from tests.clients import Json, ServerClient
from tests.collector import Collector
from tests.failover import Pair, replicated
from tests.processes import ServerProcess, server
from tests.test_processes import PASSWORD
from tests.waiting import until

pytestmark = [pytest.mark.timeout(300), pytest.mark.wide]

LOCKED = "SELECT 1 FROM pg_locks WHERE relation = 'memory_indexedpassage'::regclass AND granted"
WAITS = "SELECT 1 FROM pg_locks WHERE relation = 'memory_indexedpassage'::regclass AND NOT granted"
HEADER = "Openbook-Replica-Lag"
LAG, FALLBACKS = "openbook.replica.lag", "openbook.replica.fallbacks"


@dataclass(frozen=True)
class Installation:
    pair: Pair
    process: ServerProcess
    client: ServerClient
    collector: Collector

    def fallbacks(self) -> dict[str, float]:
        """Reads that the primary answered instead, by reason, as the collector was told."""
        return {str(each.values["reason"]): each.sum for each in self.collector.points.get(FALLBACKS, [])}

    def get(self, path: str) -> tuple[Json, str | None]:
        """The answer, and how old it may be as its header says."""
        headers = {"Authorization": f"Token {self.client.token}"}
        request = urllib.request.Request(f"{self.client.url}api/v1/{path}", headers=headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            return json.loads(response.read()), response.headers[HEADER]

    def found(self, word: str) -> tuple[list[str], str | None]:
        answer, lag = self.get(f"threads/?q={word}")
        return [thread["title"] for thread in answer["results"]], lag

    def pause(self) -> None:
        self.pair.standby.ask("SELECT pg_wal_replay_pause()")
        until(lambda: self.pair.standby.ask("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])

    def resume(self) -> None:
        self.pair.standby.ask("SELECT pg_wal_replay_resume()")
        until(lambda: self.found("Porto")[1] is not None)


@pytest.fixture(scope="module")
def installation(migrated: str) -> Iterator[Installation]:
    with replicated() as pair, Collector() as collector:
        pair.fill(migrated)
        pair.primary.set("synchronous_standby_names", "")  # or commits would wait for one that is stopped
        replica = {"OPENBOOK_REPLICA_URL": pair.standby_url, "OPENBOOK_REPLICA_LAG_SECONDS": "2"}
        telling = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_METRIC_EXPORT_INTERVAL": "500"}
        alone = {"OPENBOOK_WORKER": "off", "DJANGO_SUPERUSER_PASSWORD": PASSWORD}  # a worker has figures of its own
        with server(pair.url, **alone, **replica, **telling) as running:
            client = ServerClient.signed_in(running.url, password=PASSWORD)
            client.call("POST", "threads/", {"title": "Moving to Porto"})
            yield Installation(pair, running, client, collector)


def test_search_and_export_are_read_from_the_standby_and_say_how_old_they_may_be(installation: Installation) -> None:
    until(lambda: installation.found("Porto") == (["Moving to Porto"], "0.0"))
    document, lag = installation.get("export/")
    assert [thread["title"] for thread in document["threads"]] == ["Moving to Porto"]
    assert lag is not None
    assert float(lag) <= 2
    threads, lag = installation.get("threads/")
    assert lag is None
    assert len(threads["results"]) == 1


def test_pages_of_staff_say_how_old_they_may_be(installation: Installation) -> None:
    thread = installation.client.call("POST", "threads/new/messages/", {"content": "Which ferry?"})["thread"]
    staff = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def page(path: str, **form: str) -> str:
        data = urllib.parse.urlencode(form).encode() if form else None
        with staff.open(f"{installation.process.url}{path}", data, timeout=60) as response:
            return str(response.read().decode())

    token = re.search('csrfmiddlewaretoken" value="([^"]+)"', page("accounts/login/"))
    assert token
    page("accounts/login/", csrfmiddlewaretoken=token[1], username="admin", login="admin", password=PASSWORD)
    until(lambda: installation.found("Porto")[1] is not None)
    requests = "admin/conversations/contextsnapshot/"
    until(lambda: thread in page(requests))
    for path in (requests, f"admin/conversations/thread/{thread}/map/"):
        assert re.search(r"read from the replica, at most \d\.\d s behind", page(path)), path
    assert "The replica is read for lists" in page(f"{requests}overview/")


@pytest.mark.operate
def test_a_standby_that_lags_or_is_away_is_not_read(installation: Installation) -> None:
    until(lambda: installation.found("Porto")[1] is not None)
    installation.pause()
    installation.client.call("POST", "threads/", {"title": "Tram tickets"})
    until(lambda: installation.found("Tram") == (["Tram tickets"], None))
    assert "the replica lags too far or is away" in installation.process.output
    installation.resume()
    until(lambda: installation.found("Tram")[1] is not None)
    assert installation.found("Tram")[0] == ["Tram tickets"]
    assert "the replica is read again" in installation.process.output
    until(lambda: installation.fallbacks().get("lag", 0) >= 1)
    until(lambda: installation.collector.points[LAG][0].sum < 2)
    installation.pair.standby.kill()
    assert installation.found("Porto") == (["Moving to Porto"], None)
    installation.pair.standby.start()
    until(lambda: installation.found("Porto")[1] is not None)


def test_a_read_that_the_standby_cancels_is_done_again_on_the_primary(installation: Installation) -> None:
    """It has read one table and waits for another, when the primary locks the first: what it holds may not hold up what is
    replayed for long."""
    until(lambda: installation.found("Porto")[1] is not None)
    standby = installation.pair.standby
    with psycopg.connect(installation.pair.url) as locking, ThreadPoolExecutor(1) as threads:
        locking.execute("LOCK TABLE memory_indexedpassage IN ACCESS EXCLUSIVE MODE")
        until(lambda: standby.ask(LOCKED))
        reading = threads.submit(installation.found, "Porto")
        until(lambda: standby.ask(WAITS))
        locking.execute("LOCK TABLE conversations_thread IN ACCESS EXCLUSIVE MODE")
        until(lambda: "a read of the replica failed" in installation.process.output)
        locking.rollback()
        assert reading.result() == (["Moving to Porto"], None)
    assert '"cause": "SerializationFailure"' in installation.process.output
    until(lambda: installation.fallbacks().get("failed", 0) >= 1)

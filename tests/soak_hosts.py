"""An installation of which each part has a host of its own: HAProxy before two servers, a primary with its standby, Redis.
A host falls silent while people talk, and comes back."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from tests import people, soak_kills
from tests.balancers import Balancer, balancer
from tests.certificates import trusted
from tests.clients import ServerClient
from tests.failover import Pair, replicated
from tests.hosts import GATEWAY, Host, network
from tests.parts import Part, listens_at, serves
from tests.people import Person
from tests.processes import UNDISTURBED
from tests.services import program
from tests.test_balancers import BEHIND, is_well
from tests.test_processes import PASSWORD
from tests.waiting import until

pytestmark = pytest.mark.timeout(600)

PORT, REDIS_PORT = 8000, 6379
TURNS = 2
"""That each person is answered while a host is silent, and again after it is back."""
STUCK_SECONDS = 15.0


@dataclass(frozen=True)
class Installation:
    front: Balancer
    one: Host
    redis: Host
    pair: Pair
    token: str

    def person(self) -> Person:
        return Person(ServerClient(self.front.url, self.token))


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("hosts")
    with ExitStack() as stack:
        certificate = stack.enter_context(trusted(folder))
        one, other, first, second, redis = stack.enter_context(network(11, 12, 21, 22, 31))
        pair = stack.enter_context(replicated(first, second))
        options = ["--bind", redis.address, "--protected-mode", "no", "--save", "", "--dir", str(folder)]
        command = [*redis.prefix, program("OPENBOOK_TEST_REDIS", "redis-server"), *options]
        start(stack, Part("redis", command, folder / "redis.log", listens_at(redis.address, REDIS_PORT)))
        environment = {
            **UNDISTURBED,
            **BEHIND,
            "ALLOWED_HOSTS": "*",
            "OPENBOOK_TRUSTED_PROXIES": GATEWAY,
            "DJANGO_SETTINGS_MODULE": "tests.server_settings",
            "DATABASE_URL": pair.url,
            "REDIS_URL": f"redis://{redis.address}:{REDIS_PORT}/0",
            "OPENBOOK_FILES_DIR": str(folder / "files"),
            "OPENBOOK_DATA_DIR": str(folder / "data"),
            "OPENBOOK_OFFLINE_WORD_SECONDS": "0.1",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "SECRET_KEY": "of-the-tests-of-hosts-that-fall-silent-and-of-nothing-else",
        }
        serve = [sys.executable, "manage.py", "serve", "--port", str(PORT), "--skip-checks", "--host"]
        for host in (one, other):
            command = [*host.prefix, *serve, host.address]
            ready = serves(PORT, host.address)
            start(stack, Part(host.name, command, folder / f"{host.number}.log", ready, environment))
        places = [f"http://{host.address}:{PORT}/" for host in (one, other)]
        front = stack.enter_context(balancer("haproxy", folder, certificate, *places))
        until(lambda: is_well(front))
        yield Installation(front, one, redis, pair, ServerClient.signed_in(front.url, password=PASSWORD).token)


def start(stack: ExitStack, part: Part) -> None:
    stack.callback(part.end)
    part.start()


@contextmanager
def talking(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Person]]:
    """People whose own patience is long: what is cut is cut by the installation. Then all that they were told is checked."""
    monkeypatch.setattr(people, "SECONDS", 120.0)
    talkers = [installation.person() for _ in range(6)]
    ways: list[Callable[[Person, people.Turn], None]] = [Person.by_rest, Person.by_stream, Person.by_socket]
    with ThreadPoolExecutor(len(talkers)) as pool:
        talks: list[Future[Person]] = [
            pool.submit(person.talk, way) for person, way in zip(talkers, ways * 2, strict=True)
        ]
        try:
            everybody_is_answered(talkers)
            yield talkers
            everybody_is_answered(talkers)
        finally:
            for person in talkers:
                person.over.set()
        for talk in talks:
            talk.result()
    for person in talkers:
        said = [pair for turn in person.turns for pair in (("user", turn.text), ("assistant", turn.said)) if pair[1]]
        assert [(turn["role"], turn["text"]) for turn in soak_kills.all_turns(person)] == said
        assert {turn.events[-1]["type"] for turn in person.turns} <= soak_kills.ENDED_WELL


def everybody_is_answered(talkers: list[Person]) -> None:
    before = [len(person.turns) for person in talkers]
    until(lambda: all(len(person.turns) >= had + TURNS for person, had in zip(talkers, before, strict=True)))


def longest(talkers: list[Person]) -> float:
    return max(turn.ended_at - turn.acknowledged_at for person in talkers for turn in person.turns)


def test_a_server_that_falls_silent_and_comes_back(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    with talking(installation, monkeypatch) as talkers:
        installation.one.unplug()
        everybody_is_answered(talkers)
        installation.one.plug()
    print(f"a server was silent: the longest reply {longest(talkers):.1f} s")  # noqa: T201
    assert longest(talkers) < STUCK_SECONDS


def test_a_redis_that_falls_silent_and_comes_back(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    with talking(installation, monkeypatch) as talkers:
        installation.redis.unplug()
        everybody_is_answered(talkers)
        installation.redis.plug()
    print(f"Redis was silent: the longest reply {longest(talkers):.1f} s")  # noqa: T201
    assert longest(talkers) < STUCK_SECONDS


def test_a_primary_that_falls_silent(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    primary = installation.pair.primary
    assert primary.host
    with talking(installation, monkeypatch) as talkers:
        primary.host.unplug()
        silent_at = time.monotonic()
        installation.pair.promote()
        everybody_is_answered(talkers)
    after = (
        min(turn.ended_at for person in talkers for turn in person.turns if turn.acknowledged_at > silent_at)
        - silent_at
    )
    print(f"the primary was silent: a reply ended {after:.1f} s later, the longest took {longest(talkers):.1f} s")  # noqa: T201
    assert longest(talkers) < STUCK_SECONDS

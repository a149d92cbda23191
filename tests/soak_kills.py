"""Every part of an installation is killed in turn, again and again, while people talk: HAProxy, two servers, two workers,
PgBouncer in transaction mode, PostgreSQL, Redis. `make soak` runs it; it is no part of the suite.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

import psycopg
import pytest

from tests import parts
from tests.balancers import configured
from tests.certificates import trusted
from tests.clients import Json, ServerClient
from tests.model_scripts import echo
from tests.model_server import ModelServer
from tests.parts import Part
from tests.people import Person
from tests.services import free_port
from tests.test_balancers import BEHIND
from tests.test_processes import PASSWORD
from tests.waiting import until

STRIKES = int(os.environ.get("OPENBOOK_TEST_STRIKES", "50"))
PAUSE_SECONDS = 1.0
"""The longest one between two kills."""
STUCK_SECONDS = 15.0
WORD_SECONDS = 0.03
ONE, OTHER, WORKER, OTHER_WORKER = "server one", "server other", "worker one", "worker other"
# What starts faster is killed more often.
QUICK = [
    "postgres",
    "postgres",
    "postgres",
    "pgbouncer",
    "pgbouncer",
    "pgbouncer",
    "redis",
    "redis",
    "haproxy",
    "haproxy",
]
ROUND = [ONE, OTHER, WORKER, OTHER_WORKER, *QUICK]
ENDED_WELL = {"reply.completed", "reply.interrupted"}
"""What a reply may end with: to fail is for the model and for what was asked of it."""
PEOPLE = """
INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
SELECT 'person ' || number, password, false, false, true, '', '', '', now() FROM auth_user, generate_series(1, 7) AS number
"""

pytestmark = pytest.mark.timeout(300 + 6 * STRIKES)


@dataclass(frozen=True)
class Installation:
    """``url`` is the proxy's, ``database`` the way past the pooler."""

    url: str
    database: str
    parts: dict[str, Part]

    def person(self, number: int, over: threading.Event) -> Person:
        return Person(ServerClient.signed_in(self.url, f"person {number}", PASSWORD), over)

    def seconds_up(self, since: float, until: float) -> float:
        """Of these, those in which an answer could be given."""
        needed = [down for name in ("postgres", "pgbouncer", "haproxy") for down in self.parts[name].downs]
        both = [overlap(a, b) for a in self.parts[ONE].downs for b in self.parts[OTHER].downs]
        downs = sorted(overlap(down, (since, until)) for down in [*needed, *both])
        covered, reached = 0.0, since
        for start, end in downs:
            if end > max(start, reached):
                covered += end - max(start, reached)
                reached = end
        return until - since - covered


def overlap(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), min(one[1], other[1])


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack, ThreadPoolExecutor() as starting:
        model = stack.enter_context(ModelServer(responder=partial(echo, delay=WORD_SECONDS)))
        postgres, database = stack.enter_context(parts.postgres())
        redis, redis_url = parts.redis(tmp_path)
        pooler, pooled = stack.enter_context(parts.pgbouncer(database, size=8))
        environment = {
            **BEHIND,
            "DJANGO_SETTINGS_MODULE": "tests.server_settings",
            "DATABASE_URL": pooled,
            "REDIS_URL": redis_url,
            "OPENBOOK_FILES_DIR": str(tmp_path / "files"),
            "OPENBOOK_DATA_DIR": str(tmp_path / "data"),
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "SECRET_KEY": "of-the-tests-of-what-is-killed-and-of-nothing-else",
        }
        ports = free_port(), free_port()
        front = configured(
            "haproxy", tmp_path, stack.enter_context(trusted(tmp_path)), *(f"127.0.0.1:{port}" for port in ports)
        )
        servers = [
            parts.serving(name, port, tmp_path, environment) for name, port in zip((ONE, OTHER), ports, strict=True)
        ]
        workers = [parts.working(name, tmp_path, environment) for name in (WORKER, OTHER_WORKER)]
        proxy = Part("haproxy", front.command, tmp_path / "haproxy.log", parts.listens(front.secure))
        everything = [redis, pooler, *servers, *workers, proxy]
        for part in everything:
            stack.callback(part.end)
        list(starting.map(Part.start, everything))
        with psycopg.connect(database) as connection:
            connection.execute(PEOPLE)
        named = {part.name: part for part in [postgres, *everything]}
        yield Installation(f"https://127.0.0.1:{front.secure}/", database, named)


def strike(everything: dict[str, Part], chance: random.Random) -> None:
    """Kill one part after the other, each where it runs, and a server while the other does; those before may still be
    starting."""
    order = list[str]()
    with ThreadPoolExecutor(len(everything)) as starting:
        up: dict[str, Future[None]] = {}
        for number in range(STRIKES):
            if number % 50 == 0:
                print(f"{number} kills", flush=True)  # noqa: T201
            order = order or chance.sample(ROUND, len(ROUND))
            part = everything[order.pop()]
            for name in {ONE, OTHER} if part.name in {ONE, OTHER} else {part.name}:
                if name in up:
                    up[name].result()
            part.kill()
            up[part.name] = starting.submit(part.start)
            time.sleep(chance.uniform(0, PAUSE_SECONDS))
        for started in up.values():
            started.result()


def test_nothing_acknowledged_is_lost_or_doubled_or_stuck_whatever_is_killed(installation: Installation) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)  # noqa: T201  (shown when the test fails)
    over = threading.Event()
    until(lambda: is_well(installation))
    people = [installation.person(number, over) for number in range(1, 8)]
    ways = [Person.by_rest, Person.by_rest, Person.by_stream, Person.by_stream, Person.by_socket, Person.by_socket]
    with ThreadPoolExecutor(len(people)) as pool:
        talks = [pool.submit(person.talk, way) for person, way in zip(people, ways, strict=False)]
        files = pool.submit(people[-1].bring_files)
        began = time.monotonic()
        try:
            strike(installation.parts, random.Random(seed))
        finally:
            over.set()
        talkers, carrier = [talk.result() for talk in talks], files.result()
    waits = [
        installation.seconds_up(turn.acknowledged_at, turn.ended_at)
        for person in [*talkers, carrier]
        for turn in person.turns
    ]
    refusals = sum((person.refusals for person in people), Counter[str]())
    ends = Counter(turn.events[-1]["type"] for person in talkers for turn in person.turns)
    totals = [f"{time.monotonic() - began:.0f} s", ends, f"{len(carrier.turns)} files", refusals]
    print(*totals, f"longest wait {max(waits):.1f} s", sep="; ")  # noqa: T201
    for part in installation.parts.values():
        ups = sorted(end - start for start, end in part.downs)
        print(f"{part.name}: {len(ups)} kills, up after {median(ups):.1f} s, at most {ups[-1]:.1f}")  # noqa: T201
    odd = [turn.events[-1] for person in talkers for turn in person.turns if turn.events[-1]["type"] not in ENDED_WELL]
    assert odd == []
    for person in talkers:
        check(person)
    assert [turn.events[-1]["status"] for turn in carrier.turns] == ["ready"] * len(carrier.turns)
    assert max(waits) < STUCK_SECONDS
    with psycopg.connect(installation.database) as connection:
        running = "SELECT count(*) FROM conversations_reply WHERE status = 'running'"
        assert connection.execute(running).fetchone() == (0,)
    assert {why for why in refusals if why[:1].isdigit()} <= {"502 proxy", "503 proxy", "503 unavailable", "504 proxy"}


def check(person: Person) -> None:
    """One thread with each turn once, in order, and of each reply what was read."""
    assert [thread["id"] for thread in person.client.call("GET", "threads/")["results"]] == [person.thread]
    assert {turn.thread for turn in person.turns} == {person.thread}
    said = [pair for turn in person.turns for pair in (("user", turn.text), ("assistant", turn.said)) if pair[1]]
    assert [(turn["role"], turn["text"]) for turn in all_turns(person)] == said
    for turn in person.turns:
        assert list(person.client.events(f"replies/{turn.reply}/events/")) == turn.events
        assert all(later["seq"] == event["seq"] + 1 for event, later in pairwise(turn.events))


def all_turns(person: Person) -> Iterator[Json]:
    path = f"threads/{person.thread}/messages/?page_size=200"
    while path:
        page = person.client.call("GET", path)
        yield from page["results"]
        path = (page["next"] or "").partition("/api/v1/")[2]


def is_well(installation: Installation) -> bool:
    try:
        return bool(
            ServerClient(installation.url).call("POST", "auth/token/", {"username": "admin", "password": PASSWORD})
        )
    except Exception:
        return False

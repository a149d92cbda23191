"""Every part of an installation is killed in turn, again and again, while people talk: HAProxy, two servers, two workers,
PgBouncer in transaction mode, PostgreSQL, Redis. `make soak` runs many of these kills, the suite some in `test_kills`.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
from tests.model_server import ModelServer
from tests.parts import Part
from tests.people import Person, Turn, answer
from tests.services import free_port
from tests.test_balancers import BEHIND
from tests.test_processes import PASSWORD
from tests.waiting import until

STRIKES = int(os.environ.get("OPENBOOK_TEST_STRIKES", "50"))
PAUSE_SECONDS = 1.0
"""The longest one between two kills."""
STUCK_SECONDS = 15.0
BUSY = 6
"""On a machine with much else to do all of them take long: what is stuck takes longer than so many times the usual."""
TOLD_SECONDS = 10.0
"""Longer waits are reported with what was killed meanwhile."""
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
SERVERS, WORKERS = (ONE, OTHER), (WORKER, OTHER_WORKER)
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

    def seconds_up(self, turn: Turn, pairs: Sequence[tuple[str, str]]) -> float:
        """Of those that it took, in which it could go on: one of each pair was up, and all that there is one of."""
        needed = [down for name in ("postgres", "pgbouncer", "haproxy") for down in self.parts[name].downs]
        both = [overlap(a, b) for one, other in pairs for a in self.parts[one].downs for b in self.parts[other].downs]
        since, until = turn.acknowledged_at, turn.ended_at or time.monotonic()
        downs = sorted(overlap(down, (since, until)) for down in [*needed, *both])
        covered, reached = 0.0, since
        for start, end in downs:
            if end > max(start, reached):
                covered += end - max(start, reached)
                reached = end
        return until - since - covered

    def killed_during(self, turn: Turn, names: Iterable[str]) -> list[str]:
        until = turn.ended_at or time.monotonic()
        return [name for name in names for at, _ in self.parts[name].downs if turn.acknowledged_at <= at <= until]


def overlap(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), min(one[1], other[1])


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack, ThreadPoolExecutor() as starting:
        model = stack.enter_context(ModelServer(responder=partial(answer, delay=WORD_SECONDS)))
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
        workers = [parts.working(name, tmp_path, environment, database) for name in (WORKER, OTHER_WORKER)]
        proxy = Part("haproxy", front.command, tmp_path / "haproxy.log", parts.listens(front.secure))
        everything = [redis, pooler, *servers, *workers, proxy]
        for part in everything:
            stack.callback(part.end)
        list(starting.map(Part.start, everything))
        with psycopg.connect(database) as connection:
            connection.execute(PEOPLE)
        named = {part.name: part for part in [postgres, *everything]}
        yield Installation(f"https://127.0.0.1:{front.secure}/", database, named)


def strike(everything: dict[str, Part], chance: random.Random, *, kills: int) -> None:
    """Kill one part after the other, each where it runs, and a server while the other does; those before may still be
    starting."""
    order = list[str]()
    with ThreadPoolExecutor(len(everything)) as starting:
        up: dict[str, Future[None]] = {}
        for number in range(kills):
            if number % 50 == 0:
                print(f"{number} kills", flush=True)  # noqa: T201
            order = order or chance.sample(ROUND, len(ROUND))
            part = everything[order.pop()]
            for name in SERVERS if part.name in SERVERS else (part.name,):
                if name in up:
                    up[name].result()
            part.kill()
            up[part.name] = starting.submit(part.start)
            time.sleep(chance.uniform(0, PAUSE_SECONDS))
        for started in up.values():
            started.result()


def test_nothing_acknowledged_is_lost_or_doubled_or_stuck_whatever_is_killed(installation: Installation) -> None:
    prove(installation, kills=STRIKES, seed=int(os.environ.get("OPENBOOK_TEST_SEED") or random.randrange(10**6)))


def prove(installation: Installation, *, kills: int, seed: int) -> None:
    """Kill so often while people talk, print what came of it, and check all that they were told."""
    over = threading.Event()
    until(lambda: is_well(installation))
    people = [installation.person(number, over) for number in range(1, 8)]
    *talkers, carrier = people
    ways = [Person.by_rest, Person.by_rest, Person.by_stream, Person.by_stream, Person.by_socket, Person.by_socket]
    with ThreadPoolExecutor(len(people)) as pool:
        talks = [pool.submit(person.talk, way) for person, way in zip(talkers, ways, strict=True)]
        talks.append(pool.submit(carrier.bring_files))
        began = time.monotonic()
        try:
            strike(installation.parts, random.Random(seed), kills=kills)
        finally:
            over.set()
            wait(talks)
            load = "/".join(f"{each:.1f}" for each in os.getloadavg())
            print(f"{kills} kills; seed {seed}; {time.monotonic() - began:.0f} s; load {load}")  # noqa: T201
            report(installation, talkers, carrier)
        for talk in talks:
            talk.result()
    odd = [turn.events[-1] for person in talkers for turn in person.turns if turn.events[-1]["type"] not in ENDED_WELL]
    assert odd == []
    for person in talkers:
        check(person)
    assert [turn.events[-1]["status"] for turn in carrier.turns] == ["ready"] * len(carrier.turns)
    for turns, pairs in (
        ([t for person in talkers for t in person.turns], [SERVERS]),
        (carrier.turns, [SERVERS, WORKERS]),
    ):
        waits = [installation.seconds_up(turn, pairs) for turn in turns]
        assert max(waits) < max(STUCK_SECONDS, BUSY * median(waits)), waits
    with psycopg.connect(installation.database) as connection:
        running = "SELECT count(*) FROM conversations_reply WHERE status = 'running'"
        assert connection.execute(running).fetchone() == (0,)
    refused = {why for person in people for why in person.refusals if why[:1].isdigit()}
    assert refused <= {"502 proxy", "503 proxy", "503 unavailable", "504 proxy"}


def report(installation: Installation, talkers: Sequence[Person], carrier: Person) -> None:
    """On standard output; the load says what the waits are worth."""
    replies = [turn for person in talkers for turn in person.turns if turn.events]
    print(sum((person.refusals for person in [*talkers, carrier]), Counter[str]()))  # noqa: T201
    for name, turns, pairs in (("replies", replies, [SERVERS]), ("files", carrier.turns, [SERVERS, WORKERS])):
        ends = Counter(turn.events[-1].get("type") or turn.events[-1]["status"] for turn in turns)
        waits = sorted((installation.seconds_up(turn, pairs) for turn in turns), reverse=True)
        longest = ", ".join(f"{seconds:.1f}" for seconds in waits[:5])
        print(name, len(turns), dict(ends), f"median {median(waits):.1f} s, longest {longest}")  # noqa: T201
        for turn in turns:
            if (seconds := installation.seconds_up(turn, pairs)) > TOLD_SECONDS:
                killed = Counter(installation.killed_during(turn, installation.parts))
                about = turn.events[0].get("reply") or turn.events[0]["id"], turn.events[-1].get("type", "file")
                print(f"  {seconds:.1f} s", *about, f"killed meanwhile: {dict(killed)}")  # noqa: T201
    for part in installation.parts.values():
        ups = sorted(end - start for start, end in part.downs)
        said = f"up after {median(ups):.1f} s, at most {ups[-1]:.1f}" if ups else ""
        print(f"{part.name}: {len(ups)} kills", said)  # noqa: T201


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

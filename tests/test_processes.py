"""Real server processes that get killed, and several that share the work.

The offline responder answers, a word at a time: it needs no SDK, which takes longer to load than the rest of the server.
"""

import json
import os
import random
import signal
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.clients import ApiError, Json, ServerClient
from tests.processes import ServerProcess, server
from tests.services import fresh_database

PASSWORD = "correct-horse-battery-9"
KILLS = int(os.environ.get("OPENBOOK_TEST_KILLS", "1"))
KILLED_AT = [4, 12, 1, *(event % 40 + 1 for event in range(KILLS))]
"""The events after which a server is killed; a whole reply has fewer than forty."""
TURNS = 3  # at each kill
BEAT_SECONDS = 0.05  # between two writes of a server's events, and a little more
STUCK_SECONDS = 60.0  # a lease of 8 s runs out, and a slow machine takes its time
# The answer has about thirty words.
QUICK = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_OFFLINE_WORD_SECONDS": "0.04"}
SLOW = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_OFFLINE_WORD_SECONDS": "1"}

pytestmark = pytest.mark.timeout(300 + 10 * KILLS)


@dataclass(frozen=True)
class Shared:
    """What several servers share."""

    database: str
    redis: str

    def environment(self, environment: dict[str, str]) -> dict[str, str]:
        return {**environment, "REDIS_URL": self.redis}


@pytest.fixture(scope="module")
def alone(migrated: str) -> Iterator[str]:
    """A database for servers without a Redis, one test after the other."""
    with fresh_database(migrated) as database:
        yield database


@pytest.fixture(scope="module")
def shared(redis_url: str, migrated: str) -> Iterator[Shared]:
    with fresh_database(migrated) as database:
        yield Shared(database, redis_url)


@pytest.fixture(scope="module")
def two_servers(shared: Shared) -> Iterator[tuple[ServerClient, ServerClient]]:
    """One whose replies come quickly, and one whose replies come slowly."""
    with (
        server(shared.database, **shared.environment(QUICK)) as one,
        server(shared.database, **shared.environment(SLOW)) as two,
    ):
        first = ServerClient.signed_in(one.url, password=PASSWORD)
        yield first, ServerClient(two.url, first.token)


@dataclass(frozen=True)
class Acknowledged:
    """A turn whose ``message.saved`` came before its server was killed, with all that came."""

    text: str
    frames: list[str]
    killed_at: float

    @property
    def saved(self) -> Json:
        event: Json = json.loads(self.frames[0])
        return event

    @property
    def thread(self) -> str:
        return str(self.saved["data"]["thread"])

    @property
    def reply(self) -> str:
        return str(self.saved["reply"])


def test_every_acknowledged_turn_survives_a_killed_server_and_is_resumed_byte_for_byte(alone: str) -> None:
    """SIGKILL at each event of a reply, and at random moments of others: each acknowledged turn is there once, none stays
    stuck, what was read is the beginning of what is read later, retry works."""
    seed = random.randrange(10**6)
    print("seed", seed)  # noqa: T201  (shown when the test fails)
    with server(alone, **QUICK) as survivor, ThreadPoolExecutor(2) as pairs, ThreadPoolExecutor(2 * TURNS) as threads:
        client = ServerClient.signed_in(survivor.url, password=PASSWORD)

        def strike(number: int) -> list[Acknowledged]:
            event, chance = KILLED_AT[number], random.Random(seed + number)
            begins = sorted([0, *(chance.randrange(event + 1) for _ in range(TURNS - 1))])
            with server(alone, **QUICK) as victim, ExitStack() as stack:
                sockets = [stack.enter_context(ServerClient(victim.url, client.token).socket()) for _ in begins]
                return send_then_kill(victim, sockets, begins, event, pause=chance.uniform(0, BEAT_SECONDS))

        acknowledged = [turn for turns in pairs.map(strike, range(KILLS)) for turn in turns]
        ends = Counter(threads.map(lambda turn: check(client, turn), acknowledged))
    assert len(acknowledged) >= KILLS
    assert ends["interrupted"] >= 1
    assert set(ends) <= {"interrupted", "completed"}


def send_then_kill(
    victim: ServerProcess, sockets: list[ClientConnection], begins: list[int], event: int, *, pause: float
) -> list[Acknowledged]:
    """Each turn is sent when the first one's reply has come to the event that ``begins`` names; at ``event``, or at its
    end, the server is killed."""
    texts = [f"Message {uuid.uuid4().hex}" for _ in sockets]
    waiting = list(zip(begins, sockets, texts, strict=True))
    first: list[str] = []
    rest = received(sockets[0])
    while True:
        while waiting and waiting[0][0] <= len(first):
            _, socket, text = waiting.pop(0)
            socket.send(json.dumps({"type": "message.send", "content": text, "client_message_id": text}))
        if len(first) == event or (first and json.loads(first[-1])["type"] == "reply.completed"):
            break
        first.append(next(rest))
    time.sleep(pause)
    victim.kill()
    killed_at = time.monotonic()
    told = [[*first, *rest], *(list(received(socket)) for socket in sockets[1:])]
    return [Acknowledged(text, frames, killed_at) for text, frames in zip(texts, told, strict=True) if frames]


def received(socket: ClientConnection) -> Iterator[str]:
    """What came before the other side was gone."""
    with suppress(ConnectionClosed):
        while True:
            yield str(socket.recv())


def check(client: ServerClient, turn: Acknowledged) -> str:
    """How the reply of a killed server ended. It is retried where it was interrupted."""
    status = ended_in_time(client, turn)
    (question, *answers) = client.messages(turn.thread)
    assert (question["id"], question["text"]) == (turn.saved["data"]["message"]["id"], turn.text)
    path = f"replies/{turn.reply}/events/"
    resumed = list(client.frames(f"{path}?after={len(turn.frames)}"))
    assert turn.frames + resumed == list(client.frames(path))
    events = [json.loads(frame) for frame in turn.frames + resumed]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == f"reply.{status}"
    kept = text_of(events)
    assert [answer["text"] for answer in answers] == ([kept] if kept else [])
    if status == "interrupted":
        again = client.call("POST", f"replies/{turn.reply}/retry/")["id"]
        whole = list(client.events(f"replies/{again}/events/"))
        assert whole[-1]["type"] == "reply.completed"
        assert text_of(whole).startswith(kept)
        texts = [(message["role"], message["text"]) for message in client.messages(turn.thread)]
        assert texts == [("user", turn.text), ("assistant", text_of(whole))]
    return status


def text_of(events: list[Json]) -> str:
    return "".join(event["data"]["text"] for event in events if event["type"] == "reply.delta")


def ended_in_time(client: ServerClient, turn: Acknowledged) -> str:
    while True:
        status = str(client.messages(turn.thread)[0]["reply"]["status"])
        if status != "running":
            return status
        assert time.monotonic() - turn.killed_at < STUCK_SECONDS, "the reply of a killed server is stuck"
        time.sleep(0.1)


def begin_reply(client: ServerClient) -> tuple[Iterator[Json], Json, str]:
    """A slow reply that has begun: its stream, its first event and what it has said."""
    stream = client.events("threads/new/messages/stream/", {"content": "Go"})
    saved = next(stream)
    delta = next(event for event in stream if event["type"] == "reply.delta")
    return stream, saved, delta["data"]["text"]


@pytest.mark.operate
def test_the_next_start_ends_what_a_killed_server_left(alone: str) -> None:
    with server(alone, **SLOW) as running:
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        _, saved, said = begin_reply(client)
        running.kill()
    killed_at = time.monotonic()
    with server(alone, **SLOW) as running:
        client = ServerClient(running.url, client.token)
        events = list(client.events(f"replies/{saved['reply']}/events/", seconds=STUCK_SECONDS))
    assert time.monotonic() - killed_at < STUCK_SECONDS
    assert (events[-1]["type"], events[-1]["data"]["message"]["text"]) == ("reply.interrupted", text_of(events))
    assert text_of(events).startswith(said)


@pytest.mark.wide
def test_a_server_that_is_asked_to_end_interrupts_at_once(
    two_servers: tuple[ServerClient, ServerClient], shared: Shared
) -> None:
    _, two = two_servers
    with server(shared.database, **shared.environment(SLOW)) as third:
        _, saved, said = begin_reply(ServerClient(third.url, two.token))
        assert third.terminate(signal.SIGTERM) == 0
    question, answer = two.messages(saved["data"]["thread"])
    assert (question["text"], question["status"], question["reply"]["status"]) == ("Go", "complete", "interrupted")
    assert (answer["text"].startswith(said), answer["status"]) == (True, "interrupted")


def test_a_stream_is_followed_from_another_process(two_servers: tuple[ServerClient, ServerClient]) -> None:
    one, two = two_servers
    thread = one.call("POST", "threads/", {"title": "Shared"})["id"]
    with two.socket(thread) as tab:  # open before anything happens, and in the other process
        stream = one.events(f"threads/{thread}/messages/stream/", {"content": "Go"})
        saved = next(stream)
        elsewhere = list(two.events(f"replies/{saved['reply']}/events/?after=2"))
        whole = [saved, *stream]
        assert elsewhere == whole[2:]
        assert [json.loads(tab.recv(timeout=60)) for _ in whole] == whole
    assert whole[-1]["data"]["message"]["text"] == text_of(whole)


def test_a_reply_is_stopped_from_another_process(two_servers: tuple[ServerClient, ServerClient]) -> None:
    one, two = two_servers
    stream, saved, said = begin_reply(two)
    one.call("POST", f"replies/{saved['reply']}/stop/")
    rest = list(stream)
    assert rest[-1]["type"] == "reply.stopped"
    assert rest[-1]["data"]["message"]["text"] == said + text_of(rest)


@pytest.mark.operate
def test_another_process_takes_over_what_a_killed_one_left(
    two_servers: tuple[ServerClient, ServerClient], shared: Shared
) -> None:
    one, _ = two_servers
    with server(shared.database, **shared.environment(SLOW)) as victim:
        _, saved, said = begin_reply(ServerClient(victim.url, one.token))
        with pytest.raises(ApiError) as refused:
            one.call("POST", f"threads/{saved['data']['thread']}/messages/", {"content": "Me too"})
        assert (refused.value.status, refused.value.error["code"]) == (409, "reply_in_progress")
        victim.kill()
    killed_at = time.monotonic()
    events = list(one.events(f"replies/{saved['reply']}/events/", seconds=STUCK_SECONDS))
    assert time.monotonic() - killed_at < STUCK_SECONDS
    assert (events[-1]["type"], text_of(events).startswith(said)) == ("reply.interrupted", True)
    again = one.call("POST", f"replies/{saved['reply']}/retry/")["id"]
    assert list(one.events(f"replies/{again}/events/"))[-1]["type"] == "reply.completed"

"""Real server processes that get killed, and several that share the work."""

import json
import os
import random
import signal
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from websockets.sync.client import ClientConnection

from tests import model_scripts as scripts
from tests.clients import ApiError, Client, Json
from tests.model_server import ModelServer
from tests.processes import ServerProcess, server
from tests.services import fresh_database

PASSWORD = "correct-horse-battery-9"
KILLS = int(os.environ.get("OPENBOOK_TEST_KILLS", "20"))
STUCK_SECONDS = 15.0
SLOW = tuple(f"word{n} " for n in range(60))

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def environment(model: ModelServer) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "key-of-the-tests",
        "ANTHROPIC_BASE_URL": model.url,
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
    }


@pytest.fixture(scope="module")
def shared(environment: dict[str, str], redis_url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A database and a Redis that several servers share."""
    with fresh_database() as database:
        yield database, {**environment, "REDIS_URL": redis_url}


@pytest.fixture(scope="module")
def two_servers(shared: tuple[str, dict[str, str]]) -> Iterator[tuple[Client, Client]]:
    database, environment = shared
    with server(database, **environment) as one, server(database, **environment) as two:
        first = Client.signed_in(one.url, password=PASSWORD)
        yield first, Client(two.url, first.token)


@dataclass(frozen=True)
class Acknowledged:
    """A turn whose ``message.saved`` came before its server was killed."""

    text: str
    thread: str
    message: str
    reply: str
    killed_at: float


def test_every_acknowledged_turn_survives_a_killed_server(
    empty_database: str, environment: dict[str, str], model: ModelServer
) -> None:
    """SIGKILL at random moments between send and end: each acknowledged turn is there once, none stays stuck, retry works."""
    seed = random.randrange(10**6)
    print("seed", seed)  # noqa: T201  (shown when the test fails)
    moments = random.Random(seed)
    model.responder = lambda body: scripts.text(*SLOW, delay=0.02)
    with server(empty_database, **environment) as survivor, ThreadPoolExecutor(2) as two_at_a_time:
        client = Client.signed_in(survivor.url, password=PASSWORD)

        def strike(wait: float) -> Acknowledged | None:
            with server(empty_database, **environment) as victim, Client(victim.url, client.token).socket() as socket:
                return send_then_kill(victim, socket, wait)

        struck = list(two_at_a_time.map(strike, [moments.uniform(0, 1.6) for _ in range(KILLS)]))
        model.responder = lambda body: scripts.text("whole")
        acknowledged = [turn for turn in struck if turn is not None]
        ends = Counter(check(client, turn) for turn in acknowledged)
    model.responder = scripts.echo
    assert len(acknowledged) >= KILLS // 3
    assert ends["interrupted"] >= 1
    assert set(ends) <= {"interrupted", "completed"}


def send_then_kill(victim: ServerProcess, socket: ClientConnection, wait: float) -> Acknowledged | None:
    text = f"Message {uuid.uuid4().hex}"
    socket.send(json.dumps({"type": "message.send", "content": text, "client_message_id": text}))
    kill_at = time.monotonic() + wait
    saved: Json | None = None
    while (left := kill_at - time.monotonic()) > 0:
        try:
            event = json.loads(socket.recv(timeout=left))
        except TimeoutError:
            break
        saved = event if event["type"] == "message.saved" else saved
    victim.kill()
    if saved is None:
        return None
    return Acknowledged(text, saved["data"]["thread"], saved["data"]["message"]["id"], saved["reply"], time.monotonic())


def check(client: Client, turn: Acknowledged) -> str:
    """How the reply of a killed server ended. It is retried where it was interrupted."""
    status = ended_in_time(client, turn)
    (question, *answers) = client.messages(turn.thread)
    assert (question["id"], question["text"]) == (turn.message, turn.text)
    events = list(client.events(f"replies/{turn.reply}/events/"))
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == f"reply.{status}"
    kept = "".join(event["data"]["text"] for event in events if event["type"] == "reply.delta")
    assert [answer["text"] for answer in answers] == ([kept] if kept else [])
    if status == "interrupted":
        again = client.call("POST", f"replies/{turn.reply}/retry/")["id"]
        assert list(client.events(f"replies/{again}/events/"))[-1]["type"] == "reply.completed"
        texts = [(message["role"], message["text"]) for message in client.messages(turn.thread)]
        assert texts == [("user", turn.text), ("assistant", "whole")]
    return status


def ended_in_time(client: Client, turn: Acknowledged) -> str:
    while True:
        status = str(client.messages(turn.thread)[0]["reply"]["status"])
        if status != "running":
            return status
        assert time.monotonic() - turn.killed_at < STUCK_SECONDS, "the reply of a killed server is stuck"
        time.sleep(0.1)


def test_the_next_start_ends_what_a_killed_server_left(
    empty_database: str, environment: dict[str, str], model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("so far", gate, "never"))
    with server(empty_database, **environment) as running:
        client = Client.signed_in(running.url, password=PASSWORD)
        stream = client.events("threads/new/messages/stream/", {"content": "Go"})
        saved = next(stream)
        next(event for event in stream if event["type"] == "reply.delta")
        running.kill()
    killed_at = time.monotonic()
    gate.open()
    with server(empty_database, **environment) as running:
        client = Client(running.url, client.token)
        events = list(client.events(f"replies/{saved['reply']}/events/", seconds=STUCK_SECONDS))
    assert time.monotonic() - killed_at < STUCK_SECONDS
    assert (events[-1]["type"], events[-1]["data"]["message"]["text"]) == ("reply.interrupted", "so far")


def test_a_server_that_is_asked_to_end_interrupts_at_once(
    empty_database: str, environment: dict[str, str], model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("so far", gate, "never"))
    with server(empty_database, **environment) as running:
        client = Client.signed_in(running.url, password=PASSWORD)
        stream = client.events("threads/new/messages/stream/", {"content": "Go"})
        saved = next(event for event in stream if event["type"] == "message.saved")
        assert next(event for event in stream if event["type"] == "reply.delta")["data"] == {"text": "so far"}
        assert running.terminate(signal.SIGTERM) == 0
    gate.open()
    with server(empty_database, **environment) as running:
        client = Client.signed_in(running.url, password=PASSWORD)
        turns = client.messages(saved["data"]["thread"])
        assert [(turn["text"], turn["status"]) for turn in turns] == [("Go", "complete"), ("so far", "interrupted")]
        assert turns[0]["reply"]["status"] == "interrupted"


def test_a_stream_is_followed_from_another_process(two_servers: tuple[Client, Client], model: ModelServer) -> None:
    one, two = two_servers
    gate = scripts.Gate()
    model.script(scripts.text(*SLOW[:30], gate, *SLOW[30:], delay=0.005))
    thread = one.call("POST", "threads/", {"title": "Shared"})["id"]
    with two.socket(thread) as tab:  # open before anything happens, and in the other process
        stream = one.events(f"threads/{thread}/messages/stream/", {"content": "Go"})
        saved = next(stream)
        gate.wait_until_reached()
        elsewhere = two.events(f"replies/{saved['reply']}/events/?after=2")
        third = next(elsewhere)
        gate.open()
        whole = [saved, *stream]
        assert [third, *elsewhere] == whole[2:]
        assert [json.loads(tab.recv(timeout=10)) for _ in whole] == whole
    assert whole[-1]["data"]["message"]["text"] == "".join(SLOW)


def test_a_reply_is_stopped_from_another_process(two_servers: tuple[Client, Client], model: ModelServer) -> None:
    one, two = two_servers
    gate = scripts.Gate()
    model.script(scripts.text("so far", gate, "never"))
    stream = one.events("threads/new/messages/stream/", {"content": "Go"})
    saved = next(stream)
    assert next(event for event in stream if event["type"] == "reply.delta")["data"] == {"text": "so far"}
    two.call("POST", f"replies/{saved['reply']}/stop/")
    assert [event["type"] for event in stream] == ["reply.stopped"]


def test_another_process_takes_over_what_a_killed_one_left(
    two_servers: tuple[Client, Client], shared: tuple[str, dict[str, str]], model: ModelServer
) -> None:
    _, two = two_servers
    database, environment = shared
    gate = scripts.Gate()
    model.script(scripts.text("so far", gate, "never"), scripts.text("whole"))
    with server(database, **environment) as victim:
        stream = Client(victim.url, two.token).events("threads/new/messages/stream/", {"content": "Go"})
        saved = next(stream)
        assert next(event for event in stream if event["type"] == "reply.delta")["data"] == {"text": "so far"}
        with pytest.raises(ApiError) as refused:
            two.call("POST", f"threads/{saved['data']['thread']}/messages/", {"content": "Me too"})
        assert (refused.value.status, refused.value.error["code"]) == (409, "reply_in_progress")
        victim.kill()
    killed_at = time.monotonic()
    events = list(two.events(f"replies/{saved['reply']}/events/", seconds=STUCK_SECONDS))
    assert time.monotonic() - killed_at < STUCK_SECONDS
    assert (events[-1]["type"], events[-1]["data"]["message"]["text"]) == ("reply.interrupted", "so far")
    again = two.call("POST", f"replies/{saved['reply']}/retry/")["id"]
    assert list(two.events(f"replies/{again}/events/"))[-1]["data"]["message"]["text"] == "whole"
    gate.open()

"""A primary that dies, or that must take no more writes: its standby takes over, and the former one follows it."""

import json
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.clients import ApiError, Json, ServerClient
from tests.failover import IN_RECOVERY, Node, Pair, replicated
from tests.pooler import pgbouncer
from tests.processes import server
from tests.test_files import upload
from tests.test_processes import PASSWORD, received, text_of
from tests.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.timeout(300)

UNHURRIED = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_OFFLINE_WORD_SECONDS": "0.1", "OPENBOOK_WORKER": "on"}
TURNS = "SELECT text, count(*) FROM conversations_message WHERE role = 'user' GROUP BY text"
LEASES = "SELECT name FROM conversations_lease WHERE name LIKE 'worker %' AND lease_until > now()"
BACKENDS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'openbook'"


@pytest.fixture(scope="module")
def pair(migrated: str) -> Iterator[Pair]:
    with replicated() as pair:
        pair.fill(migrated)
        yield pair


@pytest.fixture(scope="module")
def client(pair: Pair) -> Iterator[ServerClient]:
    with server(pair.url, **UNHURRIED) as running:
        yield ServerClient.signed_in(running.url, password=PASSWORD)


def send(client: ServerClient, text: str) -> Json:
    """As a program does that is told to try again: by the id that it gave, a message is stored once."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        try:
            return client.call("POST", "threads/new/messages/", {"content": text, "client_message_id": text})
        except ApiError as error:
            assert error.status == 503, error
            time.sleep(0.2)
    raise AssertionError(text)


def follow(client: ServerClient, text: str) -> list[Json]:
    return list(client.events("threads/new/messages/stream/", {"content": text}))


@pytest.mark.operate
def test_replies_go_on_when_the_primary_is_killed_and_nothing_acknowledged_is_lost(
    pair: Pair, client: ServerClient
) -> None:
    """SIGKILL in the midst of replies, then the standby is promoted. Each turn is there once, each stream is whole."""
    texts = [f"Message {uuid.uuid4().hex}" for _ in range(7)]
    with ThreadPoolExecutor(8) as threads, client.socket() as socket:
        acknowledged = send(client, texts[0])
        socket.send(json.dumps({"type": "message.send", "content": texts[1], "client_message_id": texts[1]}))
        frames = [str(socket.recv()) for _ in range(4)]
        streams = [threads.submit(follow, client, text) for text in texts[2:4]]
        until(lambda: {texts[2], texts[3]} <= {text for text, _ in pair.standby.ask(TURNS)})
        pair.primary.kill()
        killed_at = time.monotonic()
        sent = [threads.submit(send, client, text) for text in texts[4:]]
        pair.promote()
        for frame in received(socket):
            frames.append(frame)
            if json.loads(frame)["type"] == "reply.completed":
                break
        whole = [[json.loads(frame) for frame in frames], *(stream.result() for stream in streams)]
        answers = [acknowledged, *(answer.result() for answer in sent)]
    file = upload(client, b"The ferry leaves at nine.")
    until(lambda: client.call("GET", f"files/{file['id']}/")["status"] == "ready")
    print(f"a reply begun after the kill ended {time.monotonic() - killed_at:.1f} s after it")  # noqa: T201

    assert {text: count for text, count in pair.primary.ask(TURNS) if text in texts} == dict.fromkeys(texts, 1)
    for answer in answers:
        kept = client.messages(answer["thread"])
        assert [turn["text"] for turn in kept] == [kept[0]["text"], answer["assistant_message"]["text"]]
    for events in whole:
        assert events[-1]["type"] == "reply.completed"
        assert list(client.events(f"replies/{events[0]['reply']}/events/")) == events
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        kept = client.messages(events[0]["data"]["thread"])
        assert [turn["text"] for turn in kept][1:] == [text_of(events)]
    assert len(pair.primary.ask(LEASES)) == 2

    pair.rejoin()
    pair.primary.ask(BACKENDS)  # whoever connects anew meets the former primary first
    last = send(client, f"Message {uuid.uuid4().hex}")
    assert pair.standby.ask(IN_RECOVERY) == [(True,)]
    assert [turn["text"] for turn in client.messages(last["thread"])][1] == last["assistant_message"]["text"]


@pytest.mark.operate
def test_a_primary_that_takes_no_more_writes_is_left_though_it_answers(pair: Pair, client: ServerClient) -> None:
    """As where it is fenced by ``default_transaction_read_only`` before the other takes over: connections stay open."""
    before, after = (f"Message {uuid.uuid4().hex}" for _ in range(2))
    send(client, before)
    fenced = pair.primary
    fenced.set("synchronous_standby_names", "")
    fenced.set("default_transaction_read_only", "on")
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(send, client, after)
        pair.promote()
        sent.result()
    counts = dict(pair.primary.ask(TURNS))
    assert (counts[before], counts[after]) == (1, 1)
    assert after not in dict(fenced.ask(TURNS))
    until(lambda: len(pair.primary.ask(LEASES)) == 2)
    fenced.stop()
    with (fenced.folder / "postgresql.auto.conf").open("a") as settings:
        settings.write("default_transaction_read_only = off\n")
    pair.rejoin()


@pytest.mark.operate
def test_a_pooler_that_is_told_of_the_new_primary_goes_on_with_it(pair: Pair) -> None:
    """``DATABASE_URL`` names a PgBouncer. Whoever promotes the standby writes its address there and has it read again."""
    texts = [f"Message {uuid.uuid4().hex}" for _ in range(5)]
    with (
        pgbouncer(url_of(pair.primary)) as pooler,
        server(pooler.url, **UNHURRIED) as running,
        ThreadPoolExecutor(5) as threads,
    ):
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        send(client, texts[0])
        streams = [threads.submit(follow, client, text) for text in texts[1:3]]
        until(lambda: {texts[1], texts[2]} <= {text for text, _ in pair.standby.ask(TURNS)})
        pair.primary.kill()
        killed_at = time.monotonic()
        sent = [threads.submit(send, client, text) for text in texts[3:]]
        pair.promote()
        pooler.turn_to(url_of(pair.primary))
        whole = [stream.result() for stream in streams]
        answers = [answer.result() for answer in sent]
        print(f"behind PgBouncer a reply after the kill ended {time.monotonic() - killed_at:.1f} s after it")  # noqa: T201
        assert {text: count for text, count in pair.primary.ask(TURNS) if text in texts} == dict.fromkeys(texts, 1)
        assert [events[-1]["type"] for events in whole] == ["reply.completed"] * 2
        for answer in answers:
            kept = client.messages(answer["thread"])
            assert [turn["text"] for turn in kept][1:] == [answer["assistant_message"]["text"]]
    pair.rejoin()


def url_of(node: Node) -> str:
    return f"postgresql://openbook@{node.place}/openbook"

"""The API of a real server process: with a small pool, with a database that goes away, with a Redis that isn't there."""

import http.client
import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from random import Random
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from tests import generated
from tests import model_scripts as scripts
from tests.clients import ApiError, ServerClient
from tests.model_server import ModelServer
from tests.processes import ServerProcess, server
from tests.services import free_port, fresh_database
from tests.waiting import until

PASSWORD = "correct-horse-battery-9"
GENERATED = int(os.environ.get("OPENBOOK_TEST_FRAMES", "100"))
ANSWERED = re.compile(rb"^HTTP/1.1 [245]\d\d |\x88.[\x03\x11]")
"""A refusal, or the frame that closes a socket with its code: 1xxx or 44xx."""


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model


@pytest.fixture
def model(shared_model: ModelServer) -> ModelServer:
    """The model behind the server, without what a failed test left scripted."""
    shared_model.forget_scripts()
    return shared_model


@pytest.fixture(scope="module")
def database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as url:
        yield url


@pytest.fixture(scope="module")
def environment(shared_model: ModelServer) -> dict[str, str]:
    return {
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-tests",
        "ANTHROPIC_BASE_URL": shared_model.url,
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_DATABASE_CONNECTIONS": "2",
        "OPENBOOK_SLOW_READER_SECONDS": "1",
    }


@pytest.fixture(scope="module")
def running(database: str, environment: dict[str, str]) -> Iterator[ServerProcess]:
    with server(database, **environment) as process:
        yield process


@pytest.fixture(scope="module")
def client(running: ServerProcess) -> ServerClient:
    return ServerClient.signed_in(running.url, password=PASSWORD)


def ask(url: str, path: str, method: str = "GET", **options: Any) -> tuple[int, Any]:
    """Status and body, decoded where it is JSON."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        connection.request(method, path, **options)
        response = connection.getresponse()
        body = response.read().decode()
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(body) if is_json else body


def test_open_streams_hold_no_database_connection(client: ServerClient, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(*(scripts.text("before ", gate, "after") for _ in range(4)))
    with ExitStack() as stack:
        titles = {f"Stream {n}" for n in range(4)}
        streams = [client.events("threads/new/messages/stream/", {"content": title}) for title in sorted(titles)]
        for stream in streams:
            stack.callback(stream.close)  # type: ignore[attr-defined]
            assert "reply.delta" in (event["type"] for event in stream)
        sockets = [stack.enter_context(client.socket()) for _ in range(4)]
        assert titles <= {thread["title"] for thread in client.call("GET", "threads/")["results"]}
        assert len(sockets) == 4
        gate.open()
        assert [list(stream)[-1]["type"] for stream in streams] == ["reply.completed"] * 4


def narrow(url: str) -> socket.socket:
    """A connection that takes little which is not read."""
    address = urlsplit(url)
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    end.connect((str(address.hostname), address.port))
    return end


@pytest.mark.wide
def test_a_reader_who_does_not_read_is_let_go_and_resumes(
    running: ServerProcess, client: ServerClient, model: ModelServer
) -> None:
    """A reply of 4 MB, told twice at its end: more than a connection holds. An event stream and a socket leave it unread."""
    model.claude.holds_max_tokens = False
    model.script(scripts.text(*(f"{number} {'x' * 100_000} " for number in range(40))))
    whole = list(client.frames("threads/new/messages/stream/", {"content": "Tell me everything"}))
    reply = json.loads(whole[0])["reply"]
    path = f"replies/{reply}/events/"
    before = running.output.count("slow reader let go")
    with (
        closing(http.client.HTTPConnection(urlsplit(running.url).netloc)) as stream,
        client.socket(sock=narrow(running.url), max_queue=1, max_size=None) as tab,
    ):
        stream.sock = narrow(running.url)
        stream.request("GET", f"/api/v1/{path}", headers={"Authorization": f"Token {client.token}"})
        tab.send(json.dumps({"type": "reply.resume", "reply": reply}))
        until(lambda: running.output.count("slow reader let go") == before + 2)

        *told, _ = stream.getresponse().read().decode().split("\n\n")
        streamed = [event.partition("\ndata: ")[2] for event in told if not event.startswith("event: error\n")]
        frames = []
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                frames.append(str(tab.recv()))
    *framed, error = frames
    assert (json.loads(error)["data"]["code"], closed.value.rcvd) == ("reader_too_slow", Close(4408, ""))
    for seen in (streamed, framed):
        assert seen + list(client.frames(f"{path}?after={len(seen)}")) == whole


def test_a_body_in_chunks_is_read(running: ServerProcess, client: ServerClient) -> None:
    headers = {"Authorization": f"Token {client.token}", "Content-Type": "application/json"}

    def sent(body: bytes) -> tuple[int, Any]:
        return ask(running.url, "/api/v1/threads/", "POST", body=iter([body]), headers=headers, encode_chunked=True)

    status, thread = sent(b'{"title": "In pieces"}')
    assert (status, thread["title"]) == (201, "In pieces")
    status, refused = sent(b'{"title": "' + b"x" * 1_300_000 + b'"}')
    assert (status, refused["error"]["code"]) == (413, "message_too_long")


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_refused_while_it_is_still_sent(running: ServerProcess, announced: bool) -> None:
    address = urlsplit(running.url)
    with closing(socket.create_connection((address.hostname, address.port), timeout=60)) as sent:
        length = "Content-Length: 300000000" if announced else "Transfer-Encoding: chunked"
        head = f"POST /api/v1/threads/ HTTP/1.1\r\nHost: {address.netloc}\r\nX-Request-ID: mine\r\n"
        head += f"Authorization: Token mine\r\n{length}\r\n\r\n"
        sent.sendall(head.encode())
        if not announced:
            sent.sendall(b"%x\r\n%s\r\n" % (1_300_000, b"x" * 1_300_000))
        answer = http.client.HTTPResponse(sent)
        answer.begin()
        error = json.loads(answer.read())["error"]
    assert (answer.status, answer.headers["X-Request-ID"], error) == (
        413,
        "mine",
        {
            "type": "invalid_request",
            "code": "message_too_long",
            "message": "The request body is too large; the limit is 1,265,536 bytes. Send a shorter message.",
            "details": {"limit": 1_265_536},
            "request_id": "mine",
        },
    )


def test_what_the_server_itself_cannot_read_is_told_in_the_one_shape(running: ServerProcess) -> None:
    address = urlsplit(running.url)
    with closing(socket.create_connection((address.hostname, address.port), timeout=60)) as sent:
        sent.sendall(f"GET /api/v1/threads/ HTTP/1.1\r\nHost: {address.netloc}\r\nX-Y: \x0b\r\n\r\n".encode())
        answer = http.client.HTTPResponse(sent)
        answer.begin()
        error = json.loads(answer.read())["error"]
    assert error.pop("request_id") == answer.headers["X-Request-ID"] != ""
    assert (answer.status, error["type"], error["code"]) == (400, "invalid_request", "bad_request")


@pytest.mark.wide
def test_a_database_that_goes_away_is_named_by_every_door_and_so_is_its_return(
    running: ServerProcess, client: ServerClient, database: str
) -> None:
    assert ask(running.url, "/health/")[0] == 200
    name = urlsplit(database).path[1:]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as administration:
        administration.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        administration.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            status, health = ask(running.url, "/health/")
            assert (status, health["status"], health["checks"]["database"]) == (
                503,
                "unavailable",
                "unreachable: check DATABASE_URL and that PostgreSQL runs",
            )
            with pytest.raises(ApiError) as caught:
                client.call("POST", "threads/new/messages/", {"content": "Hello"})
            error = caught.value.error
            assert error.pop("request_id")
            assert (caught.value.status, error) == (
                503,
                {
                    "type": "unavailable",
                    "code": "unavailable",
                    "message": "The server can't reach its database. What you sent may have been stored or not. Try again in "
                    "a moment: with the same `client_message_id` a message is stored once.",
                    "details": {},
                },
            )
        finally:
            administration.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    assert client.call("POST", "threads/new/messages/", {"content": "Hello"})["reply"]["status"] == "completed"
    assert ask(running.url, "/health/")[0] == 200


def test_without_the_redis_that_is_configured_everything_still_works(
    database: str, environment: dict[str, str]
) -> None:
    with server(database, **environment, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") as running:
        status, health = ask(running.url, "/health/")
        assert (status, health) == (
            200,
            {
                "status": "ok",
                "checks": {
                    "database": "ok",
                    "provider": "ok",
                    "redis": "unreachable: start Redis or correct REDIS_URL; readers in other processes are slower until then",
                    "circuits": "ok",
                },
            },
        )
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        events = list(client.events("threads/new/messages/stream/", {"content": "Hello"}))
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["type"] == "reply.completed", running.output
        with client.socket(events[0]["data"]["thread"]) as socket:
            socket.send(json.dumps({"type": "message.send", "content": "And again?"}))
            frames = [json.loads(socket.recv(60))]
            while not frames[-1]["type"].startswith("reply.completed"):
                frames.append(json.loads(socket.recv(60)))
        assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        assert "Traceback" not in running.output


def test_whatever_a_socket_is_sent_is_refused_in_words_and_the_socket_stays(
    running: ServerProcess, client: ServerClient
) -> None:
    chance, before = Random(8), len(running.output)
    known = {"invalid_frame", "invalid_message", "message_too_long", "reply_not_found", "nothing_to_work_from"}
    with client.socket() as tab:
        for _ in range(GENERATED):
            frame = generated.frame(chance)
            tab.send(frame)
            answer = json.loads(tab.recv(60))
            assert (answer["type"], answer["data"]["code"] in known) == ("error", True), (frame[:300], answer)
        tab.send(json.dumps({"type": "message.send", "content": "Are you there?"}))
        while (event := json.loads(tab.recv(60)))["type"] != "reply.completed":
            assert not event["type"].startswith(("error", "reply.failed"))
    log = running.output[before:]
    assert (client.token in log, "Traceback" in log) == (False, False)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x82\x00\x00\x00\x00\xff\xfe", 1007),  # a text that is not UTF-8
        (b"\x83\x80\x00\x00\x00\x00", 1002),  # a type of frame that there isn't
        (b"\xc1\x80\x00\x00\x00\x00", 1002),  # compressed, which was not agreed upon
        (b"\x81\x00", 1002),  # not masked
        (b"\x80\x80\x00\x00\x00\x00", 1002),  # the end of what was not begun
        (b"\x81\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 1009),  # 4 GiB are announced
    ],
)
def test_what_is_no_frame_closes_the_socket_with_a_code(
    running: ServerProcess, client: ServerClient, data: bytes, code: int
) -> None:
    with client.socket(compression=None) as tab:
        tab.socket.sendall(data)
        with pytest.raises(ConnectionClosed) as closed:
            tab.recv(60)
    assert (closed.value.rcvd and closed.value.rcvd.code) == code


def test_whatever_a_handshake_holds_it_is_answered(running: ServerProcess, client: ServerClient) -> None:
    """With a refusal, or with a socket that is closed with a code."""
    chance, address, before = Random(8), urlsplit(running.url), len(running.output)
    for _ in range(GENERATED // 4):
        request = generated.handshake(chance, address.netloc)
        with socket.create_connection((str(address.hostname), address.port or 0), timeout=60) as end:
            end.sendall(request)
            answer = b""
            while not ANSWERED.search(answer):
                piece = end.recv(65_536)
                assert piece, (request[:500], answer)
                answer += piece
        assert answer.split(b" ")[1] < b"500", (request[:500], answer)
    log = running.output[before:]
    assert ("made-up" in log, "Traceback" in log) == (False, False)


@pytest.mark.wide
def test_a_download_breaks_off_when_its_token_is_revoked(running: ServerProcess, client: ServerClient) -> None:
    """Whoever reads it can tell that it is not whole."""
    said = {"role": "user", "content": "A long talk. " * 4_000, "created_at": "2026-01-01T00:00:00Z"}
    thread = {"title": "Long", "created_at": "2026-01-01T00:00:00Z", "messages": [said] * 120}
    client.call("POST", "import/", {"format": "openbook/1", "threads": [thread], "memories": []})
    other = ServerClient.signed_in(running.url, password=PASSWORD)
    newest = client.call("GET", "tokens/")["results"][0]
    with closing(http.client.HTTPConnection(urlsplit(running.url).netloc)) as connection:
        connection.sock = narrow(running.url)
        connection.request("GET", "/api/v1/export/", headers={"Authorization": f"Token {other.token}"})
        response = connection.getresponse()
        assert response.read(2**15)
        client.call("DELETE", f"tokens/{newest['id']}/")
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            until(lambda: not response.read(2**15))
    assert running.output.count("answer ended with its reader's access") == 1

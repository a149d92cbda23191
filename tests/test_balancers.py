"""Two servers behind HAProxy and nginx, as shipped: streams, sockets, uploads; one server is drained, Redis goes away."""

import http.client
import json
import os
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import redis
from websockets.exceptions import ConnectionClosed

from config.server.draining import SIGNAL
from config.server.proxies import client_of, parse_address, trust
from conversations.web import consumers
from tests.balancers import Balancer, balancer
from tests.certificates import trusted
from tests.clients import Json, ServerClient
from tests.other_services import elsewhere
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.services import redis as redis_server
from tests.test_files import GROWTH_MB
from tests.test_long_work import grows_by_at_most
from tests.test_processes import PASSWORD, QUICK, text_of
from tests.uploads import END, FORM, form_start
from tests.waiting import until

pytestmark = pytest.mark.timeout(300)

NAMES = ("haproxy", "nginx")
BEHIND = {
    "ALLOWED_HOSTS": "127.0.0.1,book.example",
    "CSRF_TRUSTED_ORIGINS": "https://book.example",
    "OPENBOOK_TRUSTED_PROXIES": "127.0.0.1",
}
CLAIMS = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Port": "1",
    "Forwarded": "for=203.0.113.9;host=evil.example",
}
MEBIBYTES = int(os.environ.get("OPENBOOK_TEST_UPLOADED", "16"))
"""That pass through a proxy; `make soak` sends the most that is allowed."""
TALKS = 2
"""Of each kind, by each proxy, while a server is drained."""


@dataclass(frozen=True)
class Installation:
    one: ServerProcess
    other: ServerProcess
    balancers: list[Balancer]
    token: str
    redis_url: str
    services: ExitStack

    @property
    def clients(self) -> list[ServerClient]:
        return [ServerClient(each.url, self.token) for each in self.balancers]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with trusted(tmp_path_factory.mktemp("certificate")) as path:
        yield path


@pytest.fixture(scope="module")
def installation(migrated: str, certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    files = tmp_path_factory.mktemp("files")
    haproxy, nginx = (tmp_path_factory.mktemp(name) for name in NAMES)
    with fresh_database(migrated) as database, ExitStack() as services:
        redis_url = services.enter_context(redis_server())
        environment = {**QUICK, **BEHIND, "REDIS_URL": redis_url, "OPENBOOK_FILES_DIR": str(files)}
        with server(database, **environment) as one, server(database, **environment) as other:
            token = ServerClient.signed_in(one.url, password=PASSWORD).token
            with (
                balancer("haproxy", haproxy, certificate, one.url, other.url) as first,
                balancer("nginx", nginx, certificate, one.url, other.url) as second,
            ):
                for each in (first, second):
                    until(lambda each=each: is_well(each))  # type: ignore[misc]
                yield Installation(one, other, [first, second], token, redis_url, services)


def is_well(each: Balancer) -> bool:
    assert each.process.poll() is None, (each.folder / "log").read_text()
    try:
        with urllib.request.urlopen(f"{each.url}health/", timeout=10) as response:  # noqa: S310
            return bool(json.load(response)["status"] == "ok")
    except OSError:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_what_clients_claim_of_themselves_is_replaced_by_what_the_proxy_knows(
    name: str, certificate: Path, tmp_path: Path
) -> None:
    with elsewhere({"*": (200, {}, "{}")}) as service:
        with balancer(name, tmp_path, certificate, service.url, service.url) as front:
            until(lambda: is_reached(front))
            request = urllib.request.Request(f"{front.url}claims", headers={**CLAIMS, "Host": "book.example"})  # noqa: S310
            urllib.request.urlopen(request, timeout=30).close()  # noqa: S310
            plain = urllib.request.Request(f"{front.plain_url}claims", headers={"Host": "book.example"})  # noqa: S310
            with pytest.raises(urllib.error.HTTPError) as moved:
                urllib.request.build_opener(NoRedirect).open(plain, timeout=30)
            with moved.value as answer:
                assert (answer.code, answer.headers["location"]) == (308, "https://book.example/claims")
            for path in ("api/v1/threads/", "v1/models", "scim/v2/Users", "ws/threads/new/"):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(f"{front.plain_url}{path}", timeout=30)  # noqa: S310
                with refused.value as answer:
                    assert (answer.code, answer.headers["location"]) == (403, None)
            for path in ("metrics", "metrics?a=b", "%6Detrics"):
                with pytest.raises(urllib.error.HTTPError) as hidden:
                    urllib.request.urlopen(f"{front.url}{path}", timeout=30)  # noqa: S310
                with hidden.value as answer:
                    assert answer.code == 404
        assert not [each for each in service.requests if "etrics" in each.path]
        (heard,) = [each for each in service.requests if each.path == "/claims"]
    assert heard.headers["host"] == "book.example"
    headers = [(key.encode(), value.encode()) for key, value in heard.headers.items()]
    client = client_of(parse_address("127.0.0.1"), headers, trust(["127.0.0.1"]))
    assert (str(client.address), client.scheme, client.host) == ("127.0.0.1", "https", "")
    assert not {"forwarded", "x-forwarded-host", "x-forwarded-port"} & {
        key for key, value in heard.headers.items() if value
    }


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **options: object) -> None:
        return None


def is_reached(front: Balancer) -> bool:
    assert front.process.poll() is None, (front.folder / "log").read_text()
    try:
        urllib.request.urlopen(f"{front.url}health/", timeout=10).close()  # noqa: S310
    except OSError:
        return False
    return True


@pytest.mark.operate
def test_streams_sockets_and_calls_outlive_a_reload_of_the_proxy(installation: Installation) -> None:
    """Those that were begun before it go on by the old process, those that come meanwhile by the new one."""
    for each, client in zip(installation.balancers, installation.clients, strict=True):
        other = client.call("POST", "threads/", {})["id"]
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(client.call, "POST", f"threads/{other}/messages/", {"content": "Go"})
            until(lambda client=client, other=other: client.messages(other))  # type: ignore[misc]
            stream = client.events("threads/new/messages/stream/", {"content": "Go"})
            saved = next(stream)
            thread = saved["data"]["thread"]
            with client.socket(thread) as before:
                delta = next(event for event in stream if event["type"] == "reply.delta")
                assert not call.done()
                each.reload()
                with client.socket(thread) as after:
                    (question, *_) = client.messages(thread)
                    assert question["reply"]["status"] == "running"
                    resume = {"type": "reply.resume", "reply": saved["reply"], "after": delta["seq"] - 1}
                    for socket in (before, after):
                        socket.send(json.dumps(resume))
                    whole = [delta, *stream]
                    assert whole[-1]["type"] == "reply.completed"
                    for socket in (before, after):
                        shown = {event["seq"]: event for event in (json.loads(socket.recv(timeout=60)) for _ in whole)}
                        assert [shown.get(event["seq"], event) for event in whole] == whole
            assert call.result()["reply"]["status"] == "completed"


@pytest.mark.operate
def test_an_upload_passes_through_without_being_gathered(installation: Installation) -> None:
    content = b"The ferry leaves at nine.\n" * (MEBIBYTES * 2**20 // 26)
    start = form_start("notes.txt")
    for each, client in zip(installation.balancers, installation.clients, strict=True):
        context = ssl.create_default_context()
        with (
            grows_by_at_most(installation.one, GROWTH_MB),
            grows_by_at_most(installation.other, GROWTH_MB),
            closing(http.client.HTTPSConnection(urlsplit(each.url).netloc, timeout=60, context=context)) as connection,
        ):
            connection.putrequest("POST", "/api/v1/files/")
            connection.putheader("Authorization", f"Token {client.token}")
            connection.putheader("Content-Type", FORM)
            connection.putheader("Content-Length", str(len(start) + len(content) + len(END)))
            connection.endheaders(start)
            middle = len(content) // 2
            connection.send(content[:middle])
            assert each.gathered() == []
            connection.send(content[middle:] + END)
            answer = connection.getresponse()
            file = json.load(answer)
        assert (answer.status, file["bytes"]) == (201, len(content))


@pytest.mark.operate
def test_redis_that_is_full_or_still_or_gone_and_back_costs_nothing_but_speed(installation: Installation) -> None:
    client = redis.from_url(installation.redis_url)
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1")
    talk_by_all(installation)
    client.config_set("maxmemory", "0")
    client.client_pause(1500)
    talk_by_all(installation)
    client.shutdown(nosave=True)
    talk_by_all(installation)
    installation.services.enter_context(redis_server(urlsplit(installation.redis_url).port))
    talk_by_all(installation)


def talk_by_all(installation: Installation) -> None:
    """A message by each proxy, read along by the other."""
    there, back = installation.clients
    for one, other in ((there, back), (back, there)):
        stream = one.events("threads/new/messages/stream/", {"content": "Go"})
        saved = next(stream)
        elsewhere_read = list(other.events(f"replies/{saved['reply']}/events/"))
        whole = [saved, *stream]
        assert elsewhere_read == whole
        assert whole[-1]["type"] == "reply.completed"
        assert [turn["text"] for turn in one.messages(saved["data"]["thread"])] == ["Go", text_of(whole)]


@dataclass
class Load:
    """Clients that talk until it is ``over``: what they ``heard``, and the ``close_codes`` that ended their sockets."""

    over: threading.Event = field(default_factory=threading.Event)
    heard: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    close_codes: set[int] = field(default_factory=set)

    def wait(self, events: int) -> None:
        for _ in range(events):
            assert self.heard.acquire(timeout=60)

    def by_streams(self, client: ServerClient) -> int:
        """Streams one after the other, each of which comes to its end; gives how many."""
        said = 0
        while not self.over.is_set():
            text, whole = f"Message {uuid4().hex}", []
            for event in client.events("threads/new/messages/stream/", {"content": text}):
                whole.append(event)
                self.heard.release()
            assert whole[-1]["type"] == "reply.completed"
            assert [turn["text"] for turn in client.messages(whole[0]["data"]["thread"])] == [text, text_of(whole)]
            said += 1
        return said

    def by_sockets(self, client: ServerClient) -> int:
        """As the page does it; gives how many messages were sent and answered."""
        thread, turns = client.call("POST", "threads/", {})["id"], list[str]()
        while not self.over.is_set():
            text = f"Message {uuid4().hex}"
            turns += [text, self._answer(client, thread, text)]
        assert [turn["text"] for turn in client.messages(thread)] == turns
        return len(turns) // 2

    def _answer(self, client: ServerClient, thread: str, text: str) -> str:
        """What is not confirmed is sent again, what was not read to its end is resumed."""
        events: dict[int, Json] = {}
        while not ended(events):
            with self._noting_the_code(), client.socket(thread) as socket:
                socket.send(json.dumps(resumed(events) if events else message(text)))
                while not ended(events):
                    event = json.loads(socket.recv(timeout=60))
                    if event["type"] == "message.saved" and event["data"]["message"]["text"] != text:
                        continue
                    assert event["type"] != "error", event
                    events[event["seq"]] = event
                    self.heard.release()
        assert sorted(events) == list(range(1, len(events) + 1))
        return text_of([events[seq] for seq in sorted(events)])

    @contextmanager
    def _noting_the_code(self) -> Iterator[None]:
        try:
            yield
        except ConnectionClosed as closed:
            self.close_codes.add(closed.rcvd.code if closed.rcvd else 1006)


def health(running: ServerProcess) -> tuple[int, str]:
    with closing(http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=30)) as connection:
        connection.request("GET", "/health/", headers={"Host": "book.example"})
        answer = connection.getresponse()
        return answer.status, json.load(answer)["status"]


def message(text: str) -> Json:
    return {"type": "message.send", "content": text, "client_message_id": text}


def resumed(events: dict[int, Json]) -> Json:
    return {"type": "reply.resume", "reply": events[1]["reply"], "after": max(events)}


def ended(events: dict[int, Json]) -> bool:
    return bool(events) and events[max(events)]["type"] == "reply.completed"


@pytest.mark.operate
def test_a_server_is_drained_under_load_and_no_stream_is_lost_and_no_message_doubled(
    installation: Installation,
) -> None:
    load = Load()
    direct = ServerClient(installation.one.url, installation.token)
    thread = direct.call("POST", "threads/", {})["id"]
    with ThreadPoolExecutor(4 * TALKS) as pool, direct.socket(thread) as idle:
        try:
            ways = [way for way in (load.by_streams, load.by_sockets) for _ in range(TALKS)]
            talks = [pool.submit(way, client) for client in installation.clients for way in ways]
            load.wait(40)
            installation.one.process.send_signal(SIGNAL)
            until(lambda: health(installation.one) == (503, "draining"))
            assert installation.one.process.wait(60) == 0
            load.wait(40)  # and it goes on with the other
        finally:
            load.over.set()
        assert min(talk.result() for talk in talks) >= 1
        with pytest.raises(ConnectionClosed) as hung_up:
            while True:
                idle.recv(timeout=60)
    assert hung_up.value.rcvd
    assert hung_up.value.rcvd.code == consumers.RESTART
    assert load.close_codes <= {consumers.RESTART}  # of those that were in the middle of a reply, if any was
    assert "drained" in installation.one.output

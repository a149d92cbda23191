"""Nothing that anybody says keeps the others waiting: long texts of one thing, by message, preview, model and import."""

import http.client
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from tests import model_scripts as scripts
from tests.clients import ServerClient
from tests.model_server import ModelServer
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.test_long_work import PASSWORD, posted

CHARACTERS = 98_000
SECONDS = 15.0
"""Promised is one, and a minute is what such texts took; the others are for a busy machine."""
EVERY = (
    " ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u200d", "e\u0301", '"', "'", "*", "_", ">", "> ", "|", "[", "(", "`",
    "```\n", "<!--", "<a ", "#", "-", "=", ".", "?", "!", "。", "1", "1 ", "12.", "a", "A ", "a@", "a@a.", "http://", "I am ",
    "日", "あ ", "😀",
    "![", "[](", "\\", "$", "&", "{", ":", "a: \n", "「", "“a", "my name is ", "please ", "- a\n", "x. ",
)  # fmt: skip
"""What is repeated between an ``x`` and an ``END``."""
UNITS = EVERY if "OPENBOOK_TEST_CHARACTERS" in os.environ else (" ", "\n", '"', "*", "<a ", "a@", "1 ", "my name is ")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(responder=lambda _: scripts.text("Good.")) as model:
        yield model


@pytest.fixture(scope="module")
def running(migrated: str, model: ModelServer) -> Iterator[ServerProcess]:
    environment = {
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-tests",
        "ANTHROPIC_BASE_URL": model.url,
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_WORKER": "off",
    }
    with fresh_database(migrated) as database, server(database, **environment) as running:
        yield running


@pytest.fixture(scope="module")
def client(running: ServerProcess) -> ServerClient:
    client = ServerClient.signed_in(running.url, password=PASSWORD)
    client.call("POST", "threads/new/messages/", {"content": "Hello"})  # what a process needs for its first
    client.call("POST", "threads/new/context/", {"content": "Hello"})
    return client


@dataclass
class Pulse:
    """Asks again and again whether the server lives; ``waits`` has the seconds of each answer, by what was being sent."""

    address: str
    sending: str = ""
    waits: dict[str, float] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self) -> None:
        while not self._ended.wait(0.01):
            sending, began = self.sending, time.monotonic()
            with closing(http.client.HTTPConnection(self.address, timeout=300)) as connection:
                connection.request("GET", "/health/live/")
                assert connection.getresponse().read()
            self.waits[sending] = max(time.monotonic() - began, self.waits.get(sending, 0))

    def end(self) -> None:
        self._ended.set()


@contextmanager
def pulse_of(running: ServerProcess) -> Iterator[Pulse]:
    pulse = Pulse(urlsplit(running.url).netloc)
    thread = threading.Thread(target=pulse)
    thread.start()
    try:
        yield pulse
    finally:
        pulse.end()
        thread.join()
    late = {what: round(seconds, 2) for what, seconds in pulse.waits.items() if seconds > SECONDS}
    stalls = [line for line in running.lines if "event loop stalled" in line]
    assert not late, "\n".join([str(late), *stalls])


def framed(unit: str, size: int = CHARACTERS) -> str:
    return f"x{(unit * (size // len(unit)))}END"


@pytest.mark.wide
def test_the_server_lives_while_it_reads_what_people_write(running: ServerProcess, client: ServerClient) -> None:
    with pulse_of(running) as pulse:
        for unit in UNITS:
            pulse.sending = f"message of {unit!r}"
            thread = client.call("POST", "threads/new/messages/", {"content": framed(unit)})["thread"]
            pulse.sending = f"preview of {unit!r}"
            client.call("POST", f"threads/{thread}/context/", {"content": framed(unit)})


@pytest.mark.wide
def test_the_server_lives_while_a_model_repeats_itself(
    running: ServerProcess, client: ServerClient, model: ModelServer
) -> None:
    with pulse_of(running) as pulse:
        for unit in UNITS[:24]:
            pulse.sending = f"reply of {unit!r}"
            model.script(scripts.text("x", *[unit * (1_000 // len(unit))] * 60, "END"))
            client.call("POST", "threads/new/messages/", {"content": "What do you think?"})
            client.call("POST", "threads/new/messages/", {"content": "And what else did you tell me?"})


@pytest.mark.wide
@pytest.mark.parametrize("size", [150_000, 1_000_000])
def test_the_server_lives_while_it_imports(running: ServerProcess, client: ServerClient, size: int) -> None:
    with pulse_of(running) as pulse:
        for unit in UNITS[:12:4]:
            pulse.sending = f"import of {unit!r}"
            messages = [{"role": "user", "content": framed(unit, size - 4)}, {"role": "assistant", "content": "Good."}]
            document = {"format": "openbook/1", "threads": [{"messages": messages}]}
            with posted(client, "/api/v1/import/", json.dumps(document).encode()) as response:
                assert response.status == 201, response.read()


def test_streams_of_others_go_on(running: ServerProcess, client: ServerClient, model: ModelServer) -> None:
    """One that gets a word each tenth of a second, while somebody sends a text that took a minute."""
    model.script(scripts.text(*["word "] * 50, delay=0.1))
    stream = client.events("threads/new/messages/stream/", {"content": "Talk to me."})
    next(event for event in stream if event["type"] == "reply.delta")
    sender = threading.Thread(
        target=lambda: client.call("POST", "threads/new/messages/", {"content": framed(" ")}, seconds=300)
    )
    sender.start()
    longest, before = 0.0, time.monotonic()
    for _ in stream:
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    sender.join()
    assert longest < SECONDS

"""A crowd of strangers at the door of a real server, and addresses behind a proxy at all its doors."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from conversations.accounts import passwords
from tests.clients import ServerClient
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.sign_ins import attempt, crowd

pytestmark = pytest.mark.wide

PASSWORD = "correct-horse-battery-9"
BEHIND_PROXIES = {
    "OPENBOOK_TRUSTED_PROXIES": "127.0.0.0/8, 10.0.0.0/8",
    "OPENBOOK_SIGNUP": "on",
    "OPENBOOK_LIMIT_SIGNUPS_HOUR": "1",
    "ALLOWED_HOSTS": "chat.example,127.0.0.1",
}
MORE_THAN_PLACES = passwords.PLACES_OF_ONE + 4
REAL_PASSWORDS = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "DJANGO_SETTINGS_MODULE": "tests.brief_hash_settings"}


@pytest.fixture(scope="module")
def running(migrated: str) -> Iterator[ServerProcess]:
    with fresh_database(migrated) as database, server(database, **REAL_PASSWORDS, **BEHIND_PROXIES) as process:
        yield process


@pytest.mark.wide
def test_strangers_at_once_cost_nobody_else_an_answer(running: ServerProcess) -> None:
    somebody = ServerClient.signed_in(running.url, password=PASSWORD)
    done = crowd(running.url, somebody, strangers=MORE_THAN_PLACES)
    assert (done.failures, set(done.answers)) == ([], {401, 429})
    assert done.answers.total() == MORE_THAN_PLACES
    assert done.answers[401] >= passwords.PLACES_OF_ONE
    assert len(done.calls) > done.answers[401]  # they went on all the time


def test_a_server_that_is_to_end_does_not_wait_for_the_crowd(migrated: str) -> None:
    with (
        fresh_database(migrated) as database,
        server(database, **REAL_PASSWORDS) as running,
        ThreadPoolExecutor(max_workers=passwords.PLACES_OF_ONE) as threads,
    ):
        names = [f"nobody-{number}" for number in range(passwords.PLACES_OF_ONE)]
        attempts = [threads.submit(attempt, running.url, name) for name in names]
        wait(attempts, return_when=FIRST_COMPLETED)
        assert running.terminate() == 0
    assert [each for each in attempts if each.exception()], "not all of them got an answer"


SECRET = "a" * 32


def post_as(url: str, forwarded: str) -> int:
    """An empty form for an account, by two proxies of ours; the nearer one is this test."""
    headers = {"X-Forwarded-For": f"{forwarded}, 10.0.0.1", "X-Forwarded-Host": "chat.example", "X-CSRFToken": SECRET}
    headers |= {"Cookie": f"csrftoken={SECRET}"}
    request = urllib.request.Request(f"{url}accounts/signup/", b"username=", headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def is_let_in(url: str, origin: str, **headers: str) -> bool:
    """Whether a page of that origin may open a socket at all; it is nobody's, so it is closed at once."""
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        with connect(
            f"{url}ws/threads/new/", origin=Origin(origin), additional_headers=names, open_timeout=60
        ) as socket:
            return socket.protocol.handshake_exc is None
    except InvalidStatus:
        return False


def test_behind_proxies_every_door_meets_the_client(running: ServerProcess) -> None:
    answers = [post_as(running.url, "203.0.113.7"), post_as(running.url, "203.0.113.7:4711")]
    answers += [post_as(running.url, "203.0.113.8"), post_as(running.url, "203.0.113.9, 203.0.113.7")]
    assert answers == [200, 429, 200, 429]
    forwarded = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "chat.example"}
    socket = running.websocket_url
    assert is_let_in(socket, "https://chat.example", **forwarded)
    assert not is_let_in(socket, "http://chat.example", **forwarded)
    assert not is_let_in(socket, "https://evil.example", **forwarded)

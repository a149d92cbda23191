"""`manage.py serve` as people start it: a real process on a real port."""

import os
import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.management.commands.serve import SUPERUSER, check_database, first_superuser
from tests.clients import ServerClient
from tests.pooler import pgbouncer
from tests.processes import server, started
from tests.services import fresh_database
from tests.waiting import until

SET_BEFORE = "admin (password set at the first start; change it with: make password)"


@pytest.fixture(scope="module")
def used_database(migrated: str) -> Iterator[str]:
    """For whom it does not matter that a server has started on it before."""
    with fresh_database(migrated) as url:
        yield url


def status(url: str) -> int:
    with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310
        return int(response.status)


def refuses(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as client:
        return client.connect_ex((str(address.hostname), address.port or 0)) != 0


@pytest.mark.wide
def test_two_servers_may_start_at_once_on_an_empty_database_and_one_says_how_to_sign_in(empty_database: str) -> None:
    """Also through a pooler with two connections in all, of which they keep none to themselves."""
    with (
        pgbouncer(empty_database) as pooler,
        started("serve", "--port", "0", DATABASE_URL=pooler.url) as one,
        started("serve", "--port", "0", DATABASE_URL=pooler.url) as other,
    ):
        for each in (one, other):
            each.wait_until_ready()
            assert each.output.splitlines()[-1].startswith("Openbook is ready: http://127.0.0.1:")
            assert status(f"{each.url}accounts/login/") == 200
        later, first = sorted([one.sign_in, other.sign_in])
        assert later == SET_BEFORE
        assert re.fullmatch(r"admin with password \S{16}", first)
        client = ServerClient.signed_in(one.url, password=first.split()[-1])
        for url in (one.url, other.url):
            answer = ServerClient(url, client.token).call("POST", "threads/new/messages/", {"content": "Hello"})
            assert answer["reply"]["status"] == "completed"
        assert pooler.left_in_sessions() == set()


@pytest.mark.django_db
def test_the_first_superuser_is_the_one_that_the_environment_names_and_stays_the_only_one(settings: Settings) -> None:
    settings.DJANGO_SUPERUSER_USERNAME, settings.DJANGO_SUPERUSER_PASSWORD = "ada", "analytical engine"
    said = [first_superuser(), first_superuser()]
    assert said == ["ada with the password in DJANGO_SUPERUSER_PASSWORD", SET_BEFORE.replace("admin", "ada")]
    (ada,) = User.objects.all()
    assert (ada.username, ada.is_superuser, ada.is_staff) == ("ada", True, True)
    assert ada.check_password("analytical engine")


@pytest.mark.parametrize(("number", "worker", "at_once"), [(signal.SIGTERM, "on", False), (signal.SIGINT, "off", True)])
def test_a_signal_ends_it_in_good_order_also_just_after_the_start(
    used_database: str, number: signal.Signals, worker: str, at_once: bool
) -> None:
    with server(used_database, OPENBOOK_WORKER=worker) as running:
        assert at_once or status(f"{running.url}accounts/login/") == 200
        assert (running.terminate(number), refuses(running.url)) == (0, True)
        assert "Traceback" not in running.output
    with psycopg.connect(used_database, autocommit=True) as connection:
        others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        until(lambda: not connection.execute(others).fetchall())


@pytest.mark.wide
def test_its_worker_is_started_again_when_it_dies_and_ends_with_it_however_it_ends(used_database: str) -> None:
    with psycopg.connect(used_database, autocommit=True) as connection:

        def workers() -> set[int]:
            rows = connection.execute("SELECT name FROM conversations_lease WHERE name LIKE 'worker %'")
            return {int(name.split(".")[-2]) for (name,) in rows}

        with server(used_database, OPENBOOK_WORKER="on") as running:
            until(lambda: len(workers()) == 2)
            before = workers()
            killed = min(before)
            os.kill(killed, signal.SIGKILL)
            until(lambda: workers() - before)
            running.kill()
            until(lambda: workers() == {killed})  # whose lease runs out


def test_a_database_role_with_too_much_power_is_told(settings: Settings) -> None:
    assert check_database() == ""
    settings.DATABASE_URL = settings.DATABASE_URL.replace("//openbook@", "//postgres@", 1)
    assert check_database() == SUPERUSER


def test_a_port_in_use_is_named_and_nothing_is_done() -> None:
    """A test that did not ask for the database may not touch it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CommandError) as refused:
            call_command("serve", port=port)
    assert str(refused.value) == (
        f"Cannot listen on 127.0.0.1 port {port}: Address already in use. "
        f"Choose another port, for example: make run PORT={port + 1}"
    )

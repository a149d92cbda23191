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

from tests.processes import server, started
from tests.services import fresh_database
from tests.waiting import until


@pytest.fixture(scope="module")
def used_database(migrated: str) -> Iterator[str]:
    """For whom it does not matter that a server has started on it before."""
    with fresh_database(migrated) as url:
        yield url


def status(url: str) -> int:
    with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310
        return int(response.status)


def refuses(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as client:
        return client.connect_ex((str(address.hostname), address.port or 0)) != 0


def test_a_start_ends_with_one_line_that_says_how_to_sign_in_and_only_the_first_with_the_password(
    empty_database: str,
) -> None:
    with server(empty_database) as first:
        assert status(f"{first.url}accounts/login/") == 200
        assert re.fullmatch(r"admin with password \S{16}", first.sign_in)
        assert first.output.splitlines()[-1].startswith("Openbook is ready: http://127.0.0.1:")
    with server(empty_database) as second:
        assert second.sign_in == "admin (password set at the first start; change it with: make password)"


def test_the_first_superuser_is_the_one_that_the_environment_names(migrated: str) -> None:
    named = {"DJANGO_SUPERUSER_USERNAME": "ada", "DJANGO_SUPERUSER_PASSWORD": "analytical engine"}
    with (
        fresh_database(migrated) as database,
        server(database, **named) as running,
        psycopg.connect(database) as connection,
    ):
        users = connection.execute("SELECT username, is_superuser, is_staff FROM auth_user").fetchall()
    assert (running.sign_in, users) == ("ada with the password in DJANGO_SUPERUSER_PASSWORD", [("ada", True, True)])
    assert "analytical engine" not in running.output


@pytest.mark.parametrize(("number", "worker"), [(signal.SIGTERM, "on"), (signal.SIGINT, "off")])
def test_a_signal_ends_it_in_good_order(used_database: str, number: signal.Signals, worker: str) -> None:
    with server(used_database, OPENBOOK_WORKER=worker) as running:
        assert status(f"{running.url}accounts/login/") == 200
        assert (running.terminate(number), refuses(running.url)) == (0, True)
        assert "Traceback" not in running.output
    with psycopg.connect(used_database) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        assert connection.execute(others).fetchone() == (0,)


def test_its_worker_is_started_again_when_it_dies_and_ends_with_it_however_it_ends(used_database: str) -> None:
    with psycopg.connect(used_database, autocommit=True) as connection:

        def workers() -> list[int]:
            rows = connection.execute("SELECT application_name FROM pg_stat_activity WHERE application_name ~ 'worker'")
            return [int(name.rsplit(" ", 1)[1]) for (name,) in rows]

        with server(used_database, OPENBOOK_WORKER="on") as running:
            until(workers)
            (first,) = workers()
            os.kill(first, signal.SIGKILL)
            until(lambda: set(workers()) - {first})
            running.kill()
            until(lambda: not workers())


def test_a_signal_just_after_the_start_is_not_lost(used_database: str) -> None:
    with server(used_database) as running:
        assert running.terminate() == 0


def test_two_servers_may_start_at_once(empty_database: str) -> None:
    with started("serve", "--port", "0", DATABASE_URL=empty_database) as one:
        with server(empty_database) as other:
            one.wait_until_ready()
            assert (status(f"{one.url}accounts/login/"), status(f"{other.url}accounts/login/")) == (200, 200)
        assert sum("admin with password" in each.sign_in for each in (one, other)) == 1


def test_a_port_in_use_is_named_and_nothing_is_done(empty_database: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with started("serve", "--port", str(port), DATABASE_URL=empty_database) as running:
            assert running.process.wait(30) == 1
    assert f"Cannot listen on 127.0.0.1 port {port}: Address already in use" in running.output
    assert f"make run PORT={port + 1}" in running.output
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)

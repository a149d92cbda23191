"""The services that other tests rely on are real."""

import os

import psycopg
from redis import Redis

from tests.services import FOREIGN


def test_the_tests_have_a_postgresql_of_their_own(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_redis_answers(redis_url: str) -> None:
    with Redis.from_url(redis_url) as client:
        assert (client.set("key", "value"), client.get("key")) == (True, b"value")


def test_chromium_is_there(chromium_path: str) -> None:
    assert os.access(chromium_path, os.X_OK)


def test_nothing_of_the_developers_environment_is_left() -> None:
    left = {name: value for name, value in os.environ.items() if FOREIGN.fullmatch(name)}
    assert left.keys() == {"DATABASE_URL", "OPENBOOK_ERASURE_LEDGER", "OPENBOOK_FILES_DIR", "OPENBOOK_PROVIDER"}
    assert left["OPENBOOK_PROVIDER"] == "offline"

"""Connections that may have a pooler in between: what they keep prepared, and where their cursors live."""

import os
import re
from collections.abc import Iterator

import psycopg
import pytest

from config.postgres.pooled_connection import PooledConnection, keeps_statements
from tests.pooler import Pooler, pgbouncer
from tests.processes import ROOT

APPS = ("artifacts", "config", "conversations", "memory")
ROWS = "SELECT generate_series(1, 1000)"


@pytest.fixture(scope="module")
def pooler() -> Iterator[Pooler]:
    with pgbouncer(os.environ["DATABASE_URL"]) as pooler:
        yield pooler


def test_statements_are_kept_prepared_where_they_are_met_again(pooler: Pooler) -> None:
    """A pooler of before 1.21 knows nothing of them, and a statement fails in the first session that it is not in."""
    with PooledConnection.connect(os.environ["DATABASE_URL"], prepare_threshold=0) as direct:
        assert direct.prepare_threshold == 0
        direct.execute("SELECT 1")
        assert len(direct.execute("SELECT FROM pg_prepared_statements").fetchall()) == 2
    for _ in range(2 * pooler.size):
        with psycopg.connect(pooler.url, prepare_threshold=None) as plain, plain.transaction():
            kept = keeps_statements(plain)
        with PooledConnection.connect(pooler.url, prepare_threshold=0, autocommit=True) as connection:
            assert (connection.prepare_threshold is not None) == kept
            for _ in range(2 * pooler.size):
                assert connection.execute("SELECT 7").fetchone() == (7,)
    assert pooler.left_in_sessions() == set()


def test_a_cursor_of_the_servers_lasts_as_long_as_a_transaction(pooler: Pooler) -> None:
    with PooledConnection.connect(pooler.url, autocommit=True) as connection:
        cursor = connection.cursor("rows", scrollable=False, withhold=True)
        assert isinstance(cursor, psycopg.Cursor)
        assert len(list(cursor.execute(ROWS))) == 1000
        with connection.transaction(), connection.cursor("rows", scrollable=False) as within:
            assert isinstance(within, psycopg.ServerCursor)
            assert len(list(within.execute(ROWS))) == 1000
    assert pooler.left_in_sessions() == set()


SESSION_STATE = re.compile(
    r"""pg_(try_)?advisory_(un)?lock | \b(UN)?LISTEN\b | \bTEMP(ORARY)?\s+TABLE\b(?!\s+\w+\s+ON\s+COMMIT\s+DROP)
        | \bWITH\s+HOLD\b | \bLOAD\s+' | set_config\([^)]*,\s*false | ["';]\s*(RESET|DISCARD|PREPARE)\s
        | ["';]\s*SET\s+(?!LOCAL|TRANSACTION|CONSTRAINTS)""",
    re.VERBOSE,
)


@pytest.mark.parametrize(
    "statement",
    ["'SELECT pg_try_advisory_lock(1)'", "'SET jit = off'", "'BEGIN; SET jit TO off'", "'CREATE TEMP TABLE t ()'"],
)
def test_what_would_stay_in_a_session_is_recognised(statement: str) -> None:
    assert SESSION_STATE.search(statement)


@pytest.mark.long
def test_nothing_that_would_stay_in_a_session_is_asked_for() -> None:
    sources = [path for app in APPS for kind in ("*.py", "*.sql") for path in (ROOT / app).rglob(kind)]
    assert len(sources) > 400
    found = {str(path): match[0] for path in sources if (match := SESSION_STATE.search(path.read_text("utf-8")))}
    assert found == {}

"""Statements as psycopg is given them."""

import re
from pathlib import Path

from psycopg import _queries
from psycopg.adapt import Transformer

from conversations.accounts import budgets, session_user
from conversations.runtime.sql_files import read_statements

ROOT = Path(__file__).resolve().parents[3]
NAMES = re.compile(r"%\((\w+)\)s")


def test_psycopg_reads_each_statement_once() -> None:
    files = [file for app in ("artifacts", "conversations", "memory") for file in (ROOT / app).rglob("*.sql")]
    statements = [
        statement
        for file in files
        for statement in read_statements(str(file), budgets.PARTS | session_user.PARTS).values()
    ]
    assert max(map(len, statements)) <= _queries.MAX_CACHED_STATEMENT_LENGTH
    longest = max(statements, key=len)

    def read() -> int:
        query = _queries.PostgresQuery(Transformer())
        query.convert(longest, dict.fromkeys(NAMES.findall(longest)))
        return _queries._query2pg.cache_info().misses

    assert read() == read()

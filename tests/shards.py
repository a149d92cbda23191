"""The tables of persons spread by person over two partitions, and which of them a statement touches.

A partition stands for a server here: a statement that the planner narrows to one partition of each table is one that a sharded
PostgreSQL sends to one server whole.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pytest
from django.db.backends.utils import CursorWrapper
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
APPS = tuple(f"{ROOT / app}/" for app in ("conversations", "artifacts", "memory", "config"))
PARTITIONS = 2
EXPLAINED_TIMES = 3
"""How often a statement is planned, with the values of each time."""
PARTITION = re.compile(r"(\w+)_of_(\d|nobody)")
DIRECTORY = {
    "conversations_accountdeletion",
    "conversations_apitoken",
    "conversations_budgetcharge",
    "conversations_budgetpool",
    "conversations_contentaccess",
    "conversations_directoryuser",
    "conversations_invitationuse",
    "conversations_mcpserver",
    "conversations_mcpsignin",
    "conversations_noticeacceptance",
    "conversations_outgoingmail",
    "conversations_schedule",
    "conversations_serviceaccount",
    "conversations_userlimits",
    "conversations_webhook",
    "conversations_webhookdelivery",
}
"""Tables that are looked through for all persons: who signs in, who was invited, who accepted a notice, with which limits, who
looked at what, who goes when, which mails go out, what is sent when, which programs hear of what, which servers are
everybody's, who signed in to one that is deleted; and what the members of a group use together."""
EXPLAINED = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")

COLUMNS = """
SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = 'public' AND column_name = 'user_id' AND table_type = 'BASE TABLE'
  AND table_name ~ '^(conversations|artifacts|memory)_'
  AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = table_name::regclass)
ORDER BY table_name
"""
INDEXES = """
SELECT index.relname, con.conname, indisprimary, indisunique, indnatts > indnkeyatts, pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
LEFT JOIN pg_constraint AS con ON con.conindid = indexrelid AND con.contype IN ('p', 'u') AND con.conrelid = indrelid
WHERE indrelid = %s::regclass
"""
NUMBERED = "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_identity = 'YES'"
KEYS = re.compile(r" USING (\w+) \(")


def spread(connection: psycopg.Connection) -> list[str]:
    """Replace each table of persons, which must be empty, by one that is partitioned by person. Returns their names.

    As on several servers there are no foreign keys, and all keys hold the person; there are no triggers either, so that
    every statement says by itself whose a row is.
    """
    tables = [name for (name,) in connection.execute(COLUMNS) if name not in DIRECTORY]
    for table in tables:
        _spread(connection, table)
    return tables


def _spread(connection: psycopg.Connection, table: str) -> None:
    indexes = connection.execute(INDEXES, [table]).fetchall()
    numbered = [column for (column,) in connection.execute(NUMBERED, [table])]
    like = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED"
    of_nobody = table == "conversations_contextblock"  # texts that staff wrote
    by = "LIST" if of_nobody else "HASH"
    run(connection, f"CREATE TABLE {table}_spread (LIKE {table} {like}) PARTITION BY {by} (user_id)")
    run(connection, f"DROP TABLE {table} CASCADE")
    run(connection, f"ALTER TABLE {table}_spread RENAME TO {table}")
    parent = table
    if of_nobody:
        parent = f"{table}_of_persons"
        run(connection, f"CREATE TABLE {table}_of_nobody PARTITION OF {table} FOR VALUES IN (NULL)")
        run(connection, f"CREATE TABLE {parent} PARTITION OF {table} DEFAULT PARTITION BY HASH (user_id)")
    for number in range(PARTITIONS):
        remainder = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        run(connection, f"CREATE TABLE {table}_of_{number} PARTITION OF {parent} {remainder}")
    for column in numbered:
        run(connection, f"CREATE SEQUENCE {table}_{column}_numbers")
        run(connection, f"ALTER TABLE {table} ALTER {column} SET DEFAULT nextval('{table}_{column}_numbers')")
    for name, constraint, is_primary, is_unique, _, definition in indexes:
        keys = KEYS.search(definition)
        assert keys
        inner = definition[keys.end() :]
        end = _closing(inner)
        if is_unique and "user_id" not in re.split(r"[, ]+", inner[:end]):
            inner = f"user_id, {inner}"
            end += len("user_id, ")
        if constraint and (is_primary or of_nobody is False):
            kind = "PRIMARY KEY" if is_primary else "UNIQUE"
            if is_primary and of_nobody:
                continue  # a key can't hold a person that may be missing
            nulls = " NULLS NOT DISTINCT" if "NULLS NOT DISTINCT" in definition else ""
            run(connection, f"ALTER TABLE {table} ADD CONSTRAINT {constraint} {kind}{nulls} ({inner[:end]})")
            continue
        kind = "UNIQUE INDEX" if is_unique else "INDEX"
        run(connection, f'CREATE {kind} "{name}" ON {table} USING {keys.group(1)} ({inner}')


def _closing(text: str) -> int:
    """Where the bracket closes that was opened before the text."""
    depth = 1
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return place
    raise ValueError(text)


def run(connection: psycopg.Connection, statement: str) -> None:
    connection.execute(sql.SQL(statement))


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A statement, the line of ours that asks it, and the partitions that its plan reads or changes, by table. New rows go
    where their person's are."""

    statement: str
    asked_at: str
    partitions: Mapping[str, frozenset[str]]

    @property
    def crosses_persons(self) -> bool:
        return any(len(places - {"nobody"}) > 1 for places in self.partitions.values())


@contextmanager
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Planned]]:
    """The statements that Django's connections are asked meanwhile, with values, as PostgreSQL plans them just before."""
    seen: list[Planned] = []
    times = Counter[str]()
    execute = CursorWrapper.execute

    def explained(self: CursorWrapper, statement: Any, values: Any = None) -> Any:
        times[str(statement)] += 1
        if EXPLAINED.match(str(statement)) and times[str(statement)] <= EXPLAINED_TIMES:
            with self.db.connection.cursor() as own:  # a cursor that gives its rows in pieces explains nothing
                own.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
                (plan,) = own.fetchone()
            plan = json.loads(plan) if isinstance(plan, str | bytes) else plan
            seen.append(Planned(statement=str(statement), asked_at=_asked_at(), partitions=_partitions(plan)))
        return execute(self, statement, values)

    with monkeypatch.context() as patched:
        patched.setattr(CursorWrapper, "execute", explained)
        yield seen


def _asked_at() -> str:
    frame: FrameType | None = sys._getframe()
    while frame and not frame.f_code.co_filename.startswith(APPS):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).relative_to(ROOT)}:{frame.f_lineno}" if frame else ""


def _partitions(plan: Any) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name in _relations(plan):
        if match := PARTITION.fullmatch(name):
            found.setdefault(match.group(1), set()).add(match.group(2))
    return {table: frozenset(places) for table, places in found.items()}


def _relations(plan: Any) -> Iterator[str]:
    match plan:
        case list():
            for each in plan:
                yield from _relations(each)
        case dict():
            # Without a node of its own it is a target that nothing is looked for in.
            if "Node Type" in plan and (name := plan.get("Relation Name")):
                yield name
            for each in plan.values():
                yield from _relations(each)

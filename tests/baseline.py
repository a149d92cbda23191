"""`python -m tests.baseline`: writes ``config/postgres/baseline.sql``, what all migrations of now make of an empty database.

By the embedded PostgreSQL, in words that the oldest one that is supported takes as well.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg

from config.postgres.embedded import bundled_binaries
from tests.services import postgres

FILE = Path("config/postgres/baseline.sql")
DATED = re.compile(r"_20\d\d_\d\d")
ENTRY = re.compile(r"\n--\n-- (?:Data for )?Name: .*; Type: (.*?); Schema: .*\n--\n")
MADE_AFTERWARDS = (
    *("django_content_type", "auth_permission", "auth_group", "auth_group_permissions", "conversations_givenright"),
)
"""Tables whose rows `migrate` makes at its end, of the models and groups that there are then."""
KINDS_OF_NO_USE = {"COMMENT", "EXTENSION", "SCHEMA"}
ONE_OF = re.compile(r"\(\((\w+)\)::text = ANY \(\(ARRAY\[([^]]*)\]\)::text\[\]\)\)")
"""How PostgreSQL tells ``IN``, and takes for something else."""
OF_SESSION = re.compile(r"^SET default_\w+ = .*;$", re.MULTILINE)
MOMENT = re.compile(r"'20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00'")


def main() -> None:
    with postgres() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE baseline")
        database = url.replace("/openbook?", "/baseline?")
        environment = os.environ | {"DATABASE_URL": database, "OPENBOOK_PROVIDER": "offline"}
        command = [sys.executable, "manage.py", "migrate", "--from-the-first", "--verbosity", "0"]
        subprocess.run(command, check=True, env=environment)
        without = [f"--exclude-table-data={table}" for table in MADE_AFTERWARDS]
        options = ["--no-owner", "--no-privileges", "--column-inserts", "--rows-per-insert=1000", *without]
        dump = [str(bundled_binaries() / "pg_dump"), *options, database]
        FILE.write_text("\n".join(kept(subprocess.run(dump, check=True, capture_output=True, text=True).stdout)) + "\n")


def kept(dump: str) -> Iterator[str]:
    """Its statements, without the partitions of days and months and what belongs to them."""
    yield "SET LOCAL check_function_bodies = false;\nSET LOCAL search_path = '';"
    _, *parts = ENTRY.split(dump.partition("\n-- PostgreSQL database dump complete")[0].rstrip("-\n"))
    entries = [(kind, OF_SESSION.sub("", sql).strip()) for kind, sql in zip(parts[::2], parts[1::2], strict=True)]
    gone = {
        match[1] for _, sql in entries if DATED.search(sql) for match in [re.search(r"INDEX (\w+) ON", sql)] if match
    }
    for kind, sql in entries:
        attached = re.search(r"ATTACH PARTITION public\.(\w+);", sql)
        if (DATED.search(sql) and kind != "TABLE DATA") or kind in KINDS_OF_NO_USE:
            continue
        if (attached and attached[1] in gone) or (kind == "SEQUENCE SET" and is_untouched(sql)):
            continue
        first = re.search(r"ATTACH PARTITION public\.(\w+_first) FOR VALUES FROM \(MINVALUE\) TO \('(.*)'\)", sql)
        sql = ONE_OF.sub(lambda match: f"({match[1]} IN ({match[2].replace('::character varying', '')}))", sql)
        yield sql.replace(first[2], f"{{end of {first[1]}}}") if first else MOMENT.sub("now()", sql)
    yield "SET LOCAL search_path TO DEFAULT;"


def is_untouched(sql: str) -> bool:
    """Of a sequence: whether nothing was taken from it but for rows that are made afterwards."""
    return sql.endswith("false);") or any(f"public.{table}_id_seq'" in sql for table in MADE_AFTERWARDS)


if __name__ == "__main__":
    main()

"""All rows and files, kept to be put back: what takes long to be put in by the ways of people is put in once."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction
from psycopg import sql

from tests.emptying import KEPT, unguarded

COLUMNS = """SELECT column_name FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position"""


@dataclass(frozen=True)
class KeptRows:
    tables: dict[str, tuple[sql.Composed, bytes]]
    """The columns of each, and its rows as PostgreSQL copies them."""
    files: Path


def keep(files: Path, folder: Path) -> KeptRows:
    """``folder`` is not there yet: the files lie in it meanwhile."""
    shutil.copytree(files, folder)
    tables = {}
    with connection.cursor() as cursor:
        for name in sorted({*connection.introspection.django_table_names()} - KEPT):
            cursor.execute(COLUMNS, [name])
            columns = sql.SQL(", ").join(sql.Identifier(column) for (column,) in cursor.fetchall())
            statement = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, sql.Identifier(name))
            with cursor.copy(statement) as copied:
                tables[name] = columns, b"".join(map(bytes, copied))
    return KeptRows(tables, folder)


def put_back(kept: KeptRows, files: Path) -> None:
    """In place of all rows that there are."""
    shutil.copytree(kept.files, files, dirs_exist_ok=True)
    with transaction.atomic(), connection.cursor() as cursor:
        unguarded(cursor)
        for name, (columns, rows) in kept.tables.items():
            cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
            if rows:
                with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(name), columns)) as copied:
                    copied.write(rows)

"""The schema of an empty database in one step: SQL as the migrations up to some day made it, with their names as applied.

Django applies what is newer as always. To go through all migrations of three years takes half a minute of processor time, most
of it to imagine the models between two of them. ``python -m tests.baseline`` writes the file anew, and a database that was
upgraded from the first release proves that both ways lead to the same schema (``tests/test_upgrades.py``).
"""

from datetime import datetime
from pathlib import Path

from django.apps import apps
from django.db import connection, transaction

from conversations.models.indexes import ChangingSummaryIndex
from conversations.runtime.ids import lowest_uuid7
from conversations.upkeep.partitions import TABLES

FILE = Path(__file__).with_suffix(".sql")
IS_EMPTY = """SELECT current_schema() = 'public'
AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)"""


def load_into_empty(now: datetime) -> bool:
    """Makes all tables, in one transaction, where the schema holds nothing at all; returns whether it did."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(IS_EMPTY)
        if not cursor.fetchone()[0]:
            return False
        cursor.execute(statements(now))
        for name in indexes_of_later_servers() if connection.pg_version < 160_000 else ():  # type: ignore[attr-defined]
            cursor.execute(f"DROP INDEX {name}")
    return True


def statements(now: datetime) -> str:
    """As the file has them, with the ends of the first partitions: all that is older than the present month or day."""
    sql = FILE.read_text("utf-8")
    for table in TABLES:
        sql = sql.replace(f"{{end of {table.first}}}", str(lowest_uuid7(next(table.periods(now)))))
    return sql


def indexes_of_later_servers() -> list[str]:
    """Those that PostgreSQL 15 goes without."""
    indexes = (index for model in apps.get_models() for index in model._meta.indexes)
    return [index.name for index in indexes if isinstance(index, ChangingSummaryIndex)]

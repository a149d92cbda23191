"""Requests and accesses lie in partitions by month, events by day, so that what is past its time goes as whole tables.

Ids begin with the milliseconds of their time (UUIDv7), so bounds are ids. No row is copied: the table of before becomes the
first partition. Its bound is checked before, without keeping anybody from writing; only then is the table locked, for some
milliseconds. Partitions for later months and days, and the one for whatever has none, are made by
``conversations.upkeep.partitions`` as ``migrate`` ends.

Rows whose ids say that they are of later (the clock was ahead) are moved under that lock, and the table is read once for it.
"""

import time
from datetime import UTC, datetime, timedelta

from django.db import OperationalError, migrations, transaction
from psycopg.errors import LockNotAvailable

TABLES = [("contextsnapshot", "id", 32), ("replyevent", "reply_id", 1), ("contentaccess", "id", 32)]
"""Each with the column that says when, and how many days at most its partitions hold."""
ATTEMPTS = 30

CLOCK_AHEAD = timedelta(days=3)

IS_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass"
INDEXES = """
SELECT index.relname, pg_get_indexdef(index.oid), own.conname, pg_get_constraintdef(own.oid), indisunique
FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
LEFT JOIN pg_constraint AS own ON own.conindid = indexrelid AND own.conrelid = indrelid
WHERE indrelid = %s::regclass ORDER BY index.relname
"""
FOREIGN_KEYS = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'"
TRIGGERS = """
SELECT tgname, pg_get_triggerdef(oid), tgtype & 1 = 1 FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal
"""


def lowest_id(at):
    return f"{int(at.timestamp() * 1000) << 80:032x}"


def end_of_first(days):
    """The first day, or the first of a month, that no row that is stored while this runs can reach."""
    day = (datetime.now(UTC) + CLOCK_AHEAD).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return day if days == 1 else (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def partition(apps, schema_editor):
    for name, key, days in TABLES:
        table, end = f"conversations_{name}", lowest_id(end_of_first(days))
        patiently(lambda table=table, key=key, end=end: check_bound(schema_editor.connection, table, key, end))
        patiently(lambda table=table, key=key, end=end: switch(schema_editor.connection, table, key, end))


def patiently(step):
    """Whoever waits for a lock keeps all others waiting behind him, so not for long, but again."""
    for attempt in range(ATTEMPTS):
        try:
            return step()
        except OperationalError as error:
            if attempt + 1 == ATTEMPTS or not isinstance(error.__cause__, LockNotAvailable):
                raise
            time.sleep(1)


def check_bound(connection, table, key, end):
    with connection.cursor() as cursor:
        cursor.execute(IS_PARTITIONED, [table])
        if cursor.fetchone()[0]:
            return
        cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE {key} >= %s)", [end])
        if cursor.fetchone()[0]:
            return
        with transaction.atomic():
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_first_bound")
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_first_bound CHECK ({key} < '{end}') NOT VALID")
        cursor.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_first_bound")


def switch(connection, table, key, end):
    first, rest = f"{table}_first", f"{table}_rest"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '2s'")
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(IS_PARTITIONED, [table])
        if cursor.fetchone()[0]:
            return
        rows = {}
        for kind, query in (("indexes", INDEXES), ("foreign_keys", FOREIGN_KEYS), ("triggers", TRIGGERS)):
            cursor.execute(query, [table])
            rows[kind] = cursor.fetchall()
        cursor.execute(f"ALTER TABLE {table} RENAME TO {first}")
        for name, *_ in rows["indexes"]:
            cursor.execute(f'ALTER INDEX "{name}" RENAME TO "{name}_first"')
        for name, _, each_row in rows["triggers"]:
            if each_row:
                cursor.execute(f'DROP TRIGGER "{name}" ON {first}')
        cursor.execute(f"CREATE TABLE {table} (LIKE {first} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE ({key})")
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_first_bound")
        for name, definition, constraint, constraint_definition, is_unique in rows["indexes"]:
            if constraint and constraint_definition.startswith("PRIMARY KEY"):
                cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {constraint_definition}')
            elif not is_unique:  # an index that is unique without the key can only be each partition's own
                cursor.execute(definition)
        for name, definition in rows["foreign_keys"]:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
        cursor.execute(f"CREATE TABLE {rest} (LIKE {first} INCLUDING ALL)")
        cursor.execute(f"ALTER TABLE {rest} DROP CONSTRAINT IF EXISTS {table}_first_bound")
        cursor.execute("SET LOCAL enable_seqscan = off")  # by the index, whatever the statistics say
        cursor.execute(f"INSERT INTO {rest} SELECT * FROM {first} WHERE {key} >= %s", [end])
        cursor.execute(f"DELETE FROM {first} WHERE {key} >= %s", [end])
        cursor.execute(f"ALTER TABLE {table} ATTACH PARTITION {first} FOR VALUES FROM (MINVALUE) TO ('{end}')")
        cursor.execute(f"ALTER TABLE {first} DROP CONSTRAINT IF EXISTS {table}_first_bound")
        cursor.execute(f"ALTER TABLE {table} ATTACH PARTITION {rest} DEFAULT")
        for _, definition, each_row in rows["triggers"]:
            cursor.execute(definition)
            if not each_row:
                cursor.execute(definition.replace(f"public.{table} ", f"public.{rest} "))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0025_logged_sequence")]
    operations = [migrations.RunPython(partition, migrations.RunPython.noop)]

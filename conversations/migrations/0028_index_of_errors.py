"""An index of the requests that failed by the code of their error, built while requests are stored.

PostgreSQL can't build an index of a partitioned table concurrently. So an empty one is made for the whole, each partition gets
its own concurrently, and is attached; with the last one the whole is valid. Partitions that are made meanwhile have it already.
Whatever stops in the middle goes on where it stopped when it is run again.
"""

import time

from django.db import OperationalError, migrations, models, transaction
from psycopg.errors import LockNotAvailable

import conversations.models.indexes

ATTEMPTS = 30

INDEX = models.Index(
    conversations.models.indexes.ErrorCode("error"),
    models.F("id"),
    condition=models.Q(error__isnull=False),
    name="snapshot_of_error",
)
MISSING = """
SELECT partition.oid::regclass::text, own.oid::regclass::text, pg_index.indisvalid
FROM pg_inherits JOIN pg_class AS partition ON partition.oid = inhrelid
LEFT JOIN pg_class AS own
  ON own.relnamespace = partition.relnamespace AND own.relname = partition.relname || '_of_error' AND own.relkind = 'i'
LEFT JOIN pg_index ON pg_index.indexrelid = own.oid
WHERE inhparent = 'conversations_contextsnapshot'::regclass AND NOT EXISTS (
    SELECT FROM pg_index AS built JOIN pg_inherits AS attached ON attached.inhrelid = built.indexrelid
    WHERE built.indrelid = partition.oid AND attached.inhparent = 'snapshot_of_error'::regclass
)
"""


def build(apps, schema_editor):
    connection = schema_editor.connection
    model = apps.get_model("conversations", "ContextSnapshot")
    statement = str(INDEX.create_sql(model, schema_editor))
    of_whole = 'CREATE INDEX "snapshot_of_error" ON "conversations_contextsnapshot" '
    assert statement.startswith(of_whole), statement
    columns = statement.removeprefix(of_whole)
    patiently(
        connection, f"CREATE INDEX IF NOT EXISTS snapshot_of_error ON ONLY conversations_contextsnapshot {columns}"
    )
    with connection.cursor() as cursor:
        while True:
            cursor.execute(MISSING)
            if not (missing := cursor.fetchall()):
                return
            for partition, own, is_valid in missing:
                if own and not is_valid:
                    cursor.execute(f"DROP INDEX CONCURRENTLY {own}")
                if not is_valid:
                    cursor.execute(f"CREATE INDEX CONCURRENTLY {partition}_of_error ON {partition} {columns}")
                patiently(connection, f"ALTER INDEX snapshot_of_error ATTACH PARTITION {partition}_of_error")


def patiently(connection, statement):
    """Whoever waits for a lock keeps all others waiting behind him, so not for long, but again."""
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '200ms'")
                return cursor.execute(statement)
        except OperationalError as error:
            if attempt + 1 == ATTEMPTS or not isinstance(error.__cause__, LockNotAvailable):
                raise
            time.sleep(1)


def drop(apps, schema_editor):
    patiently(schema_editor.connection, "DROP INDEX IF EXISTS snapshot_of_error")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0027_maintenance_runs")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(build, drop)],
            state_operations=[migrations.AddIndex(model_name="contextsnapshot", index=INDEX)],
        )
    ]

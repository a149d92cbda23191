"""Rows that were stored before get their person's id, some at a time and beside running servers; then none may be without.

In no transaction of its own: what was done before it was cut short is done, and it can be run again.
"""

from django.conf import settings
from django.db import migrations, models, transaction

AT_ONCE = 200
OF_THREADS = ["message", "reply", "contextsnapshot", "contextblock", "tokencount", "turnfile"]
FILL_OF_THREADS = """
UPDATE conversations_{table} AS row SET user_id = thread.user_id FROM conversations_thread AS thread
WHERE row.thread_id = thread.id AND thread.id = ANY(%s) AND row.user_id IS NULL
"""
FILL_EVENTS = """
UPDATE conversations_replyevent AS row SET user_id = reply.user_id FROM conversations_reply AS reply
WHERE row.reply_id = reply.id AND reply.thread_id = ANY(%s) AND row.user_id IS NULL
"""
FILL_PARTS = """
UPDATE conversations_filepart AS row SET user_id = file.user_id FROM conversations_file AS file
WHERE row.file_id = file.id AND file.id = ANY(%s) AND row.user_id IS NULL
"""
REQUIRED = [*(table for table in OF_THREADS if table != "contextblock"), "replyevent", "filepart"]


def fill(schema_editor, model, statements):
    """Each statement for so many rows of the model at once."""
    ids = model.objects.order_by("id").values_list("id", flat=True)
    some = list(ids[:AT_ONCE])
    while some:
        with transaction.atomic(), schema_editor.connection.cursor() as cursor:
            # Turns and requests are guarded against changes.
            cursor.execute("SELECT set_config('openbook.door', 'open', true)")
            for statement in statements:
                cursor.execute(statement, [some])
        some = list(ids.filter(id__gt=some[-1])[:AT_ONCE])


def fill_all(apps, schema_editor):
    of_threads = [FILL_OF_THREADS.format(table=table) for table in OF_THREADS]
    fill(schema_editor, apps.get_model("conversations", "Thread"), [*of_threads, FILL_EVENTS])
    fill(schema_editor, apps.get_model("conversations", "File"), [FILL_PARTS])


def required(table):
    """No row is without, in steps that never lock out readers and writers for as long as all rows are looked at."""
    return [
        f"ALTER TABLE conversations_{table} DROP CONSTRAINT IF EXISTS {table}_has_user",
        f"ALTER TABLE conversations_{table} ADD CONSTRAINT {table}_has_user CHECK (user_id IS NOT NULL) NOT VALID",
        f"ALTER TABLE conversations_{table} VALIDATE CONSTRAINT {table}_has_user",
    ]


def field():
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=models.DO_NOTHING,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


POSITIONS = [
    "DROP INDEX CONCURRENTLY IF EXISTS message_position_of_user",
    "CREATE UNIQUE INDEX CONCURRENTLY message_position_of_user ON conversations_message "
    "(thread_id, position) INCLUDE (token_total, token_count, is_active, user_id)",
    "DROP INDEX IF EXISTS message_position_once",
    "ALTER INDEX message_position_of_user RENAME TO message_position_once",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0023_user_of_rows")]

    operations = [
        migrations.RunPython(fill_all, migrations.RunPython.noop),
        *(migrations.RunSQL(required(table), migrations.RunSQL.noop) for table in REQUIRED),
        *(migrations.AlterField(model_name=table, name="user", field=field()) for table in REQUIRED),
        *(
            migrations.RunSQL(
                f"ALTER TABLE conversations_{table} DROP CONSTRAINT IF EXISTS {table}_has_user",
                migrations.RunSQL.noop,
            )
            for table in REQUIRED
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(POSITIONS, migrations.RunSQL.noop)],
            state_operations=[
                migrations.RemoveConstraint(model_name="message", name="message_position_once"),
                migrations.AddConstraint(
                    model_name="message",
                    constraint=models.UniqueConstraint(
                        fields=("thread", "position"),
                        include=("token_total", "token_count", "is_active", "user"),
                        name="message_position_once",
                    ),
                ),
            ],
        ),
    ]

"""A thread has a path through its turns, and can be forked. The indexes are built beside running servers."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

PATH = [
    "DROP INDEX CONCURRENTLY IF EXISTS message_path_of_thread",
    "CREATE UNIQUE INDEX CONCURRENTLY message_path_of_thread ON conversations_message "
    "(thread_id, depth) INCLUDE (position, token_total, token_count, user_id) WHERE is_active",
    "DROP INDEX CONCURRENTLY IF EXISTS message_one_active_path",
    "ALTER INDEX message_path_of_thread RENAME TO message_one_active_path",
]
POSITIONS = [
    "DROP INDEX CONCURRENTLY IF EXISTS message_position_of_thread",
    "CREATE UNIQUE INDEX CONCURRENTLY message_position_of_thread ON conversations_message (thread_id, position)",
    "DROP INDEX CONCURRENTLY IF EXISTS message_position_once",
    "ALTER INDEX message_position_of_thread RENAME TO message_position_once",
]
LEFT = [
    "DROP INDEX CONCURRENTLY IF EXISTS message_left",
    "CREATE INDEX CONCURRENTLY message_left ON conversations_message (thread_id, depth) WHERE NOT is_active",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0039_feedback")]

    operations = [
        migrations.AddField(
            model_name="thread",
            name="path_version",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="How often another path became the active one."
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="forked_from",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="forks",
                to="conversations.thread",
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="forked_at",
            field=models.UUIDField(help_text="The turn up to which it was copied from there.", null=True),
        ),
        AddIndexConcurrently(
            model_name="thread",
            index=models.Index(
                condition=models.Q(("forked_from__isnull", False)), fields=["forked_from"], name="thread_forks"
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(PATH, migrations.RunSQL.noop)],
            state_operations=[
                migrations.RemoveConstraint(model_name="message", name="message_one_active_path"),
                migrations.AddConstraint(
                    model_name="message",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("is_active", True)),
                        fields=("thread", "depth"),
                        include=("position", "token_total", "token_count", "user"),
                        name="message_one_active_path",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(POSITIONS, migrations.RunSQL.noop)],
            state_operations=[
                migrations.RemoveConstraint(model_name="message", name="message_position_once"),
                migrations.AddConstraint(
                    model_name="message",
                    constraint=models.UniqueConstraint(fields=("thread", "position"), name="message_position_once"),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(LEFT, migrations.RunSQL.noop)],
            state_operations=[
                migrations.AddIndex(
                    model_name="message",
                    index=models.Index(
                        condition=models.Q(("is_active", False)), fields=["thread", "depth"], name="message_left"
                    ),
                ),
            ],
        ),
    ]

"""Versions by what they follow, and the threads that the side bar shows first. Built beside running servers, and again where
that was broken off."""

from django.db import migrations, models
from django.db.models.functions import Coalesce

VERSIONS = [
    "DROP INDEX CONCURRENTLY IF EXISTS message_versions",
    "CREATE INDEX CONCURRENTLY message_versions ON conversations_message ((COALESCE(parent_id, thread_id))) "
    "WHERE NOT is_active",
]
LEFT = ["DROP INDEX CONCURRENTLY IF EXISTS message_left"]
PINNED = [
    "DROP INDEX CONCURRENTLY IF EXISTS thread_pinned",
    "CREATE INDEX CONCURRENTLY thread_pinned ON conversations_thread (user_id, updated_at) "
    "WHERE NOT archived AND pinned AND NOT temporary",
]
OUTSIDE = [
    "DROP INDEX CONCURRENTLY IF EXISTS thread_outside",
    "CREATE INDEX CONCURRENTLY thread_outside ON conversations_thread (user_id, updated_at) "
    "WHERE NOT archived AND NOT pinned AND project_id IS NULL AND NOT temporary",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0045_project_assistant")]

    operations = [
        migrations.RunSQL(
            VERSIONS,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddIndex(
                    model_name="message",
                    index=models.Index(
                        Coalesce("parent", "thread"), condition=models.Q(("is_active", False)), name="message_versions"
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            LEFT,
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveIndex(model_name="message", name="message_left")],
        ),
        migrations.RunSQL(
            PINNED,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddIndex(
                    model_name="thread",
                    index=models.Index(
                        condition=models.Q(("archived", False), ("pinned", True), ("temporary", False)),
                        fields=["user", "updated_at"],
                        name="thread_pinned",
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            OUTSIDE,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddIndex(
                    model_name="thread",
                    index=models.Index(
                        condition=models.Q(
                            ("archived", False), ("pinned", False), ("project__isnull", True), ("temporary", False)
                        ),
                        fields=["user", "updated_at"],
                        name="thread_outside",
                    ),
                )
            ],
        ),
    ]

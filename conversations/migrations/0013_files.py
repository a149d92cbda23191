"""Files and their parts. Whatever deletes a row – the database's own cascades, mostly –, the bytes that it names are noted,
so that a worker removes them.
"""

import conversations.runtime.ids
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

NOTE = """
CREATE FUNCTION openbook_note_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO conversations_bytestoremove (place, due_at) VALUES (to_jsonb(OLD) ->> TG_ARGV[0], now())
    ON CONFLICT (place) DO UPDATE SET due_at = now();
    RETURN NULL;
END $$
"""
NOTE_ALL = """
CREATE FUNCTION openbook_note_all_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO conversations_bytestoremove (place, due_at) SELECT %1$I, now() FROM %2$I WHERE %1$I <> %3$L '
                   'ON CONFLICT (place) DO UPDATE SET due_at = now()', TG_ARGV[0], TG_TABLE_NAME, '');
    RETURN NULL;
END $$
"""
NOTES = [
    NOTE,
    NOTE_ALL,
    """
    CREATE TRIGGER note_bytes_of_files AFTER DELETE ON conversations_file
        FOR EACH ROW EXECUTE FUNCTION openbook_note_bytes('place')
    """,
    """
    CREATE TRIGGER note_pictures_of_parts AFTER DELETE ON conversations_filepart
        FOR EACH ROW WHEN (OLD.picture <> '') EXECUTE FUNCTION openbook_note_bytes('picture')
    """,
    """
    CREATE TRIGGER note_bytes_of_all_files BEFORE TRUNCATE ON conversations_file
        FOR EACH STATEMENT EXECUTE FUNCTION openbook_note_all_bytes('place')
    """,
    """
    CREATE TRIGGER note_pictures_of_all_parts BEFORE TRUNCATE ON conversations_filepart
        FOR EACH STATEMENT EXECUTE FUNCTION openbook_note_all_bytes('picture')
    """,
]
UNDO = ["DROP FUNCTION openbook_note_bytes() CASCADE", "DROP FUNCTION openbook_note_all_bytes() CASCADE"]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0012_budgets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BytesToRemove",
            fields=[
                ("place", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("due_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "bytes to remove",
            },
        ),
        migrations.AddField(
            model_name="userlimits",
            name="files_mb",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="MB of files kept"),
        ),
        migrations.CreateModel(
            name="File",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=conversations.runtime.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="As the person called it, in one line, without folders.", max_length=200
                    ),
                ),
                ("kind", models.CharField(help_text="What it is by its content.", max_length=10)),
                ("media_type", models.CharField(max_length=100)),
                ("size", models.PositiveBigIntegerField(help_text="In bytes.")),
                ("sha256", models.BinaryField(max_length=32)),
                ("place", models.CharField(help_text="Where its bytes lie in the storage.", max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("reading", "reading: its parts are being read, or wait for it"),
                            ("ready", "ready: all parts that could be read are there"),
                            ("failed", "failed: nothing of it could be read"),
                        ],
                        default="reading",
                        max_length=7,
                    ),
                ),
                (
                    "error",
                    models.JSONField(
                        help_text="The error object of why it could not be read, or of what is missing where it is ready.",
                        null=True,
                    ),
                ),
                ("title", models.CharField(blank=True, help_text="As the file itself has it.", max_length=200)),
                (
                    "pages_total",
                    models.PositiveIntegerField(help_text="Pages, slides or sheets, where it is known.", null=True),
                ),
                ("pages_read", models.PositiveIntegerField(default=0)),
                ("parts_read", models.PositiveIntegerField(default=0)),
                (
                    "token_count",
                    models.PositiveIntegerField(default=0, help_text="Estimated tokens of the texts of its parts."),
                ),
                (
                    "attempt",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="How often its reading was begun: whoever reads for an earlier one stores nothing more.",
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        help_text="Of the first message that it was sent with; it belongs to that thread from then on.",
                        null=True,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="files",
                        to="conversations.thread",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="files",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FilePart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(help_text="From 1, without holes.")),
                ("label", models.CharField(help_text="Unlike that of every other part of the file.", max_length=200)),
                ("heading", models.CharField(blank=True, help_text="That it stands under.", max_length=200)),
                ("page", models.PositiveIntegerField(help_text="The page, the slide or the sheet, from 1.", null=True)),
                ("text", models.TextField(blank=True, help_text="Markdown.")),
                ("token_count", models.PositiveIntegerField(help_text="Estimated tokens of the text.")),
                (
                    "picture",
                    models.CharField(
                        blank=True, help_text="Where it lies in the storage; empty: none.", max_length=100
                    ),
                ),
                ("width", models.PositiveIntegerField(help_text="Of the picture, in pixels.", null=True)),
                ("height", models.PositiveIntegerField(null=True)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="parts",
                        to="conversations.file",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="file",
            index=models.Index(fields=["user", "id"], name="file_list"),
        ),
        migrations.AddIndex(
            model_name="file",
            index=models.Index(condition=models.Q(("thread__isnull", False)), fields=["thread"], name="file_of_thread"),
        ),
        migrations.AddIndex(
            model_name="file",
            index=models.Index(condition=models.Q(("thread__isnull", True)), fields=["id"], name="file_in_no_thread"),
        ),
        migrations.AddIndex(
            model_name="file",
            index=models.Index(condition=models.Q(("state", "reading")), fields=["id"], name="file_reading"),
        ),
        migrations.AddConstraint(
            model_name="file",
            constraint=models.CheckConstraint(
                condition=models.Q(("state", "reading"), ("state", "ready"), ("state", "failed"), _connector="OR"),
                name="file_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="filepart",
            constraint=models.UniqueConstraint(fields=("file", "number"), name="file_part_once"),
        ),
        migrations.RunSQL(NOTES, UNDO),
    ]

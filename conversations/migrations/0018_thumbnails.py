"""Small pictures of files. Their bytes are noted to be removed when their row goes, and when another one takes their place."""

from django.db import migrations, models

NOTES = [
    """
    CREATE TRIGGER note_thumbnails_of_files AFTER DELETE ON conversations_file
        FOR EACH ROW WHEN (OLD.thumbnail <> '') EXECUTE FUNCTION openbook_note_bytes('thumbnail')
    """,
    """
    CREATE TRIGGER note_replaced_thumbnails AFTER UPDATE OF thumbnail ON conversations_file
        FOR EACH ROW WHEN (OLD.thumbnail <> '' AND OLD.thumbnail <> NEW.thumbnail)
        EXECUTE FUNCTION openbook_note_bytes('thumbnail')
    """,
    """
    CREATE TRIGGER note_thumbnails_of_all_files BEFORE TRUNCATE ON conversations_file
        FOR EACH STATEMENT EXECUTE FUNCTION openbook_note_all_bytes('thumbnail')
    """,
]
UNDO = [
    f"DROP TRIGGER {name} ON conversations_file"
    for name in ("note_thumbnails_of_files", "note_replaced_thumbnails", "note_thumbnails_of_all_files")
]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0017_file_search"),
    ]

    operations = [
        migrations.AddField(
            model_name="file",
            name="thumbnail",
            field=models.CharField(
                blank=True,
                default="",
                db_default="",
                help_text="Where a small picture of it lies in the storage; empty: not made yet.",
                max_length=100,
            ),
        ),
        migrations.AddField(
            model_name="file",
            name="thumbnail_size",
            field=models.PositiveIntegerField(default=0, db_default=0, help_text="In bytes."),
        ),
        migrations.RunSQL(NOTES, UNDO),
    ]

"""Every row of a person says whose it is, so that the tables can be spread over several servers by person.

A trigger fills it in where the version before writes a row and does not name it. Rows that are there already get theirs in the
next migration.
"""

from django.conf import settings
from django.db import migrations, models

FUNCTIONS = [
    """
    CREATE FUNCTION openbook_user_of_thread() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_thread WHERE id = NEW.thread_id);
        RETURN NEW;
    END $$
    """,
    """
    CREATE FUNCTION openbook_user_of_reply() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_reply WHERE id = NEW.reply_id);
        RETURN NEW;
    END $$
    """,
    """
    CREATE FUNCTION openbook_user_of_file() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.user_id := (SELECT user_id FROM conversations_file WHERE id = NEW.file_id);
        RETURN NEW;
    END $$
    """,
]
UNDO_FUNCTIONS = [
    "DROP FUNCTION openbook_user_of_thread() CASCADE",
    "DROP FUNCTION openbook_user_of_reply() CASCADE",
    "DROP FUNCTION openbook_user_of_file() CASCADE",
]
TABLES = {
    "message": "thread",
    "reply": "thread",
    "contextsnapshot": "thread",
    "tokencount": "thread",
    "turnfile": "thread",
    "replyevent": "reply",
    "filepart": "file",
}
TRIGGER = """
CREATE TRIGGER say_whose BEFORE INSERT ON conversations_{table}
    FOR EACH ROW WHEN (NEW.user_id IS NULL{condition}) EXECUTE FUNCTION openbook_user_of_{of}()
"""


def user():
    return models.ForeignKey(
        null=True,
        db_constraint=False,
        db_index=False,
        on_delete=models.DO_NOTHING,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0022_read_file"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, UNDO_FUNCTIONS),
        *(migrations.AddField(model_name=table, name="user", field=user()) for table in [*TABLES, "contextblock"]),
        migrations.RunSQL(
            [TRIGGER.format(table=table, of=of, condition="") for table, of in TABLES.items()],
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            [TRIGGER.format(table="contextblock", of="thread", condition=" AND NEW.thread_id IS NOT NULL")],
            migrations.RunSQL.noop,
        ),
    ]

"""Artifacts that were made before get their person's id, some at a time: see conversations/0024."""

from django.conf import settings
from django.db import migrations, models, transaction

AT_ONCE = 200
TABLES = ["artifact", "artifactversion"]
FILL = """
UPDATE artifacts_{table} AS row SET user_id = thread.user_id FROM conversations_thread AS thread
WHERE row.thread_id = thread.id AND thread.id = ANY(%s) AND row.user_id IS NULL
"""


def fill_all(apps, schema_editor):
    ids = apps.get_model("conversations", "Thread").objects.order_by("id").values_list("id", flat=True)
    some = list(ids[:AT_ONCE])
    while some:
        with transaction.atomic(), schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT set_config('openbook.door', 'open', true)")
            for table in TABLES:
                cursor.execute(FILL.format(table=table), [some])
        some = list(ids.filter(id__gt=some[-1])[:AT_ONCE])


def required(table):
    return [
        f"ALTER TABLE artifacts_{table} DROP CONSTRAINT IF EXISTS {table}_has_user",
        f"ALTER TABLE artifacts_{table} ADD CONSTRAINT {table}_has_user CHECK (user_id IS NOT NULL) NOT VALID",
        f"ALTER TABLE artifacts_{table} VALIDATE CONSTRAINT {table}_has_user",
    ]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("artifacts", "0004_user_of_rows")]

    operations = [
        migrations.RunPython(fill_all, migrations.RunPython.noop),
        *(migrations.RunSQL(required(table), migrations.RunSQL.noop) for table in TABLES),
        *(
            migrations.AlterField(
                model_name=table,
                name="user",
                field=models.ForeignKey(
                    db_constraint=False,
                    db_index=False,
                    on_delete=models.DO_NOTHING,
                    related_name="+",
                    to=settings.AUTH_USER_MODEL,
                ),
            )
            for table in TABLES
        ),
        *(
            migrations.RunSQL(
                f"ALTER TABLE artifacts_{table} DROP CONSTRAINT IF EXISTS {table}_has_user", migrations.RunSQL.noop
            )
            for table in TABLES
        ),
    ]

"""The index holds passages of turns instead of whole turns. Each person's is filled again as their next reply ends."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def forget_counts(apps, schema_editor):
    apps.get_model("memory", "Vocabulary").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0004_shipped_models"),
        ("memory", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(
            "DROP TABLE IF EXISTS memory_turnvector; DROP FUNCTION IF EXISTS memory_point_leaves() CASCADE",
            migrations.RunSQL.noop,
        ),
        migrations.DeleteModel("IndexedTurn"),
        migrations.RunPython(forget_counts, migrations.RunPython.noop),
        migrations.CreateModel(
            name="IndexedPassage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "thread", "depth", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("depth", models.PositiveIntegerField()),
                ("number", models.PositiveSmallIntegerField(help_text="Of the passage in its turn, from 0.")),
                ("position", models.PositiveIntegerField(help_text="Of the turn that was indexed last for this place.")),
                ("start", models.PositiveIntegerField(help_text="The first character of the turn's text.")),
                ("size", models.PositiveIntegerField(help_text="In characters.")),
                ("day", models.DateField()),
                (
                    "speaker",
                    models.IntegerField(help_text="Term of the name that the turn begins with, else of its role."),
                ),
                ("asks", models.BooleanField(help_text="Ends as a question.")),
                ("length", models.PositiveIntegerField(help_text="Words that count.")),
                ("terms", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField())),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to="conversations.thread",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["terms"], gin_pending_list_limit=128, name="indexed_passage_terms"
                    )
                ],
            },
        ),
    ]

"""Words are found by other rules than before: whoever is here already is indexed anew, by a worker."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

EVERYBODY = "INSERT INTO memory_staleindex (user_id) SELECT id FROM auth_user ON CONFLICT DO NOTHING"


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("memory", "0004_limited_notes"),
    ]

    operations = [
        migrations.CreateModel(
            name="StaleIndex",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("thread", models.UUIDField(null=True)),
                ("file", models.UUIDField(null=True)),
            ],
            options={"verbose_name_plural": "stale indexes"},
        ),
        migrations.RunSQL(EVERYBODY, migrations.RunSQL.noop),
    ]

"""People choose the language of the pages."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("memory", "0005_stale_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="preferences",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of the pages. Empty: as the browser asks.",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="preferences",
            name="user",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.DB_CASCADE,
                primary_key=True,
                related_name="preferences",
                serialize=False,
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]

"""A person's own instructions get an id of their own, by which the account of a request names them. Nothing is lost: no release
had the table."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import conversations.runtime.ids


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("conversations", "0042_temporary_threads"),
    ]

    operations = [
        migrations.DeleteModel(name="Instructions"),
        migrations.CreateModel(
            name="Instructions",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=conversations.runtime.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("about", models.TextField(blank=True, help_text="About the person, in their own words.")),
                ("style", models.TextField(blank=True, help_text="How they want to be answered.")),
                ("updated_at", models.DateTimeField()),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"verbose_name_plural": "instructions"},
        ),
    ]

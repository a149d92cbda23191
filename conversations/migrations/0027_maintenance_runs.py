"""When backups, drills and restores ran, and how they ended."""

import conversations.runtime.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0026_partitions")]

    operations = [
        migrations.CreateModel(
            name="MaintenanceRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=conversations.runtime.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("backup", "Backup"), ("drill", "Drill"), ("restore", "Restore")], max_length=7
                    ),
                ),
                ("began_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(help_text="Empty: it runs, or broke off.", null=True)),
                ("succeeded", models.BooleanField(help_text="Empty: it has not ended.", null=True)),
                (
                    "details",
                    models.JSONField(
                        default=dict, help_text="Numbers: rows, bytes, files, requests proven. Never a text."
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["kind", "-began_at"], name="maintenance_latest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("succeeded__isnull", True)),
                            models.Q(("ended_at__isnull", False), ("succeeded__isnull", False)),
                            _connector="OR",
                        ),
                        name="maintenance_ended_whole",
                    ),
                ],
            },
        ),
    ]

"""Notes know when they were said last, and when the person decided by hand whether they hold."""

import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models

SAID_WHEN_IT_BEGAN = "UPDATE memory_memory SET said_at = coalesce(valid_from, created_at)"


class Migration(migrations.Migration):
    dependencies = [("memory", "0007_project_scopes")]

    operations = [
        migrations.AddField(
            model_name="memory",
            name="said_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(),
                default=django.utils.timezone.now,
                help_text="When it was said, or written down, last: what is said later counts.",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="settled_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When the person last decided by hand whether it holds: what was said before changes nothing of that.",
                null=True,
            ),
        ),
        migrations.RunSQL(SAID_WHEN_IT_BEGAN, migrations.RunSQL.noop),
    ]

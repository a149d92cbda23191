"""The shipped assistants may read further parts of files. Staff may change that freely: this runs once."""

from django.db import migrations

TOOL = "read_file"


def give(apps, schema_editor):
    for assistant in apps.get_model("conversations", "Assistant").objects.filter(slug__in=["companion", "analyst"]):
        if TOOL not in assistant.tools:
            assistant.tools = [*assistant.tools, TOOL]
            assistant.save(update_fields=["tools"])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0021_forgettings")]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]

"""A model may be too small for anything beside the conversation, as is the one that `make local` brings."""

from django.db import migrations, models


def ship(apps, schema_editor):
    small = apps.get_model("conversations", "Model").objects.filter(provider="local", name="smollm2-135m-instruct")
    small.update(uses_memory=False)


class Migration(migrations.Migration):
    dependencies = [("conversations", "0007_model_choices")]
    operations = [
        migrations.AddField(
            model_name="model",
            name="uses_memory",
            field=models.BooleanField(
                default=True,
                help_text="Off: it is given the conversation alone, without memory, recall or contextualised queries, because it is too small to tell them from what was said.",
            ),
        ),
        migrations.RunPython(ship, migrations.RunPython.noop),
    ]

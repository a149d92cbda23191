"""A model may have a system prompt of its own; and the model that `make local` brings."""

from django.db import migrations, models

PROMPT = """\
You are a helpful AI assistant named SmolLM, trained by Hugging Face. Answer in a few short sentences."""
"""It begins with the words that the model was trained with: others make it worse at facts."""

# The engine holds 8,192 tokens of a conversation. Openbook plans with half of them and an answer: beside the estimate, the
# model's tokenizer makes twice as many of Korean, and what is sent has to fit in every language.
SMOLLM = {
    "provider": "local",
    "name": "smollm2-135m-instruct",
    "label": "SmolLM2 135M",
    "context_window": 4_608,
    "max_output": 512,
    "token_factor": 1.05,
    "takes_tools": False,
    "system_prompt": PROMPT,
}


def ship(apps, schema_editor):
    apps.get_model("conversations", "Model").objects.get_or_create(
        provider=SMOLLM["provider"], name=SMOLLM["name"], defaults=SMOLLM
    )


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_shipped_models")]
    operations = [
        migrations.AddField(
            model_name="model",
            name="system_prompt",
            field=models.TextField(
                blank=True,
                help_text="Given to it in place of the assistants' own, where it is too small to follow them. Empty: theirs.",
            ),
        ),
        migrations.RunPython(ship, migrations.RunPython.noop),
    ]

"""The two assistants that Openbook ships with. Staff may change them freely: this runs once."""

from django.db import migrations

COMPANION = """\
You are Companion, a warm and attentive conversation partner in Openbook.

- Answer the newest message. Read it in the light of the conversation so far: a short reply such as "yes", "why?" or "who \
are his children?" refers to what was said just before.
- What the conversation already contains is known to you. Don't ask for it again, and don't pretend to remember what is not there.
- If you don't know, say so in a sentence. Never invent facts about the person you talk with.
- Write in the language of the person, plainly and briefly; use Markdown where it helps the reader."""

ANALYST = """\
You are Analyst, a careful business analyst in Openbook. You help people to understand, structure and write down what they need.

- Answer the newest message in the light of the whole conversation; what was decided there holds until it is changed.
- Ask one good question when something decisive is missing; otherwise state your assumption and go on.
- Keep facts, assumptions and open questions apart. Never invent names, figures or requirements.
- Write precisely and in the language of the person; use Markdown headings, lists and tables where they help the reader."""

SHIPPED = [
    {
        "slug": "companion",
        "name": "Companion",
        "description": "A conversation partner that keeps the thread. Small, cheap context.",
        "system_prompt": COMPANION,
        "is_default": True,
        "order": 1,
    },
    {
        "slug": "analyst",
        "name": "Analyst",
        "description": "Works through long material with you. Large context.",
        "system_prompt": ANALYST,
        "max_output_tokens": 16_384,
        "history_tokens_high": 150_000,
        "history_tokens_low": 75_000,
        "history_turns_min": 30,
        "history_turns_max": 4_000,
        "total_tokens": 160_000,
        "hard_cap_tokens": 180_000,
        "tools": ["save_artifact", "read_artifact", "search_messages"],
        "order": 2,
    },
]


def ship(apps, schema_editor):
    assistants = apps.get_model("conversations", "Assistant").objects
    for values in SHIPPED:
        assistants.create(**values)


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_guards")]
    operations = [migrations.RunPython(ship, migrations.RunPython.noop)]

"""The models that Openbook knows from the start: Anthropic's, current and legacy, and the offline responder.

By platform.claude.com/docs as of 2026-11-22: models/overview, about-claude/pricing, build-with-claude/thinking, /effort and
/prompt-caching. Where they don't say it yet of Fable 5.2, it is as with 5.1. Staff may change the rows freely: this runs once.
"""

from datetime import date

from django.db import migrations

FOUR = ["low", "medium", "high", "max"]
FIVE = ["low", "medium", "high", "xhigh", "max"]
BIG = {"context_window": 1_000_000, "max_output": 128_000}
SMALL = {"context_window": 200_000, "max_output": 64_000}
ALWAYS = {"thinking": "adaptive", "thinks_unasked": True}
UNLESS_TOLD = ALWAYS | {"thinking_off": "disabled"}
IF_TOLD = {"thinking": "adaptive", "thinking_off": "disabled"}
WITHIN_BUDGET = {"thinking": "budget", "thinking_off": "disabled"}
NEW_TOKENIZER = 1.3


def effort(default, levels=FIVE):
    return {"efforts": levels, "default_effort": default}


# Those that only verified organisations may use, and those that are about to go, are not offered.
CLAUDE = {
    "claude-sonnet-5-5": BIG
    | ALWAYS
    | effort("high")
    | {"thinking_off": "between_tools", "cacheable_from": 512},
    "claude-opus-5-5": BIG | ALWAYS | effort("medium") | {"cacheable_from": 512},
    "claude-haiku-5-5": BIG | UNLESS_TOLD | effort("medium") | {"cacheable_from": 512},
    "claude-fable-5-2": BIG | ALWAYS | effort("high") | {"cacheable_from": 512},
    "claude-mythos-5-2": BIG | ALWAYS | effort("high") | {"cacheable_from": 512, "is_active": False},
    "claude-fable-5-1": BIG | ALWAYS | effort("high") | {"cacheable_from": 512},
    "claude-mythos-5-1": BIG | ALWAYS | effort("high") | {"cacheable_from": 512, "is_active": False},
    "claude-fable-5": BIG | ALWAYS | effort("high") | {"cacheable_from": 512},
    "claude-mythos-5": BIG | ALWAYS | effort("high") | {"cacheable_from": 512, "is_active": False},
    "claude-opus-5": BIG | UNLESS_TOLD | effort("high") | {"cacheable_from": 512},
    "claude-opus-4-8": BIG | IF_TOLD | effort("high") | {"cacheable_from": 1_024},
    "claude-opus-4-7": BIG | IF_TOLD | effort("high") | {"cacheable_from": 2_048},
    "claude-opus-4-6": BIG | IF_TOLD | effort("high", FOUR) | {"cacheable_from": 4_096, "token_factor": 1.0},
    "claude-opus-4-5": SMALL
    | WITHIN_BUDGET
    | effort("high", FOUR[:3])
    | {"cacheable_from": 4_096, "token_factor": 1.0},
    "claude-sonnet-5": BIG | UNLESS_TOLD | effort("high") | {"cacheable_from": 1_024},
    "claude-sonnet-4-6": BIG | IF_TOLD | effort("high", FOUR) | {"cacheable_from": 1_024, "token_factor": 1.0},
    "claude-sonnet-4-5": SMALL | WITHIN_BUDGET | {"cacheable_from": 1_024, "token_factor": 1.0, "is_active": False},
    "claude-haiku-4-5": SMALL | WITHIN_BUDGET | {"cacheable_from": 4_096, "token_factor": 1.0},
}
SMALL_MODEL = "claude-haiku-5-5"
OFFLINE = BIG | {"provider": "offline", "name": "offline", "label": "Offline responder"}

# Input, output, cache write for 5 minutes, for 1 hour, cache read.
PRICES = {
    "claude-fable-5-2 claude-mythos-5-2": [("8", "40", "10", "16", "0.2")],
    "claude-fable-5-1 claude-mythos-5-1": [("10", "50", "12.5", "20", "0.25")],
    "claude-fable-5 claude-mythos-5": [("10", "50", "12.5", "20", "1")],
    "claude-opus-5-5": [("4", "20", "5", "8", "0.2")],
    "claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5": [("5", "25", "6.25", "10", "0.5")],
    "claude-sonnet-5-5": [
        ("2", "10", "2.5", "4", "0.2"),
        ("2", "10", "2.5", "4", "0.1", {"since": date(2026, 10, 7)}),
    ],
    "claude-sonnet-5": [("2", "10", "2.5", "4", "0.2")],
    "claude-sonnet-4-6 claude-sonnet-4-5": [("3", "15", "3.75", "6", "0.3")],
    "claude-haiku-5-5": [
        ("0.1", "0.5", "0.125", "0.2", "0.01"),
        ("0.5", "2.5", "0.625", "1", "0.05", {"above": 100_000}),
    ],
    "claude-haiku-4-5": [("1", "5", "1.25", "2", "0.1")],
}


def label(name):
    """ "Claude Haiku 5.5" of "claude-haiku-5-5"."""
    brand, line, *version = name.split("-")
    return f"{brand.title()} {line.title()} {'.'.join(version)}"


def ship(apps, schema_editor):
    models = apps.get_model("conversations", "Model").objects
    prices = apps.get_model("conversations", "ModelPrice").objects
    ids = {}
    for order, (name, values) in enumerate(CLAUDE.items(), start=1):
        known = {"token_factor": NEW_TOKENIZER, "takes_images": True, "small_model": SMALL_MODEL} | values
        if name == SMALL_MODEL:
            known["small_model"] = ""
        ids[name] = models.create(provider="anthropic", name=name, label=label(name), order=order, **known).pk
    models.create(**OFFLINE)
    for names, changes in PRICES.items():
        for name in names.split():
            for input, output, write, write_hour, read, *when in changes:
                prices.create(
                    model_id=ids[name],
                    input=input,
                    output=output,
                    cache_write=write,
                    cache_write_hour=write_hour,
                    cache_read=read,
                    **(when[0] if when else {}),
                )


class Migration(migrations.Migration):
    dependencies = [("conversations", "0003_shipped_assistants")]
    operations = [migrations.RunPython(ship, migrations.RunPython.noop)]

"""The rules of the linter, one entry each: what it is called, how it is found, what mends it, and what its tokens cost."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from typing import Any

from conversations.linter import notes
from conversations.linter.cache_planner import Plan
from conversations.linter.cache_plans import read_plans
from conversations.linter.figures import Price, Row
from conversations.linter.notes import Meanings, Note
from conversations.models import Assistant
from conversations.providers.prices import PriceList
from conversations.runtime.db import run
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass
from conversations.runtime.wording import lazy

SQL = read_statements(__file__)
LEAST_REQUESTS = 30
"""What is in fewer requests is no finding."""
CLOCKS = timedelta(minutes=1)
"""By so much the time within an id may differ from the time of its row."""
LIMITS: Mapping[str, Any] = {
    "most_accounts": 5_000,  # drawn of each assistant and model, as are the next two
    "most_prefixes": 500,
    "most_broken": 2_000,
    "most_planned": 100_000,  # requests of an assistant, by whole threads
    "least_characters": 40,  # of a line that is looked for twice
    "dropped": "\n- […]",  # where a summary was cut
    "nearly_all": 0.95,
    "often": 0.2,
    "nearly": 0.9,
    "hardly": 0.25,
}
PREPARING = ("plain_plan", "make_requests", "make_prefixes", "index_prefixes", "know_tables", "make_notes")
MOST_NOTES = 10_000
WORTH_IT = Decimal("0.05")
"""Of what prompts cost, the least that another lifetime of the cache has to save."""

SECTION_SETTINGS = {
    "": "system_prompt",
    "tools": "tools",
    "rules": "tools",
    "memory": "memory_tokens",
    "today": "today_tokens",
    "open_threads": "open_threads_tokens",
    "last_conversation": "last_conversation_tokens",
    "recalled": "recall_tokens",
}
"""The field of an assistant by the section that it decides about."""


class Window:
    """The requests since a time, which rules ask about within one transaction."""

    def __init__(self, since: datetime, at: datetime, known: PriceList, least: int = LEAST_REQUESTS) -> None:
        self.since, self.at, self.known, self.least = since, at, known, least
        self.values = {**LIMITS, "since": since, "lowest": lowest_uuid7(since - CLOCKS)}
        for statement in PREPARING:
            run(SQL[statement], **self.values)

    @cached_property
    def notes(self) -> list[Note]:
        """Those that took the most, first."""
        return notes.read_notes(SQL["notes"], MOST_NOTES)

    @cached_property
    def meanings(self) -> Meanings:
        return notes.meanings_of(self.notes)

    @cached_property
    def plans(self) -> Mapping[int, Plan]:
        """Of the prompt cache, by assistant."""
        return read_plans(SQL["cache_steps"], self.values, self.known, self.at)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """``advice`` says what to do about it. ``setting`` names the field of the assistant by the first word of a subject, without
    a word for all others; where it is empty the subject is the field."""

    slug: str
    label: str
    advice: str
    rows: Callable[[Window], Iterable[Row]]
    setting: Mapping[str, str]
    price: Price = Price.PROMPT


def _select(statement: str, window: Window) -> Iterable[Row]:
    for assistant, provider, model, subject, count, tokens, example, details in run(SQL[statement], **window.values):
        yield Row(
            assistant=assistant,
            provider=provider,
            model=model,
            subject=subject,
            count=round(count),
            tokens=round(tokens),
            example=str(example),
            details=json.loads(details),
        )


def _idle(window: Window) -> Iterable[Row]:
    return notes.idle(window.notes, SQL["idle"], window.least)


def _similar(window: Window) -> Iterable[Row]:
    return notes.similar(window.notes, window.meanings)


def _contradicting(window: Window) -> Iterable[Row]:
    return notes.contradicting(window.notes, window.meanings)


def _lifetimes(window: Window) -> Iterable[Row]:
    settings = dict(Assistant.objects.values_list("pk", "cache_lifetime"))
    for assistant, plan in window.plans.items():
        if plan.recommended != settings[assistant] and plan.saving >= WORTH_IT * plan.as_sent > 0:
            yield Row(
                assistant=assistant,
                provider="",
                model="",
                subject=plan.recommended,
                count=plan.requests,
                tokens=plan.tokens,
                example=plan.example,
                details={},
                cost=plan.saving,
            )


RULES = (
    Rule(
        slug="unused_tool",
        label=lazy("A tool is offered and never called"),
        advice=lazy("Take it from the assistant\u2019s tools, or say in the prompt when to use it."),
        rows=partial(_select, "unused_tool"),
        setting={"": "tools"},
    ),
    Rule(
        slug="repeated_text",
        label=lazy("The same is said twice before the turns"),
        advice=lazy("Say it once: in the prompt, or in what the tools or the memory say of it."),
        rows=partial(_select, "repeated_text"),
        setting=SECTION_SETTINGS,
    ),
    Rule(
        slug="idle_notes",
        label=lazy("Notes are sent always and bear on nothing"),
        advice=lazy(
            "Give memory less room, so that the newest notes stay: nothing was said of these since they were made."
        ),
        rows=_idle,
        setting={"": "memory_tokens"},
    ),
    Rule(
        slug="cut_section",
        label=lazy("A section is cut every time"),
        advice=lazy("Give it more room, or less: what is sent of it is never whole."),
        rows=partial(_select, "cut_section"),
        setting=SECTION_SETTINGS,
        price=Price.NOTHING,
    ),
    Rule(
        slug="broken_cache",
        label=lazy("The same culprit breaks the prompt cache"),
        advice=lazy("Keep what comes first the same from one request to the next; what changes belongs further down."),
        rows=partial(_select, "broken_cache"),
        setting=SECTION_SETTINGS
        | {"moved": "history_tokens_low", "changed": "filters_artifacts", "other_model": "fallback_model"},
        price=Price.MISSED,
    ),
    Rule(
        slug="small_prefix",
        label=lazy("The smallest prefix that the cache takes is missed by little"),
        advice=lazy("A slightly longer prompt is cached, and then costs less than this one."),
        rows=partial(_select, "small_prefix"),
        setting={"": "system_prompt"},
        price=Price.MISSED,
    ),
    Rule(
        slug="similar_notes",
        label=lazy("Notes say nearly the same"),
        advice=lazy("The person can forget one of the two on their page of memory; or give memory less room."),
        rows=_similar,
        setting={"": "memory_tokens"},
    ),
    Rule(
        slug="contradicting_notes",
        label=lazy("Notes contradict one another"),
        advice=lazy("One of the two is wrong by now: the person can correct or forget it on their page of memory."),
        rows=_contradicting,
        setting={"": "memory_tokens"},
    ),
    Rule(
        slug="unused_budget",
        label=lazy("A budget is never used"),
        advice=lazy("Lower it, or find out why nothing fills it."),
        rows=partial(_select, "unused_budget"),
        setting={},
        price=Price.NOTHING,
    ),
    Rule(
        slug="cache_lifetime",
        label=lazy("Another lifetime of the prompt cache would cost less"),
        advice=lazy("Choose it on the assistant’s page. What it costs here is what would have been saved."),
        rows=_lifetimes,
        setting={"": "cache_lifetime"},
        price=Price.OWN,
    ),
)
BY_SLUG = {rule.slug: rule for rule in RULES}

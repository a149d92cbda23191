"""A week of one person, hour by hour, with a clock that moves: what each tier says, and when it says nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User

from config.worker.loop import EVER, OneTask
from conversations.runtime.db import in_database
from conversations.schedule import sweep
from memory.models import Preferences, Topic
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine"), pytest.mark.wide]

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
IDLE = timedelta(minutes=11)
BUDGETS = {"memory": 500, "today": 500, "open_threads": 400, "last_conversation": 300}


def on(day: int, hour: int, minute: int = 0, zone: ZoneInfo = BERLIN) -> datetime:
    """March 2026 begins on a Sunday."""
    return datetime(2026, 3, day, hour, minute, tzinfo=zone)


@dataclass
class Person:
    """Says something at a time, in a thread. Whenever it has been quiet for long enough, workers have done their work."""

    user: User
    api: Api
    last: datetime | None = None

    async def says(self, at: datetime, text: str, thread: str = "new") -> "RequestTexts":
        if self.last and at - self.last > IDLE:
            with time_machine.travel(self.last + IDLE):
                await in_database(work_through)()
        self.last = at
        with time_machine.travel(at):
            answer = (await self.api.post(f"threads/{thread}/messages/", {"content": text})).body
            request = (await self.api.get(f"requests/{answer['request']}/")).body
        return RequestTexts(request, answer["thread"])

    async def prefers(self, **values: Any) -> None:
        await Preferences.objects.aupdate_or_create(user=self.user, defaults=values)


def work_through() -> None:
    """What is due, by a worker."""
    sweep(since=EVER)
    found = True
    while found:
        worker = OneTask("worker of the test")
        worker.run()
        found = worker.found


class RequestTexts:
    """What the request of a message was given."""

    def __init__(self, request: dict[str, Any], thread: str) -> None:
        self.thread = thread
        self.request = request
        self.sections = {section["name"]: section["text"] for section in request["sections"]}
        for section in request["sections"]:
            assert section["tokens"] <= BUDGETS.get(section["name"], request["budget"]), section["name"]
        assert request["total_tokens"] <= request["budget"]

    @property
    def tiers(self) -> dict[str, str]:
        return {name: text for name, text in self.sections.items() if name in BUDGETS}

    def tells(self, **words: str) -> bool:
        """That just these tiers are there, each with its words."""
        assert {*self.tiers} == {*words}, self.tiers
        assert [(n, w, self.tiers[n]) for n, w in words.items() if w not in self.tiers[n]] == []
        return True


async def test_every_tier_says_the_right_thing_at_each_moment_of_a_week(user: User, api: Api) -> None:
    ada = Person(user, api)
    await ada.prefers(time_zone="Europe/Berlin")

    # Monday: nothing is known yet; in the evening the morning is "today", and what was begun is open.
    morning = await ada.says(
        on(2, 8), "Good morning! I'm planning a trip to Lisbon in May. I still need to book the flight."
    )
    assert morning.tells()
    await ada.says(on(2, 8, 5), "And my sister Anna lives in Porto, so I will visit her too.", morning.thread)
    evening = await ada.says(on(2, 19), "Which wine goes with grilled sardines?")
    assert evening.tells(memory="Anna lives in Porto", today="I will visit her too", open_threads="book the flight")
    assert "trip to Lisbon" in evening.sections["open_threads"] and "Lisbon" not in evening.sections["today"]

    # Tuesday morning: a new day says nothing of today, and a night is not long enough to be told what was said last.
    tuesday = await ada.says(on(3, 9), "I need to renew my passport before the summer.")
    assert tuesday.tells(memory="Anna lives in Porto", open_threads="book the flight")
    # Within the session the tiers are the same to the byte.
    again = await ada.says(on(3, 9, 8), "How long is a passport valid?", tuesday.thread)
    assert again.tiers == tuesday.tiers
    # In the evening one topic is resolved by what she says; the night's request knows.
    await ada.says(on(3, 18), "I booked the flight to Lisbon, that's done.")
    night = await ada.says(on(3, 21), "Tell me a joke about airports.")
    assert night.tells(memory="Anna lives in Porto", today="passport", open_threads="renew my passport")
    assert "book the flight" not in night.sections["open_threads"]

    # Friday: away for more than a day, so the last conversation is told, and today is empty again.
    friday = await ada.says(on(6, 10), "Hello, I'm back. What should I pack for rainy days?")
    assert friday.tells(memory="Anna lives in Porto", open_threads="renew my passport", last_conversation="airports")

    # On Friday night she flies to New York, where it is still Friday when Berlin has Saturday.
    await ada.prefers(time_zone="America/New_York")
    flown = await ada.says(on(7, 3), "Is there a good bakery near Central Park?")
    assert flown.request["today_summary_present"] and "rainy days" in flown.sections["today"]
    saturday = await ada.says(on(7, 9, zone=NEW_YORK), "What is on at the Met today?")
    assert "today" not in saturday.tiers

    # On Tuesday the passport is older than a week and says since when; resolved by hand all is gone.
    await ada.says(on(9, 9, zone=NEW_YORK), "I want to learn the ukulele.")
    later = await ada.says(on(10, 20, zone=NEW_YORK), "Good evening.")
    topics = later.sections["open_threads"].splitlines()[1:]
    assert [topic for topic in topics if "passport" in topic and "open since 2026-03-03" in topic]
    await Topic.objects.filter(user=user).aupdate(resolved_at=on(10, 21, zone=NEW_YORK))
    assert "open_threads" not in (await ada.says(on(10, 22, zone=NEW_YORK), "And now?")).tiers

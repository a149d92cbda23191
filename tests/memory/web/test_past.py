"""What ended, as a person and a model see it: said in conversations by REST, noted by a worker, then read on the page of memory
and in the next request."""

import re
from collections.abc import Iterable
from datetime import datetime
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import AsyncClient

from tests.conversations.rest.client import Api
from tests.conversations.rest.conftest import api
from tests.memory.sources.test_a_week import Person
from tests.model_server import ModelServer

__all__ = ["api"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BERLIN = ZoneInfo("Europe/Berlin")
PAIRS = {
    "home and work": {
        "I live in Lisbon.": "I moved from Lisbon to Porto.",
        "I work as a baker at Bruno's.": "I no longer work at Bruno's, I started at Casa Nova.",
        "I love Chinese food.": "I hate Chinese food.",
        "I have a dog.": "I don't have a dog.",
    },
    "what one has one of": {
        "I'm 34 years old.": "I turned 35 yesterday.",
        "My favourite colour is blue.": "My favorite color is green these days.",
        "Ich heiße Petra Kuhn.": "Ich heiße jetzt Petra Vogel.",
        "My sister lives in Bath.": "My sister has moved to Exeter.",
    },
    "other languages": {
        "Vivo en Sevilla.": "Nos hemos mudado a Toledo.",
        "Je travaille chez Martin.": "Je ne travaille plus chez Martin, j'ai commencé chez Dubois.",
        "Ich trinke gern Bier.": "Ich trinke kein Bier mehr.",
        "У меня есть собака.": "У меня больше нет собаки.",
    },
}
NOTE = re.compile(r'<p class="note-ended"[^>]*>([^<]*)</p>\s*<p class="note-text"[^>]*>([^<]*)</p>')
QUESTION = "What could one do on a rainy Sunday?"


def on(day: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, 9, minute, tzinfo=BERLIN)


def days_of_lines(section: str) -> dict[str, str]:
    """The day that stands above each line of a list."""
    days, day = {}, ""
    for line in section.splitlines():
        if re.fullmatch(r"\d{4}-\d\d-\d\d:", line):
            day = line.rstrip(":")
        elif line.startswith("- "):
            days[line.removeprefix("- ")] = day
    return days


def older_export(texts: Iterable[str]) -> dict[str, Any]:
    turns = [
        {"role": role, "content": content, "created_at": on(2, minute).isoformat()}
        for minute, text in enumerate(texts)
        for role, content in (("user", text), ("assistant", "I see."))
    ]
    return {"format": "openbook/1", "threads": [{"messages": turns}]}


@pytest.mark.parametrize("brought_later", [False, True])
@pytest.mark.parametrize("name", PAIRS)
async def test_what_ended_is_past_on_the_page_and_in_no_request(
    user: User, api: Api, model: ModelServer, name: str, *, brought_later: bool
) -> None:
    """Also where what ended is heard of afterwards, from an older export."""
    pairs = PAIRS[name]
    person = Person(user, api)
    await person.prefers(time_zone="Europe/Berlin")
    if not brought_later:
        for minute, text in enumerate(pairs):
            await person.says(on(2, minute), text)
    for minute, text in enumerate(pairs.values()):
        await person.says(on(9, minute), text)
    if brought_later:
        with time_machine.travel(on(9, 30)):
            assert (await api.post("import/", older_export(pairs))).status == 201
    lines = days_of_lines((await person.says(on(10), QUESTION)).sections["memory"])
    assert not pairs.keys() & lines.keys()
    assert {*lines.values()} == {"2026-03-09"}
    client = AsyncClient()
    with time_machine.travel(on(10, 5)):
        await client.aforce_login(user)
        page = unescape((await client.get("/memory/")).content.decode())
    notes = {text: ended for ended, text in NOTE.findall(page)}
    for before, after in pairs.items():
        (line,) = (line for line in lines if line.startswith(after.split(",")[0].rstrip(".")))
        assert notes[line] == ""
        assert notes[before] == "Until 9 March"

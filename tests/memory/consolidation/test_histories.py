"""The memory of a person over months, on the real database: facts said in several threads, in five languages, in whatever order
they are heard of, by hand and from older exports; ended, restored and forgotten. After each step its promises hold."""

import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from conversations.context.record import snapshots
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.rendering import canonical
from conversations.context.sessions import Session
from conversations.models import ContextSnapshot
from conversations.runtime.db import read_only
from memory import forgetting, services
from memory.consolidation.consolidate import consolidate
from memory.consolidation.fact_rows import facts_of
from memory.models import Memory
from memory.sources.facts import Facts, FactSource
from tests.conversations.factories import make_context, make_reply, make_thread, record
from tests.conversations.import_export.books import store_thread
from tests.memory.consolidation.test_spans import subjects
from tests.memory.forgetting.test_forgetting import rows_with
from tests.memory.profiles import read_profile
from tests.told_stories import ToldStory

pytestmark = [pytest.mark.django_db]

HISTORIES = settings(stateful_step_count=12, suppress_health_check=[*HealthCheck])
HISTORIES = settings(HISTORIES, max_examples=max(1, HISTORIES.max_examples // 3))
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
QUESTION = "What could I do on Sunday?"

NAMES = {
    "city": ("Quorvia", "Zelmont", "Brixola"),
    "firm": ("Tarvik", "Onderma"),
    "food": ("zubrik", "melpo"),
    "thing": ("Vexmobil", "Klimpo"),
    "name": ("Yolvena", "Partimo"),
    "colour": ("grelba", "tinzo"),
}
"""Words that stand nowhere else, so that each can be looked for."""
SAID = {
    "en": (
        "I live in {city}.",
        "I moved from {city} to {other}.",
        "I no longer live in {city}.",
        "I work at {firm}.",
        "I no longer work at {firm}.",
        "I quit my job.",
        "I love {food}.",
        "I hate {food}.",
        "I don't like {food}.",
        "I own a {thing}.",
        "I sold my {thing}.",
        "My name is {name}.",
        "My favourite colour is {colour}.",
        "I live in {city} and work at {firm}.",
    ),
    "de": (
        "Ich wohne in {city}.",
        "Ich bin von {city} nach {other} gezogen.",
        "Ich wohne nicht mehr in {city}.",
        "Ich arbeite bei {firm}.",
        "Ich arbeite nicht mehr bei {firm}.",
        "Ich liebe {food}.",
        "Ich hasse {food}.",
        "Ich habe einen {thing}.",
        "Ich habe keinen {thing} mehr.",
        "Ich heiße {name}.",
    ),
    "fr": (
        "J'habite à {city}.",
        "J'ai déménagé de {city} à {other}.",
        "Je n'habite plus à {city}.",
        "Je travaille chez {firm}.",
        "Je ne travaille plus chez {firm}.",
        "J'adore le {food}.",
        "Je déteste le {food}.",
        "Je m'appelle {name}.",
    ),
    "es": (
        "Vivo en {city}.",
        "Me mudé de {city} a {other}.",
        "Ya no vivo en {city}.",
        "Trabajo en {firm}.",
        "Ya no trabajo en {firm}.",
        "Me encanta el {food}.",
        "Odio el {food}.",
        "Me llamo {name}.",
    ),
    "ru": (
        "Я живу в {city}.",
        "Я переехал из {city} в {other}.",
        "Я больше не живу в {city}.",
        "Я работаю в {firm}.",
        "Я больше не работаю в {firm}.",
        "Я люблю {food}.",
        "Я ненавижу {food}.",
        "Меня зовут {name}.",
    ),
}
CYRILLIC = {
    "Quorvia": "Кворвия",
    "Zelmont": "Зелмонт",
    "Brixola": "Брихола",
    "Tarvik": "Тарвик",
    "Onderma": "Ондерма",
    "zubrik": "зубрик",
    "melpo": "мелпо",
    "Yolvena": "Йолвена",
    "Partimo": "Партимо",
}
WORDS = (*(name for names in NAMES.values() for name in names), *CYRILLIC.values())


@st.composite
def sentences(draw: st.DrawFn) -> str:
    language = draw(st.sampled_from(sorted(SAID)))
    values = {kind: draw(st.sampled_from(names)) for kind, names in NAMES.items()}
    values["other"] = draw(st.sampled_from([city for city in NAMES["city"] if city != values["city"]]))
    if language == "ru":
        values = {kind: CYRILLIC.get(name, name) for kind, name in values.items()}
    return draw(st.sampled_from(SAID[language])).format(**values)


places = st.integers(0, 1_000)
days = st.integers(1, 90)


class History(ToldStory):
    """One person, and what is kept of them."""

    start = START

    def __init__(self) -> None:
        super().__init__()
        self.recorded: dict[uuid.UUID, bytes] = {}

    @rule(text=sentences(), pause=days)
    def say(self, text: str, pause: int) -> None:
        self.tell(text, pause)

    @rule(text=sentences(), ago=days, noted=st.booleans())
    def bring_an_older_export(self, text: str, ago: int, noted: bool) -> None:
        self.now += timedelta(hours=1)
        at = (self.now - timedelta(days=ago)).isoformat()
        turns = [{"role": "user", "content": text}, {"role": "assistant", "content": "I see."}]
        document = {
            "format": "openbook/1",
            "threads": [{"messages": [turn | {"created_at": at} for turn in turns]}],
            "memories": [{"content": text, "created_at": at}] if noted else [],
        }
        store_thread(self.user, document, self.now)
        consolidate(self.user.pk, at=self.now)

    @rule(text=sentences(), pause=days)
    def write_by_hand(self, text: str, pause: int) -> None:
        self.now += timedelta(days=pause)
        services.remember(
            user=self.user, content=text, tags=[], origin=Memory.Origin.HAND, at=self.now, valid_until=None
        )

    @rule(place=places, text=sentences(), pause=days)
    def correct_by_hand(self, place: int, text: str, pause: int) -> None:
        self.now += timedelta(days=pause)
        if memory := self.note(place):
            services.change(memory, at=self.now, content=text)

    @rule(place=places, pause=days)
    def restore(self, place: int, pause: int) -> None:
        self.now += timedelta(days=pause)
        if memory := self.note(place, ended_at__isnull=False):
            self.undo_end(memory.id)

    @rule(text=sentences(), pause=days)
    def say_and_undo(self, text: str, pause: int) -> None:
        """What a statement ended is restored: then all that holds is as before, and so is what a model is given."""
        held, before = {*self.notes(ended_at=None)}, self.shown()
        self.tell(text, pause)
        ended = [id for id in held if Memory.objects.get(id=id).ended_at]
        new = [id for id in self.notes(ended_at=None) if id not in held]
        enders = {Memory.objects.get(id=id).superseded_by_id for id in ended}
        if not ended or not {*new} <= enders:
            return
        for id in ended:
            self.undo_end(id)
        assert self.shown() == before, text

    @rule(place=places)
    def forget(self, place: int) -> None:
        memory = self.note(place)
        if not memory:
            return
        before = {note.id: note.content for note in Memory.objects.all()}
        history = {memory.id, *(note.id for note in services.histories_of(self.user, [memory]).get(memory.id, []))}
        requests = dict(self.recorded)
        forgetting.forget_memory(self.user, memory.id)
        left = {*self.notes()}
        assert not history & left
        gone = [text for id, text in before.items() if id not in left]
        others = " ".join(before[id] for id in left)
        words = [word for word in WORDS if any(word in text for text in gone) and word not in others]
        assert rows_with(*gone, *words) == []
        seen = self.everything_shown(words)
        assert [text for text in (*gone, *words) if text in seen] == []
        for id, request in requests.items():
            if any(text in request.decode() for text in (*gone, *words)):
                del self.recorded[id]
                with pytest.raises(NotRebuildable):
                    self.rebuilt(id)

    @rule(pause=days)
    def ask(self, pause: int) -> None:
        self.now += timedelta(days=pause)
        reply = make_reply(make_thread(self.user, [QUESTION], created_at=self.now))
        snapshot = record(make_context(reply), reply)
        self.recorded[snapshot.id] = self.rebuilt(snapshot.id)

    @invariant()
    def spans_never_overlap(self) -> None:
        for facts in facts_of(self.user.pk).values():
            held = [fact for fact in facts.by_id.values() if not fact.never_held]
            for subject in {subject for fact in held for subject in subjects(fact)}:
                spans = sorted((fact for fact in held if subject in subjects(fact)), key=lambda fact: fact.at)
                for first, second in pairwise(spans):
                    assert first.end and first.end.at <= second.at, (subject, [(f.text, f.at, f.end) for f in spans])

    @invariant()
    def requests_are_rebuilt_as_they_were(self) -> None:
        for id, request in self.recorded.items():
            assert self.rebuilt(id) == request

    def tell(self, text: str, pause: int) -> None:
        """In a thread of its own."""
        self.now += timedelta(days=pause)
        make_thread(self.user, [text, "I see."], created_at=self.now)
        consolidate(self.user.pk, at=self.now + timedelta(hours=2))

    def browser(self) -> Client:
        """Signed in now: a session lasts for weeks, a history for years."""
        client = Client()
        client.force_login(self.user)
        return client

    def undo_end(self, id: uuid.UUID) -> None:
        assert self.browser().post(f"/api/v1/memories/{id}/restore/").status_code == 200

    def notes(self, **which: Any) -> list[uuid.UUID]:
        mine = Memory.objects.filter(user=self.user, **which)
        return list(mine.order_by("created_at", "content", "origin").values_list("id", flat=True))

    def note(self, place: int, **which: Any) -> Memory | None:
        ids = self.notes(**which)
        return Memory.objects.get(id=ids[place % len(ids)]) if ids else None

    def place_of(self, text: str, **which: Any) -> int:
        return [Memory.objects.get(id=id).content for id in self.notes(**which)].index(text)

    def rebuilt(self, id: uuid.UUID) -> bytes:
        return canonical(snapshots.rebuild(ContextSnapshot.objects.get(id=id)))

    def shown(self) -> tuple[Any, str]:
        """What holds: by REST, but for what it took the place of, and as a model is given it."""
        listed = self.browser().get("/api/v1/memories/?page_size=100").json()["results"]
        with read_only():
            profile = read_profile(user_id=self.user.pk, thread_id=None, session=Session(started_at=self.now))
        facts = Facts(began_at=START, facts=tuple(profile.facts))
        return [note | {"supersedes": []} for note in listed], FactSource().fit(facts, 2_000).text

    def everything_shown(self, words: list[str]) -> str:
        searches = [f"memories/search/?q={word}" for word in words]
        paths = ("memories/?ended=true&page_size=100", *searches)
        browser = self.browser()
        pages = [browser.get(path) for path in ("/memory/", *(f"/api/v1/{path}" for path in paths))]
        assert {page.status_code for page in pages} == {200}
        return "\n".join(page.content.decode() for page in pages)


def test_the_promises_of_memory_hold_in_any_history() -> None:
    run_state_machine_as_test(History, settings=HISTORIES)


STEPS: dict[str, list[tuple[str, ...]]] = {
    "what had ended before gets no later end": [
        ("say", "I live in Zelmont."),
        ("say", "I moved from Zelmont to Quorvia."),
        ("say_and_undo", "I moved from Quorvia to Brixola."),
        ("restore", "I live in Zelmont."),
        ("restore", "I moved from Quorvia to Brixola."),
    ],
    "what is restored ends what held then": [
        ("say", "Me encanta el zubrik."),
        ("say", "Odio el zubrik."),
        ("restore", "Me encanta el zubrik."),
        ("correct_by_hand", "Odio el zubrik.", "I own a Klimpo."),
        ("restore", "Odio el zubrik."),
    ],
    "a past note that is corrected ends where another begins": [
        ("say", "I live in Zelmont."),
        ("say", "Je travaille chez Onderma."),
        ("say", "I no longer live in Zelmont."),
        ("correct_by_hand", "I live in Zelmont.", "I work at Tarvik."),
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_what_is_changed_by_hand_leaves_no_two_at_once(name: str) -> None:
    history = History()
    for step, text, *corrected in STEPS[name]:
        match step:
            case "restore":
                history.restore(history.place_of(text, ended_at__isnull=False), 1)
            case "correct_by_hand":
                history.correct_by_hand(history.place_of(text), *corrected, 1)
            case _:
                getattr(history, step)(text, 1)
        history.spans_never_overlap()
    history.teardown()

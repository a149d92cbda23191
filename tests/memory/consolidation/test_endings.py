"""What is said to be done, called off or no longer so, and of several things that are open the one that is meant."""

import uuid
from datetime import timedelta

import pytest

from memory.consolidation.endings import calls_off, concludes
from memory.consolidation.findings import EarlierTopic, Retraction
from memory.consolidation.rule_extraction import extract
from memory.consolidation.supersession import Facts, stored_fact, taken_back
from tests.memory.turns import MONDAY, conversation, id_of


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("The contact lenses are ordered", "I need to order new contact lenses.", True),
        ("I changed my mind about the pottery course.", "I want to sign up for the pottery course.", True),
        ("Die Kontaktlinsen sind bestellt.", "Ich muss neue Kontaktlinsen bestellen.", True),
        ("Le vélo est enfin réparé.", "Je dois réparer le vélo.", True),
        ("La bicicleta ya está arreglada.", "Tengo que reparar la bicicleta.", True),
        (
            "Наконец-то починил велосипед.",
            "Мне надо починить велосипед.",
            True,
        ),
        ("自行车终于修好了。", "我得修自行车。", True),
        ("芬兰语算了，我不学了。", "我打算学芬兰语。", True),
        ("I still haven't ordered the contact lenses.", "I need to order new contact lenses.", False),
        ("I called my mother.", "I need to call the plumber.", False),
        ("Велосипед ещё не починил.", "Мне надо починить велосипед.", False),
        ("自行车还没修。", "我得修自行车。", False),
        ("Is the bicycle fixed?", "I need to fix the bicycle.", False),
    ],
)
def test_what_is_open_ends_by_what_says_so_and_names_it(sentence: str, title: str, expected: bool) -> None:
    assert bool(concludes(sentence, title)) is expected


def test_of_two_things_that_are_open_the_closest_is_resolved() -> None:
    plumber, electrician = (
        EarlierTopic(id=uuid.UUID(int=n), title=f"I need to call the {who}.", opened_at=MONDAY - timedelta(days=n))
        for n, who in ((1, "plumber"), (2, "electrician"))
    )
    resolved = extract(conversation("I called the electrician."), [plumber, electrician]).resolved
    assert [topic.topic for topic in resolved] == [electrician.id]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The trip to Krakow is cancelled.", ["I'm visiting Krakow on Friday."]),
        ("i gave up tennis", ["I play tennis on Wednesdays."]),
        ("I no longer live in Rome.", []),
    ],
)
def test_what_was_stated_is_taken_back_by_what_names_it(sentence: str, expected: list[str]) -> None:
    facts = Facts()
    for n, text in enumerate(["I'm visiting Krakow on Friday.", "I play tennis on Wednesdays.", "I live in Hamburg."]):
        facts.add(stored_fact(id=uuid.UUID(int=900 + n), text=text, sources=[id_of(50 + n)], at=MONDAY))
    retraction = Retraction(text=sentence, source=id_of(1), at=MONDAY + timedelta(days=1))
    assert [fact.text for fact, _ in taken_back([retraction], facts)] == expected
    assert [fact.text for fact in facts.by_id.values() if fact.end] == expected


def test_what_is_said_later_is_not_taken_back_before() -> None:
    facts = Facts()
    facts.add(stored_fact(id=uuid.UUID(int=900), text="I play tennis.", sources=[id_of(9)], at=MONDAY))
    early = Retraction(text="I gave up tennis.", source=id_of(1), at=MONDAY - timedelta(days=1))
    assert list(taken_back([early], facts)) == []


@pytest.mark.parametrize("sentence", ["Did you give up?", "If I gave up tennis, I'd swim.", "I play tennis."])
def test_what_asks_or_supposes_calls_nothing_off(sentence: str) -> None:
    assert not calls_off(sentence)

"""Since when and until when facts hold: whatever is said, in whatever order it is heard of. Pure."""

import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.consolidation.findings import ExtractedFact
from memory.consolidation.rule_extraction import extract
from memory.consolidation.supersession import End, Facts, StoredFact, new_facts, said_again, stored_fact
from tests.memory.turns import MONDAY, conversation

CITIES, FIRMS, FOODS = ("Lisbon", "Porto", "Rome"), ("Siemens", "Bosch"), ("Chinese food", "olives")
SAID = [
    *(f"I live in {city}." for city in CITIES),
    *(f"I moved from {city} to {other}." for city in CITIES for other in CITIES if city != other),
    *(f"I no longer live in {city}." for city in CITIES),
    *(f"I work at {firm}." for firm in FIRMS),
    *(f"I no longer work at {firm}." for firm in FIRMS),
    "I quit my job.",
    *(f"I {feels} {food}." for feels in ("love", "hate", "don't like") for food in FOODS),
    *(f"I'm {age} years old." for age in (34, 35)),
    "I have a dog.",
    "I don't have a dog.",
    "My favourite colour is blue.",
    "Green is my favourite colour.",
]
talks = st.lists(st.sampled_from(SAID), max_size=8)


def said(texts: Sequence[str]) -> list[ExtractedFact]:
    """A day apart, each in a turn of its own."""
    return [
        ExtractedFact(text=text, sources=(uuid.UUID(int=n),), at=MONDAY + timedelta(days=n))
        for n, text in enumerate(texts, 1)
    ]


def heard(facts: Iterable[ExtractedFact]) -> Facts:
    known = Facts()
    for fact in facts:
        said_again([fact], known)
        new_facts([fact], known)
    return known


def current(facts: Facts) -> set[str]:
    return {fact.text for fact in facts.by_id.values() if not fact.end}


def holding(facts: Facts) -> set[str]:
    """What holds of which a person has one at a time."""
    return {fact.text for fact in facts.by_id.values() if not fact.end and subjects(fact)}


def subjects(fact: StoredFact) -> set[tuple[str, str]]:
    """What it tells of which a person has one at a time."""
    claims = (claim for claim in fact.statement.claims if claim.kind.is_single and not claim.ends)
    feeling = {("about", " ".join(sorted(fact.statement.object)))} if fact.statement.feels else set()
    return {(claim.kind.name, claim.aspect) for claim in claims} | feeling


@settings(max_examples=60, deadline=None)
@given(talks, st.randoms(use_true_random=False))
def test_spans_of_a_subject_never_overlap_in_whatever_order_they_are_heard_of(
    texts: list[str], order: random.Random
) -> None:
    facts = said(texts)
    shuffled = order.sample(facts, len(facts))
    known = heard(shuffled)
    held = [fact for fact in known.by_id.values() if not fact.never_held]
    for subject in {subject for fact in held for subject in subjects(fact)}:
        spans = sorted((fact for fact in held if subject in subjects(fact)), key=lambda fact: fact.at)
        for first, second in pairwise(spans):
            assert first.end and first.end.at <= second.at, (subject, [f.text for f in shuffled])
    assert holding(known) == holding(heard(facts)), [fact.text for fact in shuffled]


@pytest.mark.parametrize(
    ("october", "november", "holds"),
    [
        (
            "I live in Lisbon and work as a baker at Bruno's.",
            "I moved from Lisbon to Porto. I no longer work at Bruno's, I started at Casa Nova.",
            ["I moved from Lisbon to Porto.", "I no longer work at Bruno's.", "I started at Casa Nova."],
        ),
        (
            "Ich wohne in Berlin und arbeite als Bäcker bei Bruno.",
            "Ich bin von Berlin nach Hamburg gezogen. Ich habe bei Casa Nova angefangen.",
            ["Ich bin von Berlin nach Hamburg gezogen.", "Ich habe bei Casa Nova angefangen."],
        ),
        (
            "J'habite à Lyon et travaille comme boulanger chez Bruno.",
            "J'ai déménagé de Lyon à Nice. J'ai quitté mon travail.",
            ["J'ai déménagé de Lyon à Nice.", "J'ai quitté mon travail."],
        ),
        (
            "Vivo en Lisboa y trabajo como panadero en Bruno.",
            "Me mudé de Lisboa a Oporto. Dejé mi trabajo.",
            ["Me mudé de Lisboa a Oporto.", "Dejé mi trabajo."],
        ),
        (
            "Я живу в Москве и работаю пекарем в Бруно.",
            "Я переехал из Москвы в Казань. Я уволился с работы.",
            ["Я переехал из Москвы в Казань.", "Я уволился с работы."],
        ),
        (
            "我住在北京，在百度做工程师。",
            "我从北京搬到了上海。我不在百度工作了，我去了腾讯。",
            ["我从北京搬到了上海。", "我不在百度工作了。", "我去了腾讯。"],
        ),
        ("I'm married to Anna and drive a Fiat.", "I broke up with Anna, I sold my car.", None),
        ("I have a dog called Rex. I study law.", "My dog Rex died. I dropped out.", None),
        ("I love Chinese food and I'm 34.", "I hate Chinese food. I'm 35.", None),
        ("Ich habe einen Hund.", "Ich habe keinen Hund.", None),
        ("J'adore la cuisine chinoise. J'ai un chien.", "Je déteste la cuisine chinoise. Je n'ai pas de chien.", None),
        ("Odio la comida china. Tengo un perro.", "Me encanta la comida china. No tengo perro.", None),
        (
            "Я люблю китайскую еду. У меня есть собака.",
            "Я ненавижу китайскую еду. У меня нет собаки.",
            None,
        ),
        ("我喜欢中国菜。我有一只狗。", "我讨厌中国菜。我没有狗。", None),
        ("My favourite colour is blue.", "Green is my favourite colour.", None),
        (
            "Ich bin mit Anna verheiratet. Ich studiere Jura.",
            "Ich bin jetzt geschieden. Ich habe das Jurastudium abgebrochen.",
            None,
        ),
        (
            "Я работаю у Бруно. Я люблю джаз.",
            "Я больше не работаю у Бруно. Я больше не люблю джаз.",
            None,
        ),
    ],
)
@pytest.mark.parametrize("in_order", [True, False])
def test_what_is_said_later_ends_what_was_said_before(
    october: str, november: str, holds: list[str] | None, *, in_order: bool
) -> None:
    """Heard of in the order of saying, and the later part first."""
    before, after = (
        extract(conversation(text, began=MONDAY + timedelta(days=days))).facts
        for text, days in ((october, 0), (november, 30))
    )
    before = [replace(fact, sources=(uuid.UUID(int=90),)) for fact in before]
    known = heard([*before, *after] if in_order else [*after, *before])
    assert current(known) == set(holds or [fact.text for fact in after])
    ended = {fact.text: fact.end for fact in known.by_id.values() if fact.end}
    assert ended.keys() == {fact.text for fact in before}
    assert all(end.at == after[0].at for end in ended.values() if end)


def test_what_ended_does_not_come_back_by_what_was_said_before_the_end() -> None:
    known = Facts()
    end = End(at=MONDAY + timedelta(days=9))  # by a sentence that is no fact itself
    known.add(stored_fact(id=uuid.UUID(int=1), text="I play tennis on Wednesdays.", sources=[], at=MONDAY, end=end))
    again, in_other_words, later = (
        ExtractedFact(text=text, sources=(uuid.uuid4(),), at=MONDAY + timedelta(days=days))
        for text, days in (("I play tennis on Wednesdays.", 2), ("I play tennis.", 3), ("I play tennis.", 10))
    )
    assert [(new.fact.text, new.end) for new in new_facts([again, in_other_words, later], known)] == [
        ("I play tennis.", end),
        ("I play tennis.", None),
    ]


@pytest.mark.parametrize("days", [5, 15])
def test_what_the_person_settled_by_hand_is_changed_only_by_what_is_said_later(days: int) -> None:
    known = Facts()
    settled_at = MONDAY + timedelta(days=9)
    own = stored_fact(id=uuid.UUID(int=1), text="I live in Porto.", sources=[], at=MONDAY, settled_at=settled_at)
    known.add(own)
    (new,) = new_facts([ExtractedFact(text="I live in Rome.", sources=(), at=MONDAY + timedelta(days=days))], known)
    expected = (End(at=new.fact.at, by=own.id), ()) if days == 5 else (None, (own.id,))
    assert (new.end, new.replaces) == expected

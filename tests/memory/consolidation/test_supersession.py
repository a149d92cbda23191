"""Which facts are new, and which they replace. Pure."""

import uuid
from datetime import timedelta

import pytest

from memory.consolidation.findings import ExtractedFact
from memory.consolidation.supersession import End, Facts, new_facts, stored_fact
from tests.memory.turns import MONDAY, id_of

OLD = uuid.UUID(int=900)


def fact(text: str, *, source: int = 1, days: int = 0) -> ExtractedFact:
    return ExtractedFact(text=text, sources=(id_of(source),), at=MONDAY + timedelta(days=days))


def facts(text: str, *, ended: bool = False, source: int = 50) -> Facts:
    kept = Facts()
    end = End(at=MONDAY + timedelta(hours=1)) if ended else None
    kept.add(stored_fact(id=OLD, text=text, sources=[id_of(source)], at=MONDAY, end=end))
    return kept


@pytest.mark.parametrize(
    ("kept", "said", "expected"),
    [
        ("I have a dog.", "I have a DOG!", "known"),
        ("I have two dogs.", "I have three dogs.", "new"),
        ("I like fish.", "I don't like fish.", "replaces"),
        ("I live in Hamburg.", "I moved to Berlin.", "replaces"),
        ("I live in Hamburg.", "I live in a small flat.", "new"),
        ("Ada: I live in Hamburg.", "Bob: I live in Berlin.", "new"),
        ("Ada: I live in Hamburg.", "Ada: I live in Berlin.", "replaces"),
        ("I work at Siemens.", "I no longer work at Siemens.", "replaces"),
        ("I work at Siemens.", "I no longer live in Rome.", "new"),
        ("My favourite colour is green.", "My favorite colour is blue.", "replaces"),
        ("My favourite colour is green.", "My favourite food is rice.", "new"),
        ("Ich wohne in Köln.", "Ich wohne in Bonn.", "replaces"),
        ("Mein Geburtstag ist im Mai.", "Mein Geburtstag ist im Juni.", "replaces"),
    ],
)
def test_a_fact_is_new_or_known_or_replaces_what_it_makes_untrue(kept: str, said: str, expected: str) -> None:
    new = new_facts([fact(said, days=1)], facts(kept))
    assert [one.replaces for one in new] == {"known": [], "new": [()], "replaces": [(OLD,)]}[expected]


def test_what_was_said_before_what_is_known_does_not_replace_it() -> None:
    kept = facts("I live in Hamburg.")
    (new,) = new_facts([fact("I live in Berlin.", days=-400)], kept)
    assert (new.replaces, new.end) == ((), End(at=MONDAY, by=OLD))


def test_the_last_of_several_holds() -> None:
    first, second = new_facts([fact("I live in Rome.", days=2), fact("I live in Bonn.", days=1)], Facts())
    assert [(one.fact.text, one.replaces) for one in (first, second)] == [
        ("I live in Bonn.", ()),
        ("I live in Rome.", (first.id,)),
    ]


@pytest.mark.parametrize(("source", "expected"), [(1, []), (50, ["I have a dog."])])
def test_what_ended_is_not_found_again_in_the_same_turn_but_may_be_said_again(source: int, expected: list[str]) -> None:
    kept = facts("I have a dog.", ended=True, source=1)
    assert [one.fact.text for one in new_facts([fact("I have a dog.", source=source, days=1)], kept)] == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The person has a dog, Rex Tiger, that is brown.", False),
        ("The person has a dog.", False),
        ("The person does not have a brown dog called Rex Tiger.", True),
        ("The person has a cat called Tom.", True),
    ],
)
def test_the_same_turn_in_other_words_tells_nothing_new(said: str, expected: bool) -> None:
    kept = facts("The person has a brown dog called Rex Tiger.", source=1)
    assert bool(new_facts([fact(said)], kept)) is expected

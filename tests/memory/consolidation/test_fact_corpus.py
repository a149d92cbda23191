"""Of the made talks of the benchmark ``notes``, turn by turn: the rules find enough, and little that is not so."""

from collections import Counter
from functools import cache

import pytest

from memory.consolidation.rule_extraction import extract
from tests.benchmarks.fact_corpus import HALVES, LANGUAGES, Statement, Wanted, persons
from tests.memory.turns import conversation

pytestmark = pytest.mark.wide


@cache
def counts() -> dict[tuple[str, str], Counter[str]]:
    by_group: dict[tuple[str, str], Counter[str]] = {(half, name): Counter() for half in HALVES for name in LANGUAGES}
    for talk in persons():
        for case in talk.cases:
            for statement in case.statements:
                if statement.role == "user":
                    by_group[talk.half, talk.language].update(outcomes(statement))
    return by_group


def outcomes(statement: Statement) -> list[str]:
    notes = [fact.text.casefold() for fact in extract(conversation(statement.text)).facts]
    if statement.wanted is Wanted.NOTHING:
        return ["wrong" for _ in notes]
    if statement.wanted is not Wanted.NOTE:
        return []
    return ["found" if any(value.casefold() in note for note in notes) else "missing" for value in statement.values]


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("half", HALVES)
def test_seven_in_ten_facts_are_found_and_one_in_twenty_notes_is_wrong_at_most(half: str, language: str) -> None:
    count = counts()[half, language]
    assert count["found"] >= 0.7 * (count["found"] + count["missing"]) > 30
    assert count["wrong"] <= 0.05 * (count["found"] + count["wrong"])


def test_the_talks_are_the_same_each_time() -> None:
    assert list(persons()) == list(persons())

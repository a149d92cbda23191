"""What ends what in people's own words, and what doesn't: ``wordings.toml``, heard of in the order of saying and against it."""

import tomllib
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.consolidation.findings import Findings
from memory.consolidation.rule_extraction import extract
from memory.consolidation.supersession import Facts, StoredFact, new_facts, said_again, taken_back
from tests.memory.turns import MONDAY, conversation

WORDINGS: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text("utf-8"))


def found_in(texts: Sequence[str]) -> list[Findings]:
    """A month apart, each in a turn of its own; the id of a turn tells which."""
    talks = [conversation(text, began=MONDAY + timedelta(days=30 * number)) for number, text in enumerate(texts)]
    return [extract([replace(turn, id=uuid.UUID(int=n)) for turn in turns]) for n, turns in enumerate(talks)]


def held_after(heard: Sequence[Findings]) -> list[StoredFact]:
    known = Facts()
    for findings in heard:
        said_again(findings.facts, known)
        new_facts(findings.facts, known)
        list(taken_back(findings.retracted, known))
    return [fact for fact in known.by_id.values() if not fact.end]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("language", WORDINGS)
def test_what_is_said_later_ends_what_it_makes_untrue_and_nothing_else(language: str, *, in_order: bool) -> None:
    wrong = []
    for case in WORDINGS[language]:
        found = found_in(case["said"])
        facts = held_after(found if in_order else found[::-1])
        held = [fact.text.casefold() for fact in facts]
        first = [fact.text.casefold() for fact in facts if uuid.UUID(int=0) in fact.sources]
        lacking = [word for word in case["holds"] if not any(word in text for text in held)]
        left = [word for word in case["ended"] if any(word in text for text in first)]
        wrong += [(case["said"], held)] if lacking or left else []
    assert wrong == []

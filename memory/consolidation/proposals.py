"""Whether what a small model proposes may stand in the place of what the rules wrote: told by the texts alone. Pure."""

import re
from collections.abc import Sequence
from enum import StrEnum

from memory.consolidation.findings import Findings, SourceTurn
from memory.language import cue_phrases
from memory.language.readability import faults_of
from memory.language.words import language_of

WORD = re.compile(r"\w+")
NAME = re.compile(r"(?<![.!?…:\"“„«]\s)(?<!^)(?<!\n)(?<=\s)[^\W\d_a-zß-ÿа-яё][\w'’-]+|\d+", re.MULTILINE)
PROPOSAL_SECONDS = 110.0
"""That a model on this machine has, which nobody waits for."""
LEAST_ALIKE = 4
"""Letters at the beginning of two forms of one name."""
LEAST_OF_A_LANGUAGE = 5
"""Words by which the language of a text is told."""


class Refusal(StrEnum):
    """Why a proposal doesn't stand. None holds a word of it."""

    EMPTY = "It says nothing."
    UNREADABLE = "It doesn't read as a sentence."
    LANGUAGE = "It is in another language than what was said."
    INVENTED = "It names what was not said."
    LESS = "It keeps fewer names and numbers than the rules do."


def refusal_of_title(title: str, source: str, by_rules: str) -> Refusal | None:
    return _refusal([title], source, by_rules, is_title=True)


def refusal_of_findings(proposed: Findings, by_rules: Findings, turns: Sequence[SourceTurn]) -> Refusal | None:
    """Of all that a model found in a part, by what the rules find in it."""
    return _refusal(_texts(proposed), "\n".join(turn.text for turn in turns), "\n".join(_texts(by_rules)))


def _texts(findings: Findings) -> list[str]:
    facts, topics = (fact.text for fact in findings.facts), (topic.title for topic in findings.opened)
    return [text for text in (*findings.summary.splitlines(), *findings.moments, *facts, *topics) if text.strip()]


def _refusal(proposed: Sequence[str], source: str, by_rules: str, *, is_title: bool = False) -> Refusal | None:
    text = "\n".join(proposed)
    if not text.strip() or cue_phrases.EMPTY.fullmatch(text):
        return Refusal.EMPTY
    if any(faults_of(each, is_title=is_title) for each in proposed):
        return Refusal.UNREADABLE
    if len(WORD.findall(text)) >= LEAST_OF_A_LANGUAGE and language_of(text) != language_of(source):
        return Refusal.LANGUAGE
    said = {word.casefold() for word in WORD.findall(source)}
    names = names_in(text)
    if not all(_is_said(name, said) for name in names):
        return Refusal.INVENTED
    kept = {name for name in names_in(by_rules) if _is_said(name, said)}
    return Refusal.LESS if len(names) < len(kept) else None


def names_in(text: str) -> set[str]:
    """Numbers, and words with a capital that begin no sentence."""
    return {word.casefold() for found in NAME.findall(text) for word in WORD.findall(found)}


def _is_said(name: str, said: set[str]) -> bool:
    """In this form or another: "Лиссабоне" where "Лиссабон" was said."""
    least = max(LEAST_ALIKE, len(name) - 2)
    return name in said or (
        not name.isdigit() and len(name) >= LEAST_ALIKE and any(word[:least] == name[:least] for word in said)
    )

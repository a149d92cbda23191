"""What the context of a case must hold, as staff write it, and whether a context does. Pure."""

import uuid
from collections.abc import Mapping

from conversations.moderation.patterns import InvalidPattern, compiled
from conversations.regression.outcomes import Held
from conversations.runtime.values import dataclass

EVIDENCE, CONTAINS, PATTERNS = "evidence", "contains", "patterns"
SCORERS = (EVIDENCE, CONTAINS, PATTERNS)
FORMS = {"turn": 1, "memory": 1, "part": 2}
"""Kinds of evidence by the number of words after them."""


class InvalidExpectation(ValueError):
    """A line that says nothing that can be looked for; its words say why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    kind: str
    id: str
    number: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What a context holds. ``turns`` are positions in the thread by the ids of the turns that the evidence names."""

    held: Held
    text: str
    turns: Mapping[str, int]


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def evidence_of(text: str) -> list[Evidence]:
    """Raises ``InvalidExpectation``."""
    return [_evidence(line) for line in lines_of(text)]


def check(evidence: str, patterns: str) -> None:
    """Raises ``InvalidExpectation`` and ``InvalidPattern``."""
    evidence_of(evidence)
    compiled(patterns)


def scores(expected: Mapping[str, str], given: Given) -> dict[str, bool]:
    """By the scorer, of those that the case has something for: whether all of it is there. Letters count alike, large or
    small."""
    text = given.text.casefold()
    results: dict[str, bool] = {}
    if wanted := evidence_of(expected[EVIDENCE]):
        results[EVIDENCE] = all(_is_held(each, given) for each in wanted)
    if texts := lines_of(expected[CONTAINS]):
        results[CONTAINS] = all(each.casefold() in text for each in texts)
    if patterns := compiled(expected[PATTERNS]):
        results[PATTERNS] = all(expression.search(given.text) for _, expression in patterns)
    return results


def _evidence(line: str) -> Evidence:
    kind, *words = line.split()
    try:
        if FORMS.get(kind) != len(words):
            raise ValueError
        number = int(words[1]) if kind == "part" else 0
        return Evidence(kind=kind, id=str(uuid.UUID(words[0])), number=number)
    except ValueError:
        raise InvalidExpectation(f"“{line}”: write turn ID, memory ID, or part FILE NUMBER.") from None


def _is_held(wanted: Evidence, given: Given) -> bool:
    held = given.held
    match wanted.kind:
        case "turn":
            return str(given.turns.get(wanted.id, wanted.id)) in held.turns
        case "memory":
            return any(each.rpartition(" ")[2] == wanted.id for each in held.memories)
        case _:
            return f"{wanted.id} {wanted.number}" in held.parts


__all__ = ["InvalidExpectation", "InvalidPattern", "check", "evidence_of", "scores"]

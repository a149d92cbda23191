"""Whose fact is it: what the rules note of what others said, of what is not so and of what is true, in five languages.

It prints what went wrong of the cases to develop rules with, never of those that are kept aside.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.consolidation.rule_extraction import extract
from tests.memory.turns import conversation

FOLDER = Path(__file__).parent / "whose"
LANGUAGES = ("en", "de", "fr", "es", "ru")
GROUPS = ("develop", "aside")
FACTS, NEGATIONS = "facts", "negations"
KINDS = (
    *("quotations", "irony", "third", NEGATIONS, "conditions", "plans"),
    *("play", "dictation", "translations", "material", FACTS),
)
VALUE = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    language: str
    group: str
    kind: str
    text: str
    values: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        return [fact.text for fact in extract(conversation(self.text)).facts]

    @property
    def is_right(self) -> bool:
        """Whether a note of a fact holds its value; whether one of a negation denies as it does; whether there is none."""
        notes = [note.casefold() for note in self.notes]
        held = [all(value in note for value in self.values) for note in notes]
        if self.kind == FACTS:
            return any(held)
        return all(held) if self.kind == NEGATIONS else not notes


def cases() -> Iterator[Case]:
    for language in LANGUAGES:
        wordings: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / f"{language}.toml").read_text())
        for group in GROUPS:
            for kind in KINDS:
                for text in wordings[group][kind]:
                    yield Case(
                        language=language,
                        group=group,
                        kind=kind,
                        text=VALUE.sub(r"\1", text),
                        values=tuple(value.casefold() for value in VALUE.findall(text)),
                    )


def main() -> None:
    every = list(cases())
    print(f"\n== whose fact is it, right of {len(every)} cases (97 % wanted): to develop with, kept aside")
    for kind in KINDS:
        print_shares(kind, [case for case in every if case.kind == kind])
    print_shares("all but facts", [case for case in every if case.kind != FACTS])
    for language in LANGUAGES:
        print_shares(f"all, {language}", [case for case in every if case.language == language])
    for case in every:
        if case.group == "develop" and not case.is_right:
            print(f"  {case.language} {case.kind:<12} {case.text} → {case.notes}")


def print_shares(name: str, some: Sequence[Case]) -> None:
    halves = [[case.is_right for case in some if case.group == group] for group in GROUPS]
    print(f"  {name:<20}" + "".join(f"{100 * sum(right) / len(right):6.0f} % of {len(right):<4}" for right in halves))

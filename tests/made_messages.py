"""Made messages, and whose facts they tell: ``learn-….txt`` to learn from, ``aside-….txt`` to measure by.

A line is a kind and a message; what a right note must hold stands in brackets. No weight and no rule is made by a look at
what is kept aside.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "benchmarks" / "whose"
LANGUAGES = ("en", "de", "fr", "es", "ru")
LEARN, ASIDE = "learn", "aside"
FACTS, NEGATIONS = "facts", "negations"
KINDS = (
    *("quotations", "irony", "third", NEGATIONS, "conditions", "plans", "questions", "passing"),
    *("play", "dictation", "translations", "material", FACTS),
)
VALUE = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeMessage:
    language: str
    kind: str
    text: str
    values: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """Whether it says something of who writes: what is so, or what is not."""
        return self.kind in {FACTS, NEGATIONS}


def messages(group: str) -> Iterator[MadeMessage]:
    for language in LANGUAGES:
        for line in (FOLDER / f"{group}-{language}.txt").read_text(encoding="utf-8").splitlines():
            kind, _, text = line.partition(" | ")
            yield MadeMessage(
                language=language,
                kind=kind,
                text=VALUE.sub(r"\1", text).replace("\\n", "\n"),
                values=tuple(value.casefold() for value in VALUE.findall(text)),
            )

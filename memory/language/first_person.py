"""How a person states in the first person what lasts, in six languages: ``first_person.toml`` tells it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conversations.runtime.word_tables import pattern, read_tables
from memory.language import cue_phrases
from memory.language.words import SMALL

TABLES = read_tables(__file__)
NOTHING = "(?!)"
LATIN_NAMES = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
AND = "and|so|but|und|also|aber|et|donc|mais|y|pero|и|а|но"


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstPerson:
    """Of one language: what shows that a sentence may tell of the person, what asks, what passes, what states."""

    who: re.Pattern[str]
    asks: re.Pattern[str]
    asks_inside: re.Pattern[str]
    asks_anywhere: re.Pattern[str]
    passing: re.Pattern[str]
    technical: re.Pattern[str]
    planned: re.Pattern[str]
    unplanned: re.Pattern[str]
    leaning: re.Pattern[str]
    ending: re.Pattern[str]
    others: re.Pattern[str]
    done: re.Pattern[str]
    facts: tuple[re.Pattern[str], ...]
    undertakes: re.Pattern[str]


def _language(table: dict[str, Any]) -> FirstPerson:
    parts = cue_phrases.TABLES["patterns"] | {
        name: f"(?:{text.strip()})" for name, text in table.items() if name.isupper()
    }

    def cue(name: str) -> re.Pattern[str]:
        return pattern(table.get(name, NOTHING), parts)

    return FirstPerson(
        who=cue("who"),
        asks=pattern(rf"\W*(?:(?:{AND})\s+)?(?:{table.get('asks', NOTHING)})", parts),
        asks_inside=pattern(rf"(?<=\w)\s(?=(?:{table.get('asks_inside', NOTHING)}))", parts),
        asks_anywhere=cue("asks_anywhere"),
        passing=cue("passing"),
        technical=cue("technical"),
        planned=cue("planned"),
        unplanned=cue("unplanned"),
        leaning=cue("leaning"),
        ending=cue("ending"),
        others=cue("others"),
        done=cue("done"),
        facts=tuple(pattern(text, parts) for text in table["facts"]),
        undertakes=pattern("|".join(table["opened"]), parts),
    )


JOKING, SUPPOSED = (pattern(TABLES["shared"][name]) for name in ("joking", "supposed"))
LATIN = {name: _language(TABLES[table]) for table, name in LATIN_NAMES.items()}
RUSSIAN, CHINESE = _language(TABLES["ru"]), _language(TABLES["zh"])
LETTERS = re.compile(r"[^\W\d_]+")
CYRILLIC, HAN = re.compile("[\u0400-\u04ff]"), re.compile("[\u3400-\u9fff]")


@lru_cache(maxsize=4_096)
def written_in(text: str) -> tuple[FirstPerson, ...]:
    """The languages that it may be in: by its letters, then by whose small words are the most."""
    if HAN.search(text):
        return (CHINESE,)
    if CYRILLIC.search(text):
        return (RUSSIAN,)
    words = LETTERS.findall(text.casefold())
    counts = {name: sum(map(SMALL[name].__contains__, words)) for name in LATIN}
    least = max(counts.values()) - (0 if text.isascii() else 2)
    return tuple(LATIN[name] for name, count in counts.items() if count >= least)


def speaking(text: str) -> Iterator[FirstPerson]:
    """Those in which it may tell of the person."""
    return (language for language in written_in(text) if language.who.search(text))

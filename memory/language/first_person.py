"""How a person states in the first person what lasts, in six languages: ``first_person.toml`` tells it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conversations.runtime.word_tables import pattern_for_later, read_tables
from memory.language import cue_phrases
from memory.language.words import small_word_counts

TABLES = read_tables(__file__)
NOTHING = "(?!)"
LEAD = "{LEAD}"
BAR_OR_GROUP = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\Z)|[(|)]")
LATIN_NAMES = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
AND = "and|so|but|und|also|aber|et|donc|mais|y|pero|и|а|но"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cues:
    """Patterns for the beginning of a text, tried once, and those for anywhere in it."""

    at_beginning: re.Pattern[str]
    anywhere: re.Pattern[str]

    def starts(self, text: str) -> Iterator[int]:
        """Where what they tell of begins."""
        if self.at_beginning.match(text):
            yield 0
        yield from (match.start() for match in self.anywhere.finditer(text))


@dataclass(frozen=True, kw_only=True, slots=True)
class Elision:
    """What may follow a statement of the person without saying anew who is meant, and the ``subject`` that it has then."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    subject: str


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
    facts: Cues
    undertakings: Cues
    elided: tuple[Elision, ...]


def _cues(texts: Iterable[str], parts: Mapping[str, str]) -> Cues:
    """An alternative that is bound to the beginning need not be tried at each place."""
    alternatives = [each for text in texts for each in _alternatives(text.replace("\n", ""))]
    after_lead = [each.removeprefix(LEAD) for each in alternatives if each.startswith(LEAD)]
    bound = [each.removeprefix("^") for each in alternatives if each.startswith("^")]
    free = [each for each in alternatives if not each.startswith((LEAD, "^"))]
    return Cues(
        at_beginning=pattern_for_later(rf"\A(?:{'|'.join([f'{LEAD}(?:{"|".join(after_lead)})', *bound])})", parts),
        anywhere=pattern_for_later("|".join(free) or NOTHING, parts),
    )


def _alternatives(text: str) -> Iterator[str]:
    """The parts of a regular expression between the bars that stand in no group."""
    depth = start = 0
    for match in BAR_OR_GROUP.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "|" and not depth:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _language(table: dict[str, Any]) -> FirstPerson:
    parts = cue_phrases.TABLES["patterns"] | {
        name: f"(?:{text.strip()})" for name, text in table.items() if name.isupper()
    }

    def cue(name: str) -> re.Pattern[str]:
        return pattern_for_later(table.get(name, NOTHING), parts)

    return FirstPerson(
        who=cue("who"),
        asks=pattern_for_later(rf"\A\W*(?:(?:{AND})\s+)?(?:{table.get('asks', NOTHING)})", parts),
        asks_inside=pattern_for_later(rf"(?<=\w)\s(?=(?:{table.get('asks_inside', NOTHING)}))", parts),
        asks_anywhere=cue("asks_anywhere"),
        passing=cue("passing"),
        technical=cue("technical"),
        planned=cue("planned"),
        unplanned=cue("unplanned"),
        leaning=cue("leaning"),
        ending=cue("ending"),
        others=cue("others"),
        done=cue("done"),
        facts=_cues(table["facts"], parts),
        undertakings=_cues(table["opened"], parts),
        elided=tuple(
            Elision(before=pattern_for_later(before), after=pattern_for_later(after), subject=subject)
            for before, after, subject in table["elided"]
        ),
    )


JOKING, SUPPOSED = (pattern_for_later(TABLES["shared"][name], TABLES["shared"]) for name in ("joking", "supposed"))
LATIN = {name: _language(TABLES[table]) for table, name in LATIN_NAMES.items()}
ROMANCE = {LATIN["french"], LATIN["spanish"]}
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
    counts = small_word_counts(LETTERS.findall(text.casefold()), LATIN)
    least = max(counts.values()) - (0 if text.isascii() else 2)
    return tuple(LATIN[name] for name, count in counts.items() if count >= least)


def speaking(text: str) -> Iterator[FirstPerson]:
    """Those in which it may tell of the person."""
    return (language for language in written_in(text) if language.who.search(text))

"""What notes that are given to requests are worth: those that bear on nothing, that say the same, that contradict one another.

The notes are looked at in this process, each for itself; what is found holds their ids alone.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import batched, combinations
from typing import Any

from django.db.backends.postgresql.psycopg_any import Jsonb

from conversations.linter.figures import MOST_IDS, Row
from conversations.runtime.db import run
from conversations.runtime.values import dataclass
from memory.consolidation.comparison import SIMILAR, Key, key_of, slots_of
from memory.language.words import index_stems, term

MOST_IDLE = 2_000
"""Notes that are asked for in the index; those that took the most."""
AT_ONCE = 200
COMMON_WORD = 30
"""A word of so many notes of a person tells nothing about which of them are alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A note as it was given to the requests of its person to one assistant and model."""

    assistant: int
    provider: str
    model: str
    user: int
    id: str
    text: str
    place: str
    created_at: datetime
    count: int
    tokens: int
    example: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What a text says, as far as notes are compared by it."""

    key: Key
    slots: frozenset[tuple[str, str, str]]


type Meanings = Mapping[str, Meaning]
"""By the text of a note."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """``lesser`` is the note of the two that took less."""

    lesser: Note
    other: Note


def read_notes(statement: str, most: int) -> list[Note]:
    return [
        Note(
            assistant=assistant,
            provider=provider,
            model=model,
            user=user,
            id=str(id),
            text=text,
            place=place,
            created_at=created_at,
            count=round(count),
            tokens=round(tokens),
            example=example,
        )
        for assistant, provider, model, user, id, text, place, created_at, count, tokens, example in run(
            statement, most_notes=most
        )
    ]


def idle(notes: Sequence[Note], statement: str, least: int) -> list[Row]:
    """Notes that at least so many requests held, of whose words none was said after the day on which they were made."""
    often = [note for note in notes if note.count >= least][:MOST_IDLE]
    found = [note for batch in batched(often, AT_ONCE) for note in _unsaid(batch, statement)]
    return _rows((note, [note.id]) for note in found)


def _unsaid(notes: Sequence[Note], statement: str) -> list[Note]:
    asked = [
        {
            "place": place,
            "user_id": note.user,
            "day": note.created_at.date().isoformat(),
            "terms": [term(note.user, word) for word in dict.fromkeys(_words(note.text))],
        }
        for place, note in enumerate(notes)
    ]
    return [notes[place] for (place,) in run(statement, notes=Jsonb(asked))]


def _words(text: str) -> list[str]:
    words, others = index_stems(text)
    return [*words, *others]


def meanings_of(notes: Iterable[Note]) -> Meanings:
    """Each text is taken apart once, which takes a millisecond."""
    texts = {note.text for note in notes}
    return {text: Meaning(key=key_of(text), slots=slots_of(text)) for text in texts}


def similar(notes: Iterable[Note], meanings: Meanings) -> list[Row]:
    return _pairs_as_rows(pair for same in _by_person(notes) for pair in similar_pairs(same, meanings))


def contradicting(notes: Iterable[Note], meanings: Meanings) -> list[Row]:
    return _pairs_as_rows(pair for same in _by_person(notes) for pair in contradicting_pairs(same, meanings))


def similar_pairs(notes: Sequence[Note], meanings: Meanings) -> Iterator[Pair]:
    """Notes of one person that have nearly all their words that count in common, and both deny or both don't. Pure."""
    keys = [meanings[note.text].key for note in notes]
    for one, other in _sharing_words(keys):
        if _is_similar(keys[one], keys[other]):
            yield _pair(notes[one], notes[other])


def _is_similar(one: Key, other: Key) -> bool:
    (words, denies), (others, other_denies) = one, other
    return denies == other_denies and len(words & others) >= SIMILAR * len(words | others)


def contradicting_pairs(notes: Sequence[Note], meanings: Meanings) -> Iterator[Pair]:
    """Notes of one person and place that tell two values of what a person has one of, or of which one denies the other.
    Pure."""
    keys = [meanings[note.text].key for note in notes]
    together: dict[Hashable, list[int]] = defaultdict(list)
    for number, note in enumerate(notes):
        words, _ = keys[number]
        for slot in meanings[note.text].slots:
            together[note.place, slot].append(number)
        if words:
            together[note.place, words].append(number)
    pairs = {
        pair
        for alike in together.values()
        for pair in combinations(alike, 2)
        if keys[pair[0]] != keys[pair[1]]  # in one slot, or the same words of which one denies
    }
    for one, other in sorted(pairs):
        yield _pair(notes[one], notes[other])


def _sharing_words(keys: Sequence[Key]) -> list[tuple[int, int]]:
    """The places of each two that share a word that is not in many of them."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for place, (words, _) in enumerate(keys):
        for word in words:
            by_word[word].append(place)
    pairs = {pair for places in by_word.values() if len(places) <= COMMON_WORD for pair in combinations(places, 2)}
    return sorted(pairs)


def _pair(one: Note, other: Note) -> Pair:
    lesser, more = sorted((one, other), key=lambda note: (note.tokens, note.id))
    return Pair(lesser=lesser, other=more)


def _by_person(notes: Iterable[Note]) -> list[list[Note]]:
    """Those that stood in the same requests."""
    together: dict[tuple[Any, ...], list[Note]] = defaultdict(list)
    for note in notes:
        together[note.assistant, note.provider, note.model, note.user].append(note)
    return [*together.values()]


def _pairs_as_rows(pairs: Iterable[Pair]) -> list[Row]:
    return _rows((pair.lesser, [pair.lesser.id, pair.other.id]) for pair in pairs)


def _rows(found: Iterable[tuple[Note, list[str]]]) -> list[Row]:
    """One for each assistant and model, with the ids of some of the notes."""
    together: dict[tuple[int, str, str], list[tuple[Note, list[str]]]] = defaultdict(list)
    for note, ids in found:
        together[note.assistant, note.provider, note.model].append((note, ids))
    return [
        Row(
            assistant=assistant,
            provider=provider,
            model=model,
            subject="",
            count=sum(note.count for note, _ in same),
            tokens=sum(note.tokens for note, _ in same),
            example=max(note.example for note, _ in same),
            details={"memories": list(dict.fromkeys(id for _, ids in same for id in ids))[:MOST_IDS]},
        )
        for (assistant, provider, model), same in together.items()
    ]

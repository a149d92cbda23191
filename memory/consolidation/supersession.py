"""Which facts are new, and which they replace, by their words. Pure.

Two facts are the same if they have the same words that count and both deny or both don't. Of some things a person has one at a
time – a home, a name –: what is said later replaces what was said before.
"""

import heapq
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.consolidation.endings import ENOUGH, names, naming
from memory.consolidation.findings import ExtractedFact, Retraction
from memory.consolidation.sentences import LONGEST_SENTENCE
from memory.language import cue_phrases, first_person
from memory.language.words import SMALL_ANYWHERE, speaker, stems

SIMILAR = 0.8
"""Of two facts from the same turn: so much in common makes them one, told in other words."""

type Key = tuple[frozenset[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFact:
    """A fact that is kept. ``at`` is since when it holds, ``ended`` whether it holds no longer."""

    id: uuid.UUID
    text: str
    sources: frozenset[uuid.UUID]
    at: datetime
    ended: bool
    key: Key
    slot: str


@dataclass(frozen=True, kw_only=True, slots=True)
class New:
    """A fact to be kept, what it ends, and what it was ended by before it was heard of."""

    id: uuid.UUID
    fact: ExtractedFact
    replaces: tuple[uuid.UUID, ...] = ()
    replaced_by: StoredFact | None = None


@dataclass(kw_only=True)
class Facts:
    """All that is known of a person, by what facts are compared by."""

    by_id: dict[uuid.UUID, StoredFact] = field(default_factory=dict)
    by_key: dict[Key, list[StoredFact]] = field(default_factory=lambda: defaultdict(list))
    by_slot: dict[str, list[StoredFact]] = field(default_factory=lambda: defaultdict(list))
    by_source: dict[uuid.UUID, list[StoredFact]] = field(default_factory=lambda: defaultdict(list))
    by_beginning: dict[str, list[StoredFact]] = field(default_factory=lambda: defaultdict(list))

    def add(self, fact: StoredFact) -> None:
        self.by_id[fact.id] = fact
        self.by_key[fact.key].append(fact)
        self.by_slot[fact.slot].append(fact)
        self.by_beginning[beginning_of(fact.text)].append(fact)
        for source in fact.sources:
            self.by_source[source].append(fact)

    def end(self, ids: Iterable[uuid.UUID]) -> None:
        for id in ids:
            if id in self.by_id:
                self.by_id[id] = replace(self.by_id[id], ended=True)

    def bearing_on(self, text: str, most: int) -> list[StoredFact]:
        """Those that hold, the ones first that share the most words with a text, else the newest."""
        words = frozenset(stems(text))
        current = (fact for fact in self.by_id.values() if not fact.ended)
        return heapq.nlargest(most, current, key=lambda fact: (len(fact.key[0] & words), fact.at))

    def remove(self, ids: Iterable[uuid.UUID]) -> None:
        """As if they had never been known."""
        for id in ids:
            if gone := self.by_id.pop(id, None):
                for facts in (
                    self.by_key[gone.key],
                    self.by_slot[gone.slot],
                    self.by_beginning[beginning_of(gone.text)],
                    *map(self.by_source.__getitem__, gone.sources),
                ):
                    facts[:] = [fact for fact in facts if fact.id != id]

    def is_current(self, fact: StoredFact) -> bool:
        return not self.by_id[fact.id].ended

    def holds(self, fact: ExtractedFact) -> bool:
        """Whether the fact is there already, or was there, found in the same turn, and has ended since."""
        key = key_of(fact.text)
        same = self.by_key.get(key, [])
        if any(refines(other.text, fact.text) for other in self.beginning_like(fact.text)):
            return True
        if first_person.HAN.search(fact.text) and self._tells_as_much(fact.text):
            return True
        near = {other.id: other for source in fact.sources for other in self.by_source.get(source, [])}.values()
        return any(map(self.is_current, same)) or any(retold(key, other.key) for other in near)

    def _tells_as_much(self, text: str) -> bool:
        """Whether some fact has all the words of a text that is written without spaces, where forms don't differ."""
        wanted, denies = frozenset(names(text)), bool(cue_phrases.NEGATED.search(text))
        current = (other for other in self.by_id.values() if not other.ended and other.key[1] == denies)
        return len(wanted) > 1 and any(wanted <= frozenset(names(other.text)) for other in current)

    def current(self, ids: Iterable[uuid.UUID]) -> Iterator[StoredFact]:
        return (fact for id in ids if (fact := self.by_id.get(id)) and not fact.ended)

    def in_slot(self, slot: str) -> list[StoredFact]:
        return [fact for fact in self.by_slot.get(slot, []) if self.is_current(fact)] if slot else []

    def refined_by(self, fact: ExtractedFact) -> list[StoredFact]:
        return [other for other in self.beginning_like(fact.text) if refines(fact.text, other.text)]

    def beginning_like(self, text: str) -> list[StoredFact]:
        return [fact for fact in self.by_beginning[beginning_of(text)] if self.is_current(fact)]

    def callings_left(self, fact: ExtractedFact) -> list[StoredFact]:
        """What the person was, where the fact tells another job, and that it is so now."""
        slot = slot_of(fact.text)
        is_change = slot.endswith("job") and cue_phrases.CHANGED.search(fact.text)
        return self.in_slot(f"{slot.removesuffix('job')}calling") if is_change else []

    def denied_by(self, fact: ExtractedFact) -> list[StoredFact]:
        """What held until the fact says that it does no longer."""
        if not cue_phrases.ENDS.search(fact.text.replace("’", "'")):
            return []
        words, _ = key_of(fact.text)
        return [
            other
            for other in self.by_id.values()
            if not other.ended and not other.key[1] and other.key[0] and other.key[0] <= words
        ]


def stored_fact(
    *, id: uuid.UUID, text: str, sources: Iterable[uuid.UUID], at: datetime, ended: bool = False
) -> StoredFact:
    return StoredFact(
        id=id, text=text, sources=frozenset(sources), at=at, ended=ended, key=key_of(text), slot=slot_of(text)
    )


def new_facts(extracted: Sequence[ExtractedFact], facts: Facts) -> list[New]:
    """What of the extracted is not known yet, in the order in which it was said. Takes note of it in ``facts``."""
    new: list[New] = []
    for fact in sorted(extracted, key=lambda fact: fact.at):
        if facts.holds(fact):
            continue
        touched = [
            *facts.current(fact.replaces),
            *facts.in_slot(slot_of(fact.text)),
            *facts.callings_left(fact),
            *facts.denied_by(fact),
            *facts.refined_by(fact),
        ]
        others = {other.id: other for other in touched}.values()
        later = max((other for other in others if other.at > fact.at), key=lambda other: other.at, default=None)
        earlier = tuple(other.id for other in others if other.at <= fact.at)
        new.append(_noted(New(id=uuid.uuid4(), fact=fact, replaces=earlier, replaced_by=later), facts))
    return new


def said_again(extracted: Iterable[ExtractedFact], facts: Facts) -> dict[uuid.UUID, tuple[uuid.UUID, ...]]:
    """Facts that hold and are told in the same words once more: the turns that do, by fact."""
    return {
        known.id: fact.sources
        for fact in extracted
        for known in facts.by_key.get(key_of(fact.text), [])
        if facts.is_current(known)
    }


def taken_back(retracted: Iterable[Retraction], facts: Facts) -> Iterator[tuple[StoredFact, datetime]]:
    """What sentences say to be no longer so: the fact that each names best, and since when. Takes note of it in ``facts``."""
    for retraction in retracted:
        before = [
            fact
            for fact in facts.by_id.values()
            if not fact.ended and fact.at <= retraction.at and retraction.source not in fact.sources
        ]
        scores = [(naming(retraction.text, fact.text), fact.at, fact.id) for fact in before]
        score, _, id = max(scores, default=(0.0, retraction.at, retraction.source))
        if score >= ENOUGH:
            yield facts.by_id[id], retraction.at
            facts.end([id])


def facts_alone(extracted: Sequence[ExtractedFact], facts: Facts) -> list[New]:
    """What of the extracted is not known yet, and replaces nothing. Takes note of it in ``facts``."""
    return [_noted(New(id=uuid.uuid4(), fact=fact), facts) for fact in extracted if not facts.holds(fact)]


def _noted(new: New, facts: Facts) -> New:
    fact, ended = new.fact, new.replaced_by is not None
    facts.add(stored_fact(id=new.id, text=fact.text, sources=fact.sources, at=fact.at, ended=ended))
    facts.end(new.replaces)
    return new


def key_of(text: str) -> Key:
    """The words of a fact that count, and whether it denies. How a name is told does not count."""
    text = text[:LONGEST_SENTENCE]
    words = frozenset(stems(cue_phrases.HAN_NAMING.sub("", text)))
    return words - cue_phrases.NAMING or words, bool(cue_phrases.NEGATED.search(text.replace("’", "'")))


def slot_of(text: str) -> str:
    """What a person has one of, if the text tells it: "home", "favourite colour". With whom a transcript names."""
    name, body = speaker(text[:LONGEST_SENTENCE])
    body = body.replace("’", "'")
    for slot, pattern in cue_phrases.SLOTS.items():
        if match := pattern.search(body):
            value = next((part for part in match.groupdict().values() if part), "")
            return " ".join(filter(None, (name, slot, value.casefold())))
    return ""


def retold(key: Key, known: Key) -> bool:
    """Whether it says the same as what is known, or less, in other words. To be asked of what rests on the same turn."""
    (words, denies), (others, other_denies) = key, known
    if denies != other_denies or not (words and others):
        return False
    return words <= others or len(words & others) / len(words | others) >= SIMILAR


def refines(text: str, other: str) -> bool:
    """Whether it is the other statement and goes on: "I play the cello in an orchestra"."""
    beginning = other.casefold().rstrip(".!。 ")
    rest = text.casefold().removeprefix(beginning)
    if not beginning or rest == text.casefold() or not (word := re.match(r"[\s,，]+(\w+)", rest)):
        return False
    return rest[0] in ",，" or word[1] in SMALL_ANYWHERE


def beginning_of(text: str) -> str:
    """Under which a text and what goes on where it ends are kept together."""
    return " ".join(text.casefold().split()[:2]).rstrip(".!。,")

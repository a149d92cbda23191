"""Which facts are new, and from when to when each holds, by their words and the time when they were said. Pure.

Two facts are the same if they have the same words that count and both deny or both don't. A fact ends when a later one says
so: that it ended, its opposite, or another of what a person has one of at a time – a home, a name. What counts is the order
in which they were said, not that in which they are heard of: a fact that is heard of late begins where it was said, and ends
where the next one begins that ends it. What a person decided by hand is not undone by what was said before.
"""

import heapq
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory.consolidation.comparison import Statement, beginning_of, ends, key_of, refines, retold, statement_of
from memory.consolidation.endings import ENOUGH, names, naming
from memory.consolidation.findings import ExtractedFact, Retraction
from memory.language import cue_phrases, first_person
from memory.language.words import stems


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """When a fact ended, and by which: none where it was only said that it ended."""

    at: datetime
    by: uuid.UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFact:
    """A fact that is kept. It holds from ``at`` until its ``end``, and was said last at ``said_at``; ``settled_at`` is when the
    person last decided by hand whether it holds."""

    id: uuid.UUID
    sources: frozenset[uuid.UUID]
    at: datetime
    said_at: datetime
    end: End | None
    settled_at: datetime | None
    statement: Statement

    @property
    def text(self) -> str:
        return self.statement.text

    @property
    def never_held(self) -> bool:
        """It ended as it began: what it says was not so, or not any more when it was said."""
        return self.end is not None and self.end.at <= self.at

    def holds_at(self, at: datetime) -> bool:
        return self.at <= at and (self.end is None or at < self.end.at)

    def is_confirmed_after(self, at: datetime) -> bool:
        """Whether it was said again, or decided by hand, after what was said then."""
        return max(self.said_at, self.settled_at or self.said_at) > at


@dataclass(frozen=True, kw_only=True, slots=True)
class New:
    """A fact to be kept, the facts that it ends, and its own end where what ends it was heard of before."""

    id: uuid.UUID
    fact: ExtractedFact
    replaces: tuple[uuid.UUID, ...] = ()
    end: End | None = None


@dataclass(kw_only=True)
class Facts:
    """All that is known of a person, what ended as well, by what facts are compared by."""

    by_id: dict[uuid.UUID, StoredFact] = field(default_factory=dict)
    _ids: dict[object, set[uuid.UUID]] = field(default_factory=lambda: defaultdict(set))

    def add(self, fact: StoredFact) -> None:
        self.by_id[fact.id] = fact
        for mark in _marks(fact):
            self._ids[mark].add(fact.id)

    def change(self, id: uuid.UUID, **values: Any) -> None:
        """Its times, by which no fact is looked for."""
        if id in self.by_id:
            self.by_id[id] = replace(self.by_id[id], **values)

    def remove(self, ids: Iterable[uuid.UUID]) -> None:
        """As if they had never been known."""
        for id in ids:
            if gone := self.by_id.pop(id, None):
                for mark in _marks(gone):
                    self._ids[mark].discard(id)

    def bearing_on(self, text: str, most: int) -> list[StoredFact]:
        """Those that hold, the ones first that share the most words with a text, else the newest."""
        words = frozenset(stems(text))
        current = (fact for fact in self.by_id.values() if not fact.end)
        return heapq.nlargest(most, current, key=lambda fact: (len(fact.statement.key[0] & words), fact.at))

    def knows(self, fact: ExtractedFact) -> bool:
        """Whether the fact is there already: it holds, held when it was said, or was decided by hand since; or it was found in
        the same turn before."""
        statement = statement_of(fact.text)
        end = self.end_of(fact)
        if any(_is_known(other, fact.at, end) for other in self._marked(("key", statement.key))):
            return True
        alike = self._marked(("beginning", beginning_of(fact.text)))
        if any(not other.end and refines(other.text, fact.text) for other in alike):
            return True
        if first_person.HAN.search(fact.text) and self._tells_as_much(fact.text):
            return True
        beside = self._marked(*(("source", source) for source in fact.sources))
        return any(retold(statement.key, other.statement.key) for other in beside)

    def said_again(self, fact: ExtractedFact) -> list[StoredFact]:
        """Those that hold and are told in the same words."""
        return [other for other in self._marked(("key", key_of(fact.text))) if not other.end]

    def held_until(self, fact: ExtractedFact) -> list[StoredFact]:
        """Those that held when the fact was said, and that it ends."""
        statement = statement_of(fact.text)
        named = [self.by_id[id] for id in fact.replaces if id in self.by_id]
        ended = [other for other in self._near(statement) if ends(statement, other.statement)]
        found = {other.id: other for other in (*named, *ended)}.values()
        return [other for other in found if other.holds_at(fact.at)]

    def end_of(self, fact: ExtractedFact | StoredFact) -> End | None:
        """When a fact ends by what else is known: where the first begins that ends it, or that it was said to replace, or where
        what says as much has ended."""
        statement = statement_of(fact.text)
        own, named = (NOBODY, fact.replaces) if isinstance(fact, ExtractedFact) else (fact.id, ())
        others = [other for other in self.by_id.values() if other.id != own and not other.never_held]
        near = {other.id for other in self._near(statement)} | {*named}
        ended = [
            End(at=other.at, by=other.id)
            for other in others
            if other.id in near and other.at > fact.at and (other.id in named or ends(other.statement, statement))
        ]
        ended += [
            other.end
            for other in others
            if other.end
            and other.end.at > fact.at
            and other.end.by != own
            and retold(statement.key, other.statement.key)
        ]
        return min(ended, default=None, key=lambda end: (end.at, str(end.by)))

    def _near(self, statement: Statement) -> Collection[StoredFact]:
        """Those that may end a fact, or be ended by it."""
        return self.by_id.values() if statement.says_ended else self._marked(*_statement_marks(statement), ENDING)

    def _marked(self, *marks: object) -> list[StoredFact]:
        """Those with any of these marks, oldest first."""
        ids = {id for mark in marks for id in self._ids.get(mark, ())}
        return sorted((self.by_id[id] for id in ids), key=lambda fact: (fact.at, fact.id))

    def _tells_as_much(self, text: str) -> bool:
        """Whether some fact has all the words of a text that is written without spaces, where forms don't differ."""
        wanted, denies = frozenset(names(text)), bool(cue_phrases.NEGATED.search(text))
        current = (other for other in self.by_id.values() if not other.end and other.statement.key[1] == denies)
        return len(wanted) > 1 and any(wanted <= frozenset(names(other.text)) for other in current)


NOBODY = uuid.UUID(int=0)
ENDING = "ending"
"""Mark of facts that say that something ended, whatever it is."""


def _marks(fact: StoredFact) -> Iterator[object]:
    yield from _statement_marks(fact.statement)
    yield "key", fact.statement.key
    yield from (("source", source) for source in fact.sources)
    if fact.statement.says_ended:
        yield ENDING


def _statement_marks(statement: Statement) -> Iterator[object]:
    yield "beginning", beginning_of(statement.text)
    yield "object", statement.object
    yield from (("kind", statement.speaker, claim.kind.name) for claim in statement.claims)


def _is_known(other: StoredFact, at: datetime, end: End | None) -> bool:
    """Whether what says the same held when it was said then, or began without an end between, or was decided by hand later."""
    is_settled = other.settled_at is not None and at <= other.settled_at
    return is_settled or other.holds_at(at) or (at < other.at and (end is None or other.at <= end.at))


def stored_fact(
    *,
    id: uuid.UUID,
    text: str,
    sources: Iterable[uuid.UUID],
    at: datetime,
    said_at: datetime | None = None,
    end: End | None = None,
    settled_at: datetime | None = None,
) -> StoredFact:
    """``said_at`` is ``at`` where it is not known."""
    return StoredFact(
        id=id,
        sources=frozenset(sources),
        at=at,
        said_at=said_at or at,
        end=end,
        settled_at=settled_at,
        statement=statement_of(text),
    )


def new_facts(extracted: Sequence[ExtractedFact], facts: Facts) -> list[New]:
    """What of the extracted is not known yet, in the order in which it was said. Takes note of it in ``facts``."""
    ordered = sorted(extracted, key=lambda fact: fact.at)
    return [_noted(placed(fact, facts), facts) for fact in ordered if not facts.knows(fact)]


def placed(fact: ExtractedFact, facts: Facts) -> New:
    """The fact where it belongs among those that are known."""
    ended = facts.held_until(fact)
    for other in ended:
        if other.is_confirmed_after(fact.at):
            return New(id=uuid.uuid4(), fact=fact, end=End(at=fact.at, by=other.id))
    return New(id=uuid.uuid4(), fact=fact, replaces=tuple(other.id for other in ended), end=facts.end_of(fact))


def said_again(extracted: Iterable[ExtractedFact], facts: Facts) -> dict[uuid.UUID, ExtractedFact]:
    """Facts that hold and are told in the same words once more: how, by fact. Takes note of it in ``facts``."""
    again = {known.id: fact for fact in extracted for known in facts.said_again(fact)}
    for id, fact in again.items():
        facts.change(id, said_at=max(facts.by_id[id].said_at, fact.at))
    return again


def taken_back(retracted: Iterable[Retraction], facts: Facts) -> Iterator[tuple[StoredFact, datetime]]:
    """What sentences say to be no longer so: the fact that each names best, and since when. Takes note of it in ``facts``."""
    for retraction in retracted:
        says, kindred = statement_of(retraction.text), cue_phrases.KINDRED.match(retraction.text)
        before = [
            fact
            for fact in facts.by_id.values()
            if not (fact.end or fact.statement.says_ended)
            and fact.at <= retraction.at
            and not fact.is_confirmed_after(retraction.at)
            and retraction.source not in fact.sources
            and (not says.claims or ends(says, fact.statement))
            and (not kindred or naming(fact.text, kindred["who"]))
        ]
        scores = [(naming(retraction.text, fact.text), fact.at, fact.id) for fact in before]
        score, _, id = max(scores, default=(0.0, retraction.at, retraction.source))
        if score >= ENOUGH:
            yield facts.by_id[id], retraction.at
            facts.change(id, end=End(at=retraction.at))


def facts_alone(extracted: Sequence[ExtractedFact], facts: Facts) -> list[New]:
    """What of the extracted is not known yet, and replaces nothing. Takes note of it in ``facts``."""
    return [_noted(New(id=uuid.uuid4(), fact=fact), facts) for fact in extracted if not facts.knows(fact)]


def _noted(new: New, facts: Facts) -> New:
    fact = new.fact
    for id in new.replaces:
        facts.change(id, end=End(at=fact.at, by=new.id))
    facts.add(stored_fact(id=new.id, text=fact.text, sources=fact.sources, at=fact.at, end=new.end))
    return new

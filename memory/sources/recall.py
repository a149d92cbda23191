"""What was said or is remembered and bears on one message. It stands beside that message, never before the history (C3)."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any

from django.db import DatabaseError

from conversations.context.gather.fallible_reads import fetch_row, fetch_rows, problem_of
from conversations.context.query.followups import is_social
from conversations.context.reasons import Reason
from conversations.context.source_problems import Problem
from conversations.context.sources import (
    ADDED,
    Edit,
    Fitted,
    ItemKind,
    MessageQuery,
    Place,
    Source,
    SourceItem,
    SourceQuery,
)
from conversations.context.turns.exclusion import spoilt
from conversations.context.turns.neighbours import PathPlace, read_exclusions
from conversations.models import Assistant, Message
from conversations.runtime.db import start_over
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass
from conversations.runtime.wording import filled
from memory.index import ranking
from memory.index.index_turns import NEWEST_UNINDEXED, said_turn
from memory.index.phrases import passages_holding
from memory.index.ranking import Query, RankedPassage, WordCounts
from memory.scope import OUTSIDE, MemoryScope
from memory.sources.facts import MEMORY_KIND, FactSource
from memory.sources.passages import HEAD, Candidate, fitted
from memory.sources.repeats import groups, repeating
from memory.sources.rows import spoken
from memory.sources.selection import selected

SOURCE = "recall"
MILLISECONDS = 100
MOST_PASSAGES = 160
FEWEST = 48
ENOUGH = 1.5
"""How many more passages are looked at than the room holds, about: some may not be told, or say the same."""
LINE = 6
"""Estimated tokens of a line beside twice its words that count."""
MOST_FACTS = 8
MOST_UNINDEXED = 60
MOST_CLOSED = 8
"""Turns of other projects, or of all threads, that a request tells to have left out."""
READ_ON = 4
"""By how much more is asked for where most of what was found may not be told."""
AHEAD = 1.01
"""How much more a note bears than the turn that it replaces something of."""
USEFUL = 40
"""Estimated tokens of room below which nothing is recalled."""
FAINT = 0.05
"""What bears so much less than the best on the text says nothing about it."""
WORTH_TELLING = 0.1
"""What bears so much less than the best on a message is found, but not worth its tokens."""

SQL = read_statements(__file__)
# psycopg reads a statement of more than 4,096 characters anew each time.
RANKED = " ".join(ranking.STATEMENT.split())
KNOWN = SQL["known"].format(unindexed=NEWEST_UNINDEXED, vocabulary=ranking.VOCABULARY)


SIGNS = "\"'“”‘’«»()[]{}.,;:!?…¿¡"
FEWEST_SMALL_WORDS = 3
"""Of a text that is looked for as a phrase: two of them stand everywhere."""


@dataclass(frozen=True, kw_only=True)
class RecallQuery:
    """Who is reminded by which text. Of the thread only what comes before a depth is recalled, without what is ``gone``;
    ``filtering``: nor what made an artifact in it, as is never recalled of other threads;
    ``everywhere`` also what is remembered in other threads alone, without ``elsewhere`` nothing of other threads at all.
    ``is_past``: nothing that is newer than ``at``. ``is_message``: the text is a message, of which echoes are no evidence.
    ``memory``: of which projects; ``everywhere`` of all. ``withholds``: nothing may be told, but that there is something.
    ``zone``: whose days the text names."""

    user_id: int
    text: str
    at: datetime
    thread_id: uuid.UUID | None = None
    before: int = 0
    gone: frozenset[uuid.UUID | None] = frozenset()
    filtering: bool = True
    everywhere: bool = False
    elsewhere: bool = True
    is_past: bool = False
    is_message: bool = False
    memory: MemoryScope = OUTSIDE
    withholds: bool = False
    zone: tzinfo = UTC

    @property
    def scope_values(self) -> dict[str, Any]:
        return (OUTSIDE if self.everywhere else self.memory).values

    @property
    def closed(self) -> tuple[dict[str, Any], Reason] | None:
        """What a message may not be told, as statements are asked for it, and why."""
        if not self.is_message:
            return None
        if self.withholds:
            return OUTSIDE.values, Reason.TEMPORARY
        return (self.memory.closed_values, Reason.OTHER_PROJECT) if self.memory.is_limited else None


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What bears on a message, best first, and what went wrong; ``here`` is the thread that it is recalled in, ``zone``
    whose days it is told with."""

    candidates: tuple[Candidate, ...] = ()
    here: uuid.UUID | None = None
    zone: tzinfo = UTC
    problems: tuple[Problem, ...] = ()


class RecallSource(Source[Recalled]):
    name = "recalled"
    place = Place.BESIDE
    label = "Recalled for the message"
    personal_label = "Recalled for your message"
    named_in_problems = {SOURCE: "What else it remembers"}
    budget_field = "recall_tokens"
    tells_withheld = True
    kinds = (
        MEMORY_KIND,
        ItemKind(
            code="message",
            what="earlier turn",
            model=Message,
            text="text",
            turn="id",
            thread="thread",
            page="admin:conversations_message_change",
        ),
    )
    comes_from = (
        "a search of today’s index for what was there then; what was forgotten or replaced since is missing",
        True,
    )

    def is_wanted(self, query: SourceQuery) -> bool:
        return not query.silent

    def search(self, candidates: Recalled | None, query: MessageQuery, room: int) -> Recalled | None:
        """What bears on the message and is not given already.

        Must run within ``read_only``, and leaves it usable.
        """
        recall_query = self.searches_by(query)
        if room < USEFUL or is_social(recall_query.text):
            return None
        facts = query.already_sent.get(FactSource.name)
        given = [item.id for item in facts or () if item.included or item.reason is Reason.REPEATED]
        ids = [uuid.UUID(id) for id in given if id != ADDED]
        start_over(milliseconds=MILLISECONDS)
        try:
            bearing = searched(
                recall_query,
                ids,
                facts=facts is not None and len(given) < len(facts) and not query.withholds,
                least=WORTH_TELLING,
                room=room,
            )
        except DatabaseError as error:
            return Recalled(problems=(problem_of(SOURCE, error),))
        return Recalled(candidates=_beside(bearing, query.lines_sent), here=query.thread_id, zone=query.zone)

    def searches_by(self, query: MessageQuery) -> RecallQuery:
        return RecallQuery(
            user_id=query.user_id,
            thread_id=query.thread_id,
            before=query.before,
            text=query.query or query.text,
            at=query.at,
            gone=query.gone,
            filtering=query.filtering,
            is_past=query.is_past,
            is_message=True,
            memory=query.memory,
            withholds=query.withholds,
            zone=query.zone,
        )

    def edited(
        self, candidates: Recalled | None, items: Sequence[SourceItem], query: SourceQuery, edit: Edit
    ) -> Recalled | None:
        if candidates is None:
            return None
        left = tuple(each for each in candidates.candidates if str(each.id) not in edit.without)
        return replace(candidates, candidates=left)

    def fit(self, candidates: Recalled, tokens: int) -> Fitted:
        fit = fitted(candidates.candidates, tokens, here=candidates.here, zone=candidates.zone)
        return replace(fit, problems=candidates.problems)

    def owns(self, item: Mapping[str, Any]) -> bool:
        return "score" in item

    def rule(self, assistant: Assistant) -> str:
        return filled(
            "What is recalled beside a message takes at most {tokens} tokens, best first.",
            tokens=assistant.recall_tokens,
        )


def _beside(candidates: Sequence[Candidate], lines: Sequence[str]) -> tuple[Candidate, ...]:
    """The candidates; those that say what a line of the request says already are left out."""
    wholes = (
        (candidate.key, candidate.text) for candidate in candidates if candidate.is_whole and not candidate.left_out
    )
    known = {*repeating(wholes, map(spoken, lines))}
    return tuple(replace(each, left_out=Reason.REPEATED) if each.key in known else each for each in candidates)


def search(query: RecallQuery, *, facts: bool = True, most: int = MOST_PASSAGES) -> list[Candidate]:
    """The turns and facts that bear on a text, best first."""
    return [candidate for candidate in searched(query, facts=facts, most=most) if not candidate.left_out]


def searched(
    recall_query: RecallQuery,
    ids: Sequence[uuid.UUID] = (),
    *,
    facts: bool = True,
    most: int = MOST_PASSAGES,
    least: float = FAINT,
    room: int | None = None,
) -> list[Candidate]:
    """The passages and facts that bear on a text, best first, without facts that are given already.

    Behind them those that may not be told. ``least`` is the share of the best one's score below which nothing counts.
    Given the ``room`` that there is, in tokens, no more are read than it could hold.
    """
    query = ranking.query_of(recall_query.user_id, recall_query.text, recall_query.at, recall_query.zone)
    if query.is_empty:
        return [] if recall_query.withholds else _holding_phrase(recall_query, most)
    counts, turns, has_replaced = _turns(recall_query, query, most, room)
    notes = _facts(recall_query, query, counts, ids) if facts else []
    if has_replaced and turns:
        turns, newer = _replaced(turns, recall_query)
        if facts:
            by_id = {fact.id: fact for fact in notes} | {fact.id: fact for fact in newer if fact.id not in ids}
            notes = [*by_id.values()]
    candidates = sorted([*turns, *notes], key=lambda candidate: (-candidate.score, candidate.at))
    if recall_query.is_past:
        candidates = [candidate for candidate in candidates if candidate.at < recall_query.at]
    best = next((candidate.score for candidate in candidates if not candidate.left_out), 0.0)
    candidates = [candidate for candidate in candidates if candidate.score >= least * best]
    unrepeated = without_repeats([candidate for candidate in candidates if not candidate.left_out])
    left_out = [candidate for candidate in (*unrepeated, *candidates) if candidate.left_out]
    open_ones = [candidate for candidate in unrepeated if not candidate.left_out]
    return [*selected(open_ones, query)[:most], *left_out]


def _holding_phrase(query: RecallQuery, most: int) -> list[Candidate]:
    """For a text of small words alone, such as "to be or not to be": the turns that hold them as they stand."""
    words = query.text.strip(SIGNS).split()
    if len(words) < FEWEST_SMALL_WORDS:
        return []
    places = passages_holding(
        query.user_id,
        " ".join(words),
        here=query.thread_id,
        before=query.before,
        for_message=query.is_message,
        wanted=most,
        scope=query.scope_values,
    )
    turns = _read(places, query) if places else []
    return without_repeats([turn for turn in turns if not query.is_past or turn.at < query.at])


def _turns(
    recall_query: RecallQuery, query: Query, most: int, room: int | None
) -> tuple[WordCounts, list[Candidate], bool]:
    """How common the words are, the passages that bear, and whether any note of the person was ever replaced."""
    *known, missing, has_replaced, fresh = fetch_row(
        KNOWN,
        {
            "user": query.user,
            "terms": [number for word in query.words for number in word.terms],
            "long": query.long_terms,
            "most": MOST_UNINDEXED,
        },
    )
    if missing and (words := ranking.misspelt(query, missing)):
        existing = fetch_rows(ranking.SPELLINGS, {"user": query.user, "spellings": _array(words)})
        query = ranking.with_spellings(query, {number: words[number] for (number,) in existing})
    counts, _ = ranking.counts_of(known if known[0] is not None else None)
    unindexed = [said_turn(row) for row in json.loads(fresh or "[]")]
    if room is not None:
        most = min(most, max(FEWEST, int(ENOUGH * room / (2 * counts.mean_length + LINE))))
    values_of = partial(
        ranking.values_of,
        query,
        counts,
        unindexed,
        here=recall_query.thread_id,
        before=recall_query.before,
        for_message=recall_query.is_message,
    )
    turns: list[Candidate] = []
    for wanted in () if recall_query.withholds else (most, most * READ_ON):
        values = values_of(wanted=wanted) | recall_query.scope_values
        places = [RankedPassage(*row) for row in fetch_rows(RANKED, values, binary=True)]
        turns = _read(places, recall_query) if places else []
        if len(places) < wanted or sum(not turn.left_out for turn in turns) >= most / 2:
            break
    if recall_query.closed:
        closed, reason = recall_query.closed
        turns += _closed(values_of(wanted=most) | closed | {"wanted": MOST_CLOSED}, recall_query.user_id, reason)
    return counts, turns, has_replaced


def _closed(values: Mapping[str, Any], user_id: int, reason: Reason) -> list[Candidate]:
    """What bears on the text and was said where memory is closed to this thread: that it is left out is told, not what it
    says."""
    places = [RankedPassage(*row) for row in fetch_rows(RANKED, values, binary=True)]
    columns = {
        "threads": _array(place.thread for place in places),
        "depths": _array(place.depth for place in places),
        "positions": _array(place.position for place in places),
    }
    rows = fetch_rows(SQL["closed"], {"user": user_id, **columns}) if places else []
    candidates = {
        id: Candidate(
            kind="message",
            id=id,
            text="",
            at=at,
            score=place.score,
            role=role,
            thread=place.thread,
            depth=place.depth,
            position=place.position,
            left_out=reason,
        )
        for place, id, role, at in ((places[number - 1], *row) for number, *row in rows)
    }
    return [*candidates.values()]


def _replaced(turns: Sequence[Candidate], query: RecallQuery) -> tuple[list[Candidate], list[Candidate]]:
    """The turns with the notes that hold instead of what they say, and these notes: each before the turns that it replaces."""
    values = {
        "user": query.user_id,
        "turns": list({turn.id for turn in turns}),
        "at": query.at,
        "everywhere": query.everywhere,
        "places": query.memory.places(query.thread_id),
        "is_past": query.is_past,
    }
    notes = {turn: note for turn, *note in fetch_rows(SQL["replacements"], values)}
    newer: dict[uuid.UUID, Candidate] = {}
    for turn in turns:
        if turn.id in notes and not turn.left_out:
            id, text, at = notes[turn.id]
            score = max(turn.score * AHEAD, newer[id].score if id in newer else 0.0)
            newer[id] = Candidate(kind="memory", id=id, text=text, at=at, score=score)
    marked = [replace(turn, replaced_by=notes[turn.id][0]) if turn.id in notes else turn for turn in turns]
    return marked, list(newer.values())


def without_repeats(turns: Sequence[Candidate]) -> list[Candidate]:
    """What was said several times in much the same words as one, as it was said last; the others are left out. Pure."""
    groups_said = groups(
        (candidate, candidate.role, candidate.text) for candidate in turns if candidate.kind != "memory"
    )
    repeated = [group for group in groups_said if len(group) > 1]
    if not repeated:
        return list(turns)
    by_key = {candidate.key: candidate for candidate in turns}
    for group in repeated:
        newest, best = (
            max(group, key=lambda candidate: (candidate.at, candidate.depth)),
            max(candidate.score for candidate in group),
        )
        by_key |= {
            candidate.key: replace(candidate, left_out=Reason.REPEATED)
            for candidate in group
            if candidate is not newest
        }
        by_key[newest.key] = replace(newest, score=best, times=len(group))
    return sorted(by_key.values(), key=lambda candidate: (-candidate.score, candidate.at))


def _read(places: Sequence[RankedPassage], query: RecallQuery) -> list[Candidate]:
    """The passages that stand there, each with why it may not be told: that depends on the turns around where something was
    made or declined in its thread."""
    values = {
        "threads": _array(place.thread for place in places),
        "depths": _array(place.depth for place in places),
        "positions": _array(place.position for place in places),
        "starts": _array(place.start for place in places),
        "sizes": _array(place.size for place in places),
        "user": query.user_id,
        "here": query.thread_id,
        "elsewhere": query.elsewhere,
        "head": HEAD,
        **query.scope_values,
    }
    rows = [(places[row[0] - 1], *row[1:]) for row in fetch_rows(SQL["turns"], values, binary=True)]
    near = {PathPlace(thread=place.thread, depth=place.depth, at=row[4]) for place, *row in rows if row[-1]}
    reasons = read_exclusions(query.user_id, [*near], here=query.thread_id, filtering=query.filtering) if near else {}
    return [
        Candidate(
            kind="message",
            id=id,
            text=text,
            at=at,
            score=place.score,
            role=role,
            thread=place.thread,
            depth=place.depth,
            position=place.position,
            start=place.start,
            end=place.start + place.size,
            head=head if place.number else "",
            is_whole=place.passages == 1,
            is_last=place.number == place.passages - 1,
            left_out=reasons.get(id) if depends else spoilt(role, status, offline=offline),
        )
        for place, id, role, text, head, at, status, offline, depends in rows
        if id not in query.gone
    ]


def _array(values: Iterable[object]) -> str:
    """As PostgreSQL reads an array: psycopg takes milliseconds to make one of so many values."""
    return f"{{{','.join(map(str, values))}}}"


def _facts(recall_query: RecallQuery, query: Query, counts: WordCounts, ids: Sequence[uuid.UUID]) -> list[Candidate]:
    values: dict[str, Any] = {
        "user": recall_query.user_id,
        "everywhere": recall_query.everywhere,
        "places": recall_query.memory.places(recall_query.thread_id),
        "text": recall_query.text,
        "at": recall_query.at,
        "given": list(ids),
        "most": MOST_FACTS,
    }
    return [
        Candidate(kind="memory", id=id, text=text, at=at, score=ranking.score_of(query, counts, text))
        for id, text, at in fetch_rows(SQL["facts"], values)
    ]

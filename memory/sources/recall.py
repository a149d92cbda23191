"""What was said or is remembered and bears on one message. It stands beside that message, never before the history (C3)."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from conversations.context.excerpts import bullet
from conversations.context.exclusion import spoilt
from conversations.context.fallible_reads import Row, fetch_row, fetch_rows, problem_of
from conversations.context.followups import is_social
from conversations.context.neighbours import PathPlace, read_exclusions
from conversations.context.reasons import Reason
from conversations.context.source_problems import Problem, ProblemKind
from conversations.context.sources import (
    Fitted,
    ItemKind,
    MessageQuery,
    Place,
    ScoredItem,
    Source,
    SourceItem,
    SourceQuery,
    TurnItem,
)
from conversations.context.token_estimate import estimate_tokens
from conversations.context.windowing import Turn
from conversations.models import Assistant, Message
from conversations.providers.base import RECALLED
from conversations.providers.quoting import quotation, remembered_heading, said_heading
from conversations.runtime.db import execute, start_over
from conversations.runtime.sql_files import read_statements
from conversations.runtime.text import clean
from memory.index import embeddings, ranking, vectors
from memory.index.embeddings import NoModel
from memory.index.index_turns import NEWEST_UNINDEXED, said_turn
from memory.index.ranking import Query, WordCounts
from memory.language.words import speaker
from memory.sources.facts import MEMORY_KIND, FactSource, places_of
from memory.sources.repeats import groups

SOURCE, BY_MEANING = "recall", "recall by meaning"
MILLISECONDS = 100
MOST_TURNS = 64
MOST_FACTS = 8
MOST_UNINDEXED = 60
READ_ON = 4
"""By how much more is asked for where most of what was found may not be told."""
USEFUL = 40
"""Estimated tokens of room below which nothing is recalled."""
LEAST = 12
"""Tokens that no turn is shorter than."""
FAINT = 0.05
"""What bears so much less than the best on the text says nothing about it."""
WORTH_TELLING = 0.2
"""What bears so much less than the best on a message is found, but not worth its tokens: without it a third less is recalled,
and of the turns that answers rest on one in 130 is missed."""
MEANING = 0.25
"""What meaning alone counts for, beside the best that is found by words."""

SQL = read_statements(__file__)
KNOWN = SQL["known"].format(unindexed=NEWEST_UNINDEXED, vocabulary=ranking.VOCABULARY)
# psycopg reads a statement of more than 4,096 characters anew each time.
RANKED, NEAR_BY_GRAPH, NEAR_ONE_BY_ONE = (
    " ".join(SQL["turns"].format(places=places).split())
    for places in (ranking.STATEMENT, vectors.BY_GRAPH, vectors.ONE_BY_ONE)
)


@dataclass(frozen=True, kw_only=True)
class RecallQuery:
    """Who is reminded by which text. Of the thread only what comes before a depth is recalled, without what is ``gone``;
    ``filtering``: nor what made an artifact in it, as is never recalled of other threads;
    ``everywhere`` also what is remembered in other threads alone, without ``elsewhere`` nothing of other threads at all.
    ``is_past``: nothing that is newer than ``at``."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A turn, or a fact, by how much it bears on the text. A fact is of no thread.

    ``times`` is how often the same was said, ``left_out`` why it may not be told.
    """

    kind: str
    id: uuid.UUID
    text: str
    at: datetime
    score: float
    role: str = ""
    thread: uuid.UUID | None = None
    depth: int = 0
    position: int = 0
    times: int = 1
    left_out: Reason | None = None

    @property
    def line(self) -> str:
        if self.kind == "memory":
            return bullet(self.text)
        named, _ = speaker(self.text)
        return quotation(" ".join(clean(self.text).split()), role="" if named else self.role, times=self.times)


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What bears on a message, best first, and what went wrong; ``here`` is the thread that it is recalled in."""

    candidates: tuple[Candidate, ...] = ()
    here: uuid.UUID | None = None
    problems: tuple[Problem, ...] = ()


class RecallSource(Source[Recalled]):
    name = "recalled"
    place = Place.BESIDE
    label = "Recalled for the message"
    personal_label = "Recalled for your message"
    named_in_problems = {SOURCE: "What else it remembers", BY_MEANING: "What else it remembers"}
    budget_field = "recall_tokens"
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
        ids = [uuid.UUID(item.id) for item in facts or () if item.included]
        start_over(milliseconds=MILLISECONDS)
        try:
            bearing, problems = searched(
                recall_query, ids, facts=facts is not None and len(ids) < len(facts), least=WORTH_TELLING
            )
        except DatabaseError as error:
            return Recalled(problems=(problem_of(SOURCE, error),))
        return Recalled(candidates=tuple(bearing), here=query.thread_id, problems=tuple(problems))

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
        )

    def fit(self, candidates: Recalled, tokens: int) -> Fitted:
        return replace(fitted(candidates.candidates, tokens, here=candidates.here), problems=candidates.problems)

    def owns(self, item: Mapping[str, Any]) -> bool:
        return "score" in item

    def rule(self, assistant: Assistant) -> str:
        return f"What is recalled beside a message takes at most {assistant.recall_tokens:,} tokens, best first."


def search(query: RecallQuery, *, facts: bool = True, most: int = MOST_TURNS) -> list[Candidate]:
    """The turns and facts that bear on a text, best first."""
    return [candidate for candidate in searched(query, facts=facts, most=most)[0] if not candidate.left_out]


def searched(
    recall_query: RecallQuery,
    ids: Sequence[uuid.UUID] = (),
    *,
    facts: bool = True,
    most: int = MOST_TURNS,
    least: float = FAINT,
) -> tuple[list[Candidate], list[Problem]]:
    """The turns and facts that bear on a text, best first, without facts that are given already, and what went wrong.

    Behind them those that may not be told. ``least`` is the share of the best one's score below which nothing counts.
    """
    query = ranking.query_of(recall_query.user_id, recall_query.text, recall_query.at)
    if query.is_empty:
        return [], []
    counts, turns = _turns(recall_query, query, most)
    selected = _facts(recall_query, query, counts, ids) if facts else []
    near, problems = _near(recall_query, counts, most) if settings.OPENBOOK_EMBEDDINGS else ([], [])
    candidates = sorted([*fused(turns, near), *selected], key=lambda candidate: (-candidate.score, candidate.at))
    if recall_query.is_past:
        candidates = [candidate for candidate in candidates if candidate.at < recall_query.at]
    best = next((candidate.score for candidate in candidates if not candidate.left_out), 0.0)
    candidates = [candidate for candidate in candidates if candidate.score >= least * best]
    selected = without_repeats([candidate for candidate in candidates if not candidate.left_out])
    left_out = [candidate for candidate in (*selected, *candidates) if candidate.left_out]
    return [*[candidate for candidate in selected if not candidate.left_out][:most], *left_out], problems


def _turns(recall_query: RecallQuery, query: Query, most: int) -> tuple[WordCounts, list[Candidate]]:
    values = {"user": query.user, "terms": list(query.terms), "most": MOST_UNINDEXED}
    *known, fresh = fetch_row(KNOWN, values)
    counts, _ = ranking.counts_of(known if known[0] is not None else None)
    unindexed = [said_turn(row) for row in json.loads(fresh or "[]")]
    for wanted in (most, most * READ_ON):
        values = ranking.values_of(
            query, counts, unindexed, wanted=wanted, here=recall_query.thread_id, before=recall_query.before
        )
        rows = fetch_rows(RANKED, values | {"elsewhere": recall_query.elsewhere}, binary=True)
        turns = _turns_of(rows, recall_query)
        if len(rows) < wanted or sum(not turn.left_out for turn in turns) >= most / 2:
            break
    return counts, turns


def _near(query: RecallQuery, counts: WordCounts, most: int) -> tuple[list[Candidate], list[Problem]]:
    """The turns that mean much the same, or why they could not be asked for."""
    try:
        values = vectors.values_of(
            embeddings.model(),
            query.user_id,
            query.text,
            wanted=most,
            here=query.thread_id,
            before=query.before,
        )
        few = counts.turns <= vectors.FEW_TURNS
        start_over(milliseconds=MILLISECONDS)  # its own
        if not few:
            execute(vectors.GRAPH)
        rows = fetch_rows(
            NEAR_ONE_BY_ONE if few else NEAR_BY_GRAPH,
            values | {"elsewhere": query.elsewhere},
            binary=True,
        )
        return _turns_of(rows, query), []
    except NoModel as error:
        return [], [Problem(source=BY_MEANING, kind=ProblemKind.ERROR, message=str(error))]
    except DatabaseError as error:
        start_over()
        return [], [problem_of(BY_MEANING, error)]


def fused(turns: Sequence[Candidate], near: Sequence[Candidate]) -> list[Candidate]:
    """What was found by words, and by meaning, each by its share of the best; on the scale of the former. Pure."""
    if not near:
        return list(turns)
    best = max((candidate.score for candidate in turns), default=1.0)
    closest = max(candidate.score for candidate in near)
    by_id = {candidate.id: candidate for candidate in [*near, *turns]}
    scores = dict.fromkeys(by_id, 0.0) | {candidate.id: candidate.score for candidate in turns}
    for candidate in near:
        scores[candidate.id] += MEANING * best * candidate.score / closest
    return [replace(candidate, score=scores[candidate.id]) for candidate in by_id.values()]


def without_repeats(turns: Sequence[Candidate]) -> list[Candidate]:
    """What was said several times in much the same words as one, as it was said last; the others are left out. Pure."""
    groups_said = groups(
        (candidate, candidate.role, candidate.text) for candidate in turns if candidate.kind != "memory"
    )
    repeated = [group for group in groups_said if len(group) > 1]
    if not repeated:
        return list(turns)
    by_id: dict[uuid.UUID, Candidate] = {candidate.id: candidate for candidate in turns}
    for group in repeated:
        newest, best = (
            max(group, key=lambda candidate: (candidate.at, candidate.depth)),
            max(candidate.score for candidate in group),
        )
        by_id |= {candidate.id: replace(candidate, left_out=Reason.REPEATED) for candidate in group}
        by_id[newest.id] = replace(newest, score=best, times=len(group))
    return sorted(by_id.values(), key=lambda candidate: (-candidate.score, candidate.at))


def _turns_of(rows: Sequence[Row], query: RecallQuery) -> list[Candidate]:
    """The turns that were found, each with why it may not be told: that depends on its neighbours where something was made or
    declined in its thread."""
    near = [PathPlace(thread=row[1], depth=row[2], at=row[6]) for row in rows if row[-1]]
    reasons = read_exclusions(near, here=query.thread_id, filtering=query.filtering) if near else {}
    return [
        Candidate(
            kind="message",
            id=id,
            text=text,
            at=at,
            score=score,
            role=role,
            thread=thread,
            depth=depth,
            position=position,
            left_out=reasons.get(id) if depends else spoilt(role, status, offline=offline),
        )
        for id, thread, depth, position, role, text, at, score, status, offline, depends in rows
        if id not in query.gone
    ]


def _facts(recall_query: RecallQuery, query: Query, counts: WordCounts, ids: Sequence[uuid.UUID]) -> list[Candidate]:
    values: dict[str, Any] = {
        "user": recall_query.user_id,
        "everywhere": recall_query.everywhere,
        "places": places_of(recall_query.thread_id),
        "text": recall_query.text,
        "at": recall_query.at,
        "given": list(ids),
        "most": MOST_FACTS,
    }
    return [
        Candidate(kind="memory", id=id, text=text, at=at, score=ranking.score_of(query, counts, text))
        for id, text, at in fetch_rows(SQL["facts"], values)
    ]


def fitted(candidates: Iterable[Candidate], room: int, *, here: uuid.UUID | None) -> Fitted:
    """As many of the candidates as fit so many tokens, best first; told by day and conversation, in the order of their time,
    as what was said then. Pure."""
    chosen: list[Candidate] = []
    tokens: dict[uuid.UUID, int] = {}
    left_out: list[Candidate] = []
    places: set[tuple[date, str]] = set()
    left = room - estimate_tokens(RECALLED)
    for candidate in candidates:
        elsewhere = (
            candidate.thread is None or candidate.thread != here
        )  # what is left out of the thread is told by its account
        if candidate.left_out:
            if elsewhere:
                left_out.append(candidate)
            continue
        if left < LEAST and chosen:  # the lines together take less than one by one
            left = room - estimate_tokens(_render(chosen, here))
        if left < LEAST:
            continue
        cost = estimate_tokens(candidate.line) + 1
        heading = 0 if _place(candidate) in places else estimate_tokens(_heading(candidate, here)) + 1
        if cost + heading <= left:
            left -= cost + heading
            places.add(_place(candidate))
            chosen.append(candidate)
            tokens[candidate.id] = cost
        elif elsewhere:
            left_out.append(candidate)
    items = [_item(candidate, tokens.get(candidate.id, 0)) for candidate in [*chosen, *left_out]]
    if not chosen:
        return Fitted(items=items)
    turns = [candidate for candidate in chosen if candidate.thread and candidate.thread == here]
    return Fitted(
        text=_render(chosen, here),
        items=items,
        turns=[
            Turn(
                id=candidate.id,
                position=candidate.position,
                depth=candidate.depth,
                role=candidate.role,
                content=[],
                token_count=0,
            )
            for candidate in turns
        ],
    )


def _render(chosen: Sequence[Candidate], here: uuid.UUID | None) -> str:
    in_time = sorted(
        chosen, key=lambda candidate: (*_place(candidate), candidate.at, candidate.depth, str(candidate.id))
    )
    lines = [RECALLED]
    for _, group in groupby(in_time, key=_place):
        candidates = list(group)
        lines += [_heading(candidates[0], here), *(candidate.line for candidate in candidates)]
    return "\n".join(lines)


def _place(candidate: Candidate) -> tuple[date, str]:
    return candidate.at.astimezone(UTC).date(), str(candidate.thread or "")


def _heading(candidate: Candidate, here: uuid.UUID | None) -> str:
    at = candidate.at.astimezone(UTC)
    return said_heading(at, here=candidate.thread == here) if candidate.thread else remembered_heading(at)


def _item(candidate: Candidate, tokens: int) -> SourceItem:
    reason = Reason.RECALLED if tokens else candidate.left_out or Reason.OVER_BUDGET
    item = ScoredItem(
        kind=candidate.kind,
        id=str(candidate.id),
        included=tokens > 0,
        reason=reason,
        tokens=tokens,
        score=round(candidate.score, 2),
    )
    if candidate.thread is None:
        return item
    return TurnItem(**asdict(item), thread=str(candidate.thread), position=candidate.position)

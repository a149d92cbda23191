"""What is remembered and bears on one message. It stands beside that message, never before the history (C3)."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError

from conversations.context.fitting import Section
from conversations.context.guarded import asked, problem_of
from conversations.context.pieces import bullet
from conversations.context.problems import Problem
from conversations.context.reasons import Reason
from conversations.context.tiers import MEMORY, Tier, TierItem
from conversations.context.tokens import estimate_tokens
from conversations.providers.base import RECALLED
from memory.tags import thread_tag

SOURCE = "recall"
MILLISECONDS = 100
MOST = 8
USEFUL = 40
"""Estimated tokens of room below which nothing is recalled."""

# Any word of the message will do, the rank tells how well. Only the person's own memories are looked at, which are few.
RECALL = """
WITH words AS (
    SELECT to_tsquery('simple', string_agg(quote_literal(lexeme), ' | ')) AS query
    FROM unnest(to_tsvector('simple', %(text)s))
)
SELECT json_agg(json_build_array(id, content) ORDER BY rank DESC, created_at DESC, id)
FROM (
    SELECT id, content, created_at, ts_rank(to_tsvector('simple', content), query) AS rank
    FROM memory_memory, words
    WHERE user_id = %(user)s AND confined_to = ANY(%(places)s) AND ended_at IS NULL
      AND (valid_until IS NULL OR valid_until > %(at)s)
      AND id <> ALL(%(given)s) AND to_tsvector('simple', content) @@ query
    ORDER BY rank DESC, created_at DESC, id LIMIT %(most)s
) AS found"""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What stands beside the message, and the account of all that was found."""

    sections: Sequence[Section] = ()
    items: Sequence[TierItem] = ()
    problems: Sequence[Problem] = ()


def recall(
    *, user_id: int, thread_id: uuid.UUID | None, text: str, at: datetime, tiers: Sequence[Tier], room: int
) -> Recalled:
    """The memories that the tier had no place for and that share words with the text, best first, as many as fit the room.

    Costs nothing where the tier holds all that is remembered. Must run within a transaction, and leaves it usable.
    """
    memory = next((tier for tier in tiers if tier.name == MEMORY), None)
    if room < USEFUL or memory is None or all(item.included for item in memory.items):
        return Recalled()
    values: dict[str, Any] = {
        "user": user_id,
        "places": ["", thread_tag(thread_id)] if thread_id else [""],
        "text": text,
        "at": at,
        "given": [uuid.UUID(item.id) for item in memory.items if item.included],
        "most": MOST,
    }
    try:
        (rows,) = asked(RECALL, values, milliseconds=MILLISECONDS)
    except DatabaseError as error:
        return Recalled(problems=[problem_of(SOURCE, error)])
    return fitted([(id, content) for id, content in rows or []], room)


def fitted(found: Iterable[tuple[str, str]], room: int) -> Recalled:
    """As many of the memories as fit so many tokens, each on a line. Pure."""
    lines, items = [RECALLED], []
    left = room - estimate_tokens(RECALLED)
    for id, content in found:
        line = bullet(content)
        tokens = estimate_tokens(line) + 1
        fits = tokens <= left
        if fits:
            left -= tokens
            lines.append(line)
        reason = Reason.RECALLED if fits else Reason.OVER_BUDGET
        items.append(TierItem(kind="memory", id=id, included=fits, reason=reason, tokens=tokens if fits else 0))
    sections = [Section.of("recalled", "\n".join(lines))] if len(lines) > 1 else []
    return Recalled(sections=sections, items=items)

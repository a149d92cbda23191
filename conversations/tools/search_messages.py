"""The model looks up what was said in this thread before its window begins."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector
from django.db.models import F, Value
from django.db.models.functions import Left

from conversations.models import Message
from conversations.text import clean
from conversations.tools.base import Call, Result, Tool

MOST = 8
MOST_WORDS = 20
AROUND = 600
"""Characters that are shown on each side of the first word that was found."""
LONGEST_SEARCHED = 100_000
"""Characters of a turn that are looked at; PostgreSQL refuses a text with too many words."""
NEWEST_SEARCHED = 5_000
"""Turns that are looked through, the newest first."""


def run(call: Call, input: Mapping[str, Any]) -> Result:
    words = re.findall(r"\w+", clean(input["query"]))[:MOST_WORDS]
    found = search(call, words)
    if not found:
        return Result(text="Nothing was found. Try other words.", summary="Searched the conversation: nothing found")
    told = [f"{turn.created_at:%Y-%m-%d %H:%M} UTC, {turn.role}: {excerpt(turn.text, words)}" for turn in found]
    return Result(text="\n\n---\n\n".join(told), summary=f"Searched the conversation: {len(found)} found")


def search(call: Call, words: Sequence[str]) -> list[Message]:
    """The turns before the newest message that hold any of the words, best first."""
    if not words:
        return []
    # "simple", as nobody knows the language; any word will do, and the rank tells how well.
    query = SearchQuery(" | ".join(f"'{word}':*" for word in words), config="simple", search_type="raw")
    text = SearchVector(Left("text", LONGEST_SEARCHED), config="simple")
    earlier = Message.objects.filter(
        thread_id=call.thread_id,
        is_active=True,
        position__lt=call.last_position,
        position__gte=call.last_position - NEWEST_SEARCHED,
    )
    ranked = (
        earlier.annotate(vector=text)
        .filter(vector=query)
        .annotate(rank=SearchRank(F("vector"), query, normalization=Value(1)))
    )
    return list(ranked.order_by("-rank", "-position")[:MOST])


def excerpt(text: str, words: Sequence[str]) -> str:
    """The text around the first of the words, with marks where it is cut."""
    found = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    middle = found.start() if found else 0
    first, last = max(0, middle - AROUND), middle + AROUND
    return f"{'… ' if first else ''}{text[first:last]}{' …' if last < len(text) else ''}"


TOOL = Tool(
    name="search_messages",
    description=(
        "Search what was said earlier in this conversation, beyond what you are given. Use it when the person refers to "
        "something that you don't see. Returns the best turns with their time and speaker."
    ),
    schema={
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1, "description": "A few words that it would hold."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    run=run,
    doing="Searching the conversation",
)

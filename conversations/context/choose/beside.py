"""What stands beside the person's own words in the newest message: what each source gives for it, in the room that is left.

It goes by the message, so unlike what stands before the turns (``standing``) it is another with each one (Q2).
"""

import sys
from collections.abc import Hashable, Mapping
from typing import Any

from conversations.context.rules.fitting import Section
from conversations.context.rules.standing import Known
from conversations.context.sources import NOTHING, Fitted, MessageQuery, Place, Source, sources_at
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.factor import Factor
from conversations.models import Assistant
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchedSource:
    """What a source beside the message gave, what it was searched by, and the room that it had; ``None`` is as it takes."""

    fitted: Fitted
    by: Hashable = None
    room: int | None = None

    def holds(self, by: Hashable, room: int | None) -> bool:
        """Whether it would give the same if it were searched by this, in this room."""
        if by != self.by or room is None or self.room is None:
            return by == self.by
        return estimate_tokens(self.fitted.text) <= room <= self.room


@dataclass(frozen=True, kw_only=True)
class RecordedBeside:
    """What each source gave for a request that was made before, as far as there is a record of it."""

    fitted: Mapping[str, Fitted]
    searched: Mapping[str, SearchedSource] | None = None
    """What was searched by when that was found; without it, what is recorded stands whatever is asked."""
    may_search: bool = True
    """Whether what is remembered may be searched."""


def search_beside(
    known: Known,
    query: MessageQuery,
    *,
    assistant: Assistant,
    factor: Factor,
    room: int,
    recorded: RecordedBeside | None = None,
) -> tuple[dict[str, SearchedSource], list[Section]]:
    """What every source gives that is asked, by name, and the sections that are sent of it, in order. May read."""
    searched: dict[str, SearchedSource] = {}
    additions: list[Section] = []
    for source in sources_at(Place.BESIDE):
        if source.is_wanted(query) and (known.remembers or not source.is_memory):
            tokens = source.tokens(assistant)
            its_room = None if tokens is None else min(factor.to_estimate(tokens), room)
            fitted = _search(source, known, query, its_room, recorded)
            searched[source.name] = SearchedSource(fitted=fitted, by=source.searches_by(query), room=its_room)
            if fitted.text:
                additions.append(Section.of(source.name, fitted.text))
                room -= additions[-1].tokens
    return searched, additions


def _search(
    source: Source[Any], known: Known, query: MessageQuery, room: int | None, recorded: RecordedBeside | None
) -> Fitted:
    """What a source gives for this message: what it gave then where that is recorded and nothing differs."""
    if recorded and source.name in recorded.fitted:
        before = recorded.searched and recorded.searched.get(source.name)
        if not before or before.holds(source.searches_by(query), room):
            return recorded.fitted[source.name]
    if recorded and source.is_memory and not recorded.may_search:
        return NOTHING
    room_for = sys.maxsize if room is None else room
    candidates = source.search(known.candidates.get(source.name), query, room_for)
    return NOTHING if candidates is None else source.fit(candidates, room_for)

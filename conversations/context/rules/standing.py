"""What stands before the turns all session long: a tier each, within its own budget, cut where there is no room. Pure
(C1, C3–C7, W5).

A tier is a function of rows and of the session's start, never of the time of the request, so that it stays the same byte for
byte until a row changes, and the provider's prompt cache holds.
"""

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Any

from conversations.context.render.excerpts import count
from conversations.context.source_problems import Problem
from conversations.context.sources import Fitted, Place, Source, SourceItem, sources_at
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.models import Assistant
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the sources hold as a session begins, by name. What was ``sent`` before in the session stays as it was, as long
    as it fits. Without ``remembers`` the person wants nothing remembered, or nobody can tell. ``zone``: whose days are the
    person's."""

    began_at: datetime
    remembers: bool = True
    zone: tzinfo = UTC
    candidates: Mapping[str, Hashable] = field(default_factory=dict)
    sent: Mapping[str, Fitted] = field(default_factory=dict)
    problems: Sequence[Problem] = ()

    def limited(self, *, memory: bool) -> "Known":
        """The same, of which nothing is remembered where ``memory`` is off."""
        return self if memory or not self.remembers else replace(self, remembers=False)


@dataclass(frozen=True, kw_only=True)
class Tier:
    """A section of the system text with the account of its rows. An empty ``text`` is a tier that didn't fit: not sent.

    ``room`` is what it was fitted within, ``unrepeated`` its candidates as the other tiers leave them.
    """

    source: Source[Any] = field(repr=False)
    text: str
    tokens: int
    items: Sequence[SourceItem]
    candidates: Hashable = field(default=None, repr=False, compare=False)
    sent: Fitted | None = field(default=None, repr=False, compare=False)
    room: int = field(default=0, repr=False, compare=False)
    unrepeated: Hashable = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.source.name

    def within(self, tokens: int) -> "Tier":
        if self.sent and count(self.sent.text) <= tokens:
            return replace(self, text=self.sent.text, tokens=count(self.sent.text), items=self.sent.items)
        if self.unrepeated is None:
            return replace(self, text="", tokens=0, items=[item.left_out() for item in self.items])
        fitted = _fitted(self.source, self.unrepeated, tokens)
        return replace(self, text=fitted.text, tokens=count(fitted.text), items=fitted.items, room=tokens)

    def beside(self, lines: tuple[str, ...], most: int) -> "Tier":
        """Without what these lines of other tiers say, in ``most`` tokens where that changes it. What was sent stays."""
        if self.candidates is None or (self.sent and self.sent.text == self.text):
            return self
        unrepeated = _unrepeated(self.source, self.candidates, lines)
        if unrepeated == self.unrepeated:
            return self
        return replace(self, unrepeated=unrepeated).within(min(self.room, most))


@lru_cache(maxsize=512)
def _unrepeated(source: Source[Any], candidates: Hashable, lines: tuple[str, ...]) -> Hashable:
    unrepeated: Hashable = source.unrepeated(candidates, lines)
    return unrepeated


@lru_cache(maxsize=512)  # within a session the same tiers are made for every request
def _fitted(source: Source[Any], candidates: Hashable, tokens: int) -> Fitted:
    return source.fit(candidates, tokens)


def build_tiers(known: Known, assistant: Assistant, factor: Factor = PLAIN) -> list[Tier]:
    """The tiers in the order that they are sent in, each within its own budget. Where nothing is known there is no tier."""
    tiers = [
        tier
        for source in sources_at(Place.STANDING)
        if (known.candidates.get(source.name) is not None or source.name in known.sent)
        and (not source.is_memory or (assistant.uses_memory and known.remembers))
        if (tier := _tier(source, known).within(factor.to_estimate(source.tokens(assistant) or 0))).items
    ]
    return _without_repeats(tiers, sys.maxsize)


def _tier(source: Source[Any], known: Known) -> Tier:
    sent, candidates = known.sent.get(source.name), known.candidates.get(source.name)
    return Tier(
        source=source,
        text="",
        tokens=0,
        items=sent.items if sent else (),
        candidates=candidates,
        sent=sent,
        unrepeated=candidates,
    )


def cut_tiers(tiers: Sequence[Tier], room: int, *, firm: bool = False) -> list[Tier]:
    """The tiers within ``room`` tokens as far as cutting them in their order helps (W5); if ``firm``, by cutting those alone
    that are kept otherwise."""
    if sum([tier.tokens for tier in tiers]) <= room:
        return list(tiers)
    left = {tier.name: tier for tier in tiers}
    for tier in sorted(tiers, key=lambda tier: -tier.source.cut_order):
        over = sum(each.tokens for each in left.values()) - room
        if over > 0 and (tier.source.cut_order == 0) is firm:
            left[tier.name] = tier.within(tier.tokens - over)
    return _without_repeats(left.values(), room)


def _without_repeats(tiers: Iterable[Tier], room: int) -> list[Tier]:
    """The tiers, each without what another says that it gives way to.

    What a tier that was cut no longer says comes back where it was left out for that, as far as there is room.
    """
    settled = {tier.name: tier for tier in tiers}
    lines: tuple[str, ...] = ()
    for tier in sorted(settled.values(), key=lambda tier: tier.source.gives_way):
        unused = max(0, room - sum(each.tokens for each in settled.values()))
        settled[tier.name] = tier.beside(lines, tier.tokens + unused)
        lines += tuple(settled[tier.name].text.splitlines()[1:])
    return list(settled.values())

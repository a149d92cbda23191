"""Where a thread is cut into the parts that are summarised: pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

LONGEST_PAUSE = timedelta(minutes=30)
MOST_TURNS = 60
MOST_CHARACTERS = 24_000


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPlace:
    """A turn as far as the cuts depend on it."""

    position: int
    at: datetime
    characters: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The turns of a thread from one position to another, both included."""

    first: int
    last: int
    started_at: datetime
    ended_at: datetime


def parts_of(places: Iterable[TurnPlace], zone: tzinfo, *, first: int = 1, settled: int = 0) -> list[Part]:
    """The turns, in their order, as parts: each within a day of the zone, without a long pause, and of bounded size.

    The first part begins at position ``first``, each other one right behind the one before. Turns up to the position
    ``settled`` are one part already and stay so, whatever the cuts would be today.
    """
    parts: list[Part] = []
    begun: list[TurnPlace] = []
    for place in places:
        if begun and place.position > settled and not _continues(begun, place, zone):
            parts.append(_part(begun, first, settled))
            first, begun = parts[-1].last + 1, []
        begun.append(place)
    return [*parts, _part(begun, first, settled)] if begun else parts


def _continues(begun: list[TurnPlace], place: TurnPlace, zone: tzinfo) -> bool:
    return (
        place.at - begun[-1].at <= LONGEST_PAUSE
        and place.at.astimezone(zone).date() == begun[0].at.astimezone(zone).date()
        and len(begun) < MOST_TURNS
        and sum(before.characters for before in begun) + place.characters <= MOST_CHARACTERS
    )


def _part(places: list[TurnPlace], first: int, settled: int) -> Part:
    times = [place.at for place in places]
    last = max(places[-1].position, settled)  # the last turns of what is settled may be gone
    return Part(first=first, last=last, started_at=min(times), ended_at=max(times))

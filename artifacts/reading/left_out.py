"""The account of what a file holds and its parts do not: what it is, why, how often and where."""

from collections.abc import Iterable, Iterator
from typing import TypedDict

from artifacts.reading.blocks import Block, LeftOut, Place, Why

MOST_PLACES = 20
MOST_KINDS = 100


class LeftOutObject(TypedDict):
    """As the child writes it, and as it is stored."""

    what: str
    """A noun for one of them."""
    why: str
    count: int
    places: list[str]
    """Labels of the pages, slides or sheets where the first of them would stand; of a text without such, none."""


class Account:
    def __init__(self) -> None:
        self._entries: dict[tuple[Why, str], LeftOutObject] = {}

    def noted(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks that make parts. What was left out is put down."""
        place = ""
        for block in blocks:
            if isinstance(block, LeftOut):
                self._add(block, place)
                continue
            if isinstance(block, Place):
                place = block.label
            yield block

    def _add(self, one: LeftOut, place: str) -> None:
        key = one.why, " ".join(one.what.split())[:80]
        if key not in self._entries and len(self._entries) >= MOST_KINDS:
            key = one.why, "other thing"
        entry = self._entries.setdefault(key, {"what": key[1], "why": one.why.value, "count": 0, "places": []})
        entry["count"] += one.count
        if place and place not in entry["places"] and len(entry["places"]) < MOST_PLACES:
            entry["places"].append(place)

    def entries(self) -> Iterator[dict[str, LeftOutObject]]:
        for entry in self._entries.values():
            yield {"left_out": entry}

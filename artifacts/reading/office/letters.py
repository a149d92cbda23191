"""How letters of a document look, as far as that says what they are, or whether anybody sees them. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache

from artifacts.reading.office.runs import SMALLEST_POINTS, WHITE, Look, is_invisible

LONGEST_CHAIN = 50
"""Styles that one is based on; what lies further back is not looked at."""
UNKNOWN = "unknown"
"""A colour that differs from all others."""


@dataclass(frozen=True)
class Letters:
    """What is said of some text; ``None`` where nothing is."""

    script: int | None = None
    is_struck: bool | None = None
    is_hidden: bool | None = None
    points: float | None = None
    colour: str | None = None
    """``RRGGBB``; empty where the program chooses one that can be read."""
    background: str | None = None
    font: str | None = None

    @lru_cache(maxsize=10_000)  # noqa: B019  # of a process that reads one file
    def over(self, base: "Letters") -> "Letters":
        """These, and where they say nothing, what the base says."""
        own = {
            at.name: mine if (mine := getattr(self, at.name)) is not None else getattr(base, at.name)
            for at in fields(self)
        }
        return Letters(**own)

    @lru_cache(maxsize=10_000)  # noqa: B019
    def look(self) -> Look:
        is_hidden = bool(self.is_hidden) or (self.points is not None and self.points <= SMALLEST_POINTS)
        is_hidden = is_hidden or is_invisible(self.colour or "", self.background or WHITE)
        return Look(script=self.script or 0, is_struck=bool(self.is_struck), is_hidden=is_hidden)


NOTHING = Letters()


def chain[T](style: str, find: Callable[[str], tuple[str, T] | None]) -> list[T]:
    """A style and those that it is based on, it last; what is based on itself ends there. ``find`` gives the style that one
    of them is based on, and what it says itself."""
    styles: list[T] = []
    passed: set[str] = set()
    while style not in passed and len(styles) < LONGEST_CHAIN and (own := find(style)):
        passed.add(style)
        style = own[0]
        styles.insert(0, own[1])
    return styles

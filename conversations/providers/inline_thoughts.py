"""Thoughts that a server leaves in the text of an answer, between tags at its beginning. Pure.

Servers without a parser for the model's way of thinking pass on what it writes: ``<think>…</think>``, then the answer. Only
the very beginning counts: what an answer quotes later is its text. A tag that is never closed means that the model never came
to its answer: all of it is thought, as servers with a parser have it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Place(Enum):
    BEFORE = auto()
    THOUGHT = auto()
    AFTER = auto()
    TEXT = auto()


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A piece of an answer, never empty."""

    text: str
    is_thought: bool = False


class InlineThoughts:
    """``tags``: what closes a thought, by what opens it. Without any, all is text."""

    def __init__(self, tags: Mapping[str, str]) -> None:
        self._tags = tags
        self._place = Place.BEFORE if tags else Place.TEXT
        self._closing = ""
        self._held = ""
        """What may turn out to be a tag, or space beside one."""
        self._thinks = False

    def feed(self, received: str) -> Iterator[Piece]:
        self._held += received
        if self._place is Place.BEFORE:
            self._open()
        if self._place is Place.THOUGHT:
            yield from self._think()
        if self._place is Place.AFTER and (text := self._held.lstrip()):
            self._held, self._place = text, Place.TEXT
        if self._place is Place.TEXT:
            yield from self._take(len(self._held))

    def end(self) -> Iterator[Piece]:
        """What was held back. From now on all is text: the model has begun to say or do something else."""
        if self._place is not Place.AFTER:
            yield from self._take(len(self._held), is_thought=self._place is Place.THOUGHT)
        self._held, self._place = "", Place.TEXT

    def _open(self) -> None:
        text = self._held.lstrip()
        for opening, closing in self._tags.items():
            if text.startswith(opening):
                self._held, self._closing, self._place = text.removeprefix(opening), closing, Place.THOUGHT
                return
        if not any(opening.startswith(text) for opening in self._tags):
            self._place = Place.TEXT

    def _think(self) -> Iterator[Piece]:
        if not self._thinks:
            self._held = self._held.lstrip()
        end = self._held.find(self._closing)
        thought = self._held[: len(self._held) - begun(self._closing, self._held) if end < 0 else end].rstrip()
        self._thinks = self._thinks or thought != ""
        yield from self._take(len(thought), is_thought=True)
        if end >= 0:
            self._held, self._place = self._held.lstrip().removeprefix(self._closing), Place.AFTER

    def _take(self, characters: int, *, is_thought: bool = False) -> Iterator[Piece]:
        text, self._held = self._held[:characters], self._held[characters:]
        if text:
            yield Piece(text=text, is_thought=is_thought)


def begun(tag: str, text: str) -> int:
    """How many characters at the end of a text may be the beginning of a tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)

"""Thoughts that a server leaves in the text of an answer, between tags at its beginning. Pure.

Servers without a parser for the model's way of thinking pass on what it writes: ``<think>…</think>``, then the answer. Only
the very beginning counts: what an answer quotes later is its text. A tag that is never closed means that the model never came
to its answer: all of it is thought, as servers with a parser have it.

Where a prompt opens the thought itself, the answer holds the closing tag alone. What a stream has shown by then stays text, as
nothing tells of it before; a closing tag at the very beginning is left away, and of an answer that comes whole what stands
before one on a line of its own is thought.
"""

from collections.abc import Iterator, Mapping
from enum import Enum, auto

from conversations.providers.harmony import BEGINNINGS, HarmonyReader, Piece, begun
from conversations.runtime.word_tables import read_tables

THOUGHT_TAGS: Mapping[str, str] = read_tables(__file__)["thought_tags"]


class Place(Enum):
    BEFORE = auto()
    THOUGHT = auto()
    AFTER = auto()
    TEXT = auto()
    HARMONY = auto()


class InlineThoughts:
    """``tags``: what closes a thought, by what opens it. Without any, all is text."""

    def __init__(self, tags: Mapping[str, str]) -> None:
        self._tags = tags
        self._openings = (*tags, *tags.values(), *BEGINNINGS)
        self._place = Place.BEFORE if tags else Place.TEXT
        self._closing = ""
        self._held = ""
        """What may turn out to be a tag, or space beside one."""
        self._thinks = False
        self._harmony = HarmonyReader()

    def whole(self, text: str) -> str:
        """An answer that comes at once, with the opening tag that its closing one lacks."""
        for opening, closing in self._tags.items():
            before, closes, after = text.partition(closing)
            stands_alone = before.rstrip(" ").endswith("\n") or after.lstrip(" ").startswith("\n")
            if closes and stands_alone and not before.lstrip().startswith(self._openings):
                return opening + text
        return text

    def feed(self, received: str) -> Iterator[Piece]:
        self._held += received
        place = None
        while place is not self._place:
            place = self._place
            match place:
                case Place.BEFORE | Place.AFTER:
                    self._open()
                case Place.THOUGHT:
                    yield from self._think()
                case Place.TEXT:
                    yield from self._take(len(self._held))
                case Place.HARMONY:
                    held, self._held = self._held, ""
                    yield from self._harmony.feed(held)

    def end(self) -> Iterator[Piece]:
        """What was held back. From now on all is text: the model has begun to say or do something else."""
        if self._place is Place.HARMONY:
            yield from self._harmony.end()
            return
        if self._place is not Place.AFTER:
            yield from self._take(len(self._held), is_thought=self._place is Place.THOUGHT)
        self._held, self._place = "", Place.TEXT

    def _open(self) -> None:
        text = self._held.lstrip()
        for opening, closing in self._tags.items():
            if text.startswith(opening):
                self._held, self._closing = text.removeprefix(opening), closing
                self._place, self._thinks = Place.THOUGHT, False
                return
        for closing in self._tags.values():
            if self._place is Place.BEFORE and text.startswith(closing):
                self._held, self._place = text.removeprefix(closing), Place.AFTER
                return
        if text.startswith(BEGINNINGS):
            self._held, self._place = text, Place.HARMONY
        elif not any(opening.startswith(text) for opening in self._openings):
            self._held = text if self._place is Place.AFTER else self._held
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

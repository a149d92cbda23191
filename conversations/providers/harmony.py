"""The channels of gpt-oss, where a server leaves them in the text of an answer. Pure.

https://developers.openai.com/cookbook/articles/openai-harmony: ``<|channel|>analysis<|message|>…<|end|>`` is what the model
thinks, ``final`` its answer, ``commentary`` what it says before a call of a tool; a message to a tool (``to=functions.name``)
is the call itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BEGINNINGS = ("<|start|>", "<|channel|>")
MARKS = (*BEGINNINGS, "<|message|>", "<|constrain|>", "<|end|>", "<|return|>", "<|call|>")
MARK = re.compile("|".join(map(re.escape, MARKS)))
RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.-]+)")
THOUGHT = "analysis"


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A piece of an answer. ``call`` is the name of the tool that it is input for, and ``number`` tells the calls apart; only
    the first piece of a call may be empty, and has its name."""

    text: str
    is_thought: bool = False
    call: str = ""
    number: int = 0


class HarmonyReader:
    def __init__(self) -> None:
        self._held = ""
        self._header: list[str] | None = None
        """Of the message that begins, by its parts; ``None`` within a message and between two."""
        self._is_thought = False
        self._calls = 0
        self._is_call = False

    def feed(self, received: str) -> Iterator[Piece]:
        self._held += received
        while found := MARK.search(self._held):
            before, self._held = self._held[: found.start()], self._held[found.end() :]
            yield from self._take(before)
            yield from self._mark(found[0])
        size = len(self._held) - max(begun(mark, self._held) for mark in MARKS)
        text, self._held = self._held[:size], self._held[size:]
        yield from self._take(text)

    def end(self) -> Iterator[Piece]:
        held, self._held = self._held, ""
        yield from self._take(held)

    def _mark(self, mark: str) -> Iterator[Piece]:
        if mark != "<|message|>":
            is_further = mark in ("<|channel|>", "<|constrain|>") and self._header is not None
            self._header = [*(self._header or ()), ""] if is_further else [""] if mark in BEGINNINGS else None
            self._is_thought = self._is_call = False
            return
        header, self._header = self._header or [""], None
        recipient = RECIPIENT.search(" ".join(header))
        self._is_call = recipient is not None
        self._is_thought = not recipient and any(part.split()[:1] == [THOUGHT] for part in header)
        if recipient:
            self._calls += 1
            yield Piece(text="", call=recipient[1], number=self._calls)

    def _take(self, text: str) -> Iterator[Piece]:
        if self._header is not None:
            self._header[-1] += text
        elif text:
            yield Piece(text=text, is_thought=self._is_thought, number=self._calls if self._is_call else 0)


def begun(tag: str, text: str) -> int:
    """How many characters at the end of a text may be the beginning of a tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)

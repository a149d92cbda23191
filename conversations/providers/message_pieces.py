"""What a user message is made of, read back: a person's words, files, and what Openbook put beside them. Pure.

The same of blocks of the Messages API and of one text, as Chat Completions and the Claude CLI are given it. What stands there
from one source without a break is one piece.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conversations.providers.file_frames import OPENING, FramedFile, read_file
from conversations.providers.history import Content, blocks_of
from conversations.providers.markers import ADDED, FILE, PRESET, Kind
from conversations.providers.quoting import unquote

BETWEEN = "\n\n"
INSTRUCTS = PRESET.partition("“")[0]
MARKS = (*ADDED, INSTRUCTS)
BEGINS = re.compile(rf'{BETWEEN}(?={"|".join(map(re.escape, MARKS))}|<{FILE}(?:-[0-9]{{1,6}})? name=")')


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What comes from one source. ``mark`` is what Openbook began it with, and not in ``text``: empty for a person's words and
    for a file, whose text has its tags."""

    text: str
    mark: str = ""
    file: FramedFile | None = None


def pieces_of(content: Content) -> list[Piece]:
    texts = [content] if isinstance(content, str) else [block["text"] for block in blocks_of(content, "text")]
    return [piece for text in _whole(texts) for piece in pieces_in(text)]


def pieces_in(text: str) -> Iterator[Piece]:
    start = 0
    while True:
        if read := read_file(text, start):
            file, end = read
            yield Piece(text=text[start:end], file=file)
            start = end + len(BETWEEN) if text.startswith(BETWEEN, end) else end
            if start >= len(text):
                return
            continue
        begins = BEGINS.search(text, start)
        yield _piece(text[start : begins.start() if begins else None])
        if not begins:
            return
        start = begins.end()


def _piece(text: str) -> Piece:
    mark = next((mark for mark in MARKS if text.startswith(mark)), "")
    return Piece(text=text.removeprefix(mark), mark=mark) if mark else Piece(text=unquote(Kind.MESSAGE, text))


def _whole(texts: Sequence[str]) -> Iterator[str]:
    """With the texts of a file as one, where pictures stand between them."""
    begun = ""
    for text in texts:
        if begun and (read_file(begun) or text.startswith(MARKS)):
            yield begun
            begun = ""
        if begun or OPENING.match(text):
            begun += text
        else:
            yield text
    if begun:
        yield begun

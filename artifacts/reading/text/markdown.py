"""Markdown by its headings and paragraphs, as it stands; comments and embedded pictures are taken out of it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Why
from artifacts.reading.pictures.data_uris import STAND_IN, DataUris, Embedded, Keep

LONGEST_LINE = 2**20
"""Characters; a longer one comes in pieces."""
LONGEST_FRONT_MATTER = 200
"""Lines."""
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
REMARK = re.compile(r" {0,3}\[(?://|comment|#|_)?\]:[ \t]*(?:#|<>)[ \t]*[\"'(].*", re.IGNORECASE)
"""The address of a link that nothing leads to, used as a comment: ``[//]: # (text)``."""
DEFINITION = re.compile(r" {0,3}\[([^\[\]]+)\]:\s*<?(data:,embedded-\d+)>?")
IMAGE = re.compile(r"!\[([^\[\]]*+)\](?:\(\s*+<?+([^\s<>()]++)>?+[^()]*+\)|\[([^\[\]]*+)\])?+")
IMAGE_TAG = re.compile(r"<img\b[^<>]*+>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"\b(alt|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
SIGNS = re.compile(r"`+|<!--")
SIGNIFICANT = ("<!--", "![", "<img", "<IMG", "data:,")

Lookup = Callable[[str], Embedded | None]


def read_markdown(pieces: Callable[[], Iterable[str]], keep: Keep) -> Iterator[Block]:
    """``pieces`` gives the text, from its beginning each time: what a picture is called stands behind its place."""
    uris = DataUris(keep)
    definitions = {
        defined[1].casefold(): defined[2]
        for line in lines_of(uris.pieces(pieces()))
        if "data:," in line and (defined := DEFINITION.match(line))
    }
    yield from markdown(lines_of(DataUris().pieces(pieces())), uris.of, definitions)


def markdown(
    lines: Iterable[str], lookup: Lookup = lambda address: None, definitions: Mapping[str, str] | None = None
) -> Iterator[Block]:
    """``lookup`` knows the pictures by address, ``definitions`` addresses by what they are called further on."""
    return _Markdown(lookup, definitions or {}).blocks(lines)


class _Markdown:
    def __init__(self, lookup: Lookup, definitions: Mapping[str, str]) -> None:
        self._lookup = lookup
        self._definitions = definitions
        self._held: list[str] = []
        self._size = 0

    def blocks(self, lines: Iterable[str]) -> Iterator[Block]:
        rest = iter(lines)
        for number, line in enumerate(rest):
            if number == 0 and line.rstrip() in {"---", "+++"}:
                yield Text("\n".join(_front_matter(line, rest)))
            elif opened := FENCE.match(line.lstrip()):
                yield from self._flush()
                yield Text("\n".join(_fenced(line, opened[1] or opened[2], rest)))
            elif _begins_comment(line, is_within=bool(self._held)):
                yield from self._flush()
                behind = _behind_comment(line, rest)
                yield LeftOut(Why.HIDDEN, "comment")
                self._hold(behind)
            elif REMARK.match(line):
                yield LeftOut(Why.HIDDEN, "comment")
            elif "data:," not in line or not DEFINITION.match(line):
                yield from self._line(line)
        yield from self._flush()

    def _line(self, line: str) -> Iterator[Block]:
        if heading := ATX.match(line):
            yield from self._flush()
            yield from self._heading(len(heading[1]), heading[2], line)
        elif len(self._held) == 1 and (under := UNDERLINE.match(line)):
            [title], self._held, self._size = self._held, [], 0
            yield from self._heading(1 if "=" in under[1] else 2, title.strip(), f"{title}\n{line}")
        elif not line.strip() or self._size > LONGEST_LINE:
            yield from self._flush()
            self._hold(line)
        else:
            self._hold(line)

    def _heading(self, level: int, text: str, line: str) -> Iterator[Block]:
        cleaned, beside = self._cleaned(text)
        yield Heading(level, cleaned.strip(), line if cleaned == text else "")
        yield from beside

    def _hold(self, line: str) -> None:
        if line.strip():
            self._held.append(line)
            self._size += len(line)

    def _flush(self) -> Iterator[Block]:
        text, beside = self._cleaned("\n".join(self._held))
        self._held, self._size = [], 0
        if text.strip():
            yield Text(text)
        yield from beside

    def _cleaned(self, text: str) -> tuple[str, list[Block]]:
        """Without comments, with words in place of pictures; and what comes after it."""
        if not any(sign in text for sign in SIGNIFICANT):
            return text, []
        is_code = all(line.startswith(("    ", "\t")) for line in text.split("\n"))
        text, comments = (text, 0) if is_code else _without_comments(text)
        beside: list[Block] = [LeftOut(Why.HIDDEN, "comment", comments)] if comments else []

        def picture(image: re.Match[str]) -> str:
            label = image[1] if image[3] in {None, ""} else image[3]
            return self._named(image[0], image[2] or self._definitions.get(label.casefold(), ""), image[1], beside)

        def tag(image: re.Match[str]) -> str:
            said = {name.lower(): double or single for name, double, single in ATTRIBUTE.findall(image[0])}
            return self._named(image[0], said.get("src", ""), said.get("alt", ""), beside)

        text = IMAGE_TAG.sub(tag, IMAGE.sub(picture, text))
        return STAND_IN.sub(lambda stand_in: self._named(stand_in[0], stand_in[0], "", beside), text), beside

    def _named(self, written: str, address: str, alternative: str, beside: list[Block]) -> str:
        embedded = self._lookup(address)
        if embedded is None:
            return written
        beside += embedded.blocks()
        return embedded.words(alternative)


def lines_of(texts: Iterable[str]) -> Iterator[str]:
    """Without their ends, of whatever kind, and without zeros that fill up a file."""
    rest = ""
    for text in chain(texts, [""]):
        rest += text
        held = "\r" if rest.endswith("\r") and text else ""  # the other half of an end may follow
        *lines, rest = rest.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        yield from (line.rstrip("\0") for line in lines)
        rest += held
        if len(rest) > LONGEST_LINE:
            yield rest
            rest = ""
    if rest := rest.rstrip("\0"):
        yield rest


def _front_matter(line: str, rest: Iterator[str]) -> Iterator[str]:
    yield line
    for _, inner in zip(range(LONGEST_FRONT_MATTER), rest, strict=False):
        yield inner
        if inner.rstrip() in {line.rstrip(), "..."}:
            return


def _fenced(line: str, fence: str, rest: Iterator[str]) -> Iterator[str]:
    yield line
    for inner in rest:
        yield inner
        if inner.strip().startswith(fence) and not inner.strip().strip(fence[0]):
            return


def _begins_comment(line: str, *, is_within: bool) -> bool:
    """Four spaces before it make it code, unless it goes on with a paragraph or an item."""
    indent = len(line) - len(line.lstrip())
    return line.startswith("<!--", indent) and (indent < 4 or is_within)


def _behind_comment(line: str, rest: Iterator[str]) -> str:
    """What follows the comment in its last line. One that never ends goes to the end of the text."""
    line = line.lstrip()[4:]
    while "-->" not in line:
        following = next(rest, None)
        if following is None:
            return ""
        line = following
    return line.partition("-->")[2]


def _without_comments(text: str) -> tuple[str, int]:
    """And how many there were. Those in code are no comments, nor is what does not end in the same paragraph."""
    signs = list(SIGNS.finditer(text))
    next_alike: list[int] = [-1] * len(signs)
    seen: dict[str, int] = {}
    for place in range(len(signs) - 1, -1, -1):
        next_alike[place] = seen.get(signs[place][0], -1)
        seen[signs[place][0]] = place
    kept: list[str] = []
    at = place = count = 0
    while place < len(signs):
        sign = signs[place]
        end = text.find("-->", sign.end()) if sign[0] == "<!--" and sign.start() >= at else -1
        if sign.start() < at:
            place += 1
        elif sign[0] == "<!--" and end < 0:
            break
        elif sign[0] == "<!--":
            kept.append(text[at : sign.start()])
            at, count, place = end + 3, count + 1, place + 1
        else:
            place = next_alike[place] + 1 if next_alike[place] > 0 else place + 1
    return "".join([*kept, text[at:]]), count

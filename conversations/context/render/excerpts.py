"""Texts of rows under a heading of ours, cut to a size. Pure.

They are data: none of their lines may pass for one of our headings.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from types import MappingProxyType

from conversations.context.reasons import Reason
from conversations.context.tokens.budget import shorten
from conversations.context.tokens.estimate import estimate_tokens
from conversations.providers.markers import Kind
from conversations.providers.quoting import note, quote, unquote
from conversations.runtime.text import clean

SMALLEST_PIECE = 40
"""Tokens: less of a text than this is of no use."""
LONGEST_COUNTED = 2_500

type FittedLines = dict[str, tuple[Reason, int]]
"""Why each row is there and the tokens that it takes, by its id."""


def bullet(text: str) -> str:
    return note(clean(text))


def quoted(text: str, kind: Kind = Kind.SUMMARY) -> str:
    """A text of several lines, none of which passes for one of our headings."""
    return quote(kind, _lines(text))


def requoted(text: str) -> str:
    """A piece of a text that was quoted: cutting may lay bare a mark that stood within a line."""
    return quote(Kind.SUMMARY, unquote(Kind.SUMMARY, _lines(text)))


def _lines(text: str) -> str:
    return "\n".join(clean(text).strip().splitlines())


def fit_list(
    heading: str,
    lines: dict[str, str],
    tokens: int,
    *,
    characters: int = sys.maxsize,
    groups: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, FittedLines]:
    """The lines that fit whole, in order; if none does, a piece of the first. Tells which. ``groups`` are lines that stand
    above the first of those that follow one another and have the same one."""
    chosen: list[str] = []
    tokens_left, characters_left = tokens - count(heading), characters - len(heading) - 1
    for id, line in lines.items():
        group = groups.get(id, "")
        added = [line] if not group or (chosen and groups.get(chosen[-1]) == group) else [group, line]
        if sum(map(len, added)) < characters_left and sum(map(count, added)) < tokens_left:
            chosen.append(id)
            characters_left -= sum(len(each) + 1 for each in added)
            tokens_left -= sum(map(count, added))
    # Parts can take a little less than the whole: line ends count too.
    while chosen and count(with_list(heading, _grouped(chosen, lines, groups))) > tokens:
        chosen.pop()
    if chosen:
        text = with_list(heading, _grouped(chosen, lines, groups))
        return text, {id: (Reason.REMEMBERED, count(lines[id])) for id in chosen}
    for id, line in lines.items():
        if text := piece(heading, line, tokens, characters=characters):
            return text, {id: (Reason.SHORTENED, count(text) - count(heading))}
    return "", {}


def _grouped(ids: Sequence[str], lines: Mapping[str, str], groups: Mapping[str, str]) -> list[str]:
    rows: list[str] = []
    for group, some in groupby(ids, key=lambda id: groups.get(id, "")):
        rows += [group] if group else []
        rows += [lines[id] for id in some]
    return rows


def with_list(heading: str, lines: Sequence[str]) -> str:
    return f"{heading}\n\n" + "\n".join(lines)


def piece(heading: str, body: str, tokens: int, *, characters: int = sys.maxsize) -> str:
    """A body whole or shortened under its heading; nothing if no useful piece of it fits."""
    room = tokens - count(heading)
    whole = f"{heading}\n\n{body}"
    if count(whole) <= tokens and len(whole) <= characters:
        return whole
    while room >= SMALLEST_PIECE:
        text = f"{heading}\n\n{requoted(shorten(body, room))}"
        over = count(text) - tokens
        if len(text) > characters:
            over = max(over, room - room * characters // len(text))
        if over <= 0:
            return text
        room -= over
    return ""


def count(text: str) -> int:
    # What is known of a person is the same in all requests of a session. Long texts would make the cache too large.
    return _cached_count(text) if len(text) <= LONGEST_COUNTED else estimate_tokens(text)


@lru_cache(maxsize=2_048)
def _cached_count(text: str) -> int:
    return estimate_tokens(text)

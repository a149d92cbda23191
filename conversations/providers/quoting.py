"""The one way in which a text that others wrote is put between markers of Openbook's, and read back: what is inside can't end
it. Pure, so the same text is the same bytes in every request.

Ordinary texts stay as they are. Where a text holds what would pass for a marker of its place (``markers``), a backslash comes
before that. Where a text has to stay as it is, a file's, the tags around it get a number that it doesn't hold. Names stand
between typographic quotes, with backslashes where they hold such a quote that would end them; attributes of tags are escaped as
in HTML; what a model is given as JSON ends where JSON says.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import count
from typing import Any

from conversations.providers.markers import (
    BLANKS,
    BULLET,
    CONTEXTUALISED,
    LABELS,
    REMEMBERED,
    REPLACED,
    SAID_TIMES,
    SEPARATOR,
    SPEAKERS,
    TAGS,
    UNSEEN,
    Kind,
    alike,
)

AFTER_NAMES = r"(?: \(|[,.)\]]|\Z)"
"""What comes behind the quotes around a name. A quote that something else follows doesn't end it."""
NAME = rf"“((?:[^\\”]|\\.|”(?!{AFTER_NAMES}))*)”"
"""A pattern of what ``quote_name`` writes."""
ENDS_NAMES = re.compile(rf"\\|”{AFTER_NAMES}")
IN_NAMES = re.compile(r"[\\”]")
ESCAPED = re.compile(r"\\(.)")
TAG = re.compile(
    rf"{alike('<')}[{BLANKS}{UNSEEN}/／]*(?:{'|'.join(map(alike, TAGS))})[{UNSEEN}]*(?:-([0-9]{{1,6}}))?(?![\w-])"
)


def quote(kind: Kind, text: str) -> str:
    """The text as it can stand in such a place, and nothing in it for anything else there."""
    for rule in kind.value:
        text = rule.quote(text)
    return text


def unquote(kind: Kind, text: str) -> str:
    """The text that was quoted so."""
    for rule in reversed(kind.value):
        text = rule.unquote(text)
    return text


def quote_name(name: str) -> str:
    """A name, on one line between typographic quotes, which may stand in it where they don't end it."""
    words = quote(Kind.NOTE, on_one_line(name))
    return f"“{IN_NAMES.sub(r'\\\g<0>', words) if ENDS_NAMES.search(words) else words}”"


def unquote_name(inside: str) -> str:
    """What stands between the quotes, as the name that it is."""
    return unquote(Kind.NOTE, ESCAPED.sub(r"\1", inside))


def mention(what: str, name: str) -> str:
    """A note that names something, such as ``[File: plan.pdf]``."""
    return f"[{what}: {quote(Kind.NOTE, on_one_line(name))}]"


def attribute(text: str) -> str:
    """As the value of an attribute of a tag, between double quotes."""
    return escape(on_one_line(text), quote=True)


def fence(texts: Iterable[str]) -> str:
    """What the tags around these texts have behind their names, so that none of the texts holds one of them: mostly nothing,
    else a number."""
    # The pattern looks for brackets of other scripts, too, which takes long; most texts have none at all.
    suspects = (text for text in texts if "<" in text or not text.isascii())
    used = {int(number or 1) for text in suspects for number in TAG.findall(text)}
    return f"-{next(number for number in count(2) if number not in used)}" if used else ""


def as_json(value: Any) -> str:
    """All that a helping task is about, as one text."""
    return json.dumps(value, ensure_ascii=False)


def on_one_line(text: str) -> str:
    return " ".join(text.split())


LINE = re.compile(
    rf'- (?:(?P<who>{"|".join(SPEAKERS.values())}): )?"(?P<text>.*)"'
    rf"(?: {re.escape(SAID_TIMES).replace(re.escape('{times}'), '(?P<times>[0-9]+)')})?(?P<replaced> {re.escape(REPLACED)})?"
)


@dataclass(frozen=True, kw_only=True)
class QuotedLine:
    """What is recalled on a line: quoted as what somebody said, or noted. ``role`` is empty for a note and where the text names
    the speaker."""

    text: str
    role: str = ""
    times: int = 1
    is_replaced: bool = False
    is_note: bool = False


def said_heading(at: datetime, *, here: bool) -> str:
    place = ", earlier in this conversation" if here else " in another conversation"
    return f"Said on {day(at)}{place}:"


def remembered_heading(at: datetime) -> str:
    return f"{REMEMBERED}{day(at)}:"


def day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def quotation(text: str, *, role: str, times: int = 1, is_replaced: bool = False) -> str:
    """A line, whatever lines the text has; without a ``role`` it names by itself who said it. ``times`` is how often it was
    said, ``is_replaced`` whether something that was said later holds instead."""
    who = f"{SPEAKERS[role]}: " if role else ""
    often = f" {SAID_TIMES.format(times=times)}" if times > 1 else ""
    words = quote(Kind.QUOTATION, on_one_line(text))
    return f'{BULLET}{who}"{words}"{often}{f" {REPLACED}" if is_replaced else ""}'


def note(text: str) -> str:
    """A line of a list, whatever lines the text has."""
    return f"{BULLET}{quote(Kind.NOTE, on_one_line(text))}"


def noted(line: str) -> str:
    """What such a line notes."""
    return unquote(Kind.NOTE, line.removeprefix(BULLET))


def contextualised(query: str) -> str:
    """What follows the person's own words in the newest message (Q2)."""
    return f"{CONTEXTUALISED} {quote(Kind.NOTE, query)}"


def query_in(text: str) -> str:
    """The query that is marked so."""
    return unquote(Kind.NOTE, text.removeprefix(f"{CONTEXTUALISED} "))


def transcript(turns: Iterable[tuple[str, str]]) -> str:
    """A whole conversation as one text: its turns by role and text (P2)."""
    return SEPARATOR.join(f"{LABELS[role]} {quote(Kind.TRANSCRIPT, text)}" for role, text in turns)


def turns_in(text: str) -> list[tuple[str, str]]:
    """The turns of a transcript."""
    turns: list[tuple[str, str]] = []
    for turn in text.split(SEPARATOR) if text else ():
        role = next(role for role, label in LABELS.items() if turn.startswith(f"{label} "))
        turns.append((role, unquote(Kind.TRANSCRIPT, turn.removeprefix(f"{LABELS[role]} "))))
    return turns


def quoted_lines(block: str) -> Iterator[tuple[int, QuotedLine]]:
    """The lines of what was recalled, with their places from 0: below the heading of a day what was said, or what was noted."""
    are_notes = False
    for place, line in enumerate(block.split("\n")):
        if not line.startswith(BULLET):
            are_notes = line.startswith(REMEMBERED)
        elif (match := LINE.fullmatch(line)) and not are_notes:
            yield place, _read_line(match)
        else:
            yield place, QuotedLine(text=noted(line), is_note=True)


def _read_line(match: re.Match[str]) -> QuotedLine:
    roles = {speaker: role for role, speaker in SPEAKERS.items()}
    return QuotedLine(
        text=unquote(Kind.QUOTATION, match["text"]),
        role=roles[match["who"]] if match["who"] else "",
        times=int(match["times"] or 1),
        is_replaced=bool(match["replaced"]),
    )


def quoted_texts(block: str) -> Iterator[str]:
    """What is quoted or noted in a block of such lines, without what Openbook says around it."""
    return (line.text for _, line in quoted_lines(block))

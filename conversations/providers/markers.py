"""Every marker between which Openbook puts texts that others wrote, and what in such a text would pass for one. Pure.

A new marker is added here, and to the kinds of text in which it means something: then ``quoting`` keeps texts from ending it,
and the tests try it.

A text passes for a marker whatever its capitals are, with characters in it that are not seen, with other blanks, and in full
width, as models read all of these alike. Letters of other alphabets that only look alike are other letters. A line begins
after each character that ends one, U+2028 and a carriage return among them.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

CONTEXTUALISED = (
    "[Contextualised query, written by Openbook and not by the person; it says what the text above refers to]"
)
"""What the block of a user message begins with that Openbook added (Q2)."""

RECALLED = "[Recalled for this message by Openbook and not by the person: quotes of past talk, no requests for now]"
"""What the block begins with that holds what was recalled for one message (C3)."""

ARTIFACTS = "[Artifacts of this thread, listed by Openbook and not by the person]"
"""What the block begins with that lists what exists beside the thread."""

EARLIER = "[Earlier turns are left out.]"
"""Stands before an answer whose question is left out: the first turn has to be the user's."""

ADDED = (CONTEXTUALISED, RECALLED, ARTIFACTS, EARLIER)
"""What begins so in a user message is nobody's words."""

PRESET = "[Instruction of the preset “{name}”, given by Openbook and not by the person]"
"""What the message begins with in which a preset asks."""

FILE, PART, OUTLINE = TAGS = ("file", "part", "outline")
"""The tags around a file, a part of it, and the list of its parts."""

SEPARATOR = "\n\n---\n\n"
"""Between the turns of a transcript, and between the passages that a search found."""
LABELS = {"user": "Human:", "assistant": "Assistant:"}
"""Who says a turn of a transcript (P2)."""

CUT = "…"
"""Where a passage begins or ends within its text."""
REPLACED = "(replaced since, at least in part)"
"""Behind what was said, where something that was said later holds instead."""
SAID_TIMES = "(said {times} times)"
REMEMBERED = "Remembered on "
"""What the heading of a day begins with whose lines are notes."""
OPEN_SINCE = "(open since {day})"
SPEAKERS = {"user": "person", "assistant": "assistant"}
"""Who said what is recalled."""
HEADING, BULLET = "#", "- "
"""Of what is known of the person."""

BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
LINE_ENDS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
LINE_BEGINS = rf"(?:\A|(?<=[{LINE_ENDS}]))[{BLANKS}{UNSEEN}]*"
DIGITS = "0-9０-９"
DASHES = "\\-－﹣"
FULL_WIDTH = 0xFEE0
SMALL_FORMS = {"<": "﹤", ">": "﹥", "#": "﹟", "-": "﹣", ":": "﹕", "(": "﹙", ")": "﹚", "[": "﹝", "]": "﹞"}


def alike(marker: str) -> str:
    """A pattern of all that passes for a marker."""
    return f"[{UNSEEN}]*".join(map(_letter, marker))


def _letter(letter: str) -> str:
    if letter == " ":
        return f"[{BLANKS}]+"
    forms = {letter.lower(), letter.upper()}
    forms |= {chr(ord(form) + FULL_WIDTH) for form in forms if "!" <= form <= "~"}
    return f"[{''.join(map(re.escape, sorted(forms)))}{SMALL_FORMS.get(letter, '')}]"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Where in a text a backslash is put before what would pass for a marker, and taken away again. No marker holds a
    backslash, nor another one of its rule."""

    before: str
    marker: str
    begins: str = ""
    """Of one letter that all its markers begin with. Most texts hold none, which is seen in a hundredth of the time."""

    @classmethod
    def of(cls, *markers: str, after: str = "", begins: str = "") -> "Rule":
        """``markers``, what they come ``after``, and the letter that all of them begin with, are patterns."""
        return cls(before=rf"({after}\\*)" if after else "", marker=f"({'|'.join(markers)})", begins=begins)

    # Compiled when they are first used: together they take a tenth of a second, which most commands never need.

    @cached_property
    def bare(self) -> re.Pattern[str]:
        return re.compile(self.before + self.marker)

    @cached_property
    def escaped(self) -> re.Pattern[str]:
        return re.compile(rf"{self.before}\\{self.marker}")

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        return re.compile(self.begins)

    def quote(self, text: str) -> str:
        if self.begins and not self.beginning.search(text):
            return text
        return self.bare.sub(r"\1\\\2" if self.before else r"\\\1", text)

    def unquote(self, text: str) -> str:
        if "\\" not in text:
            return text
        return self.escaped.sub(r"\1\2" if self.before else r"\1", text)


def alike_any(*markers: str) -> str:
    """The same of several that begin alike, with that letter apart: a search then looks for the letter alone."""
    first = _letter(markers[0][0])
    return f"(?<={first})(?:{'|'.join(alike(marker).removeprefix(first) for marker in markers)})"


BRACKETED = alike_any(
    *(
        mark.partition(words)[0] + words
        for mark, words in (
            (CONTEXTUALISED, "query"),
            (RECALLED, "message"),
            (ARTIFACTS, "thread"),
            (EARLIER, "out"),
            (PRESET, "preset"),
        )
    )
)
FILE_NUMBER = f"(?:[{UNSEEN}]*[{DASHES}][{UNSEEN}{DIGITS}]{{1,12}})?"
FILE_BEGINS = f"{alike_any('<' + FILE)}{FILE_NUMBER}[{BLANKS}{UNSEEN}]+{alike('name=')}"
OPENING = f"[{_letter('[')[1:-1]}{_letter('<')[1:-1]}]"
FRAMES = Rule.of(f"{OPENING}(?:{BRACKETED}|{FILE_BEGINS})", begins=OPENING)
"""What begins something that Openbook adds to a message. Wherever it stands: lines are joined in some of the kinds."""
HEADINGS = Rule.of(alike(HEADING), after=LINE_BEGINS)
BULLETS = Rule.of(alike(BULLET), after=LINE_BEGINS)
SEPARATORS = Rule.of(rf"{alike('---')}[{DASHES}{BLANKS}{UNSEEN}]*(?=[{LINE_ENDS}]|\Z)", after=LINE_BEGINS)
TURNS = Rule.of(*map(alike, LABELS.values()), after=LINE_BEGINS)
SOURCES = Rule.of(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC, ", after=LINE_BEGINS)
"""What a passage that was found begins with."""
CUTS_BEFORE = Rule.of(rf"{CUT}(?= |\Z)", after=r"\A")
CUTS_BEHIND = Rule.of(rf"{CUT}\Z", rf"{re.escape(REPLACED)}\Z", after=" ")
QUOTED_LINES = Rule.of(
    *(alike(f'{speaker}: "') for speaker in SPEAKERS.values()),
    f"{alike('" (said')}[{BLANKS}{UNSEEN}]+[{DIGITS}]",
    alike(f'" {REPLACED}'[:12]),
)
AGES = Rule.of(alike(OPEN_SINCE.partition("{")[0]))


class Kind(Enum):
    """What a text is put into, with what would end it or begin something else there. In the order in which they apply."""

    MESSAGE = (FRAMES,)
    """The words of a turn, in a message."""
    TRANSCRIPT = (SEPARATORS, TURNS)
    """All that stands in a turn, where the whole conversation is one text."""
    PASSAGE = (FRAMES, SEPARATORS, SOURCES, CUTS_BEFORE, CUTS_BEHIND)
    """Of a turn or a file, as a search found it."""
    QUOTATION = (FRAMES, QUOTED_LINES)
    """Of a turn on one line, as it is recalled."""
    NOTE = (FRAMES, AGES)
    """On one line: a note, a topic, a moment, a query, a name."""
    SUMMARY = (FRAMES, HEADINGS)
    """Several lines under a heading."""
    DAY = (FRAMES, HEADINGS, BULLETS)
    """Several lines under a heading, before a list."""

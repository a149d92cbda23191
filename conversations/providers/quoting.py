"""How earlier talk is quoted beside a message, and read back by a provider that answers from what it was given. Pure.

It is quoted with its place and day, as what was said then: nothing of it may read as a wish for now (F11).
"""

import re
from collections.abc import Iterator
from datetime import datetime

SPEAKERS = {"user": "person", "assistant": "assistant"}
REPLACED = "(replaced since, at least in part)"
QUOTE = re.compile(
    r'- (?:(?P<who>person|assistant): )?"(?P<text>.*)"(?: \(said \d+ times\))?' rf"(?: {re.escape(REPLACED)})?"
)
NOTE = "- "


def said_heading(at: datetime, *, here: bool) -> str:
    place = ", earlier in this conversation" if here else " in another conversation"
    return f"Said on {day(at)}{place}:"


def remembered_heading(at: datetime) -> str:
    return f"Remembered on {day(at)}:"


def day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def quotation(text: str, *, role: str, times: int = 1, is_replaced: bool = False) -> str:
    """A line; without a ``role`` the text itself names who said it. ``times`` is how often it was said, ``is_replaced`` whether
    something that was said later holds instead."""
    who = f"{SPEAKERS[role]}: " if role else ""
    often = f" (said {times} times)" if times > 1 else ""
    return f'- {who}"{text}"{often}{f" {REPLACED}" if is_replaced else ""}'


def quoted_texts(block: str) -> Iterator[str]:
    """What is quoted or noted in a block of such lines, without what Openbook says around it."""
    for line in block.splitlines():
        if quote := QUOTE.fullmatch(line):
            yield quote["text"]
        elif line.startswith(NOTE):
            yield line.removeprefix(NOTE)

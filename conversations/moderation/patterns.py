"""Lists of patterns. Pure.

They are matched by RE2, whose time grows with the text and not with the pattern: a pattern of staff can't keep the server busy.
"""

from collections.abc import Iterator
from functools import lru_cache

import re2

from conversations.moderation.verdicts import Opinion

NOTE = "#"
MOST_MEMORY = 8 << 20
"""Bytes that one pattern may take."""


class InvalidPattern(ValueError):
    """``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"Line {line}: {reason}")
        self.line, self.reason = line, reason


@lru_cache(maxsize=256)
def compiled(patterns: str) -> tuple[tuple[int, "re2._Regexp"], ...]:
    """The patterns of a list, each with the number of its line. Raises ``InvalidPattern``."""
    return tuple(_compiled(patterns))


def expression_of(pattern: str, *, is_case_sensitive: bool) -> "re2._Regexp":
    """Raises ``re2.error``."""
    options = re2.Options()
    options.case_sensitive = is_case_sensitive
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MOST_MEMORY
    return re2.compile(pattern, options)


def _compiled(patterns: str) -> Iterator[tuple[int, "re2._Regexp"]]:
    for number, line in enumerate(patterns.splitlines(), start=1):
        pattern = line.strip()
        if not pattern or pattern.startswith(NOTE):
            continue
        try:
            expression = expression_of(pattern, is_case_sensitive=False)
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            raise InvalidPattern(number, reason.decode() if isinstance(reason, bytes) else str(reason)) from None
        if expression.search(""):
            raise InvalidPattern(number, "it matches an empty text, and so every text")
        yield number, expression


def opinion_of(patterns: str, text: str) -> Opinion:
    """What a list makes of a text: it names patterns by their lines, since their words would tell what somebody wrote. Raises
    ``InvalidPattern``."""
    labels = tuple(f"line {number}" for number, expression in compiled(patterns) if expression.search(text))
    return Opinion(labels=labels)

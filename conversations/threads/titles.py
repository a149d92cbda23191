"""A thread's title, from its first message. Pure, and linear in what is read of it."""

import re

TITLE_CHARS = 60
READ_CHARS = 4_000
"""Of the message: what comes later names nothing."""

FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
LINE_SIGNS = re.compile(r"^[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)]|\[[ xX]\])[ \t]+)*")
RULE = re.compile(r"^[\s|:*_=-]*$")
LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{0,2000}\)")
EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\*{1,3}(?![\w*])")


def title_from(text: str) -> str:
    """The first words of a thread's first message, on one line, without the signs of Markdown. Code names a thread only where
    nothing else is said."""
    outside, code = _lines(text[:READ_CHARS])
    return first_words(" ".join(outside)) or first_words(" ".join(code)) or first_words(text)


def titles_from(text: str) -> set[str]:
    """Every title that this message may have given a thread: of older threads it is the first words with all signs."""
    return {title_from(text), first_words(text)}


def first_words(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


def _lines(text: str) -> tuple[list[str], list[str]]:
    """The lines outside of blocks of code without their signs, and those inside."""
    outside: list[str] = []
    code: list[str] = []
    is_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            is_code = not is_code
        elif is_code:
            code.append(line)
        elif not RULE.fullmatch(line):
            words = LINK.sub(r"\1", LINE_SIGNS.sub("", line))
            outside.append(EMPHASIS.sub(r"\1", words).replace("`", "").replace("~~", ""))
    return outside, code

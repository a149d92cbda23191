"""Markdown as the text that a reader sees, for excerpts. Pure."""

import re

LINKS = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
LINE_MARKS = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]|>[ \t]?|[-*+][ \t]|```[^\n`]{0,30}$|\|?[-:| ]{3,200}$)", re.MULTILINE
)
MARKS = re.compile(r"\*\*|~~|`{1,3}|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)")
CELLS = re.compile(r"^\||\|$|(?<=\s)\|(?=\s)", re.MULTILINE)


def plain_text(text: str) -> str:
    """Without headings, emphasis, links, lists, code and tables' marks; lines stay lines."""
    return CELLS.sub("", MARKS.sub("", LINE_MARKS.sub("", LINKS.sub(r"\1", text))))

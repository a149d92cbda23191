"""A generated page or picture, rewritten so that it only stands there: nothing in it runs, loads or leads away.

Ammonia parses as browsers do and keeps what is named here. Scripts, frames, refreshes, ``base``, ``link`` and shadow templates
have no place in it; an address is a place within the page or, of a picture, its data. Styles stay as they are: what they would
load, the policy of the frame stops.

As a program it rewrites one, in a process of its own: a job comes in as JSON, the page goes out. What was made to be slow ends
with it.
"""

import json
import re
import sys
from pathlib import Path

import nh3

from conversations.runtime import confinement
from conversations.runtime.word_tables import read_tables

MEMORY_BYTES = 128 * 2**20
CPU_SECONDS = 2

LONGEST = 2_000_000
"""A page can grow: what is left open is opened again in each paragraph."""
ROUNDS = 3

TABLES = read_tables(__file__)
TAGS, ATTRIBUTES = (
    {name: set(words.split()) for name, words in TABLES[table].items()} for table in ("tags", "attributes")
)
PICTURES = {"img", "image"}
ADDRESSES = {"href", "src", "xlink:href"}
PICTURE_DATA = re.compile(r"data:image/[\w.+-]+[;,]", re.IGNORECASE)
LOADS = re.compile(
    r"""\\|\b(?!url\(["']?#[\w.:-]+["']?\))(?:url|src|image|image-set|cross-fade|element)\(""", re.IGNORECASE
)
OPENING_LINES = re.compile(r"(<(?:pre|textarea|listing)(?:\s[^<>]*)?>)\n+", re.IGNORECASE)
"""The first is dropped whenever such an element is read."""

PAGE = """<!doctype html>
<html{html}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Page</title></head>
<body{body}>
{content}
</body>
</html>
"""
PICTURE = Path(__file__).with_name("picture.html").read_text()


class UnstableMarkup(Exception):
    """Markup that means something else each time it is read, or grows beyond all bounds."""


def page(content: str) -> str:
    """An HTML page of its own. Raises ``UnstableMarkup``."""
    return PAGE.format(html=_root(content, "html"), body=_root(content, "body"), content=sanitize(content))


def picture(content: str) -> str:
    """An SVG picture as a page of its own. Raises ``UnstableMarkup``."""
    return PICTURE + sanitize(content) + "</body></html>\n"


def sanitize(content: str) -> str:
    """What is left of the markup, read again until reading it changes nothing: what is kept is what a browser will see."""
    content = OPENING_LINES.sub(r"\1", content)
    for _ in range(ROUNDS):
        content, before = CLEANER.clean(content), content
        if len(content) > LONGEST:
            break
        if content == before:
            return content
    raise UnstableMarkup


def _root(content: str, tag: str) -> str:
    """The attributes of ``<html>`` or ``<body>``, which stand outside of what is rewritten: they are as a ``div``'s."""
    start = re.search(rf"<{tag}(\s[^<>]*)>", content, re.IGNORECASE)
    opened = CLEANER.clean(f"<div{start[1]}></div>") if start else ""
    shown = re.fullmatch(r"<div([^<>]*)></div>", opened)
    return shown[1] if shown else ""


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name not in ADDRESSES:
        loads = name in ATTRIBUTES["svg"] and LOADS.search(value)
        return None if loads else value
    is_held = PICTURE_DATA.match(value) if tag in PICTURES else name != "src" and value.startswith("#")
    return value if is_held else None


CLEANER = nh3.Cleaner(
    tags=TAGS["html"] | TAGS["svg"],
    clean_content_tags=TAGS["gone"],
    attributes={"*": ATTRIBUTES["html"] | ATTRIBUTES["svg"]},
    generic_attribute_prefixes={"data-", "aria-"},
    attribute_filter=_filter_attribute,
    url_schemes={"data"},
    url_relative="pass_through",
    link_rel=None,
)


def main() -> None:
    confinement.limit(memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    job = json.load(sys.stdin)
    rewrite = {"html": page, "svg": picture}[job["kind"]]
    try:
        sys.stdout.buffer.write(rewrite(job["content"]).encode())
    except UnstableMarkup:
        sys.exit(1)


if __name__ == "__main__":
    main()

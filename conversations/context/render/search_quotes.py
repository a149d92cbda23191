"""How turns and parts of files are quoted to a model that searched for them: so that a quote can be found again, and forgotten.
Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from conversations.providers.markers import CUT, REPLACED, SEPARATOR, Kind
from conversations.providers.quoting import ESCAPED, NAME, on_one_line, quote, quote_name, unquote, unquote_name

SEARCH_TOOL = "search_messages"
COLON = ": "

IN_LABELS = re.compile(r"\\|:(?=\s|\Z)")
HEAD = re.compile(
    r"\A(?P<source>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC, "
    rf"(?:(?P<role>user|assistant)|file {NAME}, (?P<label>(?:[^\\:]|\\.|:(?! ))*))): "
)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A passage of a turn or of a part of a file. ``source`` says whose it is, and when it was said or uploaded: what its quote
    begins with. It may begin or end within the text; ``is_replaced``: something that was said later holds instead."""

    source: str
    text: str
    role: str = ""
    name: str = field(default="", compare=False)
    label: str = field(default="", compare=False)
    begins_within: bool = False
    ends_within: bool = False
    is_replaced: bool = False


def source_of(at: datetime, role: str) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC, {role}"


def source_of_part(at: datetime, name: str, label: str) -> str:
    """``at`` is when the file was uploaded."""
    return f"{at:%Y-%m-%d %H:%M} UTC, file {quote_name(name)}, {IN_LABELS.sub(r'\\\g<0>', on_one_line(label))}"


def former_source_of_part(at: datetime, name: str, label: str) -> str:
    """As it was written before names could be read back."""
    return f"{at:%Y-%m-%d %H:%M} UTC, file “{name}”, {label}".replace(COLON, ":")


def joined(passages: Iterable[Passage]) -> str:
    return SEPARATOR.join(map(_written, passages))


def passages_in(text: str) -> Iterator[Passage]:
    """What ``joined`` made the text of; nothing where it is no such text."""
    for part in text.split(SEPARATOR):
        if head := HEAD.match(part):
            yield _read(head, part[head.end() :])


def quotes_in(text: str) -> Iterator[tuple[str, str]]:
    """What may be quotes in a text: where each is from, and its words, also those that are no
    quotes by ``joined`` but were in earlier releases."""
    for part in text.split(SEPARATOR):
        if head := HEAD.match(part):
            yield head["source"], _read(head, part[head.end() :]).text.strip()
        source, colon, words = part.partition(COLON)
        if colon:
            yield source, words.removeprefix(f"{CUT} ").removesuffix(f" {CUT}").strip()


def _written(passage: Passage) -> str:
    before = f"{CUT} " if passage.begins_within else ""
    behind = f" {CUT}" if passage.ends_within else ""
    replaced = f" {REPLACED}" if passage.is_replaced else ""
    return f"{passage.source}{COLON}{before}{quote(Kind.PASSAGE, passage.text)}{behind}{replaced}"


def _read(head: re.Match[str], words: str) -> Passage:
    text = words.removesuffix(f" {REPLACED}")
    is_replaced = text != words
    whole = text.removeprefix(f"{CUT} ")
    begins_within = whole != text
    text = whole.removesuffix(f" {CUT}")
    return Passage(
        source=head["source"],
        role=head["role"] or "",
        name=unquote_name(head[3] or ""),
        label=ESCAPED.sub(r"\1", head["label"] or ""),
        text=unquote(Kind.PASSAGE, text),
        begins_within=begins_within,
        ends_within=text != whole,
        is_replaced=is_replaced,
    )

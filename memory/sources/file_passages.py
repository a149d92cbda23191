"""Passages of a person's files that bear on a text, in whichever thread the files are. Reads only."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from conversations.context.files.ranking import PartWords, scores, sought_words
from conversations.context.gather.fallible_reads import fetch_rows
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass
from memory.language.passages import Passage, passages
from memory.language.words import index_stems, words_of
from memory.scope import MemoryScope

MOST_LOOKED_AT = 200
"""Parts that are weighed, those that hold the most of the words."""
LONGEST = 1_200
"""Characters of a passage."""

SQL = read_statements(__file__)


@dataclass(frozen=True, kw_only=True)
class FilePassage:
    """Some 1,200 characters of a part around the words, on one line, and whether the part goes on before and behind them."""

    file: uuid.UUID
    name: str
    label: str
    number: int
    at: datetime
    text: str
    begins_within: bool
    ends_within: bool


def file_passages(
    *, user_id: int, thread_id: uuid.UUID, text: str, most: int, elsewhere: bool, memory: MemoryScope
) -> list[FilePassage]:
    """At most so many, best first, one of a part, of files of threads and projects that are open; without ``elsewhere`` of
    files of this thread and its project alone. Within ``read_only``."""
    pairs = sought_words(user_id, text).pairs
    if not pairs:
        return []
    values: dict[str, Any] = {
        "user": user_id,
        "here": thread_id,
        "elsewhere": elsewhere,
        "project": memory.project,
        **memory.values,
        "terms": [term for term, _ in pairs],
        "places": [place for _, place in pairs],
        "most": MOST_LOOKED_AT,
    }
    rows = {(str(row[1]), row[4]): row for row in fetch_rows(SQL["parts"], values)}
    weighed = scores([PartWords(key=key, bits=row[6], length=1) for key, row in rows.items()])
    # Of parts that are worth the same the newest file's come first, in their order, as they were read.
    best = sorted(rows, key=lambda key: -weighed[key])[:most]
    texts = {
        row[0]: row[1] for row in fetch_rows(SQL["texts"], {"user": user_id, "parts": [rows[key][0] for key in best]})
    }
    words = _forms(text)
    return [_passage(rows[key], texts[rows[key][0]], words) for key in best]


def _passage(row: Sequence[Any], text: str, words: frozenset[str]) -> FilePassage:
    _, file, name, at, number, label, _ = row
    start, end = around(text, words)
    return FilePassage(
        file=file,
        name=name,
        label=label,
        number=number,
        at=at,
        text=" ".join(text[start:end].split()),
        begins_within=bool(text[:start].strip()),
        ends_within=bool(text[end:].strip()),
    )


def around(text: str, words: frozenset[str]) -> tuple[int, int]:
    """From which character to before which one a text tells most of the words: passages that stand together. Pure."""
    parts = passages(text) or [Passage(start=0, end=0)]
    held = [len(words & _found_by(text[part.start : part.end])) for part in parts]
    first = last = max(range(len(parts)), key=lambda place: held[place])
    while True:
        wider = [
            (one, other)
            for one, other in ((first, last + 1), (first - 1, last))
            if one >= 0 and other < len(parts) and parts[other].end - parts[one].start <= LONGEST
        ]
        if not wider:
            return parts[first].start, parts[last].end
        first, last = max(wider, key=lambda pair: sum(held[pair[0] : pair[1] + 1]))


def _found_by(text: str) -> frozenset[str]:
    words, others = index_stems(text)
    return frozenset([*words, *others])


def _forms(text: str) -> frozenset[str]:
    return frozenset(form for stem, others in words_of(text) for form in (stem, *others))

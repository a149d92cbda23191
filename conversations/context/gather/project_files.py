"""The files of a project as a request needs them: the parts that bear on a message, whichever files they are of. Reads only;
what it costs does not grow with the project."""

import json
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from typing import Any, NamedTuple

from conversations.context.files.excerpts import FileOutline, PartContent, PartOutline
from conversations.context.files.ranking import MOST_WORDS, OtherParts, PartWords, SoughtWords
from conversations.context.files.thread_files import Contents, PictureCounter
from conversations.context.files.unread import listed, unread
from conversations.context.gather.fallible_reads import fetch_required
from conversations.runtime.db import run, run_often
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)
MOST_WEIGHED = 24
"""Parts that are compared word by word."""
COMMON = 64
"""Of a word that stands in more parts no more are looked at."""
MOST_TOGETHER = 6
"""Words that are looked for in one part; where there are more, some of them are rare."""
MOST_NAMED = 5
ALL_WORDS = 2 * MOST_WORDS
"""In the place of a word: all of them together."""


@dataclass(frozen=True, kw_only=True)
class ProjectQuery:
    """``named`` are parts that are wanted whatever ``words`` are sought, as numbers by the id of their file."""

    user_id: int
    project: uuid.UUID
    pictures: PictureCounter
    words: SoughtWords = SoughtWords()
    named: Mapping[str, Collection[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ProjectParts:
    """Files of a project with the parts in question. ``found`` are those that hold some of the words, ``words`` what their
    parts hold, ``others`` all parts that were not weighed. ``texts`` is what those say that have no picture. ``files`` and
    ``parts`` are what the project has."""

    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    found: Sequence[str] = ()
    words: Sequence[PartWords] = ()
    others: OtherParts = OtherParts()
    texts: Contents = field(default_factory=dict)
    files: int = 0
    parts: int = 0

    @property
    def beyond(self) -> tuple[int, int]:
        """How many files, and parts of them, there are beside those that are outlined."""
        known = self.outlines.values()
        return self.files - len(known), self.parts - sum(file.part_count for file in known)


NO_PARTS = ProjectParts()


class PartsRow(NamedTuple):
    files: int
    parts: int
    holding: str | None
    is_found: bool | None
    id: str
    user: int
    name: str
    kind: str
    state: str
    problem: str | None
    left_out: str
    part_count: int
    known: Sequence[tuple[int, str, str, int, int, int, int, str | None]]


def has_files(user_id: int, project: uuid.UUID | None) -> bool:
    """Whether any were uploaded to the project."""
    return project is not None and bool(run(SQL["any"], user=user_id, project=project)[0][0])


def read_project(query: ProjectQuery) -> ProjectParts:
    """What holds the words and what is named, of files that are read."""
    words = query.words
    named = [(uuid.UUID(id), number) for id, numbers in query.named.items() for number in numbers]
    values: dict[str, Any] = {
        "user": query.user_id,
        "project": query.project,
        "files": [id for id, _ in named],
        "numbers": [number for _, number in named],
        "common": COMMON,
        "most": MOST_WEIGHED,
        "all_words": ALL_WORDS,
        **words.columns,
    }
    together = len(words.places) if 1 < len(words.places) <= MOST_TOGETHER else 0
    fetched = fetch_required(partial(run_often, _search(together), values))
    rows = [PartsRow._make([*row, json.loads(known or "[]")]) for *row, known in fetched]
    outlines = {row.id: _outline(row, query.pictures) for row in rows if row.id}
    bits = [each for row in rows if row.is_found for each in _words(row)]
    return ProjectParts(
        outlines=outlines,
        found=[row.id for row in rows if row.is_found],
        words=bits,
        others=_others(rows[0], bits),
        texts={row.id: _texts(row) for row in rows if row.id},
        files=rows[0].files,
        parts=rows[0].parts,
    )


def named_in_project(user_id: int, project: uuid.UUID, name: str) -> list[str]:
    """The ids of a few files of the project that are called so, or whose names hold that, best first."""
    like = f"%{re.sub(r'([%_\\])', r'\\\1', name)}%"
    values = {"user": user_id, "project": project, "name": name, "like": like, "most": MOST_NAMED}
    return [id for (id,) in run(SQL["named"], **values)]


@cache
def _search(together: int) -> str:
    """The statement that looks for so many words in one part, too."""
    every = " AND ".join(SQL["holds"].format(place=place) for place in range(together))
    return SQL["search"].format(together=f"\n{SQL['together'].format(all=every)}" if together else "")


def _others(row: PartsRow, weighed: Sequence[PartWords]) -> OtherParts:
    """Of a common word it is not known in how many parts it stands: as large a share of all is taken as of those weighed."""
    holding: dict[int, int] = {}
    for place, count in ((int(place), count) for place, count in json.loads(row.holding or "{}").items()):
        if place < MOST_WORDS:
            here = sum(part.bits >> place & 1 for part in weighed)
            every = count if count < COMMON else max(count, row.parts * here // max(1, len(weighed)))
            holding[place] = max(0, every - here)
    return OtherParts(count=max(0, row.parts - len(weighed)), holding=holding)


def _outline(row: PartsRow, pictures: PictureCounter) -> FileOutline:
    return FileOutline(
        id=row.id,
        user=row.user,
        name=row.name,
        kind=row.kind,
        problem=row.problem or "",
        left_out=listed(unread(json.loads(row.left_out))),
        parts=list(part_outlines((part[:-1] for part in row.known), pictures)),
        known_count=row.part_count,
    )


def part_outlines(
    rows: Iterable[tuple[int, str, str, int, int, int, int]], pictures: PictureCounter
) -> Iterator[PartOutline]:
    for number, label, heading, tokens, width, height, _ in rows:
        yield PartOutline(
            number=number,
            label=label,
            heading=heading,
            tokens=tokens + pictures.tokens(width, height),
            has_picture=bool(width),
            has_text=bool(tokens),
        )


def _words(row: PartsRow) -> Iterator[PartWords]:
    for number, _, _, tokens, _, _, bits, _ in row.known:
        if bits:
            yield PartWords(key=(row.id, number), bits=bits, length=tokens)


def _texts(row: PartsRow) -> Mapping[int, PartContent]:
    return {number: PartContent(text=text) for number, *_, text in row.known if text is not None}

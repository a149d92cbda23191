"""The files of a thread as a request needs them, read from PostgreSQL and from the storage. Reads only."""

import base64
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from django.core.files.storage import storages

from conversations.context.files.excerpts import (
    Block,
    FileExcerpt,
    FileForm,
    FileOutline,
    PartContent,
    PartKey,
)
from conversations.context.files.ranking import PartWords, SoughtWords, scores, sought_words
from conversations.context.files.thread_files import (
    NO_CONTENTS,
    UNSEEN,
    Contents,
    PictureCounter,
    ThreadFiles,
)
from conversations.context.files.unread import listed, unread
from conversations.context.gather.fallible_reads import Row, fetch_required
from conversations.context.gather.history import CHAIN, PathEnd, chain_of
from conversations.context.gather.project_files import (
    NO_PARTS,
    ProjectParts,
    ProjectQuery,
    part_outlines,
    read_project,
)
from conversations.models import File, text_blocks
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)
FILES, OUTLINES = (SQL[name].replace("{parts}", SQL["parts"]) for name in ("files", "outlines"))
FILES_OF_ACTIVE, FILES_OF_CHAIN = (FILES.replace("{path}", path) for path in (SQL["active"], CHAIN))
WHOLE_CHAIN = 10_000_000
PICTURE_TYPES = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg"}
"""Of the pictures that are kept, by how they begin."""
STILL_READ = "It is still being read."


@dataclass(frozen=True, kw_only=True)
class FilesQuery:
    """Which files are asked for: those of a thread up to a position, of the active path or of the one with this ``end``, the
    ``new`` ones, by their ids, and those of its ``project``. How much they bear on the ``text`` is told of each part.

    Of the project's files those parts are wanted that stand in the turns that are ``sent``, by their positions, those that are
    ``named``, by numbers, and where it ``searches`` those that bear on the text. Unless ``in_turns``, none stand in any turn.
    """

    user_id: int
    thread_id: uuid.UUID | None
    position: int
    new: Collection[str]
    text: str
    pictures: PictureCounter
    end: PathEnd | None = None
    project: uuid.UUID | None = None
    sent: Collection[int] = ()
    named: Mapping[str, Collection[int]] = field(default_factory=dict)
    searches: bool = True
    in_turns: bool = True


def read_files(query: FilesQuery) -> ThreadFiles:
    """What stands in the turns up to the position, and the new ones, with how much their parts bear on the text. Files that
    are gone, or another person's, are in none of it."""
    files: dict[str, Any] = {
        "user": query.user_id,
        "thread": query.thread_id,
        "position": query.position,
        "files": [*map(uuid.UUID, query.new)],
    }
    pictures, words = query.pictures, sought_words(query.user_id, query.text)
    outlines: dict[str, FileOutline] = {}
    bits: list[PartWords] = []
    places: list[tuple[int, int, str, list[int], bool]] = []
    wanted: dict[str, set[int]] = {id: {*numbers} for id, numbers in query.named.items()}
    closed: dict[str, int] = {}
    statement = FILES_OF_ACTIVE
    if query.end:
        before = chain_of(query.end, user_id=query.user_id, thread_id=query.thread_id, turns=WHOLE_CHAIN)
        statement, files = FILES_OF_CHAIN, files | {"chain": [*before, query.position]}
    for row in _rows(statement, files, words) if query.in_turns or query.new else ():
        if row.is_closed(query):
            closed[row.id] = row.part_count
            continue
        if row.project:
            stands = [each for each in row.stands if each[0] == query.position or each[0] in query.sent]
            wanted.setdefault(row.id, set()).update(number for _, _, numbers, _ in stands for number in numbers)
            places += [(at, place, row.id, numbers, outlined) for at, place, numbers, outlined in stands]
            continue
        outlines[row.id] = outline_of(row, pictures)
        bits += [PartWords(key=(row.id, part[0]), bits=part[-1], length=part[3]) for part in row.parts]
        places += [(at, place, row.id, numbers, outlined) for at, place, numbers, outlined in row.stands]
    project = read_own(query, wanted, words) if query.project else NO_PARTS
    outlines |= project.outlines
    standing: dict[int, list[FileExcerpt]] = {}
    for at, _, id, numbers, outlined in sorted(places):
        if id not in outlines:  # it is read anew
            continue
        excerpt = FileExcerpt(file=outlines[id], numbers=tuple(numbers), outlined=outlined)
        standing.setdefault(at, []).append(excerpt)
    return ThreadFiles(
        outlines=outlines,
        standing=standing,
        scores=scores([*bits, *project.words], project.others),
        shared=project.found,
        beyond=project.beyond,
        closed=closed,
        texts=project.texts,
    )


def read_own(query: FilesQuery, named: Mapping[str, Collection[int]], words: SoughtWords) -> ProjectParts:
    """Of the files of the project."""
    assert query.project
    return read_project(
        ProjectQuery(
            user_id=query.user_id,
            project=query.project,
            pictures=query.pictures,
            words=words if query.searches else SoughtWords(),
            named=named,
        )
    )


def read_outlines(user_id: int, ids: Collection[str], pictures: PictureCounter) -> dict[str, FileOutline]:
    """Those of these files that there still are, for a request that was recorded with them."""
    rows = _rows(OUTLINES, {"user": user_id, "files": [*map(uuid.UUID, ids)]}, SoughtWords())
    return {row.id: outline_of(row, pictures) for row in rows}


class FileRow(NamedTuple):
    id: str
    user: int
    name: str
    kind: str
    state: str
    problem: str | None
    thread: uuid.UUID | None
    project: uuid.UUID | None
    part_count: int
    left_out: Sequence[Any]
    stands: Sequence[tuple[int, int, list[int], bool]]
    parts: Sequence[tuple[int, str, str, int, int, int, int]]

    def is_closed(self, query: FilesQuery) -> bool:
        """Whether it was uploaded to another project than that of the thread: it may be that one of the two was moved."""
        is_here = self.thread == query.thread_id and self.thread is not None
        return not (is_here or self.id in query.new or (self.project and self.project == query.project))


def _rows(statement: str, values: Mapping[str, Any], words: SoughtWords) -> list[FileRow]:
    return [
        FileRow(*known, *(json.loads(each or "[]") for each in (left_out, stands, parts)))
        for *known, left_out, stands, parts in _fetched(statement, {**values, **words.columns})
    ]


def _fetched(statement: str, values: Mapping[str, Any]) -> list[Row]:
    return fetch_required(lambda: run(statement, **values))


def outline_of(row: FileRow, pictures: PictureCounter) -> FileOutline:
    return FileOutline(
        id=row.id,
        user=row.user,
        name=row.name,
        kind=row.kind,
        problem=row.problem or (STILL_READ if row.state == File.State.READING else ""),
        left_out=listed(unread(row.left_out)),
        parts=list(part_outlines(row.parts, pictures)),
    )


def read_parts(excerpts: Iterable[FileExcerpt], form: FileForm, known: Contents = NO_CONTENTS) -> Contents:
    """What the parts of these excerpts say. Those that are ``known`` are not read again."""
    wanted = {
        (excerpt.file.user, excerpt.file.id, number)
        for excerpt in excerpts
        for number in excerpt.numbers
        if number not in known.get(excerpt.file.id, ())
    }
    if not wanted:
        return known
    users = {user for user, _, _ in wanted}
    contents = read_contents(users, {(id, number) for _, id, number in wanted}, sees_pictures=form.pictures)
    return {id: {**known.get(id, {}), **contents.get(id, {})} for id in (*known, *contents)}


def read_contents(users: Collection[int], wanted: Collection[PartKey], *, sees_pictures: bool) -> Contents:
    """What the parts of these persons' files say, by file and number."""
    keys = sorted(wanted)
    values: dict[str, Any] = {
        "users": list(users),
        "files": [uuid.UUID(id) for id, _ in keys],
        "numbers": [number for _, number in keys],
    }
    contents: dict[str, dict[int, PartContent]] = {}
    for id, number, text, picture, width, height in _fetched(SQL["contents"], values):
        contents.setdefault(id, {})[number] = PartContent(
            text=text, picture=_picture(picture, width, height, sees_pictures=sees_pictures) if picture else None
        )
    return contents


def _picture(place: str, width: int, height: int, *, sees_pictures: bool) -> Block | None:
    """``None`` where its bytes are gone."""
    if not sees_pictures:
        return text_blocks(UNSEEN.format(width=width, height=height))[0]
    try:
        with storages["files"].open(place) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    source = {"type": "base64", "media_type": PICTURE_TYPES[data[:2]], "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}

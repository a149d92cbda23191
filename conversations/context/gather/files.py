"""The files of a thread as a request needs them, read from PostgreSQL and from the storage. Reads only."""

import base64
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

from django.core.files.storage import storages

from conversations.context.files.excerpts import (
    Block,
    FileExcerpt,
    FileForm,
    FileOutline,
    PartContent,
    PartKey,
    PartOutline,
    blocks,
    choose,
    kept,
)
from conversations.context.files.ranking import MOST_WORDS, PartWords, SoughtWords, scores
from conversations.context.files.results import NO_RESULTS, Results, named_parts, read_excerpts, written_results
from conversations.context.files.unread import listed, unread
from conversations.context.gather.fallible_reads import Row, fetch_required
from conversations.context.render.rendering import QUOTING, mention
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.groups import FILE
from conversations.context.turns.turn import Turn
from conversations.models import File, text_blocks
from conversations.providers import image_tokens
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)
FILES, OUTLINES = (SQL[name].replace("{parts}", SQL["parts"]) for name in ("files", "outlines"))
PICTURE_TYPES = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg"}
"""Of the pictures that are kept, by how they begin."""
STILL_READ = "It is still being read."
UNSEEN = "(A picture of {width}×{height} pixels, which this model can’t see.)"

type Contents = Mapping[str, Mapping[int, PartContent]]
"""What parts say, by file and number."""
type Places = Mapping[int, Sequence[FileExcerpt]]
"""What stands in turns, by their position."""


@dataclass(frozen=True, kw_only=True)
class PictureCounter:
    """What pictures take for a model, in estimated tokens by its factor: as many of its own as they have, or a few words."""

    are_seen: bool
    factor: Factor
    rule: image_tokens.ImageRule = image_tokens.PLAIN

    def tokens(self, width: int, height: int) -> int:
        """0 where there is no picture."""
        if not width:
            return 0
        return (
            self.factor.to_estimate(image_tokens.image_tokens(width, height, self.rule))
            if self.are_seen
            else len(UNSEEN) // 2
        )


@dataclass(frozen=True, kw_only=True)
class ThreadFiles:
    """The files that a request has to do with. ``standing`` is what was chosen for turns when they were first sent."""

    pictures: PictureCounter
    readable: bool = False
    documents: bool = False
    fenced: bool = True
    accounted: bool = True
    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    standing: Places = field(default_factory=dict)
    scores: Mapping[PartKey, float] = field(default_factory=dict)

    @property
    def form(self) -> FileForm:
        return FileForm(
            pictures=self.pictures.are_seen,
            readable=self.readable,
            documents=self.documents,
            fenced=self.fenced,
            accounted=self.accounted,
        )


NO_PICTURES = PictureCounter(are_seen=False, factor=PLAIN)
NO_FILES = ThreadFiles(pictures=NO_PICTURES)


def named_files(content: Sequence[Block]) -> list[str]:
    """The ids of the files that a turn brings."""
    return [str(block["file"]) for block in content if block["type"] == FILE]


def names_of_files(content: Sequence[Block]) -> str:
    """The names of the files that a turn brings; empty where it brings none."""
    return ", ".join(str(block["name"]) for block in content if block["type"] == FILE)


def read_files(
    *,
    user_id: int,
    thread_id: uuid.UUID | None,
    position: int,
    new: Collection[str],
    words: SoughtWords,
    pictures: PictureCounter,
) -> ThreadFiles:
    """What stands in the turns up to this position, and the ``new`` ones, with how much their parts bear on the words. Files
    that are gone, or another person's, are in none of it."""
    files = {"user": user_id, "thread": thread_id, "position": position, "files": [*map(uuid.UUID, new)]}
    outlines: dict[str, FileOutline] = {}
    bits: list[PartWords] = []
    places: list[tuple[int, int, str, list[int], bool]] = []
    for row in _rows(FILES, files, words):
        outlines[row.id] = outline_of(row, pictures)
        bits += [PartWords(key=(row.id, part[0]), bits=part[-1], length=part[3]) for part in row.parts]
        places += [(at, place, row.id, numbers, outlined) for at, place, numbers, outlined in row.stands]
    standing: dict[int, list[FileExcerpt]] = {}
    for at, _, id, numbers, outlined in sorted(places):
        excerpt = FileExcerpt(file=outlines[id], numbers=tuple(numbers), outlined=outlined)
        standing.setdefault(at, []).append(excerpt)
    return ThreadFiles(pictures=pictures, outlines=outlines, standing=standing, scores=scores(bits))


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
    left_out: Sequence[Any]
    stands: Sequence[tuple[int, int, list[int], bool]]
    parts: Sequence[tuple[int, str, str, int, int, int, int]]


def _rows(statement: str, values: Mapping[str, Any], words: SoughtWords) -> list[FileRow]:
    terms = words.terms
    asked = {
        "terms": [term for term, _, _ in terms],
        "places": [place for _, place, _ in terms],
        "often": [often for _, _, often in terms],
        "most_words": MOST_WORDS,
    }
    return [
        FileRow(*known, *(json.loads(each or "[]") for each in (left_out, stands, parts)))
        for *known, left_out, stands, parts in _fetched(statement, {**values, **asked})
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
        parts=[
            PartOutline(
                number=number,
                label=label,
                heading=heading,
                tokens=tokens + pictures.tokens(width, height),
                has_picture=bool(width),
                has_text=bool(tokens),
            )
            for number, label, heading, tokens, width, height, _ in row.parts
        ],
    )


def in_turns(
    history: Sequence[Turn], newest: Turn, files: ThreadFiles, *, room: int, may_choose: bool
) -> tuple[list[Turn], Turn]:
    """The turns with what stands of files in them, and with what is sent of it. The newest and all others have so much
    ``room`` each. Unless it ``may_choose``, the newest is no turn of the thread and has none."""
    read = {turn.position: read_excerpts(turn.content, files.outlines) for turn in history if turn.role == "assistant"}
    turns = with_standing(history, {**read, **files.standing}, room)
    newest = replace(newest, files=chosen_for(newest, files, turns, room) if may_choose else ())
    *turns, newest = with_blocks([*turns, newest], files.form)
    return turns, newest


def chosen_for(newest: Turn, files: ThreadFiles, history: Sequence[Turn], room: int) -> Sequence[FileExcerpt]:
    """What of files stands in the newest turn: what was chosen when it was first sent if there is room for it now, else what
    is chosen now."""
    standing = files.standing.get(newest.position)
    if standing is not None and sum(excerpt.tokens for excerpt in standing) <= room:
        return standing
    new = [files.outlines[id] for id in dict.fromkeys(named_files(newest.content)) if id in files.outlines]
    before = [excerpt for turn in history for excerpt in turn.files]
    return choose(new, before, files.scores, room)


def with_standing(turns: Sequence[Turn], files: Places, room: int) -> list[Turn]:
    """The turns with what stands of files in them, as far as there is room; of the rest it is said that it is not given."""
    standing = [files.get(turn.position, ()) for turn in turns]
    return [
        replace(turn, files=excerpts if keep else [replace(each, numbers=(), outlined=False) for each in excerpts])
        if excerpts
        else turn
        for turn, excerpts, keep in zip(turns, standing, kept(standing, room), strict=True)
    ]


def with_blocks(turns: Sequence[Turn], form: FileForm) -> list[Turn]:
    """The turns with what is sent of their files: before a person's words, and in the results of tool calls."""
    contents = _contents_of((excerpt for turn in turns for excerpt in turn.files), form)
    return [_with_blocks(turn, contents, form) for turn in turns]


def _with_blocks(turn: Turn, contents: Contents, form: FileForm) -> Turn:
    if turn.role == "assistant":
        return replace(turn, results=written_results(turn.content, turn.files, contents, form)) if turn.files else turn
    if turn.files or named_files(turn.content):
        return replace(turn, file_blocks=_file_blocks(turn, contents, form))
    return turn


def read_in_rounds(
    rounds: Sequence[Sequence[Block]], files: Mapping[str, FileOutline], form: FileForm
) -> tuple[list[FileExcerpt], Results]:
    """What a reply has read of files in its rounds so far, and what is sent of it."""
    said = [block for blocks in rounds for block in blocks]
    if not any(named_parts(said)):
        return [], NO_RESULTS
    given = read_excerpts(said, files)
    return given, written_results(said, given, _contents_of(given, form), form)


def _contents_of(excerpts: Iterable[FileExcerpt], form: FileForm) -> Contents:
    wanted = {(excerpt.file.user, excerpt.file.id, number) for excerpt in excerpts for number in excerpt.numbers}
    if not wanted:
        return {}
    users = {user for user, _, _ in wanted}
    return read_contents(users, {(id, number) for _, id, number in wanted}, sees_pictures=form.pictures)


def _file_blocks(turn: Turn, contents: Contents, form: FileForm) -> list[Block]:
    there = {excerpt.file.id for excerpt in turn.files}
    missing = [block for block in turn.content if block["type"] == FILE and str(block["file"]) not in there]
    return [
        *(mention(block, QUOTING if form.fenced else None) for block in missing),
        *(block for excerpt in turn.files for block in blocks(excerpt, contents.get(excerpt.file.id, {}), form)),
    ]


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

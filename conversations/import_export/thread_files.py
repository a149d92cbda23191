"""The files of one thread while it is read: those that lie beside the document, and those that stand inside its messages."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from artifacts.reading.kinds import Kind
from artifacts.reading.limits import Limits
from conversations.context.files.citations import LONGEST_PLACE, Citation
from conversations.context.files.excerpts import read_ranges
from conversations.context.turns.groups import FILE
from conversations.files.uploads import LONGEST_NAME
from conversations.import_export.file_intake import KeptFile, Taking
from conversations.import_export.importers.parts import attached, paragraphs
from conversations.import_export.inline_files import InlineFile, inline_file, split_text
from conversations.import_export.records import FileRecord, GivenFile
from conversations.import_export.uploads import Document
from conversations.import_export.values import Fields
from conversations.models import text_blocks
from conversations.runtime.ids import uuid7

MOST_FILES = 10_000
"""Of a thread."""
NO_FILES: Mapping[str, FileRecord] = MappingProxyType({})
RANGES_CHARS = 20_000
LONGEST_MARK = LONGEST_PLACE + 2 * LONGEST_NAME
MAX_PARTS = Limits().parts

type Block = dict[str, Any]


class ThreadFiles:
    """``kept`` grows as the thread is read. ``known`` are those of its project, by the ids that the document gives."""

    def __init__(
        self,
        take: Taking,
        document: Document,
        id_of: Callable[[Fields], uuid.UUID],
        now: datetime,
        known: Mapping[str, FileRecord] = NO_FILES,
    ) -> None:
        self._take, self._document, self._id_of, self._now = take, document, id_of, now
        self.kept: list[FileRecord] = []
        self.by_id: dict[str, FileRecord] = {**known}
        """By the id that the document gives, those of its project among them."""

    def read(self, thread: Fields, *, most: int = MOST_FILES) -> None:
        """Those that the document tells of. What they are is seen by their bytes, not by what it says."""
        thread.elements("files", most=most, noun="files")
        for file in thread.objects("files"):
            given_id, name = file.identifier("id"), file.line("name", most=LONGEST_NAME)
            created_at = file.moment("created_at") or self._now
            id = self._id_of(file)
            opened = self._opened(file)
            kept = self._take(opened, name=name, place=file.place, sha256=file.line("sha256", most=64))
            if kept:
                record = self._add(id, kept, created_at)
                if given_id:
                    self.by_id[str(given_id)] = record

    def _opened(self, file: Fields) -> Any:
        if isinstance(text := file.get("text"), str):
            return InlineFile(name="", data=text, is_base64=False).opened
        if isinstance(asset := file.get("asset"), str):
            return self._document.files.asset(asset)
        if isinstance(path := file.get("path"), str):
            return self._document.files.at(f"{self._document.folder}{path}")
        return None

    def in_turn(self, content: Any, place: str, created_at: datetime) -> Any:
        """The content of a turn: files that are here are named in it by their ids, of others it is told in words."""
        if isinstance(content, str):
            if "base64," not in content:
                return content
            content = text_blocks(content)
        if not isinstance(content, list):
            return content
        if any(_type(block) == "tool_result" for block in content):  # before which nothing may stand
            return _joined([_note_of(block) if _type(block) == FILE else self._result(block) for block in content])
        return _joined([self._block(block, place, created_at) for block in _split(content)])

    def _result(self, block: Any) -> Any:
        """A block in which the result of a tool names parts of files: by the ids that these have here."""
        if _type(block) != "tool_result" or not isinstance(block.get("content"), list):
            return block
        return {**block, "content": [self._parts(each) if _type(each) == FILE else each for each in block["content"]]}

    def _parts(self, block: Block) -> Block:
        record = self.by_id.get(_text(block.get("file")).lower())
        return {**block, **_named(record)} if record else text_blocks(_note_of(block))[0]

    def _block(self, block: Any, place: str, created_at: datetime) -> Any:
        inline = block if isinstance(block, InlineFile) else inline_file(block)
        if inline:
            kept = self._take(inline.opened, name=inline.name, place=place)
            return _named(self._add(uuid7(), kept, created_at)) if kept else _Note(_note(inline.name))
        if _type(block) != FILE:
            return block
        if record := self.by_id.get(_text(block.get("file")).lower()):
            return _named(record)
        return _note_of(block)

    def given(self, turn: Fields, content: Sequence[Block]) -> Iterator[GivenFile]:
        """What of files stands in a user turn: what the document says, else pictures, and what parts others have."""
        told: set[uuid.UUID] = set()
        for each in turn.objects("files"):
            record = self.by_id.get(str(each.identifier("file")))
            if record and record.id not in told:
                told.add(record.id)
                yield GivenFile(
                    file_id=record.id,
                    numbers=_numbers(each.line("parts", most=RANGES_CHARS)),
                    outlined=each.switch("outlined", default=False),
                )
        here = {str(record.id): record for record in self.kept}
        named = dict.fromkeys(str(block["file"]) for block in content if block["type"] == FILE)
        for record in (here[id] for id in named if id in here):
            if record.id not in told:
                is_picture = record.kind == Kind.IMAGE
                yield GivenFile(file_id=record.id, numbers=[1] if is_picture else [], outlined=not is_picture)

    def cited(self, turn: Fields) -> Iterator[Citation]:
        """Where an answer cites files that are here."""
        for each in turn.objects("citations"):
            if record := self.by_id.get(str(each.identifier("file"))):
                yield Citation(
                    text=each.line("text", most=LONGEST_MARK),
                    file=str(record.id),
                    name=record.name,
                    part=each.count("part"),
                    given=each.switch("given", default=False),
                )

    def _add(self, id: uuid.UUID, kept: KeptFile, created_at: datetime) -> FileRecord:
        record = FileRecord(
            id=id,
            name=kept.name,
            kind=kept.kind,
            media_type=kept.media_type,
            size=kept.size,
            sha256=kept.sha256,
            place=kept.place,
            created_at=created_at,
        )
        self.kept.append(record)
        return record


class _Note(str):
    """In place of a file that is not here."""


def _note_of(block: Block) -> _Note:
    note = block.get("note")
    return _Note(note if isinstance(note, str) else _note(_text(block.get("name"))))


def _split(content: list[Any]) -> Iterator[Any]:
    for block in content:
        if _type(block) == "text" and isinstance(block.get("text"), str) and "base64," in block["text"]:
            yield from split_text(block["text"])
        else:
            yield block


def _joined(blocks: list[Any]) -> list[Any]:
    """Notes as texts, each with the texts beside it."""
    joined: list[Any] = []
    after_note = False
    for block in blocks:
        is_note = isinstance(block, _Note)
        text = str(block) if is_note else block.get("text") if _type(block) == "text" else None
        if isinstance(text, str) and joined and (is_note or after_note) and _type(joined[-1]) == "text":
            joined[-1] = text_blocks(paragraphs([str(joined[-1].get("text")), text]))[0]
        else:
            joined.append(text_blocks(text)[0] if is_note and text else block)
        after_note = is_note
    return [block for block in joined if not isinstance(block, _Note)]


def _named(record: FileRecord) -> Block:
    return {"type": FILE, "file": str(record.id), "name": record.name}


def _note(name: str) -> str:
    return attached(f"{name or 'a file'} – it is not here")


def _numbers(ranges: str) -> list[int]:
    """Numbers of parts, for example of ``1-3, 7``; none where it is no such text."""
    try:
        return read_ranges(ranges, most=MAX_PARTS)
    except ValueError:
        return []


def _type(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

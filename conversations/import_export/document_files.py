"""The files of threads: as a document tells of them, and as a ZIP file holds them beside it."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from typing import IO, Any

from django.db.models import QuerySet

from artifacts.exporting.names import safe
from artifacts.reading.kinds import Kind
from conversations.context.files.excerpts import write_ranges
from conversations.errors import FileNotFound
from conversations.files import storage
from conversations.import_export.zip_stream import Zip
from conversations.models import File, Message, Thread, TurnFile
from conversations.runtime.long_work import step

FOLDER = "files"
"""Beside the document, in its ZIP file."""
NAME_BYTES = 60
"""Of a file's name in the ZIP file, behind its id: whoever reads it has the list of all names in memory."""
PAGE = 200
PIECE = 2**18
PACKED = {Kind.IMAGE, Kind.PDF, Kind.DOCUMENT, Kind.SHEET, Kind.SLIDES, Kind.BOOK}
"""Kinds of files that are compressed as they are."""
type Given = dict[tuple[uuid.UUID, int], list[dict[str, Any]]]
"""What of files stands in turns, by thread and position."""
FIELDS = ("id", "thread_id", "name", "kind", "media_type", "size", "sha256", "created_at")


def path_of(file: File) -> str:
    """Where its bytes lie, from the document's folder on."""
    stem, dot, ending = safe(file.name).rpartition(".")
    ending = f"{dot}{ending}" if stem and len(ending) <= 20 else ""
    short = safe(file.name).removesuffix(ending).encode()[:NAME_BYTES].decode(errors="ignore").strip(" .")
    return f"{FOLDER}/{file.id}-{short}{ending}"


def files_of(threads: Sequence[Thread], *, with_bytes: bool) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """Those of these threads of one person, oldest first; ``path`` is null where their bytes don't come along."""
    by_thread: dict[uuid.UUID | None, list[dict[str, Any]]] = {}
    files = File.objects.filter(user=threads[0].user_id, thread__in=threads)
    for file in files.order_by("id").only(*FIELDS):
        by_thread.setdefault(file.thread_id, []).extend(described_files([file], with_bytes=with_bytes))
    return {thread: some for thread, some in by_thread.items() if thread}


def described_files(files: Iterable[File], *, with_bytes: bool) -> list[dict[str, Any]]:
    return [
        {
            **{name: getattr(file, name) for name in ("id", "name", "kind", "media_type")},
            "bytes": file.size,
            "sha256": bytes(file.sha256).hex(),
            "created_at": file.created_at,
            "path": path_of(file) if with_bytes else None,
        }
        for file in files
    ]


def given_in(turns: Sequence[Message]) -> Given:
    """Of turns of one person."""
    by_turn: Given = {}
    if not turns:
        return by_turn
    positions = [turn.position for turn in turns]
    rows = TurnFile.objects.filter(
        user=turns[0].user_id,
        thread__in={turn.thread_id for turn in turns},
        position__range=(min(positions), max(positions)),
    )
    for row in rows.order_by("thread_id", "position", "place"):
        given = {"file": row.file_id, "parts": write_ranges(row.numbers), "outlined": row.outlined}
        by_turn.setdefault((row.thread_id, row.position), []).append(given)
    return by_turn


async def add_files(archive: Zip, folder: str, files: QuerySet[File]) -> AsyncIterator[bytes]:
    """The bytes of these files, each under its path; one that was deleted meanwhile is not there."""
    after: uuid.UUID | None = None
    while page := await step(_page)(files, after):
        for file in page:
            if source := await step(_opened)(file):
                pieces = _pieces(source)
                path = f"{folder}{path_of(file)}"
                async for piece in archive.file(
                    path, file.created_at, pieces, size=file.size, is_packed=file.kind in PACKED
                ):
                    yield piece
        after = page[-1].id


def _page(files: QuerySet[File], after: uuid.UUID | None) -> list[File]:
    rows = files.order_by("id").only(*FIELDS, "place")
    return list((rows.filter(id__gt=after) if after else rows)[:PAGE])


def _opened(file: File) -> IO[bytes] | None:
    try:
        return storage.open_bytes(file.place)
    except FileNotFound:
        return None


async def _pieces(source: IO[bytes]) -> AsyncIterator[bytes]:
    with source:
        while piece := await asyncio.to_thread(partial(source.read, PIECE)):
            yield piece

"""Threads, artifacts and what is remembered, in and out as one document."""

import asyncio
import json
import logging
import math
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from contextvars import Context, copy_context
from functools import partial
from typing import IO, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import audit, tasks
from conversations.accounts import freshness, switches
from conversations.errors import AlreadyExists, FreshSignInNeeded, InvalidImport, OpenbookError, error_object
from conversations.import_export.book_archive import archived
from conversations.import_export.disk_lists import Scratch, Spool
from conversations.import_export.document_reader import DocumentReader
from conversations.import_export.document_writer import export
from conversations.import_export.file_intake import TOLD, FileIntake
from conversations.import_export.import_sections import outline, records
from conversations.import_export.insertion import ImportCounts
from conversations.import_export.records import LeftOut, ThreadRecord
from conversations.import_export.store import store
from conversations.import_export.uploads import ZIP, documents, too_large
from conversations.models import File, Scope
from conversations.rest.base import AsyncAPIView, caller, token_of
from conversations.rest.book import Book, ImportAnswer
from conversations.rest.descriptions import describe
from conversations.rest.errors import exception_handler
from conversations.rest.query_params import Choice, Switch
from conversations.rest.serializers import described
from conversations.rest.streams import StreamedAnswer
from conversations.runtime import clock, long_work
from conversations.runtime.db import in_database
from conversations.runtime.lagging import read_lagging, with_lag
from conversations.runtime.long_work import Work, WorkKind

log = logging.getLogger("openbook.exchange")

IDS = {"keep": False, "new": True}
FORMS: Mapping[str, Callable[[User], AsyncIterator[bytes]]] = {"json": export, "zip": archived}
"""Of an export."""
PIECE = 2**20
IN_MEMORY = 2 * 2**20
"""Bytes of an upload; a larger one is kept in a file."""

WAITING_SECONDS = 2.0
"""How often whoever waits is told so."""

type Line = Mapping[str, object]
type Report = Callable[[Line], None]
LAST = {"done", "error"}


def largest_body() -> int:
    """Bytes that an upload may have: those of a ZIP file."""
    return max(settings.OPENBOOK_MAX_IMPORT_MB, settings.OPENBOOK_MAX_IMPORT_ZIP_MB) * 2**20


class UploadParser(BaseParser):
    """A body of any type, which may be far larger than a message, as a file: what it is shows in what it holds."""

    media_type = "*/*"

    def parse(  # type: ignore[override]  # there are no fields in it
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> IO[bytes]:
        upload, most = tempfile.SpooledTemporaryFile(IN_MEMORY), 0  # noqa: SIM115  # whoever reads it closes it
        while piece := stream.read(PIECE):
            most = most or (largest_body() if piece.startswith(ZIP) else settings.OPENBOOK_MAX_IMPORT_MB * 2**20)
            upload.write(piece)
            if upload.tell() > most:
                upload.close()
                raise too_large(most)
        return upload


class Import(AsyncAPIView):
    parser_classes = [UploadParser]

    ids = Choice(
        "ids",
        list(IDS),
        "`keep` (default): ids that are given are kept where they are free, and those of other products' exports are derived "
        "from them and the caller; what is here already is not stored again, and conversations that became longer are "
        "continued. `new`: everything gets a new id, so that copies can be made.",
    )
    progress = Switch(
        "progress",
        '`true`: the answer is 200 with lines of JSON (`application/x-ndjson`) as it goes on – `{"type": "waiting", '
        '"message"}` until there is a place for it, `{"type": "progress", "threads", "of", "messages", "files"}` – and in '
        'the end one of `{"type": "done", …}` with what is answered otherwise, or `{"type": "error", "error": {…}}`. '
        "Whoever leaves before cancels the import.",
    )

    @describe(
        request={"application/json": described(Book), "application/zip": OpenApiTypes.BINARY},
        responses={
            201: described(ImportAnswer),
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.OBJECT, "With `progress`: a line at a time."),
        },
        parameters=[ids, progress],
    )
    async def post(self, request: Request) -> HttpResponseBase:
        """Import threads and what is remembered, all or nothing. Errors name their place, `threads[3].messages[17].content`.

        What is here already – of an export that was imported before – stays as it is: `known` says how much that was, and
        `longer` which conversations got more turns: behind their end, or on other branches, and where one has gone on here as
        well, its active path stays. What could not be taken is named in `not_taken`.

        A data export of ChatGPT or Claude is taken as well, as its `conversations.json` or as the ZIP file that it comes in,
        with all branches and with the files in it. A file that can't be taken costs itself only: `files_refused` says which
        and why.
        """
        await in_database(switches.demand)(caller(request).pk, "uploads")
        shown = self.progress.read(request)
        ids = request.query_params.get("ids", "keep")
        if ids not in IDS:
            raise InvalidImport(f"`ids` must be one of: {', '.join(IDS)}.", place="ids")
        user, upload = caller(request), await long_work.step(_upload)(request)

        imported = partial(_imported, user, upload, new_ids=IDS[ids])
        if shown:
            lines = _lines(long_work.places(user.pk, WorkKind.IMPORT), imported, copy_context())
            return StreamedAnswer(_closing(upload, lines), content_type="application/x-ndjson")
        with upload:
            done = await long_work.run(user.pk, WorkKind.IMPORT, partial(imported, report=lambda progress: None))
        return Response(done, status=201)


def _imported(user: User, upload: IO[bytes], *, new_ids: bool, report: Report) -> ImportAnswer:
    """Once more where an id was taken by somebody else between the look and the storing."""
    try:
        return _import(user, upload, new_ids=new_ids, report=report)
    except AlreadyExists:
        return _import(user, upload, new_ids=new_ids, report=report)


def _import(user: User, upload: IO[bytes], *, new_ids: bool, report: Report) -> ImportAnswer:
    """Everything is read, and all files are kept, before a transaction begins: to keep them takes as long as it takes."""
    of = 0

    def kept(files: int) -> None:
        report(_progress(ImportCounts(files=files), of))

    most = settings.OPENBOOK_MAX_IMPORT_MB * 2**20
    with (
        documents(upload, most=most) as look,
        closing(Scratch()) as scratch,
        closing(FileIntake(user, report=kept)) as intake,
    ):
        outlines = [outline(each, scratch) for each in look]
        of = sum(each.counts.get("threads", 0) for each in outlines)
        report(_progress(ImportCounts(), of))
        reader = DocumentReader(user_id=user.pk, now=clock.now(), new_ids=new_ids, scratch=scratch, take=intake.take)
        read = Spool(scratch, records(outlines, reader))
        intake.renew()
        stored = store(
            user=user, records=read, read_later=_read_later, report=lambda stored: report(_progress(stored, of))
        )
        intake.is_stored = True
        empty = of - sum(isinstance(each, ThreadRecord) for each in read)
        return _answer(stored, empty, [*reader.left_out, *stored.left_out], intake)


def _read_later(file: File) -> None:
    """After those that somebody waits for."""
    tasks.enqueue_reading(file, is_import=True)


def _upload(request: Request) -> IO[bytes]:
    """In a thread, as it is copied. DRF parses no body that is empty, and so has nothing of ours for it."""
    upload = request.data
    return tempfile.SpooledTemporaryFile() if isinstance(upload, Mapping) else upload  # type: ignore[return-value]


def _progress(stored: ImportCounts, of: int) -> Line:
    messages = sum(count for _, count in stored.threads)
    files = {"files": stored.files} if stored.files else {}
    return {"type": "progress", "threads": len(stored.threads), "of": of, "messages": messages, **files}


def _answer(stored: ImportCounts, empty: int, left_out: Sequence[LeftOut], intake: FileIntake) -> ImportAnswer:
    """``empty``: conversations in which nothing was said."""
    answer: ImportAnswer = {
        "threads": [{"id": str(id), "message_count": count} for id, count in stored.threads],
        "memories": stored.memories,
    }
    if stored.branches:
        answer["branches"] = stored.branches
    if stored.longer:
        answer["longer"] = [
            {"id": str(each.id), "message_count": each.message_count, "added": each.added} for each in stored.longer
        ]
    if known := {name: count for name, count in stored.known.items() if count}:
        answer["known"] = known
    if empty:
        answer["left_out"] = empty
    if left_out:
        answer["not_taken"] = [
            {"place": each.place, "what": each.what, "count": each.count} for each in left_out[:TOLD]
        ]
        answer["not_taken_count"] = sum(each.count for each in left_out)
    if stored.files:
        answer["files"] = stored.files
    if intake.refused:
        answer["files_left_out"] = intake.refused_count
        answer["files_refused"] = [
            {"name": each.name, "place": each.place, "code": each.code, "message": each.message}
            for each in intake.refused
        ]
    return answer


async def _lines(
    looks: AsyncGenerator[Work | OpenbookError], work: Callable[..., ImportAnswer], context: Context
) -> AsyncGenerator[bytes]:
    """That it waits, what the work tells as it tells it, and how it ended. Whoever stops listening ends it."""
    lines, loop = asyncio.Queue[Line](), asyncio.get_running_loop()

    def report(progress: Line) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, progress)

    async def worked() -> None:
        try:
            last = {
                "type": "done",
                **await long_work.run_work(await _waited(looks, report), partial(work, report=report)),
            }
        except Exception as error:  # the border of the stream: its status has been sent, so its last line has to tell
            last = {"type": "error", **_refusal(error)}
        report(last)

    task = asyncio.create_task(worked(), context=context)
    try:
        while (line := await lines.get())["type"] not in LAST:
            yield _line(line)
        yield _line(line)
        await task
    finally:
        task.cancel()


async def _closing(upload: IO[bytes], lines: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    with upload:
        async with aclosing(lines):
            async for line in lines:
                yield line


async def _waited(looks: AsyncGenerator[Work | OpenbookError], report: Report) -> Work:
    """The work, as soon as it has a place."""
    told_at = -math.inf
    async with aclosing(looks):
        async for look in looks:
            if isinstance(look, Work):
                return look
            if time.monotonic() - told_at >= WAITING_SECONDS:
                told_at = time.monotonic()
                report({"type": "waiting", "message": look.message})
    raise AssertionError


def _refusal(error: Exception) -> Line:
    answer = exception_handler(error, {})
    if answer is None:
        log.exception("import failed")
        message = (
            "Something went wrong on the server, and nothing was imported. It is in the log under this request_id."
        )
        return {"error": error_object(type="internal", code="internal", message=message)}
    return dict(answer.data)


def _line(values: Line) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"


class Export(AsyncAPIView):
    scopes = {"GET": Scope.EXPORT}
    needs_acceptance = False

    form = Choice(
        "as",
        list(FORMS),
        "`json` (default): the document alone, which tells of files without their bytes. `zip`: `conversations.json`, and the "
        "files in `files/`.",
    )

    @describe(
        responses={
            (200, "application/json"): described(Book),
            (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "With `as=zip`."),
        },
        parameters=[form],
    )
    async def get(self, request: Request) -> HttpResponseBase:
        """Everything of the caller in the format that `POST import/` takes: threads oldest first, what is remembered. With a
        session, where the person has proved who they are within five minutes. 403 `export_off`: it is off."""
        as_, user = self.form.text(request) or "json", caller(request)
        await in_database(switches.demand)(user.pk, "export")
        if token_of(request) is None and not await in_database(freshness.is_fresh)(request._request, user):
            raise FreshSignInNeeded
        if as_ not in FORMS:
            raise self.form.refuse(" or ".join(f"`{each}`" for each in FORMS))
        work = await long_work.acquire(user.pk, WorkKind.DOWNLOAD)
        response = StreamedAnswer(long_work.download(work, FORMS[as_](user)), content_type=f"application/{as_}")
        await long_work.step(read_lagging(with_lag))(response)
        await in_database(audit.record)(audit.AuditKind.EXPORTED, target=user, details={"as": as_})
        response["Content-Disposition"] = f'attachment; filename="openbook-{clock.now():%Y-%m-%d}.{as_}"'
        return response

"""Answers that are files: to be kept, never shown in Openbook's own origin, as they may be pages that somebody wrote."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import IO

from django.http import HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from rest_framework.request import Request

from conversations.rest.streams import StreamedAnswer

PIECE = 2**18
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def attached[R: HttpResponseBase](response: R, filename: str, *, inline: bool = False) -> R:
    """``inline``: a picture that we made, which a page may show."""
    response["Content-Disposition"] = content_disposition_header(not inline, filename) or "attachment"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def asked_range(request: Request, size: int) -> range | None:
    """The one range of bytes that is asked for, empty where there are none of it; ``None``: all of them."""
    match = RANGE.fullmatch(request.headers.get("Range", ""))
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)


type InThread = Callable[[Callable[[], bytes]], Awaitable[bytes]]


def streamed(source: IO[bytes], asked: range | None, *, size: int, media_type: str, run: InThread) -> HttpResponseBase:
    """These bytes of an open file, which is closed at the end. ``run`` has a step run where it keeps nobody waiting."""
    if asked is not None and not asked:
        source.close()
        refused = HttpResponse(status=416)
        refused["Content-Range"] = f"bytes */{size}"
        return refused
    wanted = range(size) if asked is None else asked
    response = StreamedAnswer(_pieces(source, wanted, run), content_type=media_type, status=206 if asked else 200)
    response["Content-Length"] = str(len(wanted))
    response["Accept-Ranges"] = "bytes"
    if asked:
        response["Content-Range"] = f"bytes {asked.start}-{asked.stop - 1}/{size}"
    return response


async def _pieces(source: IO[bytes], wanted: range, run: InThread) -> AsyncIterator[bytes]:
    left = len(wanted)

    def read() -> bytes:
        if left == len(wanted):
            source.seek(wanted.start)
        return source.read(min(PIECE, left))

    with source:
        while left and (piece := await run(read)):
            left -= len(piece)
            yield piece

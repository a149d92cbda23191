"""Whether a page on which nothing stands is empty, or what describes it is damaged: PDFium takes the one for the other."""

import io
import re
import zlib
from contextlib import closing
from typing import Any

import pypdfium2

CONTENTS = re.compile(rb"/Contents(?: (\d+) 0 R|\[([ \d R]*)\])")
PACKED = re.compile(rb"(?<=\n)(\d+) 0 obj\r?\n<</Filter/FlateDecode/Length (\d+)>>stream\r?\n")
LOOKED_AT = 2**20
"""Bytes of what was unpacked."""


def is_damaged(document: Any, index: int) -> bool:
    """Whether the description of that page can't be unpacked."""
    content = _alone(document, index)
    if not (contents := CONTENTS.search(content)):
        return False
    numbers = set((contents[1] or contents[2] or b"").split())
    return any(
        stream[1] in numbers and not _can_be_unpacked(content[stream.end() : stream.end() + int(stream[2])])
        for stream in PACKED.finditer(content)
    )


def _alone(document: Any, index: int) -> bytes:
    """A document of that page, as PDFium writes it."""
    with closing(pypdfium2.PdfDocument.new()) as single:
        try:
            single.import_pages(document, [index])
        except pypdfium2.PdfiumError:
            return b""
        written = io.BytesIO()
        single.save(written)
    return written.getvalue()


def _can_be_unpacked(packed: bytes) -> bool:
    try:
        zlib.decompressobj().decompress(packed, LOOKED_AT)
    except zlib.error:
        return False
    return True

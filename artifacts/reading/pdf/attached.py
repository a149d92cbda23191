"""Files that are attached to a PDF: their names, and what stands in those of plain text, such as an invoice in XML."""

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium

from artifacts.reading.blocks import Block, LeftOut, Place, Text, Why

TEXTS = frozenset({"xml", "csv", "tsv", "txt", "md", "json", "ics", "vcf", "html", "htm", "yaml", "yml"})
"""Endings of names."""
LARGEST_TEXT = 256 * 2**10
MOST = 500
LONGEST_TEXT = 100_000
"""Bytes."""


def attached_files(document: Any) -> Iterator[Block]:
    """Those of the document as a whole."""
    count = pdfium.FPDFDoc_GetAttachmentCount(document)
    files = [pdfium.FPDFDoc_GetAttachment(document, index) for index in range(min(count, MOST))]
    blocks = [block for file in files for block in attached_file(file)]
    if blocks:
        yield Place("attached files")
        yield from blocks


def attached_file(file: Any) -> Iterator[Block]:
    name = " ".join(wide_text(pdfium.FPDFAttachment_GetName, file).split()) or "without a name"
    content = _content(file)
    about = " ".join(wide_text(pdfium.FPDFAttachment_GetDescription, file).split())
    size = f", {len(content):,} bytes" if content is not None else ""
    text = _text(name, content)
    yield Text(
        f"(attached: {name}{size}{f', {about}' if about and about != name else ''}{'' if text else '; not read'})"
    )
    if text:
        yield Text(text)
    else:
        yield LeftOut(Why.NOT_READ if content is not None else Why.DAMAGED, "attachment")


def _content(file: Any) -> bytes | None:
    size = ctypes.c_ulong()
    if not pdfium.FPDFAttachment_GetFile(file, None, 0, size):
        return None
    buffer = (ctypes.c_char * size.value)()
    pdfium.FPDFAttachment_GetFile(file, buffer, size.value, size)
    return bytes(buffer)


def _text(name: str, content: bytes | None) -> str:
    extension = name.rpartition(".")[2].lower()
    if not content or extension not in TEXTS or len(content) > LARGEST_TEXT or b"\0" in content:
        return ""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    fence = "```" if "```" not in text else "~~~~"
    return f"{fence}{extension}\n{text.strip()}\n{fence}" if text.strip() else ""


def wide_text(function: Any, *arguments: Any) -> str:
    """What such a function of PDFium writes into a buffer of UTF-16."""
    size = min(function(*arguments, None, 0), LONGEST_TEXT)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")

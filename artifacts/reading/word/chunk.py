"""Files of other kinds within a document of Word, which shows them as if they stood in it."""

import email
import email.policy
import posixpath
from collections.abc import Iterator
from email.message import EmailMessage

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, LeftOut, Text, Title, Why
from artifacts.reading.problems import FileProblem
from artifacts.reading.text.encodings import DECLARATION_BYTES, declared_encoding, decode
from artifacts.reading.text.plain import paragraphs
from artifacts.reading.web.page import read_page

MOST_BYTES = 32 * 2**20
WEB_ARCHIVES = {".mht", ".mhtml", ".eml"}
PAGES = {".html", ".htm", ".xhtml"}


def content(archive: Archive, place: str) -> bytes | None:
    """``None`` where it is missing or damaged."""
    try:
        return archive.read(place, at_most=MOST_BYTES) if place else None
    except FileProblem:
        return None


def blocks(content: bytes, place: str) -> Iterator[Block]:
    """What stands in it, by its ending and its first bytes."""
    start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    ending = posixpath.splitext(place)[1].lower()
    if start.startswith((b"{\\rtf", b"pk")) or b"\0\0\0" in start:
        yield Text(f"(inserted file, not read: {posixpath.basename(place)})")
        yield LeftOut(Why.NOT_READ, "inserted file")
    elif ending in WEB_ARCHIVES or start.startswith((b"mime-version", b"from:", b"content-type:")):
        yield from _web_archive(content)
    elif ending in PAGES or start.startswith(
        (b"<!doctype html", b"<html", b"<?xml", b"<body", b"<p", b"<div", b"<table")
    ):
        yield from _page(_text(content))
    else:
        yield from paragraphs(_text(content).splitlines())


def _text(content: bytes, declared: str = "") -> str:
    return decode(content, declared or declared_encoding(content[:DECLARATION_BYTES]))[0].removeprefix("\ufeff")


def _page(text: str) -> Iterator[Block]:
    return (block for block in read_page(lambda: [text]) if not isinstance(block, Title))


def _web_archive(content: bytes) -> Iterator[Block]:
    message = email.message_from_bytes(content, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    try:
        body = message.get_body(("html", "plain"))
        payload = body.get_payload(decode=True) if body is not None else None
        charset = body.get_content_charset() if body is not None else None
        is_page = body is not None and body.get_content_subtype() == "html"
    except (LookupError, ValueError, AttributeError, TypeError):  # of parts that are none
        payload, charset, is_page = None, None, False
    if not isinstance(payload, bytes):
        yield Text("(inserted file, which can't be read)")
        yield LeftOut(Why.DAMAGED, "inserted file")
        return
    text = _text(payload, charset or "")
    yield from _page(text) if is_page else paragraphs(text.splitlines())

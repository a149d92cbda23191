"""Files of other kinds within a document of Word, which shows them as if they stood in it."""

import posixpath
from collections.abc import Iterator
from itertools import islice

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, unread
from artifacts.reading.mail.reader import body
from artifacts.reading.problems import FileProblem
from artifacts.reading.text.encodings import DECLARATION_BYTES, declared_encoding, decode
from artifacts.reading.text.plain import paragraphs
from artifacts.reading.web.page import read_page

MOST_BYTES = 32 * 2**20
WEB_ARCHIVES = {".mht", ".mhtml", ".eml"}
PAGES = {".html", ".htm", ".xhtml"}
PAGE_STARTS = (b"<!doctype html", b"<html", b"<?xml", b"<body", b"<p", b"<div", b"<table")


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
        yield from unread("inserted file", posixpath.basename(place))
        return
    if ending in WEB_ARCHIVES or start.startswith((b"mime-version", b"from:", b"content-type:")):
        yield from body(content)
        return
    text = decode(content, declared_encoding(content[:DECLARATION_BYTES]))[0].removeprefix("\ufeff")
    if ending in PAGES or start.startswith(PAGE_STARTS):
        yield from islice(read_page(lambda: [text]), 1, None)
    else:
        yield from paragraphs(text.splitlines())

"""EPUB: the chapters in the order of reading."""

import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from conversations.files.archives import DAMAGED, Archive, open_archive
from conversations.files.blocks import Block, Heading, LeftOut, Text, Title, Why
from conversations.files.encodings import declared_encoding, decode
from conversations.files.html_blocks import HtmlBlocks
from conversations.files.pictures import PictureFolder
from conversations.files.problems import FileProblem
from conversations.files.xml_stream import found, tree

CHAPTER_BYTES = 32 * 2**20
FONTS_ONLY = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The chapters. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        _refuse_protected(archive)
        places = [
            file.get("full-path", "") for file in found(tree(archive, "META-INF/container.xml"), "container:rootfile")
        ]
        if not places or places[0] not in archive.names:
            raise DAMAGED
        package = tree(archive, places[0])
        folder = posixpath.dirname(places[0])
        items = {item.get("id"): item for item in found(package, "opf:item")}
        chapters = [items[ref.get("idref")] for ref in found(package, "opf:itemref") if ref.get("idref") in items]
        titles = _titles(archive, folder, items.values())
        yield Title(next((title.text or "" for title in found(package, "dc:title")), ""))
        for chapter in chapters:
            place = _place(folder, chapter.get("href", ""))
            if place not in archive.names:
                raise FileProblem("damaged", f"The book is damaged: its chapter {place} is missing.")
            yield from _chapter(archive.read(place, at_most=CHAPTER_BYTES), titles.get(place, ""))


def _refuse_protected(archive: Archive) -> None:
    """Fonts may be scrambled; chapters that are can be read by the shop's programs only."""
    if "META-INF/encryption.xml" in archive.names:
        encryption = archive.read("META-INF/encryption.xml")
        if encryption.count(b"EncryptionMethod ") > sum(encryption.count(way) for way in FONTS_ONLY):
            raise FileProblem("encrypted", "The book is protected against copying, so it can't be read.")


def _titles(archive: Archive, folder: str, items: Iterable[Element]) -> dict[str, str]:
    """By chapter, what the table of contents calls it, in its new form (a page) or its old one."""
    titles: dict[str, str] = {}
    for item in items:
        contents = _place(folder, item.get("href", ""))
        is_page = "nav" in item.get("properties", "").split()
        if contents in archive.names and (is_page or item.get("media-type") == "application/x-dtbncx+xml"):
            with suppress(ParseError):  # a book can be read without
                for target, title in _entries(tree(archive, contents), is_page=is_page):
                    titles.setdefault(_place(posixpath.dirname(contents), target), title)
    return titles


def _entries(contents: Element, *, is_page: bool) -> Iterator[tuple[str, str]]:
    if is_page:
        for link in found(contents, "a"):
            yield link.get("href", ""), " ".join(" ".join(link.itertext()).split())
        return
    for point in found(contents, "navPoint"):
        label = next(found(point, "navLabel"), None)
        source = next(found(point, "content"), None)
        if label is not None and source is not None:
            yield source.get("src", ""), " ".join(" ".join(label.itertext()).split())


def _place(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))


def _chapter(content: bytes, title: str) -> Iterator[Block]:
    text, damaged = decode(content, declared_encoding(content))
    parser = HtmlBlocks()
    parser.feed(text)
    parser.close()
    if damaged:
        yield LeftOut(Why.DAMAGED, "letter", damaged)
    blocks = list(parser.take())
    if blocks and title and not any(isinstance(block, Heading) for block in blocks):
        yield Heading(1, title)
        blocks = blocks[blocks[0] == Text(title) :]
    yield from blocks

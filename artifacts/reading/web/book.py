"""EPUB: the chapters in the order of reading."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from artifacts.reading.archives import DAMAGED, Archive, open_archive
from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Title, Why
from artifacts.reading.pictures.data_uris import EmbeddedPictures, Keep
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.problems import FileProblem
from artifacts.reading.text.encodings import declared_encoding, decode
from artifacts.reading.web.page import read_page
from artifacts.reading.xml_stream import first, found, tree

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
        sheets = _sheets(archive, folder, items.values())
        keep = EmbeddedPictures(pictures).keep
        for chapter in chapters:
            place = _place(folder, chapter.get("href", ""))
            if "nav" in chapter.get("properties", "").split():
                yield LeftOut(Why.NOT_READ, "contents page")  # its titles stand above the chapters
            elif content := _content(archive, place):
                yield from _chapter(content, titles.get(place, ""), _linked(sheets, place), keep)
            else:
                yield LeftOut(Why.DAMAGED, "chapter")


def _content(archive: Archive, place: str) -> bytes:
    """Empty where the chapter is missing or damaged, which costs it alone."""
    if place not in archive.names:
        return b""
    try:
        return archive.read(place, at_most=CHAPTER_BYTES)
    except FileProblem as problem:
        if problem.code != "damaged":
            raise
        return b""


def _sheets(archive: Archive, folder: str, items: Iterable[Element]) -> dict[str, str]:
    """Style sheets by their place in the archive."""
    places = (_place(folder, item.get("href", "")) for item in items if item.get("media-type") == "text/css")
    return {place: content.decode("utf-8", "replace") for place in places if (content := _content(archive, place))}


def _linked(sheets: Mapping[str, str], chapter: str) -> dict[str, str]:
    """By the address that a chapter has for them."""
    return {posixpath.relpath(place, posixpath.dirname(chapter) or "."): css for place, css in sheets.items()}


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
        label = first(point, "navLabel")
        source = first(point, "content")
        if label is not None and source is not None:
            yield source.get("src", ""), " ".join(" ".join(label.itertext()).split())


def _place(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))


def _chapter(content: bytes, title: str, linked: Mapping[str, str], keep: Keep) -> Iterator[Block]:
    text, damaged = decode(content, declared_encoding(content))
    if damaged:
        yield LeftOut(Why.DAMAGED, "letter", damaged)
    _, *blocks = read_page(lambda: [text], keep=keep, linked=linked)
    seen = [block for block in blocks if not isinstance(block, LeftOut)]
    if seen and title and not any(isinstance(block, Heading) for block in seen):
        yield Heading(1, title)
        blocks = [block for block in blocks if block is not seen[0]] if seen[0] == Text(title) else blocks
    yield from blocks

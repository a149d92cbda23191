"""HTML pages, section by section. The styles of a page are known before its text is read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from artifacts.reading.blocks import Block, Title
from artifacts.reading.pictures.data_uris import DataUris, EmbeddedPictures, Keep, keep_none
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.text.encodings import DECLARATION_BYTES, declared_encoding, detect_encoding
from artifacts.reading.web.blocks import LONGEST_STYLE, HtmlBlocks
from artifacts.reading.web.styles import StyleSheet
from artifacts.reading.web.tokens import Attributes, HtmlTokens

CHUNK = 64 * 2**10


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What a reader of the page would see. Raises ``FileProblem``."""
    with path.open("rb") as start:
        declared = declared_encoding(start.read(DECLARATION_BYTES))
    encoding = detect_encoding(path, declared)

    def pieces() -> Iterator[str]:
        with encoding.open(path) as file:
            while chunk := file.read(CHUNK):
                yield chunk

    yield from read_page(pieces, keep=EmbeddedPictures(pictures).keep)
    yield from encoding.left_out()


def read_page(
    pieces: Callable[[], Iterable[str]],
    *,
    keep: Keep = keep_none,
    linked: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """Its blocks, the first its title. ``pieces`` gives the text, from its beginning each time. ``linked``: style sheets that
    lie beside the page, by the address that it has for them."""
    parser = HtmlBlocks(sheet=page_styles(pieces(), linked or {}), keep=keep)
    is_first = True
    for piece in pieces():
        parser.feed(piece)
        if is_first:
            yield Title(parser.title)
            is_first = False
        yield from parser.take()
    if is_first:
        yield Title("")
    parser.close()
    yield from parser.take()


def page_styles(pieces: Iterable[str], linked: Mapping[str, str]) -> StyleSheet:
    """All of them hold for all of the page, wherever they stand."""
    styles, uris = _Styles(), DataUris()
    for piece in uris.pieces(pieces):
        styles.feed(piece)
    styles.close()
    sheet = StyleSheet()
    for link in styles.links:
        sheet.add(linked.get(link, ""))
        sheet.is_partial |= link not in linked
    sheet.add("".join(styles.css))
    return sheet


class _Styles(HtmlTokens):
    """The styles of a page alone."""

    def __init__(self) -> None:
        super().__init__()
        self.css: list[str] = []
        self.links: list[str] = []
        self._size = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "style":
            self.css.append("\n")
        elif tag == "link":
            attributes = dict(attrs)
            if "stylesheet" in (attributes.get("rel") or "").lower():
                self.links.append(attributes.get("href") or "")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        pass

    def handle_data(self, data: str) -> None:
        pass

    def handle_skipped(self, end: str, data: str) -> None:
        if end == "</style" and self._size < LONGEST_STYLE:
            self.css.append(data)
            self._size += len(data)

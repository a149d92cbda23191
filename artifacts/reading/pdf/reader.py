"""PDF, page by page, by PDFium: text with headings, fields and notes, and a picture of each page without text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from artifacts.reading.archives import DAMAGED, ENCRYPTED
from artifacts.reading.blocks import Block, Heading, LeftOut, Picture, Place, Text, Title, Why
from artifacts.reading.pdf.attached import attached_files
from artifacts.reading.pdf.contents import is_damaged
from artifacts.reading.pdf.notes import notes
from artifacts.reading.pdf.objects import PageObjects, page_objects
from artifacts.reading.pdf.scripts import Line
from artifacts.reading.pdf.text import PageText, joined, page_text
from artifacts.reading.pdf.visibility import Eye, Unseen
from artifacts.reading.pictures.folder import THUMBNAIL_SIDE, PictureFolder
from artifacts.reading.pictures.ocr import BY_MACHINE
from artifacts.reading.pictures.ocr import SIDE as OCR_SIDE
from artifacts.reading.problems import FileProblem

SIDE = 1_568
"""Pixels of a page's longest side: what models see at full size."""
LARGEST_SCALE = 4.0
"""Pixels to a point, of small pages."""
BOOKMARKS = 20_000
FEW_LETTERS = 12
"""A page with fewer is looked at as a picture, too: it may be scanned, and numbered by a program."""
LOOKING_SECONDS = 25.0
"""Of a processor, for all pages together: whether text is seen that may not be."""
LONGEST_HEADING = 120
LARGER = 1.15
"""Than most of the text: how high letters of a heading are."""
UNREADABLE = "(This page can't be read.)"
EMPTY = "(This page is empty.)"
MEANINGLESS = "(The letters of this page have no meaning to programs; it is given as a picture.)"
XFA = "(This is a form of the kind XFA, which is filled in by Adobe's programs alone. Print it there as a PDF.)"


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The pages, then what is attached. Raises ``FileProblem``."""
    with _open(path) as document:
        yield Title(document.get_metadata_value("Title"), len(document))
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            document.init_forms()
        reader = _Reader(document, pictures)
        for index in range(len(document)):
            yield from reader.page(index)
        if reader.damaged == len(document):
            raise DAMAGED
        yield from attached_files(document)


class _Reader:
    """Remembers what a page has to be held against: the headings and the sizes of letters before it."""

    def __init__(self, document: Any, pictures: PictureFolder) -> None:
        self._document = document
        self._pictures = pictures
        self._chapters = _chapters(document)
        self._eye = Eye(LOOKING_SECONDS)
        self._heading = ""
        self._letters: Counter[float] = Counter()
        """How many there were of each size."""
        self.damaged = 0

    def page(self, index: int) -> Iterator[Block]:
        place = f"page {index + 1}"
        try:
            page = self._document[index]
        except pypdfium2.PdfiumError:
            yield Place(place, index + 1, self._chapters.get(index, self._heading))
            yield from self._unreadable()
            return
        with closing(page):
            objects = page_objects(page)
            unseen = self._eye.take_out_unseen(page, objects)
            text = page_text(page, objects)
            headings = self._headings(text.lines)
            self._heading = self._chapters.get(index) or (text.lines[headings[0]].text if headings else self._heading)
            yield Place(place, index + 1, self._heading)
            if index == 0 and self._document.get_formtype() == pdfium.FORMTYPE_XFA_FULL:
                yield Text(XFA)
                yield LeftOut(Why.NOT_READ, "XFA form")
            yield from self._page(page, index + 1, objects, unseen, text, headings)

    def _page(
        self, page: Any, number: int, objects: PageObjects, unseen: Unseen, text: PageText, headings: list[int]
    ) -> Iterator[Block]:
        if unseen.hidden or text.is_cut:
            yield LeftOut(Why.HIDDEN, "hidden text")
        if unseen.is_scanned:
            yield Text(BY_MACHINE)
        yield from _blocks(text.lines, headings)
        written = list(notes(self._document, page))
        yield from written
        letters = _letters("".join(line.text for line in text.lines))
        if text.unknown and not text.is_meaningless:
            yield LeftOut(Why.NOT_READ, "letter without a meaning", text.unknown)
        if (letters < FEW_LETTERS or text.unknown) and (picture := _picture(page, number, self._pictures)):
            if letters < FEW_LETTERS:
                yield from self._read_by_machine(page, is_meaningless=text.is_meaningless, is_empty=not letters)
            yield picture
        elif not letters and not written and is_damaged(self._document, number - 1):
            yield from self._unreadable()
        elif not letters and not written:
            yield Text(EMPTY)

    def _read_by_machine(self, page: Any, *, is_meaningless: bool, is_empty: bool) -> Iterator[Block]:
        ocr = self._pictures.ocr
        if ocr and (words := ocr.text(_rendered(page, OCR_SIDE))):
            yield Text(f"{BY_MACHINE}\n\n{words}")
        elif is_meaningless:
            yield Text(MEANINGLESS)
            yield LeftOut(Why.NOT_READ, "page of a font without letters")
        elif is_empty:
            yield LeftOut(Why.NOT_READ, "page without text")

    def _unreadable(self) -> Iterator[Block]:
        self.damaged += 1
        yield Text(UNREADABLE)
        yield LeftOut(Why.DAMAGED, "page")

    def _headings(self, lines: Sequence[Line]) -> list[int]:
        """Which lines are headings: short ones in larger letters than most, of this page and of those before it."""
        here: Counter[float] = Counter()
        for line in lines:
            here[line.size] += len(line.text.strip())
        self._letters.update(here)
        usual = max((sizes.most_common(1)[0][0] for sizes in (here, self._letters) if sizes), default=0.0)
        headings = [
            number
            for number, line in enumerate(lines)
            if line.size > usual * LARGER > 0 and len(line.text) <= LONGEST_HEADING and re.search(r"\w{2}", line.text)
        ]
        is_most = 2 * sum(len(lines[number].text) for number in headings) > here.total()
        return [] if is_most else headings


def draw(path: Path, numbers: Sequence[int], pictures: PictureFolder) -> Iterator[Picture]:
    """These pages, from 1. Raises ``FileProblem``."""
    with _open(path) as document:
        document.init_forms()
        for number in numbers:
            if not 0 < number <= len(document):
                raise FileProblem("no_such_page", f"The file has {len(document)} pages, so there is no page {number}.")
            with _damaged_page(number - 1), closing(document[number - 1]) as page:
                yield pictures.save(_rendered(page), f"page-{number}", is_photograph=True)


def thumbnail(path: Path, pictures: PictureFolder) -> str:
    """Of the first page: its name. Raises ``FileProblem``."""
    with _open(path) as document:
        document.init_forms()
        with _damaged_page(0), closing(document[0]) as page:
            return pictures.save_thumbnail(_rendered(page, THUMBNAIL_SIDE))


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise ENCRYPTED if "password" in str(error).lower() else DAMAGED from error
    with closing(document):
        if not len(document):
            raise DAMAGED
        yield document


@contextmanager
def _damaged_page(index: int) -> Iterator[None]:
    try:
        yield
    except pypdfium2.PdfiumError as error:
        raise FileProblem("damaged", f"Page {index + 1} can't be read: the file is damaged.") from error


def _chapters(document: Any) -> dict[int, str]:
    """By page, the last entry of the table of contents up to it; for the first pages there may be none."""
    entries: dict[int, str] = {}
    for entry in islice(document.get_toc(), BOOKMARKS):
        destination = entry.get_dest()
        index = destination.get_index() if destination else None
        title = " ".join(entry.get_title().split())
        if index is not None and title:
            entries.setdefault(index, title)
    marks = [*sorted(entries), len(document)]
    return {index: entries[start] for start, end in pairwise(marks) for index in range(start, end)}


def _letters(text: str) -> int:
    """How many there are, of as many as matter."""
    return len(re.findall(r"\w", text[:1_000]))


def _blocks(lines: Sequence[Line], headings: Sequence[int]) -> Iterator[Block]:
    at = 0
    for number in headings:
        yield from _paragraph(lines[at:number])
        yield Heading(2, lines[number].text)
        at = number + 1
    yield from _paragraph(lines[at:])


def _paragraph(lines: Sequence[Line]) -> Iterator[Block]:
    if text := joined([line.text for line in lines]):
        yield Text(text)


def _picture(page: Any, number: int, pictures: PictureFolder) -> Picture | None:
    """Nothing for a page on which nothing is drawn."""
    if not pdfium.FPDFPage_CountObjects(page) and not pdfium.FPDFPage_GetAnnotCount(page):
        return None
    image = _rendered(page)
    return None if image.getcolors(1) else pictures.save(image, f"page-{number}", is_photograph=True)


def _rendered(page: Any, side: int = SIDE) -> Any:
    width, height = page.get_size()
    scale = min(side / max(width, height, 1.0), LARGEST_SCALE)
    bitmap = page.render(scale=scale)
    with closing(bitmap):
        return bitmap.to_pil().convert("RGB")

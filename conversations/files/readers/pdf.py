"""PDF, page by page, by PDFium: text with headings, what stands in forms, and a picture of each page without text."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from conversations.files.archives import DAMAGED, ENCRYPTED
from conversations.files.blocks import Block, Heading, Picture, Place, Text, Title
from conversations.files.pictures import THUMBNAIL_SIDE, PictureFolder
from conversations.files.problems import FileProblem

SIDE = 1_568
"""Pixels of a page's longest side: what models see at full size."""
LARGEST_SCALE = 4.0
"""Pixels to a point, of small pages."""
BOOKMARKS = 20_000
FEW_LETTERS = 12
"""A page with fewer is looked at as a picture, too: it may be scanned, and numbered by a program."""
UNREADABLE_SHARE = 0.2
"""Of letters without a meaning, as fonts without a table have them."""
LONGEST_HEADING = 120
LARGER = 1.15
"""Than most of the text: how high letters of a heading are."""
BROKEN_WITHIN = re.compile("[\x02\xad\ufffe\uffff](?=\\S)")
"""PDFium's sign where it put a word together that was broken at the end of a line."""
BROKEN_AT_END = re.compile("[\x02\xad\u2010\ufffe\uffff]\n")
UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]")
BULLET = re.compile(r"^[\ue000-\uf8ff]\s*(?=\S)")
"""Of a font of symbols, which have no meaning of their own."""


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The pages. Raises ``FileProblem``."""
    with _open(path) as document:
        yield Title(document.get_metadata_value("Title"), len(document))
        chapters = _chapters(document)
        heading = ""
        for index in range(len(document)):
            with _damaged_page(index), closing(document[index]) as page:
                lines, headings = _lines(page)
                text = "\n".join(lines)
                heading = chapters.get(index) or (lines[headings[0]] if headings else heading)
                yield Place(f"page {index + 1}", index + 1, heading)
                yield from _blocks(lines, headings)
                if values := _form_values(document, page):
                    yield Text(values)
                if not _is_readable(text) and (picture := _picture(page, index + 1, pictures)):
                    yield picture
                elif not text.strip() and not values:
                    yield Text("(This page is empty.)")


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


def _lines(page: Any) -> tuple[list[str], list[int]]:
    """The lines of the page, and which of them are headings: short ones, in larger letters than most."""
    with closing(page.get_textpage()) as text_page:
        text = text_page.get_text_range()
        heights: list[float] = []
        at = 0
        lines = text.split("\n")
        for line in lines:
            begins = len(line) - len(line.lstrip())
            heights.append(_height(text_page, at + begins) if line.strip() else 0.0)
            at += len(line) + 1
    letters: Counter[float] = Counter()
    for line, height in zip(lines, heights, strict=True):
        letters[height] += len(line.strip())
    usual = letters.most_common(1)[0][0] if letters else 0.0
    headings = [
        number
        for number, line in enumerate(lines)
        if heights[number] > usual * LARGER > 0 and len(line) <= LONGEST_HEADING and re.search(r"\w{2}", line)
    ]
    return [BULLET.sub("• ", BROKEN_WITHIN.sub("", line.strip())) for line in lines], headings


def _height(text_page: Any, index: int) -> float:
    """Of a letter, in tenths of a point."""
    box = pdfium.FS_RECTF()
    found = pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box))
    return float(round(abs(box.top - box.bottom), 1)) if found else 0.0


def _blocks(lines: list[str], headings: list[int]) -> Iterator[Block]:
    at = 0
    for number in headings:
        yield from _paragraph(lines[at:number])
        yield Heading(2, lines[number])
        at = number + 1
    yield from _paragraph(lines[at:])


def _paragraph(lines: list[str]) -> Iterator[Block]:
    if text := BROKEN_AT_END.sub("", "\n".join(lines)).strip():
        yield Text(text)


def _is_readable(text: str) -> bool:
    letters = len(re.findall(r"\w", text))
    return letters >= FEW_LETTERS and len(UNREADABLE.findall(text)) <= letters * UNREADABLE_SHARE


def _form_values(document: Any, page: Any) -> str:
    """What was filled in, a line for each field: it is no part of the page's text."""
    if document.get_formtype() == pdfium.FORMTYPE_NONE:
        return ""
    if document.formenv is None:
        document.init_forms()
    values = []
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        try:
            if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET:
                name = _wide_text(pdfium.FPDFAnnot_GetFormFieldName, document, annotation)
                value = _wide_text(pdfium.FPDFAnnot_GetFormFieldValue, document, annotation)
                if value:
                    values.append(f"- {name}: {value}")
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return "\n".join(values)


def _wide_text(function: Any, document: Any, annotation: Any) -> str:
    size = function(document.formenv, annotation, None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(document.formenv, annotation, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


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

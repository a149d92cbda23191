"""Which module reads a file."""

from artifacts.reading import formats
from artifacts.reading.kinds import Kind

READERS = {
    Kind.IMAGE: "pictures.image",
    Kind.PDF: "pdf.reader",
    Kind.DOCUMENT: "word.docx",
    Kind.SHEET: "sheets.workbook",
    Kind.SLIDES: "slides.pptx",
    Kind.BOOK: "web.book",
    Kind.PAGE: "web.page",
    Kind.MAIL: "mail.reader",
    Kind.TEXT: "text.plain",
}
"""Modules beside this one, of which only the one that is needed is loaded. Each has

``read(path, extension, pictures)``, which yields blocks, the first a ``Title``, and raises ``FileProblem``. Those of PDF
and of pictures have ``thumbnail(path, pictures)``, which gives its name, too, and that of PDF
``draw(path, numbers, pictures)``, which yields pictures.
"""

OPEN_DOCUMENT = "opendocument.open_document"
"""The module for its texts, sheets and slides, whose extensions begin with an o."""
OFFICE = {Kind.DOCUMENT, Kind.SHEET, Kind.SLIDES}


def reader_name(kind: str, extension: str) -> str:
    """The module that reads such files, by its whole name."""
    if name := formats.module_of(extension):
        return name
    place = OPEN_DOCUMENT if kind in OFFICE and extension.startswith("o") else READERS[Kind(kind)]
    return f"artifacts.reading.{place}"

"""Documents in the public domain, made into files of several kinds, and questions about them (``documents/README.md``)."""

import io
import re
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from artifacts.exporting.convert import export

FOLDER = Path(__file__).with_name("documents")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Question:
    """``evidence``: words of the places that answer it, each alone. ``is_kept``: nothing was tuned on it."""

    text: str
    evidence: Sequence[str]
    is_kept: bool

    def is_answered_by(self, text: str) -> bool:
        plain = plain_words(text)
        return any(plain_words(evidence) in plain for evidence in self.evidence)


@dataclass(frozen=True, kw_only=True)
class Document:
    name: str
    title: str
    language: str
    extension: str

    @property
    def markdown(self) -> str:
        return (FOLDER / f"{self.name}.md").read_text("utf-8")

    @property
    def questions(self) -> Sequence[Question]:
        return [
            Question(text=row["asked"], evidence=row["evidence"], is_kept=row.get("kept", False))
            for row in QUESTIONS[self.name]
        ]

    def as_file(self, sections: int | None = None) -> bytes:
        """All of it, or its first sections."""
        markdown = self.markdown if sections is None else "\n## ".join(self.markdown.split("\n## ")[: sections + 1])
        if self.extension == "epub":
            return book(self.title, markdown)
        made = export(title=self.title, kind="document", language="", content=markdown, as_=self.extension)
        return made.body


DOCUMENTS = (
    Document(name="whale", title="Moby-Dick", language="en", extension="epub"),
    Document(name="biblia", title="Santa Biblia", language="es", extension="pdf"),
    Document(name="messages", title="State of the Union", language="en", extension="docx"),
    Document(name="jargon", title="The Jargon File", language="en", extension="html"),
    Document(name="sqlite", title="SQLite documentation", language="en", extension="pdf"),
)
QUESTIONS: Mapping[str, Sequence[Mapping[str, Any]]] = tomllib.loads((FOLDER / "questions.toml").read_text("utf-8"))


def long_pdf() -> bytes:
    """Some 310 pages: all of the documents, one after the other, and the shortest once more."""
    markdown = "\n\n".join(document.markdown for document in (*DOCUMENTS, DOCUMENTS[3]))
    return export(title="All of them", kind="document", language="", content=markdown, as_="pdf").body


def plain_words(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">bench</dc:identifier>
<dc:title>{title}</dc:title><dc:language>en</dc:language></metadata>
<manifest>{items}</manifest><spine>{spine}</spine></package>"""
CHAPTER = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body>{body}</body></html>"""


def book(title: str, markdown: str) -> bytes:
    """An EPUB with a chapter for each section of Markdown that has no more than headings and paragraphs."""
    chapters = [section for section in markdown.split("\n## ")[1:] if section.strip()]
    numbers = range(1, len(chapters) + 1)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        packed.writestr("META-INF/container.xml", CONTAINER)
        items = "".join(
            f'<item id="c{number}" href="c{number}.xhtml" media-type="application/xhtml+xml"/>' for number in numbers
        )
        spine = "".join(f'<itemref idref="c{number}"/>' for number in numbers)
        packed.writestr("book.opf", PACKAGE.format(title=escape(title), items=items, spine=spine))
        for number, chapter in zip(numbers, chapters, strict=True):
            heading, _, text = chapter.partition("\n")
            paragraphs = "".join(f"<p>{escape(each)}</p>" for each in text.split("\n\n") if each.strip())
            body = f"<h2>{escape(heading)}</h2>{paragraphs}"
            packed.writestr(f"c{number}.xhtml", CHAPTER.format(title=escape(heading), body=body))
    return file.getvalue()

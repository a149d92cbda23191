"""What stands on a page besides its own text: fields that were filled in, and what readers wrote on it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from artifacts.reading.blocks import Block, LeftOut, Text, Why, unread
from artifacts.reading.marks import checked, struck
from artifacts.reading.pdf.attached import attached_file, wide_text

MOST_NOTES = 5_000
"""On one page."""
MOST_OPTIONS = 1_000
MOST_QUADS = 100
UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
BUTTONS = frozenset({pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON})
CHOICES = frozenset({pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX})
SUBFORM = re.compile(r"#\w+\.|\[\d+\]|#\w+\[\d+\]\.")
"""Parts of names that programs give."""

NOTES = {
    pdfium.FPDF_ANNOT_TEXT: "Note",
    pdfium.FPDF_ANNOT_FREETEXT: "Written on the page",
    pdfium.FPDF_ANNOT_HIGHLIGHT: "Highlighted",
    pdfium.FPDF_ANNOT_UNDERLINE: "Underlined",
    pdfium.FPDF_ANNOT_SQUIGGLY: "Underlined",
    pdfium.FPDF_ANNOT_STRIKEOUT: "Struck out",
    pdfium.FPDF_ANNOT_CARET: "To be inserted",
    pdfium.FPDF_ANNOT_STAMP: "Stamp",
    pdfium.FPDF_ANNOT_LINE: "Note at a line",
    pdfium.FPDF_ANNOT_SQUARE: "Note at a box",
    pdfium.FPDF_ANNOT_CIRCLE: "Note at a circle",
    pdfium.FPDF_ANNOT_POLYGON: "Note at a drawing",
    pdfium.FPDF_ANNOT_POLYLINE: "Note at a drawing",
    pdfium.FPDF_ANNOT_INK: "Note at a drawing",
    pdfium.FPDF_ANNOT_REDACT: "To be blackened",
    pdfium.FPDF_ANNOT_WATERMARK: "Watermark",
}
ON_TEXT = frozenset({
    pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT,
    pdfium.FPDF_ANNOT_REDACT,
})  # fmt: skip
NOT_READ = {
    pdfium.FPDF_ANNOT_SOUND: "recording",
    pdfium.FPDF_ANNOT_MOVIE: "film",
    pdfium.FPDF_ANNOT_RICHMEDIA: "film",
    pdfium.FPDF_ANNOT_SCREEN: "film",
    pdfium.FPDF_ANNOT_THREED: "model in three dimensions",
}


@dataclass(slots=True)
class Field:
    kind: int
    name: str
    value: str
    option: str
    """Of a button, what it stands for."""
    is_on: bool
    is_single: bool
    """No other box belongs to the same field."""
    is_unseen: bool
    is_password: bool


def notes(document: Any, page: Any) -> Iterator[Block]:
    """Fields, then what was written on the page, an item for each. ``document`` has its forms open, if it has any."""
    fields: list[Field] = []
    written: list[Block] = []
    quotes = _Quotes(page)
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_NOTES)):
        with _annotation(page, index) as annotation:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                fields += _field(document.formenv, annotation) if document.formenv else ()
            else:
                written += _note(quotes, annotation, kind)
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT and (file := pdfium.FPDFAnnot_GetFileAttachment(annotation)):
                written += attached_file(file)
    quotes.close()
    yield from _fields(fields)
    yield from written


@contextmanager
def _annotation(page: Any, index: int) -> Iterator[Any]:
    annotation = pdfium.FPDFPage_GetAnnot(page, index)
    try:
        yield annotation
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any) -> Iterator[Field]:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in {pdfium.FPDF_FORMFIELD_UNKNOWN, pdfium.FPDF_FORMFIELD_PUSHBUTTON}:
        return
    flags = pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation)
    yield Field(
        kind=kind,
        name=_field_name(form, annotation),
        value=_chosen(form, annotation) if kind in CHOICES else _field_value(form, annotation, kind),
        option=wide_text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation) if kind in BUTTONS else "",
        is_on=kind in BUTTONS and bool(pdfium.FPDFAnnot_IsChecked(form, annotation)),
        is_single=pdfium.FPDFAnnot_GetFormControlCount(form, annotation) <= 1,
        is_unseen=bool(pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN),
        is_password=kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and bool(flags & pdfium.FPDF_FORMFLAG_TEXT_PASSWORD),
    )


def _field_name(form: Any, annotation: Any) -> str:
    for function in (pdfium.FPDFAnnot_GetFormFieldAlternateName, pdfium.FPDFAnnot_GetFormFieldName):
        if name := " ".join(SUBFORM.sub("", wide_text(function, form, annotation)).split()):
            return name
    return "field"


def _field_value(form: Any, annotation: Any, kind: int) -> str:
    if kind == pdfium.FPDF_FORMFIELD_SIGNATURE:
        return "(signed)" if pdfium.FPDFAnnot_HasKey(annotation, b"V") else "(not signed)"
    return wide_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)


def _chosen(form: Any, annotation: Any) -> str:
    """As it is shown; what was typed into a field that takes that, as it is."""
    count = min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), MOST_OPTIONS)
    chosen = [
        wide_text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, index)
        for index in range(count)
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, index)
    ]
    return ", ".join(chosen) or wide_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)


def _fields(fields: list[Field]) -> Iterator[Block]:
    lines: list[str] = []
    buttons: dict[str, list[Field]] = {}
    for field in fields:
        if field.is_unseen or field.is_password:
            if field.value and field.kind not in BUTTONS:
                yield LeftOut(Why.HIDDEN, "password" if field.is_password else "hidden field")
        elif field.kind in BUTTONS and not (field.is_single and field.kind == pdfium.FPDF_FORMFIELD_CHECKBOX):
            if field.name not in buttons:
                buttons[field.name] = []
                lines.append(field.name)
            buttons[field.name].append(field)
        elif field.kind in BUTTONS:
            lines.append(f"- {checked(field.is_on)} {field.name}")
        elif field.value:
            lines.append(f"- {field.name}: {field.value}")
    lines = [_group(line, buttons[line]) if line in buttons else line for line in lines]
    if lines:
        yield Text("\n".join(lines))


def _group(name: str, boxes: list[Field]) -> str:
    return f"- {name}: " + " ".join(
        f"{checked(box.is_on)} {box.option or number}" for number, box in enumerate(boxes, 1)
    )


def _note(quotes: "_Quotes", annotation: Any, kind: int) -> Iterator[Block]:
    if kind in NOT_READ:
        yield from unread(NOT_READ[kind])
    if kind not in NOTES:
        return
    words = _string(annotation, b"Contents")
    if pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN:
        if words:
            yield LeftOut(Why.HIDDEN, "hidden note")
        return
    if kind == pdfium.FPDF_ANNOT_STAMP and not words:
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", _name(annotation))
    marked = quotes.below(annotation) if kind in ON_TEXT and (words or kind == pdfium.FPDF_ANNOT_STRIKEOUT) else ""
    if kind == pdfium.FPDF_ANNOT_STRIKEOUT:
        marked = struck(marked)
    if words or marked:
        author = _string(annotation, b"T")
        what = NOTES[kind] + (f" by {author}" if author else "")
        yield Text(
            f'- {what} "{marked}": {words}' if marked and words else f"- {what}: {words or marked}", is_item=True
        )


def _string(annotation: Any, key: bytes) -> str:
    return " ".join(wide_text(pdfium.FPDFAnnot_GetStringValue, annotation, key).split())


def _name(annotation: Any) -> str:
    """Of a stamp, such as ``Approved``."""
    return _string(annotation, b"Name").lstrip("#")


class _Quotes:
    """Of the page's text, read when the first is asked for."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._text_page: Any = None

    def below(self, annotation: Any) -> str:
        """What the letters are that it lies on."""
        self._text_page = self._text_page or self._page.get_textpage()
        quads = pdfium.FS_QUADPOINTSF()
        words = []
        for index in range(min(pdfium.FPDFAnnot_CountAttachmentPoints(annotation), MOST_QUADS)):
            if pdfium.FPDFAnnot_GetAttachmentPoints(annotation, index, quads):
                xs, ys = (quads.x1, quads.x2, quads.x3, quads.x4), (quads.y1, quads.y2, quads.y3, quads.y4)
                words.append(self._text_page.get_text_bounded(min(xs), min(ys), max(xs), max(ys)))
        return " ".join(" ".join(words).split())

    def close(self) -> None:
        if self._text_page:
            self._text_page.close()

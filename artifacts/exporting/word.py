"""Blocks as a Word file, in Word's own styles, so that it can be edited and restyled there."""

import io
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from docx import Document
from docx.document import Document as Word
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_PARAGRAPH_ALIGNMENT as ALIGNMENT
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Emu, Mm, Pt, RGBColor
from docx.text.paragraph import Paragraph as WordParagraph

from artifacts.exporting.blocks import (
    Block,
    Blocks,
    Code,
    Heading,
    Item,
    ListBlock,
    NoteBlock,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    TextRun,
    plain,
    runs_right_to_left,
    shares,
)

INDENT = Mm(7)
LEVELS = 9
"""Of lists in Word; deeper ones stand at the last."""
BULLETS = "•◦▪"
LONGEST_NAME = 255
MONOSPACED = "Consolas"


def write(blocks: Blocks, *, title: str) -> bytes:
    word = Document()
    _set_up(word, title)
    page = word.sections[0]
    assert page.page_width and page.left_margin and page.right_margin
    _WordWriter(word, page.page_width - page.left_margin - page.right_margin).blocks(blocks, _Place())
    file = io.BytesIO()
    word.save(file)
    return file.getvalue()


def _set_up(word: Word, title: str) -> None:
    word.core_properties.title = title[:LONGEST_NAME]
    word.core_properties.author = word.core_properties.comments = ""
    section = word.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(22)
    section.top_margin = section.bottom_margin = Mm(20)
    normal = word.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after, normal.paragraph_format.line_spacing = Pt(6), 1.12
    for level, size in enumerate((22, 16, 13, 12, 11, 11), start=1):
        _style_heading(word.styles[f"Heading {level}"], size)
    code = word.styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
    code.base_style = normal
    code.font.name, code.font.size = MONOSPACED, Pt(9)
    code.paragraph_format.line_spacing = 1.0
    cell = word.styles.add_style("Table Text", WD_STYLE_TYPE.PARAGRAPH)
    cell.base_style = normal
    cell.font.size, cell.paragraph_format.space_after = Pt(10), Pt(2)
    _page_number(section.footer.paragraphs[0])


def _style_heading(style: Any, size: int) -> None:
    style.font.name, style.font.size, style.font.color.rgb = "Calibri", Pt(size), RGBColor(0x1C, 0x2F, 0x4A)
    style.font.italic = False
    style.element.remove(style.element.find(qn("w:link")))  # a twin for letters, with the look of the template
    fonts = style.element.rPr.rFonts
    for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
        fonts.attrib.pop(qn(f"w:{theme}"), None)
    style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(size * 0.8), Pt(4)


def _page_number(paragraph: WordParagraph) -> None:
    paragraph.alignment = ALIGNMENT.CENTER
    field = _element("w:fldSimple", instr="PAGE")
    field.append(_text_run("1"))
    paragraph._p.append(field)


@dataclass(frozen=True)
class _Place:
    """Where blocks stand: in lists, in quotes."""

    level: int = 0
    quotes: int = 0

    @property
    def indent(self) -> int:
        return INDENT * (self.level + self.quotes)


@dataclass
class _WordWriter:
    word: Word
    width: int
    bullets: int = 0
    numbers: int = 0

    def blocks(self, blocks: Blocks, place: _Place) -> None:
        for block in blocks:
            self.block(block, place)

    def block(self, block: Block, place: _Place) -> None:
        match block:
            case Paragraph(runs):
                self.paragraph(runs, place)
            case Heading(level, runs):
                self.paragraph(runs, place, style=f"Heading{level}")
            case Code(text):
                self.code(text, place)
            case Quote(inner):
                self.blocks(inner, _Place(place.level, place.quotes + 1))
            case ListBlock(items, start):
                self.listing(items, start, place)
            case Table():
                self.table(block)
            case Rule():
                _border(self.paragraph((), place), "bottom", "C9D1DD")
            case NoteBlock(text):
                _shade(self.paragraph((TextRun(text=text, emphasis=True),), place), "FDF8E7")

    def paragraph(self, runs: Runs, place: _Place, style: str = "") -> WordParagraph:
        paragraph = self.styled(style)
        if place.indent:
            paragraph.paragraph_format.left_indent = place.indent
        if place.quotes:
            _border(paragraph, "left", "C3CCDA", size=18)
        self.fill(paragraph, runs)
        return paragraph

    def styled(self, style: str) -> WordParagraph:
        """By the style's id: python-docx looks through all styles for a name, each time."""
        paragraph = self.word.add_paragraph()
        if style:
            paragraph._p.style = style
        return paragraph

    def fill(self, paragraph: WordParagraph, runs: Runs) -> None:
        backwards = runs_right_to_left(plain(runs))
        if backwards:
            _insert(paragraph, _element("w:bidi"), "w:bidi")
        for run in runs:
            element = _run(run, backwards)
            if run.href:
                link = OxmlElement("w:hyperlink")
                link.set(qn("r:id"), self.word.part.relate_to(run.href, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
                link.append(element)
                element = link
            paragraph._p.append(element)

    def code(self, text: str, place: _Place) -> None:
        paragraph = self.styled("Code")
        paragraph.paragraph_format.left_indent = place.indent
        _shade(paragraph, "F5F7FA")
        paragraph._p.append(_text_run(text))

    def listing(self, items: tuple[Item, ...], start: int | None, place: _Place) -> None:
        inner = _Place(place.level + 1, place.quotes)
        number = self.numbering(start)
        for item in items:
            marked = start is not None or item.done is None
            first: Runs = ()
            rest = item.blocks
            if item.blocks and isinstance(item.blocks[0], Paragraph):
                first, rest = item.blocks[0].runs, item.blocks[1:]
            mark = () if item.done is None else (TextRun(text="☒ " if item.done else "☐ "),)
            paragraph = self.paragraph((*mark, *first), inner)
            paragraph.paragraph_format.space_after = Pt(2)
            paragraph.paragraph_format.first_line_indent = -INDENT if marked else -INDENT // 2
            if marked:
                _number(paragraph, number, min(place.level, LEVELS - 1))
            self.blocks(rest, inner)

    def numbering(self, start: int | None) -> int:
        """Each numbered list is one of its own, so that it begins where it says; all with bullets are one."""
        numbering = self.word.part.numbering_part.element
        if start is None:
            if not self.bullets:
                self.bullets = int(numbering.add_num(_shape(numbering, "bullet")).numId)
            return self.bullets
        self.numbers = self.numbers or _shape(numbering, "decimal")
        number = numbering.add_num(self.numbers)
        for level in range(LEVELS):
            number.add_lvlOverride(ilvl=level).add_startOverride(start)
        return int(number.numId)

    def table(self, table: Table) -> None:
        """Built row by row from copies, as Word files of a thousand rows otherwise take minutes."""
        shape = self.word.add_table(rows=1, cols=len(table.aligned), style="Table Grid")
        shape.alignment = WD_TABLE_ALIGNMENT.LEFT
        widths = [int(share * self.width) for share in shares(table)]
        for grid, cell, width in zip(shape._tbl.tblGrid.gridCol_lst, shape._tbl.tr_lst[0].tc_lst, widths, strict=True):
            grid.w = cell.width = Emu(width)
            cell.p_lst[0].style = "TableText"
        template = deepcopy(shape._tbl.tr_lst[0])
        shape._tbl.remove(shape._tbl.tr_lst[0])
        for index, row in enumerate(table.rows):
            element = deepcopy(template)
            for cell, runs, side in zip(element.tc_lst, row, table.aligned, strict=True):
                self.cell(cell, runs, side, is_heading=index == 0)
            if index == 0:
                element.get_or_add_trPr().append(_element("w:tblHeader"))
            element.get_or_add_trPr().insert(0, _element("w:cantSplit"))
            shape._tbl.append(element)
        self.word.add_paragraph().paragraph_format.space_after = Pt(2)

    def cell(self, cell: Any, runs: Runs, side: str, *, is_heading: bool) -> None:
        paragraph = WordParagraph(cell.p_lst[0], self.word._body)
        if side:
            paragraph.alignment = ALIGNMENT[side.upper()]
        if is_heading:
            cell.get_or_add_tcPr().append(_element("w:shd", val="clear", fill="EEF2F7"))
            runs = tuple(replace(run, strong=True) for run in runs)
        self.fill(paragraph, runs)


def _run(run: TextRun, backwards: bool) -> Any:
    looks = []
    if run.code:
        looks.append(_element("w:rFonts", ascii=MONOSPACED, hAnsi=MONOSPACED, cs=MONOSPACED))
    looks += [_element("w:b"), _element("w:bCs")] if run.strong else []
    looks += [_element("w:i"), _element("w:iCs")] if run.emphasis else []
    looks += [_element("w:strike")] if run.struck else []
    looks += [_element("w:color", val="1D4F91")] if run.href else []
    looks += [_element("w:u", val="single")] if run.href else []
    looks += [_element("w:shd", val="clear", fill="F1F4F8")] if run.code else []
    looks += [_element("w:rtl")] if backwards else []
    return _text_run(run.text, looks)


def _text_run(text: str, looks: list[Any] | None = None) -> Any:
    element = OxmlElement("w:r")
    if looks:
        properties = OxmlElement("w:rPr")
        properties.extend(looks)
        element.append(properties)
    if "\n" in text or "\t" in text:
        element.text = text
    elif text:
        element.add_t(text)
    return element


def _shape(numbering: Any, kind: str) -> int:
    """What the levels of a list look like, by its number. It stands before all lists, as the format wants it."""
    taken = [int(each.get(qn("w:abstractNumId"))) for each in numbering.findall(qn("w:abstractNum"))]
    own = max(taken, default=0) + 1
    shape = _element("w:abstractNum", abstractNumId=str(own))
    shape.append(_element("w:multiLevelType", val="hybridMultilevel"))
    for index in range(LEVELS):
        level = _element("w:lvl", ilvl=str(index))
        label = BULLETS[index % len(BULLETS)] if kind == "bullet" else f"%{index + 1}."
        level.append(_element("w:start", val="1"))
        level.append(_element("w:numFmt", val=kind))
        level.append(_element("w:lvlText", val=label))
        level.append(_element("w:lvlJc", val="left"))
        shape.append(level)
    numbering.insert(len(taken), shape)
    return own


def _number(paragraph: WordParagraph, number: int, level: int) -> None:
    properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
    properties.get_or_add_ilvl().val = level
    properties.get_or_add_numId().val = number


def _border(paragraph: WordParagraph, side: str, color: str, size: int = 6) -> None:
    borders = OxmlElement("w:pBdr")
    borders.append(_element(f"w:{side}", val="single", sz=str(size), space="6", color=color))
    _insert(paragraph, borders, "w:pBdr")


def _shade(paragraph: WordParagraph, fill: str) -> None:
    _insert(paragraph, _element("w:shd", val="clear", fill=fill), "w:shd")


def _insert(paragraph: WordParagraph, element: Any, tag: str) -> None:
    """Where the format wants it."""
    followers = ("w:pBdr", "w:shd", "w:tabs", "w:bidi", "w:spacing", "w:ind", "w:jc", "w:rPr")
    paragraph._p.get_or_add_pPr().insert_element_before(element, *followers[followers.index(tag) + 1 :])


def _element(tag: str, **values: str) -> Any:
    element = OxmlElement(tag)
    for name, value in values.items():
        element.set(qn(f"w:{name}"), value)
    return element

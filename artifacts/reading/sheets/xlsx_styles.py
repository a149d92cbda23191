"""How cells of Excel look: number formats, letters that are raised, lowered or struck, and what is set as invisible."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive
from artifacts.reading.office.runs import SMALLEST_POINTS, WHITE, is_invisible
from artifacts.reading.sheets.number_format import BUILTIN, NumberFormat, number_format
from artifacts.reading.xml_stream import attribute, child, children_named, shortened, tree

BLACK = "000000"
THEME = {"0": WHITE, "1": BLACK}
INDEXED = {"0": BLACK, "1": WHITE, "8": BLACK, "9": WHITE, "64": BLACK, "65": WHITE}


@dataclass(frozen=True)
class Font:
    colour: str = ""
    points: float | None = None
    script: str = ""
    """``superscript`` or ``subscript``."""
    is_struck: bool = False

    @property
    def is_special(self) -> bool:
        """Whether a text in it can say something else than its words."""
        return bool(self.script or self.is_struck or self.colour not in {"", BLACK} or self.is_invisible(""))

    def marked(self, text: str) -> str:
        if self.script == "superscript":
            text = marks.raised(text)
        elif self.script == "subscript":
            text = marks.lowered(text)
        return marks.struck(text) if self.is_struck else text

    def is_invisible(self, background: str) -> bool:
        is_tiny = self.points is not None and self.points <= SMALLEST_POINTS
        return is_tiny or self.colour == background != "" or is_invisible(self.colour or BLACK, background)


@dataclass(frozen=True)
class CellStyle:
    format: NumberFormat = field(default_factory=lambda: number_format("General"))
    font: Font = Font()
    background: str = WHITE

    @cached_property
    def is_plain(self) -> bool:
        return not (self.font.script or self.font.is_struck or self.font.is_invisible(self.background))


def read_styles(archive: Archive, member: str) -> list[CellStyle]:
    """By the number that cells name."""
    root = tree(archive, member)
    groups = {group.tag: group for group in root}
    codes = dict(BUILTIN)
    for code in groups.get("numFmts", ()):
        if (number := code.get("numFmtId", "")).isdecimal():
            codes[int(number)] = code.get("formatCode", "General")
    fonts = [read_font(font) for font in groups.get("fonts", ())]
    backgrounds = [_background(fill) for fill in groups.get("fills", ())]
    return [
        CellStyle(
            number_format(codes.get(_number(style, "numFmtId"), "General")),
            _item(fonts, _number(style, "fontId"), Font()),
            _item(backgrounds, _number(style, "fillId"), WHITE),
        )
        for style in groups.get("cellXfs", ())
    ]


def read_font(element: Element) -> Font:
    """Of a style, or of a run of letters."""
    struck = child(element, "strike")
    return Font(
        colour=_colour(child(element, "color")),
        points=_points(attribute(child(element, "sz"), "val")),
        script=attribute(child(element, "vertAlign"), "val"),
        is_struck=struck is not None and struck.get("val", "1") not in {"0", "false"},
    )


def _background(fill: Element) -> str:
    for pattern in fill:
        kind = pattern.get("patternType", "")
        colour = next((_colour(each) for each in pattern if each.tag == "fgColor"), "")
        if pattern.tag == "patternFill" and kind in {"", "none", "solid"}:
            return (colour or BLACK) if kind == "solid" else WHITE
        return "a pattern"
    return WHITE


def _colour(element: Element | None) -> str:
    """Six digits, or the name of another colour; empty where nothing is said."""
    if element is None or element.get("auto"):
        return ""
    if rgb := element.get("rgb"):
        return rgb[-6:].upper()
    tint = element.get("tint", "0")
    if theme := element.get("theme"):
        return THEME[theme] if theme in THEME and float(tint) == 0 else f"theme {theme} {tint}"
    indexed = element.get("indexed", "")
    return INDEXED.get(indexed, f"indexed {indexed}")


def _number(element: Element, key: str) -> int:
    value = element.get(key, "")
    return int(value) if value.isdecimal() else 0


def _points(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _item[T](items: list[T], at: int, otherwise: T) -> T:
    return items[at] if at < len(items) else otherwise


@dataclass(frozen=True)
class Run:
    text: str
    font: Font | None
    """Where it is not the cell's."""


type SharedText = str | list[Run]


def read_text(element: Element) -> SharedText:
    """Of an ``si`` or ``is``; how Japanese is spoken is no part of it."""
    if len(element) == 1 and element[0].tag.endswith("t"):
        return unescaped(element[0].text or "")
    runs = list(_runs(shortened(element)))
    return runs if any(run.font and run.font.is_special for run in runs) else "".join(run.text for run in runs)


def _runs(element: Element) -> Iterator[Run]:
    for inner in element:
        match inner.tag:
            case "t":
                yield Run(unescaped(inner.text or ""), None)
            case "r":
                font = next(map(read_font, children_named(inner, "rPr")), None)
                text = "".join(each.text or "" for each in children_named(inner, "t"))
                yield Run(unescaped(text), font)


def unescaped(text: str) -> str:
    """Characters that XML can't have stand as ``_x000D_``."""
    if "_x" not in text:
        return text
    pieces = text.split("_x")
    shown = [pieces[0]]
    for piece in pieces[1:]:
        code, end = piece[:4], piece[4:5]
        is_code = end == "_" and len(code) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in code)
        shown.append(chr(int(code, 16)) + piece[5:] if is_code else "_x" + piece)
    return "".join(shown)

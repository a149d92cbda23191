"""How the text of a Word document looks, by its styles: as far as that says what it is, or whether anybody sees it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from artifacts.reading.office.letters import NOTHING, UNKNOWN, Letters, chain
from artifacts.reading.xml_stream import attribute, child, children_named, is_on, value

HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)
HIGHLIGHTS = {
    "black": "000000",
    "white": "FFFFFF",
    "yellow": "FFFF00",
    "green": "00FF00",
    "cyan": "00FFFF",
    "magenta": "FF00FF",
    "blue": "0000FF",
    "red": "FF0000",
}
LEAST_SHIFT = 3
"""Half points: text that is moved up by less is not raised."""


def letters(properties: Element | None) -> Letters:
    """Of a ``w:rPr``."""
    if properties is None or not len(properties):
        return NOTHING
    struck = [switch for kind in ("w:strike", "w:dstrike") if (switch := is_on(properties, kind)) is not None]
    return Letters(
        script=_script(properties),
        is_struck=any(struck) if struck else None,
        is_hidden=is_on(properties, "w:vanish"),
        points=_number(value(child(properties, "w:sz")), 2),
        colour=_colour(child(properties, "w:color")),
        background=_background(properties),
        font=_font(child(properties, "w:rFonts")),
    )


def shading(properties: Element | None) -> str | None:
    """The colour behind a paragraph or a cell; ``None`` where it has none of its own."""
    shade = child(properties, "w:shd")
    if shade is None or value(shade) == "nil":
        return None
    colour = attribute(shade, "w:color" if value(shade) == "solid" else "w:fill")
    if colour.lower() == "auto":
        return "000000" if value(shade) == "solid" else None
    return colour or (UNKNOWN if attribute(shade, "w:themeFill") else None)


def _script(properties: Element) -> int | None:
    """By its kind, or by how far it is moved up or down."""
    kind = value(child(properties, "w:vertAlign"))
    if kind:
        return {"superscript": 1, "subscript": -1}.get(kind, 0)
    shift = _number(value(child(properties, "w:position")), 1)
    if shift is None:
        return None
    return 0 if abs(shift) < LEAST_SHIFT else 1 if shift > 0 else -1


def _number(text: str, divisor: int) -> float | None:
    try:
        return float(text.removesuffix("pt")) / (1 if text.endswith("pt") else divisor)
    except ValueError:
        return None


def _colour(element: Element | None) -> str | None:
    if element is None:
        return None
    colour = value(element)
    return "" if colour.lower() == "auto" else colour


def _background(properties: Element) -> str | None:
    highlight = value(child(properties, "w:highlight"))
    if highlight and highlight != "none":
        return HIGHLIGHTS.get(highlight, UNKNOWN)
    return shading(properties)


def _font(element: Element | None) -> str | None:
    if element is None:
        return None
    return attribute(element, "w:ascii") or attribute(element, "w:hAnsi") or None


@dataclass
class Style:
    based_on: str = ""
    letters: Letters = field(default_factory=Letters)
    level: int | None = None
    """Of a heading, from 1; 0 where it is said to be none."""
    list_id: str | None = None
    list_level: int | None = None
    background: str | None = None
    """Behind the whole paragraph, or, of a style of tables, behind some of its cells."""


class Styles:
    """By their ids, each with what it takes from those it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._own: dict[str, Style] = {}
        self._resolved: dict[str, Style] = {}
        self.paragraph = ""
        """The id of the style of paragraphs that name none."""
        self.defaults = letters(child(root, "w:docDefaults", "w:rPrDefault", "w:rPr"))
        for style in children_named(root, "w:style"):
            style_id = attribute(style, "w:styleId")
            self._own[style_id] = _style(style)
            is_default = attribute(style, "w:default") in {"1", "true", "on"}
            if is_default and attribute(style, "w:type") == "paragraph":
                self.paragraph = style_id

    def __getitem__(self, style_id: str) -> Style:
        if style_id not in self._resolved:
            self._resolved[style_id] = self._inherited(style_id)
        return self._resolved[style_id]

    def _inherited(self, style_id: str) -> Style:
        result = Style()
        for style in chain(
            style_id, lambda each: (self._own[each].based_on, self._own[each]) if each in self._own else None
        ):
            result = Style(
                letters=style.letters.over(result.letters),
                level=result.level if style.level is None else style.level,
                list_id=result.list_id if style.list_id is None else style.list_id,
                list_level=result.list_level if style.list_level is None else style.list_level,
                background=style.background or result.background,
            )
        return result


def _style(element: Element) -> Style:
    paragraph = child(element, "w:pPr")
    style = Style(value(child(element, "w:basedOn")), letters(child(element, "w:rPr")))
    style.level = level(paragraph)
    style.list_id, style.list_level = list_place(paragraph)
    style.background = shading(paragraph)
    called = value(child(element, "w:name"))
    if heading := HEADING_STYLE.fullmatch(called):
        style.level = int(heading[1])
    elif called.lower() == "title":
        style.level = 1
    if attribute(element, "w:type") == "table":
        style.background = _darkest(at for at in element.iter() if at.tag == "w:tcPr")
    return style


def _darkest(cells: Iterable[Element]) -> str | None:
    """Cells of a table with a style may stand on any of its colours."""
    return UNKNOWN if any(shading(cell) for cell in cells) else None


def level(properties: Element | None) -> int | None:
    """Of a heading, by its place in the outline: from 1, 0 for text, ``None`` if nothing is said."""
    outline = value(child(properties, "w:outlineLvl"))
    if not outline:
        return None
    return int(outline) + 1 if outline in set("012345678") else 0


def list_place(properties: Element | None) -> tuple[str | None, int | None]:
    """The id of the list of a paragraph, and its level there, from 0."""
    place = child(properties, "w:numPr")
    if place is None:
        return None, None
    list_id = value(child(place, "w:numId"))
    depth = value(child(place, "w:ilvl"))
    return list_id or None, int(depth) if depth in set("012345678") else None

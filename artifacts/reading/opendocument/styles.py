"""How the text of an OpenDocument file looks, and how its lists are numbered, by its styles."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from artifacts.reading.office.letters import NOTHING, UNKNOWN, Letters, chain
from artifacts.reading.office.numerals import numeral
from artifacts.reading.office.symbols import OF_SYMBOLS, readable
from artifacts.reading.xml_stream import attribute, child, children_named, whole_number

BULLET = "-"
TICKS = set("☐☑☒✓✔✗✘")
"""Bullets that say something."""
PLACE = re.compile(r"%(\d{1,2})%")
NONE = {"none", ""}


def colour(text: str) -> str | None:
    return text[1:].upper() if text.startswith("#") else None


def letters(properties: Element | None) -> Letters:
    """Of a ``style:text-properties``."""
    if properties is None:
        return NOTHING
    lines = [attribute(properties, f"style:text-line-through-{kind}") for kind in ("style", "type")]
    is_automatic = attribute(properties, "style:use-window-font-color") == "true"
    shown = attribute(properties, "text:display")
    return Letters(
        script=_script(attribute(properties, "style:text-position")),
        is_struck=any(line not in NONE for line in lines) if any(lines) else None,
        is_hidden=shown == "none" if shown else None,
        points=_points(attribute(properties, "fo:font-size")),
        colour="" if is_automatic else colour(attribute(properties, "fo:color")),
        background=colour(attribute(properties, "fo:background-color")),
        font=attribute(properties, "style:font-name") or attribute(properties, "fo:font-family") or None,
    )


def _script(position: str) -> int | None:
    """``super 58%``, ``33% 58%``, ``-33% 58%``."""
    if not position:
        return None
    shift = position.split()[0]
    if shift in {"super", "sub"}:
        return 1 if shift == "super" else -1
    return 0 if not shift.strip("-0.%") else -1 if shift.startswith("-") else 1


def _points(size: str) -> float | None:
    try:
        return float(size.removesuffix("pt")) if size.endswith("pt") else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Style:
    letters: Letters = NOTHING
    background: str | None = None
    """Behind a paragraph, a cell, a shape, a slide; ``UNKNOWN`` where it is a picture or the like."""
    is_see_through: bool | None = None
    """A shape that is said to have no background."""
    is_hidden: bool = False
    """A slide that is left out when they are shown."""


@dataclass(frozen=True)
class ListLevel:
    format: str = ""
    """``1``, ``a``; empty for bullets, and where no number is shown."""
    pattern: str = ""
    """``%1%.%2%)``"""
    start: int = 1
    bullet: str = BULLET


@dataclass
class Styles:
    """Those of a member, over those that all of them share."""

    shared: "Styles | None" = None
    lists: dict[str, dict[int, ListLevel]] = field(default_factory=dict)
    outline: dict[int, ListLevel] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    """Of fonts, by the names that the file gives them."""
    lettered: set[str] = field(default_factory=set)
    """Fonts whose ordinary letters are shown as such."""
    master_pages: set[str] = field(default_factory=set)
    """Those that a paragraph begins."""

    def __post_init__(self) -> None:
        self._own: dict[tuple[str, str], tuple[str, Style]] = {}
        self._resolved: dict[tuple[str, str], Style] = {}

    def add(self, element: Element) -> None:
        """A child of ``office:styles`` or ``office:automatic-styles``, all of which come before the text."""
        match element.tag:
            case "style:style" | "style:default-style":
                key = attribute(element, "style:family"), attribute(element, "style:name")
                self._own[key] = attribute(element, "style:parent-style-name"), _style(element)
                if page := attribute(element, "style:master-page-name"):
                    self.master_pages.add(page)
            case "text:list-style":
                self.lists[attribute(element, "style:name")] = dict(_levels(element))
            case "style:font-face":
                family = attribute(element, "svg:font-family").strip("'\"")
                self.families[attribute(element, "style:name")] = family
                if attribute(element, "style:font-charset") != "x-symbol":
                    self.lettered.add(attribute(element, "style:name"))
            case "text:outline-style":
                self.outline = dict(_levels(element))

    def style(self, family: str, style_name: str) -> Style:
        """With what it takes from those it is based on, and from what is usual for its family."""
        key = family, style_name
        if key not in self._resolved:
            self._resolved[key] = self._inherited(family, style_name)
        return self._resolved[key]

    def _inherited(self, family: str, style_name: str) -> Style:
        result = Style()
        named = chain(style_name, lambda each: self._find(family, each) if each else None)
        for style in [self._find(family, "")[1], *named]:
            result = Style(
                letters=style.letters.over(result.letters),
                background=style.background or (None if style.is_see_through else result.background),
                is_see_through=result.is_see_through if style.is_see_through is None else style.is_see_through,
                is_hidden=style.is_hidden or result.is_hidden,
            )
        return result

    def family(self, font: str, text: str) -> str:
        """The font that the text is to be read by; empty where its letters are what they are."""
        if font in self.families or self.shared is None:
            is_plain = font in self.lettered and not OF_SYMBOLS.search(text)
            return "" if is_plain else self.families.get(font, font)
        return self.shared.family(font, text)

    def list_levels(self, style_name: str) -> dict[int, ListLevel]:
        if style_name in self.lists or self.shared is None:
            return self.lists.get(style_name, {})
        return self.shared.list_levels(style_name)

    def _find(self, family: str, style_name: str) -> tuple[str, Style]:
        if (family, style_name) in self._own:
            return self._own[family, style_name]
        return self.shared._find(family, style_name) if self.shared is not None else ("", Style())


def _style(element: Element) -> Style:
    paragraph = child(element, "style:paragraph-properties")
    cell = child(element, "style:table-cell-properties")
    backgrounds = (colour(attribute(at, "fo:background-color")) for at in (paragraph, cell))
    background = next((each for each in backgrounds if each), None)
    is_see_through = None
    for properties in children_named(element, "style:graphic-properties", "style:drawing-page-properties"):
        fill = attribute(properties, "draw:fill")
        is_see_through = fill == "none" if fill else None
        if fill not in NONE:
            background = (colour(attribute(properties, "draw:fill-color")) if fill == "solid" else None) or UNKNOWN
        background = background or colour(attribute(properties, "fo:background-color"))
    is_hidden = attribute(child(element, "style:drawing-page-properties"), "presentation:visibility") == "hidden"
    return Style(letters(child(element, "style:text-properties")), background, is_see_through, is_hidden)


def _levels(element: Element) -> Iterator[tuple[int, ListLevel]]:
    for at in element:
        depth = whole_number(attribute(at, "text:level"), 0)
        if at.tag == "text:list-level-style-bullet":
            properties = child(at, "style:text-properties")
            sign = readable(attribute(at, "text:bullet-char"), letters(properties).font or "").strip()
            yield depth, ListLevel(bullet=f"{BULLET} {sign}" if sign in TICKS else BULLET)
        elif at.tag in {"text:list-level-style-number", "text:outline-level-style"}:
            pattern = next((text for key, text in at.items() if key.endswith(":num-list-format")), "")
            format = attribute(at, "style:num-format")
            yield (
                depth,
                ListLevel(
                    format, pattern or _pattern(at, depth), whole_number(attribute(at, "text:start-value"), 1), ""
                ),
            )


def _pattern(element: Element, depth: int) -> str:
    """Put together of what stands around the numbers and how many of them are shown."""
    shown = min(whole_number(attribute(element, "text:display-levels"), 1), depth)
    numbers = ".".join(f"%{at}%" for at in range(depth - shown + 1, depth + 1))
    return f"{attribute(element, 'style:num-prefix')}{numbers}{attribute(element, 'style:num-suffix')}"


class Counter:
    """The numbers of one list, or of the headings."""

    def __init__(self) -> None:
        self._counted: dict[int, int] = {}

    def restart(self, depth: int) -> None:
        """A list within the list begins."""
        for deeper in [at for at in self._counted if at >= depth]:
            del self._counted[deeper]

    def label(self, levels: dict[int, ListLevel], depth: int, start: str = "") -> str:
        """Of the next one there. ``start``: the number that it is said to have."""
        level = levels.get(depth)
        if level is None:
            return BULLET
        if level.bullet:
            return level.bullet
        following = self._counted[depth] + 1 if depth in self._counted else level.start
        self.restart(depth + 1)
        self._counted[depth] = whole_number(start, following)
        if not level.format:
            return ""
        return PLACE.sub(lambda place: self._number(levels, int(place[1])), level.pattern).strip()

    def _number(self, levels: dict[int, ListLevel], depth: int) -> str:
        level = levels.get(depth, ListLevel("1"))
        return numeral(self._counted.get(depth, level.start), level.format) if level.format else ""

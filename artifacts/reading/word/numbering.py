"""The numbers that Word sets before headings and items of lists."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from artifacts.reading.office.numerals import numeral
from artifacts.reading.office.symbols import readable
from artifacts.reading.xml_stream import attribute, child, children_named, is_on, value

BULLET = "-"
TICKS = set("☐☑☒✓✔✗✘")
"""Bullets that say something."""
PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True)
class Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    """``%1.%2)``"""
    restart: int | None = None
    """The level, from 1, after which it begins anew; 0 for never."""
    is_legal: bool = False
    """All its numbers are digits."""
    font: str = ""
    style: str = ""
    """The paragraphs of this style are of this level."""


@dataclass
class _List:
    levels: Mapping[int, Level]
    counted: dict[int, int]
    """Shared by all lists of the same kind, which go on counting."""
    starts: dict[int, int]
    """Where this one begins anew when it is first used."""


class Numbering:
    def __init__(self, root: Element | None) -> None:
        kinds: dict[str, dict[int, Level]] = {}
        linked: dict[str, str] = {}
        by_style: dict[str, str] = {}
        for kind in children_named(root, "w:abstractNum"):
            kind_id = attribute(kind, "w:abstractNumId")
            kinds[kind_id] = {
                depth: _level(at) for at in children_named(kind, "w:lvl") if (depth := _depth(at)) is not None
            }
            if style := value(child(kind, "w:numStyleLink")):
                linked[kind_id] = style
            if style := value(child(kind, "w:styleLink")):
                by_style[style] = kind_id
        self._counted: dict[str, dict[int, int]] = {}
        self._lists: dict[str, _List] = {}
        for each in children_named(root, "w:num"):
            kind_id = value(child(each, "w:abstractNumId"))
            kind_id = by_style.get(linked.get(kind_id, ""), kind_id)
            self._lists[attribute(each, "w:numId")] = self._list(each, kind_id, kinds.get(kind_id, {}))

    def _list(self, element: Element, kind_id: str, levels: Mapping[int, Level]) -> _List:
        own = dict(levels)
        starts: dict[int, int] = {}
        for change in children_named(element, "w:lvlOverride"):
            depth = _depth(change)
            if depth is None:
                continue
            if (replaced := child(change, "w:lvl")) is not None:
                own[depth] = _level(replaced)
            start = value(child(change, "w:startOverride"))
            if start.isdecimal() and len(start) < 10:
                starts[depth] = int(start)
        return _List(own, self._counted.setdefault(kind_id, {}), starts)

    def depth_of(self, list_id: str, style: str) -> int:
        """Of the paragraphs of a style that names its list alone."""
        levels = self._lists[list_id].levels if list_id in self._lists else {}
        return next((depth for depth, level in levels.items() if style and level.style == style), 0)

    def label(self, list_id: str, depth: int) -> str:
        """Of the next paragraph there: ``2.1``, ``a)``, ``-`` for a bullet; empty where none is shown."""
        if list_id not in self._lists:
            return BULLET
        its = self._lists[list_id]
        level = its.levels.get(depth, Level(text=f"%{depth + 1}."))
        if level.format == "bullet":
            sign = readable(level.text, level.font).strip()
            return f"{BULLET} {sign}" if sign in TICKS else BULLET
        self._count(its, depth, level)
        return PLACE.sub(lambda place: self._number(its, int(place[1]) - 1, level), level.text).strip()

    def _count(self, its: _List, depth: int, level: Level) -> None:
        if depth in its.starts:
            its.counted[depth] = its.starts.pop(depth)
        else:
            its.counted[depth] = its.counted[depth] + 1 if depth in its.counted else level.start
        for deeper in [at for at in its.counted if at > depth]:
            restart = its.levels.get(deeper, Level()).restart
            if restart is None or depth < restart:
                del its.counted[deeper]

    def _number(self, its: _List, depth: int, shown: Level) -> str:
        level = its.levels.get(depth, Level())
        if level.format == "none":
            return ""
        format = "decimal" if shown.is_legal else level.format
        return numeral(its.counted.get(depth, level.start), format)


def _depth(element: Element) -> int | None:
    depth = attribute(element, "w:ilvl")
    return int(depth) if depth in set("012345678") else None


def _level(element: Element) -> Level:
    start = value(child(element, "w:start"))
    restart = value(child(element, "w:lvlRestart"))
    fonts = child(element, "w:rPr", "w:rFonts")
    level = Level(
        format=value(child(element, "w:numFmt")) or "decimal",
        text=value(child(element, "w:lvlText")),
        restart=int(restart) if restart in set("0123456789") else None,
        is_legal=bool(is_on(element, "w:isLgl")),
        font=attribute(fonts, "w:ascii"),
        style=value(child(element, "w:pStyle")),
    )
    return replace(level, start=int(start)) if start.isdecimal() and len(start) < 10 else level

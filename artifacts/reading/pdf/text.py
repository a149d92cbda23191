"""The lines of a page, as PDFium reads them: broken words put together, raised text marked, letters without a meaning said."""

import ctypes
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from artifacts.reading.pdf.objects import Box, PageObjects, TextObject, quick
from artifacts.reading.pdf.scripts import Line, Piece, lines_of, may_be_script

UNKNOWN = "\N{REPLACEMENT CHARACTER}"
ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufffd]")
"""No letters: PDFium's sign of a word that was broken at the end of a line, or codes of letters without a meaning."""
BROKEN = "\xad"
BROKEN_WITHIN = re.compile("\xad(?=(\\S))")
BROKEN_AT_END = re.compile("[\xad\u2010]\n(?=(\\S))")
BEHIND = re.compile(r"(?<=[^\s])[0-9]")
"""A digit that may be an exponent or the mark of a note."""
SMALL_GLYPH, RAISED, LOWERED = 0.55, 0.2, -0.05
"""Of the size: how high a digit is at most whose font has a sign of its own for it, and where it begins."""
SYMBOL = re.compile("[\ue000-\uf8ff]")
BULLET = re.compile(f"^[\ue000-\uf8ff{UNKNOWN}]\\s*(?=\\S)")
"""Of a font of symbols, which have no meaning of their own."""
STRETCH = re.compile(f"{UNKNOWN}(?:\\s?{UNKNOWN})++")
LINE_ENDS = frozenset(b"\r\n")
ASKED = 30
"""So many letters of a page are asked whether they have a meaning; all of them where one has none."""
MOSTLY = 0.4
"""Of the letters of a page: where more have no meaning, the others help nobody."""
COMMON = "etaoinsrhldu"
"""The most frequent letters of languages in Latin letters."""
SHIFT = 29
"""By so much the numbers of letters in many fonts differ from their codes, and are taken for these."""
MOVED = "".join(chr(ord(letter) - SHIFT) for letter in COMMON)
JUDGED_LETTERS, JUDGED_AT_MOST = 12, 5_000

_text_object = quick("FPDFText_GetTextObject", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_char_box = quick("FPDFText_GetCharBox", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)
_char_origin = quick("FPDFText_GetCharOrigin", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2)
_DOUBLES = tuple(ctypes.c_double() for _ in range(4))
_DOUBLE_PLACES = tuple(map(ctypes.addressof, _DOUBLES))
"""Left, right, bottom and top of a letter, or across and up of where it begins."""


@dataclass(frozen=True)
class PageText:
    lines: list[Line]
    unknown: int
    """Letters without a meaning."""
    is_meaningless: bool
    """So many that the page says nothing."""
    is_cut: bool
    """Some of it lies outside of the page."""


def page_text(page: Any, objects: PageObjects) -> PageText:
    with closing(page.get_textpage()) as text_page:
        letters = _Letters(text_page, objects)
        quick = None if letters.are_special() else letters.quick_lines()
        lines, unknown = (quick, 0) if quick is not None else letters.slow_lines()
    text = "\n".join(line.text for line in lines)
    unknown += len(SYMBOL.findall(text))
    written = len("".join(text.split()))
    is_meaningless = unknown > MOSTLY * max(written, 1) or _is_shifted(text)
    return PageText(
        [] if is_meaningless else lines, written if is_meaningless else unknown, is_meaningless, letters.has_outside
    )


def joined(lines: list[str]) -> str:
    """Lines as a paragraph, with words in one piece that were broken at the end of a line."""
    return BROKEN_AT_END.sub(_hyphen, "\n".join(lines)).replace(BROKEN, "-").strip()


class _Letters:
    def __init__(self, text_page: Any, objects: PageObjects) -> None:
        self._page = text_page
        self._address = ctypes.cast(text_page.raw, ctypes.c_void_p).value
        self._objects = objects
        self._texts = {text.handle: text for text in objects.texts}
        self._count = text_page.count_chars()
        self._box = objects.page_box
        self._have_unknown = any(map(self._has_no_meaning, range(0, self._count, self._count // ASKED + 1)))
        self.has_outside = False
        """Whether a letter was left out since it lies outside of the page."""
        self._cut = {text.handle for text in objects.texts if _is_cut(text, objects.page_box)}
        self._text = text_page.get_text_range()
        self._units = self._all_units()
        self._scripts = self._script_glyphs()
        """Marks before digits that are raised or lowered although their line and size are those of the others."""

    def are_special(self) -> bool:
        """Whether each letter has to be looked at: there is script among them, some lie outside, some have no meaning."""
        return (
            bool(self._cut)
            or self._have_unknown
            or bool(self._scripts)
            or any(map(_may_be_script, *_neighbours(self._objects.texts)))
        )

    def quick_lines(self) -> list[Line] | None:
        """Nothing where a letter turns up that has to be looked at."""
        text = self._text
        units = last = 0
        for odd in ODD.finditer(text):
            units += _units(text[last : odd.start()])
            last = odd.start()
            if pdfium.FPDFText_IsHyphen(self._page, pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, units)) != 1:
                return None
        lines, at = [], 0
        for line in ODD.sub(BROKEN, text).split("\n"):
            begins = at + len(line) - len(line.lstrip())
            lines.append(Line(_cleaned(line), self._size(begins) if line.strip() else 0.0))
            at += _units(line) + 1
        return lines

    def slow_lines(self) -> tuple[list[Line], int]:
        """And how many letters have no meaning."""
        rules = [(rule.left, rule.right, rule.bottom) for rule in self._objects.rules]
        lines = [Line(_cleaned(line.text), line.size) for line in lines_of(list(self._pieces()), rules)]
        unknown = sum(line.text.count(UNKNOWN) for line in lines)
        return [Line(STRETCH.sub(UNKNOWN, line.text), line.size) for line in lines], unknown

    def _size(self, text_index: int) -> float:
        index = pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, text_index)
        text = self._texts.get(_text_object(self._address, index) or 0)
        return round(text.size, 1) if text else 0.0

    def _pieces(self) -> Iterator[Piece]:
        units: list[int] = []
        gap, address = "", 0

        def piece() -> Iterator[Piece]:
            content = b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "replace")
            text = self._texts.get(address)
            if text and content:
                yield _piece(text, content, gap)

        for index, letter in enumerate(self._units):
            unit: int | None = self._meant(letter, index)
            owner = _text_object(self._address, index) or 0
            if owner in self._cut and not self._is_inside(index):
                unit, self.has_outside = None, True
            if owner != address:
                yield from piece()
                gap = "" if units and address else gap
                units, address = [], owner
            if owner and unit is not None:
                mark = self._scripts.get(index, "")
                units += [*map(ord, mark if self._scripts.get(index - 1) != mark else ""), unit]
            elif not owner:
                gap = "\n" if unit in LINE_ENDS or gap == "\n" else " "
        yield from piece()

    def _script_glyphs(self) -> dict[int, str]:
        """By the index of a digit, ``^`` or ``_``: many fonts have signs of their own for raised and lowered digits."""
        text = self._text if len(self._text) == self._count else "".join(map(chr, self._units))
        marks = ((digit.start(), self._script_mark(digit.start())) for digit in BEHIND.finditer(text))
        return {index: mark for index, mark in marks if mark}

    def _script_mark(self, index: int) -> str:
        owner = self._texts.get(_text_object(self._address, index) or 0)
        if not owner or owner.direction != (1.0, 0.0) or not _char_box(self._address, index, *_DOUBLE_PLACES):
            return ""
        bottom, top = _DOUBLES[2].value, _DOUBLES[3].value
        if not 0 < top - bottom <= SMALL_GLYPH * owner.size:
            return ""
        begins = (bottom - owner.origin[1]) / owner.size
        return "^" if begins >= RAISED else "_" if begins <= LOWERED else ""

    def _all_units(self) -> Sequence[int]:
        """Of UTF-16, one for each letter. PDFium gives them at once, unless it leaves some out."""
        units = array("H", self._text.encode("utf-16-le", "surrogatepass"))
        if len(units) == self._count:
            return units
        return [pdfium.FPDFText_GetUnicode(self._page, index) for index in range(self._count)]

    def _meant(self, unit: int, index: int) -> int:
        """What stands for letters without a meaning, and for hyphens at the end of a line, is one sign each."""
        if self._have_unknown and self._has_no_meaning(index):
            return ord(UNKNOWN)
        if " " <= chr(unit) < "\x7f" or unit in LINE_ENDS:
            return unit
        if not unit or unit > 0xFFFF or ODD.match(chr(unit)):
            return ord(BROKEN) if pdfium.FPDFText_IsHyphen(self._page, index) == 1 else ord(UNKNOWN)
        return unit

    def _has_no_meaning(self, index: int) -> bool:
        return bool(pdfium.FPDFText_HasUnicodeMapError(self._page, index) == 1)

    def _is_inside(self, index: int) -> bool:
        if not _char_origin(self._address, index, *_DOUBLE_PLACES[:2]):
            return True
        box, x, y = self._box, _DOUBLES[0].value, _DOUBLES[1].value
        return box.left <= x < box.right and box.bottom <= y + 1 and y < box.top


def _is_cut(text: TextObject, page: Box) -> bool:
    """Whether it begins or ends well outside of the page."""
    left, bottom, right, top = text.box
    out = text.size
    return page.left - left > out or right - page.right > out or page.bottom - bottom > out or top - page.top > out


def _neighbours(texts: Sequence[TextObject]) -> tuple[Sequence[TextObject], Sequence[TextObject]]:
    drawn = [text for text in texts if text.box.area]
    return drawn, drawn[1:]


def _may_be_script(one: TextObject, other: TextObject) -> bool:
    """Most do not: their lines are the same, or far from each other."""
    return 0 < abs(one.across - other.across) < max(one.size, other.size) and may_be_script(_piece(one), _piece(other))


def _piece(text: TextObject, content: str = "", gap: str = "") -> Piece:
    start, end = text.along
    return Piece(content, round(text.size, 1) or 0.1, text.across, start, end, text.direction, gap)


def _units(text: str) -> int:
    """How many there are of UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cleaned(line: str) -> str:
    return BULLET.sub("• ", BROKEN_WITHIN.sub(_hyphen, line.strip()))


def _hyphen(broken: re.Match[str]) -> str:
    """Of a word that goes on in small letters none; that of ``Anglo-Saxon`` and ``2019-2020`` stays."""
    return "" if broken[1].islower() else "-"


def _is_shifted(text: str) -> bool:
    """Whether it becomes like a language when all letters are moved by so much: a font without a table."""
    text = text[:JUDGED_AT_MOST]
    letters = len("".join(text.split()))
    own, moved = _count(text.lower(), COMMON), _count(text, MOVED)
    return letters >= JUDGED_LETTERS and moved > 0.55 * letters and moved > 1.3 * own


def _count(text: str, letters: str) -> int:
    return sum(map(text.count, letters))

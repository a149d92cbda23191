"""Text that nobody sees who looks at the page: it is taken out of the page, as it is neither read nor drawn from then on.

What is outside of the page, cut off, too small or printed twice is known by its place. Whether anything else is seen – text
in the colour of what it stands on, behind a picture, of a layer that is switched off – is tried: the page is drawn with it
and without it, and what makes no difference is not seen.
"""

import ctypes
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2.raw as pdfium
from PIL import Image, ImageChops

from artifacts.reading.pdf.objects import (
    FILLED,
    INVISIBLE,
    Area,
    Box,
    Colour,
    PageObjects,
    TextObject,
    activate,
    deactivate,
    take_out,
)

SMALLEST = 1.7
"""Points, of letters that people can read on a page of ``USUAL_SIDE``."""
USUAL_SIDE = 500.0
CONTRAST = 64
"""Of 255: what differs by more from what it stands on is seen."""
FAINTEST = 14
"""Of 255: pixels that differ by no more look the same."""
SCALE, LONGEST_SIDE = 2.0, 2_400.0
"""Pixels to a point, and of a whole page, where it is drawn to see what is on it."""
MOST_DRAWINGS = 24
"""Of one page."""
DOUBLED_WITHIN = 0.12
"""Of the size of letters: as far apart the same text is drawn twice, for bold letters or a shadow."""
MOST_DOUBLED, MOST_ALIKE = 500, 50
ROW = 8.0
"""Points: text that lies further apart is not the same."""
SCANNED = 0.5
"""Of a page, at least so much of it is a picture where a scan has its text behind it."""
MOSTLY = 0.3
"""And by so much, compared with that, other text is on it at most."""
WHITE: Colour = (255, 255, 255, 255)


@dataclass(frozen=True)
class Unseen:
    hidden: int
    """Pieces of text that were taken out."""
    is_scanned: bool
    """What is left of the text lies behind a picture of the page: a machine read it from there."""


class Eye:
    """Looks at pages until its time is over; afterwards it goes by the colours alone."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def take_out_unseen(self, page: Any, objects: PageObjects) -> Unseen:
        """Of the page and of ``objects``."""
        gone = [text for text in objects.texts if _is_out_of_sight(text, objects.page_box)]
        _take_out(objects, gone)
        suspects = [text for text in objects.texts if _is_suspect(text, objects)]
        unseen = self._unseen(page, suspects, objects) if suspects else []
        behind = [text for text in unseen if _is_behind_scan(text, objects)]
        is_scanned = bool(behind) and _area(objects.texts) - _area(unseen) < MOSTLY * _area(behind)
        if is_scanned:
            unseen = _without(unseen, behind)
        _take_out(objects, unseen)
        for text in behind if is_scanned else ():
            activate(text)
        _take_out(objects, _doubled(page, objects.texts))
        return Unseen(len(gone) + len(unseen), is_scanned)

    def _unseen(self, page: Any, suspects: Sequence[TextObject], objects: PageObjects) -> list[TextObject]:
        started = time.process_time()
        try:
            return (
                _invisible(page, suspects) if self._left > 0 else [text for text in suspects if _is_pale(text, objects)]
            )
        finally:
            self._left -= time.process_time() - started


def _take_out(objects: PageObjects, texts: Iterable[TextObject]) -> None:
    gone = set(texts)
    for text in gone:
        take_out(text)
    if gone:
        objects.texts = _without(objects.texts, gone)


def _without(texts: Iterable[TextObject], others: Iterable[TextObject]) -> list[TextObject]:
    gone = {*others}
    return [text for text in texts if text not in gone]


def _area(texts: Iterable[TextObject]) -> float:
    return sum(text.box.area for text in texts)


def _is_out_of_sight(text: TextObject, page: Box) -> bool:
    if not text.box.touches(page) or (text.clip and not text.box.touches(text.clip)):
        return bool(text.box.area)
    smallest = SMALLEST * min(1.0, max(page.width, page.height) / USUAL_SIDE)
    return text.size < smallest and 0 < min(text.box.width, text.box.height) < smallest


def _is_suspect(text: TextObject, objects: PageObjects) -> bool:
    if not text.box.area:
        return False
    if objects.is_crowded or text.is_layered or text.is_nested or text.mode not in FILLED or text.colour is None:
        return True
    if text.clip and not text.clip.holds(text.box):
        return True
    if any(area.order > text.order and area.box.holds(text.box) for area in objects.areas):
        return True
    ground = _ground(text, objects.areas)
    return ground is None or text.colour[3] < CONTRAST or _contrast(text.colour, ground) < CONTRAST


def _is_pale(text: TextObject, objects: PageObjects) -> bool:
    ground = _ground(text, objects.areas) or WHITE
    return text.mode in INVISIBLE or text.colour is None or _contrast(text.colour, ground) < FAINTEST


def _ground(text: TextObject, areas: Sequence[Area]) -> Colour | None:
    """The colour of what it stands on; nothing where that can't be said without looking."""
    below = [area for area in areas if area.order < text.order and area.box.touches(text.box)]
    if not below:
        return WHITE
    return below[-1].colour if below[-1].box.holds(text.box) and (below[-1].colour or WHITE)[3] == WHITE[3] else None


def _contrast(one: Colour, other: Colour) -> int:
    return max(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True))


def _is_behind_scan(text: TextObject, objects: PageObjects) -> bool:
    """As programs put it that read scans: invisible letters over the picture, or any behind it."""
    return any(
        area.is_picture
        and area.box.area >= SCANNED * objects.page_box.area
        and area.box.touches(text.box)
        and (text.mode in INVISIBLE or area.order > text.order)
        for area in objects.areas
    )


def _invisible(page: Any, suspects: Sequence[TextObject]) -> list[TextObject]:
    """Those that make no difference. They are inactive afterwards, the others active."""
    place = _Place(page)
    whole = place.drawn()
    for text in suspects:
        deactivate(text)
    changed = ImageChops.difference(whole, place.drawn())
    unseen = [text for text in suspects if not place.differs(changed, text.box)]
    rest = _without(suspects, unseen)
    for text in rest:
        activate(text)
    for text in _overlapping(rest)[: MOST_DRAWINGS - 2]:
        deactivate(text)
        if place.differs(ImageChops.difference(whole, place.drawn()), text.box):
            activate(text)
        else:
            unseen.append(text)
    return unseen


def _overlapping(texts: Sequence[TextObject]) -> list[TextObject]:
    """Those in the place of another one, too: what changed there need not be of them."""
    inner = [_shrunk(text.box) for text in texts]
    by_row = sorted(range(len(texts)), key=lambda index: inner[index].bottom)
    found: set[int] = set()
    for at, index in enumerate(by_row):
        if len(found) >= MOST_DOUBLED:
            break
        for other in by_row[at + 1 : at + 1 + MOST_DOUBLED]:
            if inner[other].bottom > inner[index].top:
                break
            if inner[index].touches(inner[other]):
                found |= {index, other}
    return [texts[index] for index in sorted(found)]


def _shrunk(box: Box) -> Box:
    by = min(box.width, box.height) / 4
    return Box(box.left + by, box.bottom + by, box.right - by, box.top - by)


class _Place:
    """Where on the drawn page something is."""

    def __init__(self, page: Any) -> None:
        self._page = page
        width, height = page.get_size()
        self._scale = min(SCALE, LONGEST_SIDE / max(width, height, 1.0))
        self._size = max(1, round(width * self._scale)), max(1, round(height * self._scale))

    def drawn(self) -> Image.Image:
        with closing(self._page.render(scale=self._scale, draw_annots=False, may_draw_forms=False)) as bitmap:
            image: Image.Image = bitmap.to_pil().convert("RGB")
        return image

    def differs(self, difference: Image.Image, box: Box) -> bool:
        corners = [self._pixel(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        width, height = difference.size
        inside = max(min(xs) - 1, 0), max(min(ys) - 1, 0), min(max(xs) + 2, width), min(max(ys) + 2, height)
        if inside[0] >= inside[2] or inside[1] >= inside[3]:
            return False
        return any(
            max(cast("tuple[int, int]", band.getextrema())) > FAINTEST for band in difference.crop(inside).split()
        )

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(self._page, 0, 0, *self._size, 0, x, y, across, down)
        return across.value, down.value


def _doubled(page: Any, texts: Sequence[TextObject]) -> list[TextObject]:
    """The same text in nearly the same place once more."""
    sizes = [(round(text.box.width, 1), round(text.box.height, 1)) for text in texts]
    counts = Counter(sizes)
    by_size: dict[tuple[tuple[float, float], int], list[TextObject]] = {}
    pairs: list[tuple[TextObject, TextObject]] = []
    for text, size in zip(texts, sizes, strict=True):
        if counts[size] == 1:
            continue
        row = round(text.box.bottom / ROW)
        near = (other for at in (row, row - 1, row + 1) for other in by_size.get((size, at), ()))
        if other := next((other for other in near if _is_same_place(text, other)), None):
            pairs.append((text, other))
        elif len(same := by_size.setdefault((size, row), [])) < MOST_ALIKE:
            same.append(text)
    pairs = pairs[:MOST_DOUBLED]
    if not pairs:
        return []
    with closing(page.get_textpage()) as text_page:
        return [text for text, other in pairs if _words(text, text_page) == _words(other, text_page)]


def _is_same_place(one: TextObject, other: TextObject) -> bool:
    apart = DOUBLED_WITHIN * max(one.size, 1.0)
    return abs(one.box.left - other.box.left) <= apart and abs(one.box.bottom - other.box.bottom) <= apart


def _words(text: TextObject, text_page: Any) -> str:
    buffer = (ctypes.c_ushort * 512)()
    size = pdfium.FPDFTextObj_GetText(
        ctypes.cast(text.handle, pdfium.FPDF_PAGEOBJECT), text_page, buffer, ctypes.sizeof(buffer)
    )
    return bytes(buffer)[: min(size, ctypes.sizeof(buffer))].decode("utf-16-le", "replace").strip("\0 ")

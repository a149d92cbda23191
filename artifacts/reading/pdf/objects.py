"""The objects of a page: pieces of text, and the areas that may lie under or over them. Lengths are points of the page."""

import ctypes
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

DEPTH = 12
"""Of pages within pages."""
MOST_AREAS = 300
THIN = 2.0
"""Points: what is thinner is a line, and hides nothing."""
MOST_SEGMENTS = 64
FAR = 1e6
LAYER = [ord("O"), ord("C"), 0]
"""How a mark of what belongs to a layer begins."""
INVISIBLE = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
FILLED = frozenset({pdfium.FPDF_TEXTRENDERMODE_FILL, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE})


def quick(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """That function of PDFium for handles that are numbers, which takes half the time of one for pointers."""
    address = ctypes.cast(getattr(pdfium, name), ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(result, *arguments)(address or 0)


_HANDLE, _INT = ctypes.c_void_p, ctypes.c_int
_count_objects = quick("FPDFPage_CountObjects", _INT, _HANDLE)
_get_object = quick("FPDFPage_GetObject", _HANDLE, _HANDLE, _INT)
_count_inner_objects = quick("FPDFFormObj_CountObjects", _INT, _HANDLE)
_get_inner_object = quick("FPDFFormObj_GetObject", _HANDLE, _HANDLE, ctypes.c_ulong)
_get_type = quick("FPDFPageObj_GetType", _INT, _HANDLE)
_get_bounds = quick("FPDFPageObj_GetBounds", _INT, _HANDLE, *[_HANDLE] * 4)
_get_matrix = quick("FPDFPageObj_GetMatrix", _INT, _HANDLE, _HANDLE)
_get_font_size = quick("FPDFTextObj_GetFontSize", _INT, _HANDLE, _HANDLE)
_get_render_mode = quick("FPDFTextObj_GetTextRenderMode", _INT, _HANDLE)
_get_fill_colour = quick("FPDFPageObj_GetFillColor", _INT, _HANDLE, *[_HANDLE] * 4)
_get_draw_mode = quick("FPDFPath_GetDrawMode", _INT, _HANDLE, _HANDLE, _HANDLE)
_count_marks = quick("FPDFPageObj_CountMarks", _INT, _HANDLE)
_get_mark = quick("FPDFPageObj_GetMark", _HANDLE, _HANDLE, ctypes.c_ulong)
_get_mark_name = quick("FPDFPageObjMark_GetName", _INT, _HANDLE, _HANDLE, ctypes.c_ulong, _HANDLE)
_get_clip_path = quick("FPDFPageObj_GetClipPath", _HANDLE, _HANDLE)
_count_clip_paths = quick("FPDFClipPath_CountPaths", _INT, _HANDLE)
_count_clip_segments = quick("FPDFClipPath_CountPathSegments", _INT, _HANDLE, _INT)
_get_clip_segment = quick("FPDFClipPath_GetPathSegment", _HANDLE, _HANDLE, _INT, _INT)
_get_point = quick("FPDFPathSegment_GetPoint", _INT, _HANDLE, _HANDLE, _HANDLE)
_set_active = quick("FPDFPageObj_SetIsActive", _INT, _HANDLE, _INT)
_transform = quick("FPDFPageObj_Transform", None, _HANDLE, *[ctypes.c_double] * 6)

_FLOATS = tuple(ctypes.c_float() for _ in range(4))
_FLOAT_PLACES = tuple(map(ctypes.addressof, _FLOATS))
_UNSIGNED = tuple(ctypes.c_uint() for _ in range(4))
_UNSIGNED_PLACES = tuple(map(ctypes.addressof, _UNSIGNED))
_NAME = (ctypes.c_ushort * 4)()
_NAME_SIZE, _NAME_BYTES = ctypes.c_ulong(), ctypes.sizeof(_NAME)
_NAME_PLACE, _NAME_SIZE_PLACE = ctypes.addressof(_NAME), ctypes.addressof(_NAME_SIZE)
_MATRIX = pdfium.FS_MATRIX()
_MATRIX_PLACE = ctypes.addressof(_MATRIX)
"""Where PDFium puts its answers. They are read at once, by one thread; to make them anew takes longer than to ask."""

type Colour = tuple[int, int, int, int]
"""Red, green, blue and how opaque, each up to 255."""


class Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def area(self) -> float:
        width, height = self.right - self.left, self.top - self.bottom
        return width * height if width > 0 and height > 0 else 0.0

    def meet(self, other: "Box") -> "Box":
        """What both cover; nothing where its area is 0."""
        return Box(
            max(self.left, other.left),
            max(self.bottom, other.bottom),
            min(self.right, other.right),
            min(self.top, other.top),
        )

    def touches(self, other: "Box") -> bool:
        return (
            self.left <= other.right
            and other.left <= self.right
            and self.bottom <= other.top
            and other.bottom <= self.top
        )

    def holds(self, other: "Box") -> bool:
        """All of it, or nearly."""
        return self.touches(other) and self.meet(other).area >= 0.8 * other.area


class Matrix(NamedTuple):
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def within(self, outer: "Matrix") -> "Matrix":
        """This one, seen from where ``outer`` leads."""
        return Matrix(
            self.a * outer.a + self.b * outer.c,
            self.a * outer.b + self.b * outer.d,
            self.c * outer.a + self.d * outer.c,
            self.c * outer.b + self.d * outer.d,
            self.e * outer.a + self.f * outer.c + outer.e,
            self.e * outer.b + self.f * outer.d + outer.f,
        )

    def box(self, box: Box) -> Box:
        corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
        xs = [x * self.a + y * self.c + self.e for x, y in corners]
        ys = [x * self.b + y * self.d + self.f for x, y in corners]
        return Box(min(xs), min(ys), max(xs), max(ys))


STRAIGHT = Matrix(1, 0, 0, 1, 0, 0)


@dataclass(slots=True, eq=False)
class TextObject:
    """Letters of one font, size and line."""

    handle: int
    """The address of PDFium's object."""
    order: int
    """What has a higher one is drawn later."""
    box: Box
    clip: Box | None
    """What is cut off lies outside of it; nothing where nothing is cut off, or it can't be said where."""
    size: float
    """Of the letters, as they are seen."""
    direction: tuple[float, float]
    """In which the line goes on, of length 1."""
    origin: tuple[float, float]
    mode: int
    colour: Colour | None
    """Nothing where it is a pattern, or can't be said."""
    is_nested: bool
    is_layered: bool
    """It belongs to a layer that may be switched off."""

    @property
    def across(self) -> float:
        """How high its line lies, at a right angle to the line."""
        return self.direction[0] * self.origin[1] - self.direction[1] * self.origin[0]

    @property
    def along(self) -> tuple[float, float]:
        """Where it begins and ends on its line."""
        x, y = self.direction
        start = x * self.origin[0] + y * self.origin[1]
        return start, max(
            x * side + y * height
            for side in (self.box.left, self.box.right)
            for height in (self.box.bottom, self.box.top)
        )


@dataclass(slots=True)
class Area:
    """A picture or something filled."""

    order: int
    box: Box
    colour: Colour | None
    """Of a picture none."""
    is_picture: bool


@dataclass(slots=True)
class PageObjects:
    page_box: Box
    texts: list[TextObject] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    """The first of them."""
    rules: list[Box] = field(default_factory=list)
    """Thin lines across, such as those of fractions; the first of them."""
    is_crowded: bool = False
    """There are more areas."""


def page_objects(page: Any) -> PageObjects:
    objects = PageObjects(_page_box(page))
    walk = _walk(ctypes.cast(page.raw, _HANDLE).value or 0, _count_objects, _get_object, STRAIGHT, 0)
    for order, (handle, kind, matrix, depth) in enumerate(walk):
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            objects.texts.append(_text(handle, order, matrix, is_nested=depth > 0))
        else:
            _add_area(objects, handle, order, kind, matrix)
    return objects


def bounds(handle: int) -> Box:
    _get_bounds(handle, *_FLOAT_PLACES)
    left, bottom, right, top = _FLOATS
    return Box(left.value, bottom.value, right.value, top.value)


def deactivate(text: TextObject) -> None:
    _set_active(text.handle, False)


def take_out(text: TextObject) -> None:
    """For good. It is moved away, too, as PDFium leaves out what lies where the same text lay before, active or not."""
    deactivate(text)
    _transform(text.handle, 1, 0, 0, 1, FAR, FAR)


def activate(text: TextObject) -> None:
    _set_active(text.handle, True)


def _page_box(page: Any) -> Box:
    box = pdfium.FS_RECTF()
    if not pdfium.FPDF_GetPageBoundingBox(page, box):
        return Box(0.0, 0.0, *page.get_size())
    return Box(min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top))


def _walk(
    holder: int, count: Callable[..., int], get: Callable[..., Any], matrix: Matrix, depth: int
) -> Iterator[tuple[int, int, Matrix, int]]:
    for index in range(count(holder)):
        handle = get(holder, index)
        kind = _get_type(handle)
        if kind != pdfium.FPDF_PAGEOBJ_FORM:
            yield handle, kind, matrix, depth
        elif depth < DEPTH:
            inner = _matrix(handle).within(matrix)
            yield from _walk(handle, _count_inner_objects, _get_inner_object, inner, depth + 1)


def _matrix(handle: int) -> Matrix:
    _get_matrix(handle, _MATRIX_PLACE)
    return Matrix(_MATRIX.a, _MATRIX.b, _MATRIX.c, _MATRIX.d, _MATRIX.e, _MATRIX.f)


def _text(handle: int, order: int, outer: Matrix, *, is_nested: bool) -> TextObject:
    matrix = _matrix(handle)
    box, clip = bounds(handle), _clip(handle)
    if is_nested:
        matrix, box, clip = matrix.within(outer), outer.box(box), outer.box(clip) if clip else None
    _get_font_size(handle, _FLOAT_PLACES[0])
    size = abs(_FLOATS[0].value)
    length = math.hypot(matrix.a, matrix.b)
    return TextObject(
        handle=handle,
        order=order,
        box=box,
        clip=clip,
        size=size * math.hypot(matrix.c, matrix.d),
        direction=(matrix.a / length, matrix.b / length) if length else (1.0, 0.0),
        origin=(matrix.e, matrix.f),
        mode=_get_render_mode(handle),
        colour=_fill_colour(handle),
        is_nested=is_nested,
        is_layered=_is_layered(handle),
    )


def _add_area(objects: PageObjects, handle: int, order: int, kind: int, matrix: Matrix) -> None:
    if objects.is_crowded:
        return
    is_path = kind == pdfium.FPDF_PAGEOBJ_PATH
    box = bounds(handle) if matrix is STRAIGHT else matrix.box(bounds(handle))
    if min(box.width, box.height) < THIN:
        if is_path and box.width > box.height and len(objects.rules) < MOST_AREAS:
            objects.rules.append(box)
        return
    if is_path and not _is_filled(handle):
        return
    if len(objects.areas) >= MOST_AREAS:
        objects.is_crowded = True
        return
    is_picture = kind == pdfium.FPDF_PAGEOBJ_IMAGE
    clip = _clip(handle)
    seen = box.meet(clip if matrix is STRAIGHT else matrix.box(clip)) if clip else box
    if seen.touches(objects.page_box) and seen.width >= 0 and seen.height >= 0:
        colour = _fill_colour(handle) if is_path else None
        objects.areas.append(Area(order, seen.meet(objects.page_box), colour, is_picture))


def _is_filled(handle: int) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    return (
        bool(_get_draw_mode(handle, ctypes.addressof(fill), ctypes.addressof(stroke)))
        and fill.value != pdfium.FPDF_FILLMODE_NONE
    )


def _fill_colour(handle: int) -> Colour | None:
    if not _get_fill_colour(handle, *_UNSIGNED_PLACES):
        return None
    red, green, blue, opacity = _UNSIGNED
    return red.value, green.value, blue.value, opacity.value


def _is_layered(handle: int) -> bool:
    for index in range(_count_marks(handle)):
        _NAME[0] = 0
        _get_mark_name(_get_mark(handle, index), _NAME_PLACE, _NAME_BYTES, _NAME_SIZE_PLACE)
        if _NAME[:3] == LAYER:
            return True
    return False


def _clip(handle: int) -> Box | None:
    path = _get_clip_path(handle)
    whole: Box | None = None
    for index in range(max(_count_clip_paths(path), 0)):
        count = _count_clip_segments(path, index)
        if not 0 < count <= MOST_SEGMENTS:
            continue
        points = [_point(_get_clip_segment(path, index, number)) for number in range(count)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        box = Box(min(xs), min(ys), max(xs), max(ys))
        whole = box.meet(whole) if whole else box
    return whole


def _point(segment: int) -> tuple[float, float]:
    _get_point(segment, *_FLOAT_PLACES[:2])
    return _FLOATS[0].value, _FLOATS[1].value

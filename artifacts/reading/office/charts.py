"""Charts and diagrams of Office, by the values and words that are stored with them."""

import datetime
import math
from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, Text, Why, table, unread
from artifacts.reading.xml_stream import attribute, children_named, found, whole, whole_number

MOST_POINTS = 2_000
"""Of a series; a chart of more is a drawing of data that stand elsewhere."""
MOST_SERIES = 100
MOST_LEVELS = 9
"""Of categories within categories."""
CATEGORY = "category"
"""Over what the values are of."""
GRAPHICS = {"c:chart", "cx:chart", "dgm:relIds"}


def graphic(archive: Archive, element: Element, related: dict[str, tuple[str, str]], described: str) -> Iterator[Block]:
    """What a ``c:chart``, ``cx:chart`` or ``dgm:relIds`` refers to. ``described``: what the file says of it instead."""
    is_diagram = element.tag == "dgm:relIds"
    what = "diagram" if is_diagram else "chart"
    _, place = related.get(attribute(element, "r:dm" if is_diagram else "r:id"), ("", ""))
    root = whole(archive, place)
    if root is None:
        yield from unread(what, described, why=Why.DAMAGED)
        return
    blocks = list(diagram(root) if is_diagram else chart(root))
    yield from blocks or unread(what, described)


def chart(root: Element) -> Iterator[Block]:
    """Its title, and a table of its categories and series as they were last drawn; nothing where it has none of them."""
    outer = next((at for at in root.iter() if at.tag in {"c:chart", "cx:chart"}), root)
    titles = [text for at in children_named(outer, "c:title", "cx:title") if (text := _texts(at))]
    axes = [text for axis in found(root, "c:plotArea") for at in found(axis, "c:title") if (text := _texts(at))]
    series = [_series(at) for at in islice(found(root, "c:ser"), MOST_SERIES)]
    points = sorted({index for _, categories, values in series for index in (*categories, *values)})[:MOST_POINTS]
    dimensions = list(_dimensions(root))
    if not (titles or axes or points or dimensions):
        return
    yield Text(f"(chart: {titles[0]})" if titles else "(chart)")
    if axes:
        yield Text(f"Axes: {', '.join(axes)}")
    yield from dimensions
    if points:
        shared = next((categories for _, categories, _ in series if categories), {})
        header = [CATEGORY, *(label or f"series {number}" for number, (label, _, _) in enumerate(series, 1))]
        rows = ([shared.get(at, str(at + 1)), *(values.get(at, "") for _, _, values in series)] for at in points)
        yield from table(enumerate([header, *rows], 1))


def diagram(root: Element) -> Iterator[Block]:
    """Its texts as a list, each below the one that it belongs to."""
    texts = {attribute(point, "modelId"): _texts(point) for point in found(root, "dgm:pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in found(root, "dgm:cxn"):
        if attribute(link, "type") in {"", "parOf"}:
            place = whole_number(attribute(link, "srcOrd")), attribute(link, "destId")
            below.setdefault(attribute(link, "srcId"), []).append(place)
    linked = {target for targets in below.values() for _, target in targets}
    waiting = [(0, point) for point in reversed(texts) if point not in linked]
    waiting = [*((0, point) for point in reversed(texts)), *waiting]  # what only a circle leads to comes last
    shown: set[str] = set()
    lines: list[str] = []
    while waiting:
        depth, point = waiting.pop()
        if point in shown:
            continue
        shown.add(point)
        text = texts.get(point, "")
        if text:
            lines.append(f"{'  ' * min(depth, 8)}- {text}")
        inner = sorted(below.get(point, []), reverse=True)
        waiting += [(depth + bool(text), target) for _, target in inner]
    if lines:
        yield Text("(diagram)")
        yield from (Text(line, is_item=True) for line in lines)


def _texts(element: Element) -> str:
    """Of its paragraphs, or of the cells it refers to."""
    paragraphs = ["".join(run.text or "" for run in found(at, "a:t")) for at in found(element, "a:p")]
    texts = paragraphs or [value.text or "" for value in found(element, "c:v")]
    return " ".join(" ".join(texts).split())


def _series(element: Element) -> tuple[str, dict[int, str], dict[int, str]]:
    """Its name, its categories and its values, by their index."""
    label = " ".join(_texts(at) for at in children_named(element, "c:tx"))
    categories = [at for wanted in ("c:cat", "c:xVal") for at in children_named(element, wanted)]
    values = [at for wanted in ("c:val", "c:yVal") for at in children_named(element, wanted)]
    return label, _points(categories), _points(values)


def _points(elements: list[Element]) -> dict[int, str]:
    """Of categories of several levels the words of all of them, the widest first."""
    points: dict[int, str] = {}
    for element in elements:
        code = "".join(at.text or "" for at in found(element, "c:formatCode"))
        for level in [*islice(found(element, "c:lvl"), MOST_LEVELS)][::-1] or [element]:
            for point in islice(found(level, "c:pt"), MOST_POINTS):
                index = attribute(point, "idx")
                value = _shown(" ".join("".join(at.text or "" for at in children_named(point, "c:v")).split()), code)
                if index.isdecimal() and len(index) < 7 and value:
                    points[int(index)] = f"{points.get(int(index), '')} {value}".strip()
    return points


def _shown(value: str, code: str) -> str:
    """A number as its format shows it, as far as a percentage or a day goes."""
    try:
        number = float(value)
    except ValueError:
        return value
    if not math.isfinite(number):
        return value
    if "%" in code:
        return f"{number * 100:.12g} %"
    if "y" in code.lower() and "m" in code.lower() and 0 < number < 2_958_466:
        return (datetime.date(1899, 12, 30) + datetime.timedelta(int(number))).isoformat()
    return f"{number:.12g}" if "." in value else value


def _dimensions(root: Element) -> Iterator[Text]:
    """Of waterfalls, treemaps and such, the words and numbers of each."""
    for dimension in (at for at in root.iter() if at.tag in {"cx:strDim", "cx:numDim"}):
        values = [" ".join((point.text or "").split()) for point in islice(found(dimension, "cx:pt"), MOST_POINTS)]
        if any(values):
            yield Text(f"- {', '.join(values)}", is_item=True)

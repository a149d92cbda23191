"""What lies beside the text of an OpenDocument file: formulas, charts, and the fields of its forms."""

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, LeftOut, Text, Why
from artifacts.reading.formulas import formula
from artifacts.reading.office.charts import CATEGORY
from artifacts.reading.office.grids import MOST_COLUMNS, Cell, Row, columns, grid
from artifacts.reading.office.runs import Piece, Run
from artifacts.reading.xml_stream import attribute, child, children_named, first, found, whole, whole_number

MOST_ROWS = 2_000
"""Of a chart; what has more is a drawing of data that stand elsewhere."""
BOXES = {"form:checkbox", "form:radio"}


def embedded(archive: Archive, element: Element, described: str) -> Iterator[Piece]:
    """Of a ``draw:object``: a formula, the values of a chart, or that there is something else."""
    inline = first(element, "math:math")
    if inline is not None:
        yield Run(formula(inline))
        return
    place = posixpath.normpath(attribute(element, "xlink:href").removeprefix("./") or ".")
    root = whole(archive, f"{place}/content.xml") if f"{place}/content.xml" in archive.names else whole(archive, place)
    if root is None:
        yield Run(f" (embedded object, not read{f': {described}' if described else ''}) ")
        yield LeftOut(Why.NOT_READ, "embedded object")
        return
    math = root if root.tag == "math:math" else first(root, "math:math")
    chart = first(root, "chart:chart")
    if math is not None:
        yield Run(formula(math))
    elif chart is not None:
        yield from _chart(chart)
    else:
        yield Run(f" (embedded object, not read{f': {described}' if described else ''}) ")
        yield LeftOut(Why.NOT_READ, "embedded object")


def _chart(chart: Element) -> Iterator[Block]:
    title = _text(child(chart, "chart:title"))
    axes = [text for axis in found(chart, "chart:axis") if (text := _text(child(axis, "chart:title")))]
    yield Text(f"(chart: {title})" if title else "(chart)")
    if axes:
        yield Text(f"Axes: {', '.join(axes)}")
    rows = [
        Row([cell for at in children_named(line, "table:table-cell") for cell in _cells(at)])
        for table in children_named(chart, "table:table")
        for line in found(table, "table:table-row")
    ]
    if rows and rows[0].cells and not rows[0].cells[0].text:
        rows[0] = Row([Cell(CATEGORY), *rows[0].cells[1:]])
    yield from grid(rows[:MOST_ROWS])


def _cells(cell: Element) -> list[Cell]:
    """A value that is none is written as ``NaN``."""
    text = _text(cell)
    times = columns(attribute(cell, "table:number-columns-repeated"))
    return [Cell("" if text == "NaN" else text)] * min(times, MOST_COLUMNS)


def _text(element: Element | None) -> str:
    return " ".join(" ".join("".join(line.itertext()).split()) for line in found(element, "text:p"))


def controls(forms: Element) -> dict[str, list[Piece]]:
    """What the fields of forms show, by their ids. What was typed into a field for a password is not shown by it."""
    return {
        control_id: list(_control(element))
        for element in forms.iter()
        for kind in ("xml:id", "form:id")
        if (control_id := attribute(element, kind))
    }


def field_mark(element: Element) -> str:
    """Of a field of a form that came from Word: a box, or what was chosen from a list."""
    values: dict[str, list[str]] = {}
    for parameter in children_named(element, "field:param"):
        values.setdefault(attribute(parameter, "field:name"), []).append(attribute(parameter, "field:value"))
    kind = attribute(element, "field:type")
    if kind.endswith("FORMCHECKBOX"):
        return marks.checked("true" in values.get("Checkbox_Checked", []))
    entries, chosen = values.get("Dropdown_ListEntry", []), values.get("Dropdown_Selected", ["0"])[0]
    return "".join(entries[whole_number(chosen, len(entries)) :][:1])


def _control(element: Element) -> Iterator[Piece]:
    kind, label = element.tag, attribute(element, "form:label")
    value = attribute(element, "form:current-value") or attribute(element, "form:value")
    if kind in BOXES:
        state = attribute(element, "form:current-state") or attribute(element, "form:state")
        state = state or attribute(element, "form:current-selected") or attribute(element, "form:selected")
        yield Run(f" {marks.checked(state in {'checked', 'true'})} {label} ")
    elif kind == "form:hidden":
        yield LeftOut(Why.HIDDEN, "field of a form")
    elif kind == "form:password" or attribute(element, "form:echo-char"):
        if value:
            yield LeftOut(Why.HIDDEN, "password")
    elif kind in {"form:listbox", "form:combobox"}:
        options = list(children_named(element, "form:option"))
        chosen = [at for at in options if attribute(at, "form:current-selected") == "true"]
        chosen = chosen or [at for at in options if attribute(at, "form:selected") == "true"]
        yield Run(f" {', '.join(attribute(at, 'form:label') for at in chosen) or value} ")
    elif kind == "form:textarea":
        yield Run(f" {value or _text(element)} ")
    elif label or value:
        yield Run(f" {label or value} ")

"""What ``xlrd`` leaves aside in workbooks of Excel before 2007: text boxes, charts, and sheets that are no tables.

The stream is a row of records, each with a number and a length ([MS-XLS]). A sheet begins with BOF and ends with EOF, and so
does a chart within a sheet.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

BOF, EOF, BOUNDSHEET, OBJECT, TEXT_OBJECT, CONTINUE, SERIES_TEXT = 0x809, 0x0A, 0x85, 0x5D, 0x1B6, 0x3C, 0x100D
PICTURE, NOTE = 0x08, 0x19
CHART = b"\x20\x00"
MOST_OBJECTS = 10_000
STATES = {1: "hidden", 2: "veryHidden"}
KINDS = {0: "worksheet", 2: "chartsheet"}


@dataclass
class Objects:
    """On one sheet."""

    texts: list[str] = field(default_factory=list)
    charts: list[list[str]] = field(default_factory=list)
    """Of each its titles and the names of its series."""
    pictures: int = 0


@dataclass(frozen=True)
class SheetRecord:
    name: str
    state: str
    """Empty where it is seen, ``hidden`` or ``veryHidden``."""
    kind: str
    """``worksheet``, ``chartsheet``, or ``program``."""
    objects: Objects


def read_sheets(stream: bytes) -> list[SheetRecord]:
    """All sheets in the order of their tabs."""
    named: list[tuple[int, int, int, str]] = []
    by_place: dict[int, _Collector] = {}
    collector = _Collector()
    depth = 0
    for place, record, data in _records(stream):
        if record == BOF:
            depth += 1
            if depth == 1:
                collector = by_place.setdefault(place, _Collector())
        elif record == EOF:
            depth = max(depth - 1, 0)
        elif record == BOUNDSHEET and len(data) > 8:
            start, state, kind, length, is_wide = struct.unpack_from("<IBBBB", data)
            named.append((start, state, kind, _decoded(data[8:], length, is_wide)))
        collector.add(record, data)
    return [
        SheetRecord(
            name, STATES.get(state & 3, ""), KINDS.get(kind, "program"), by_place.get(start, _Collector()).objects
        )
        for start, state, kind, name in named
    ]


class _Collector:
    def __init__(self) -> None:
        self.objects = Objects()
        self._last_object = 0
        self._wanted = 0
        """Characters of a text that the next record holds."""

    def add(self, record: int, data: bytes) -> None:
        objects, wanted, self._wanted = self.objects, self._wanted, 0
        if record == BOF and data[2:4] == CHART and len(objects.charts) < MOST_OBJECTS:
            objects.charts.append([])
        elif record == OBJECT and len(data) >= 6:
            self._last_object = struct.unpack_from("<H", data, 4)[0]
            objects.pictures += self._last_object == PICTURE and objects.pictures < MOST_OBJECTS
        elif record == TEXT_OBJECT and len(data) >= 12 and self._last_object != NOTE:
            self._wanted = struct.unpack_from("<H", data, 10)[0]
        elif record == CONTINUE and wanted and data and len(objects.texts) < MOST_OBJECTS:
            objects.texts.append(_decoded(data[1:], wanted, data[0]))
        elif record == SERIES_TEXT and len(data) > 4 and objects.charts:
            objects.charts[-1].append(_decoded(data[4:], data[2], data[3]))


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Where each begins, its number and what it holds."""
    place = 0
    while place + 4 <= len(stream):
        record, length = struct.unpack_from("<HH", stream, place)
        yield place, record, stream[place + 4 : place + 4 + length] if record in READ else b""
        place += 4 + length


READ = {BOF, BOUNDSHEET, OBJECT, TEXT_OBJECT, CONTINUE, SERIES_TEXT}


def _decoded(content: bytes, length: int, is_wide: int) -> str:
    if is_wide & 1:
        return content[: 2 * length].decode("utf-16-le", "replace")
    return content[:length].decode("latin-1")

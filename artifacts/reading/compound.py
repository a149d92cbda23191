"""What lies at the top of a compound file, the container of Office before 2007: by its directory, not by its bytes.

Documents are embedded in each other, so the name of a stream stands anywhere. What is read here is what [MS-CFB] calls the
header, the table of sectors and the directory; each sector once.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENTRY_BYTES = 128
NONE = 0xFFFFFFFA
"""From here on numbers of sectors mean something else."""
MOST_SECTORS = 4_096
"""Of the directory; two million bytes are more than any has."""
STREAM = 2
SMALLEST_LARGE = 4_096
"""Bytes; smaller ones lie together in another stream."""
NO_UPPER_HALF = 0xFFFFFFFF
"""Of a size: old programs left anything there."""


@dataclass(frozen=True)
class Stream:
    start: bytes
    """Its first sector; empty if it is a small one."""


def top_level(path: Path) -> Mapping[str, Stream]:
    """Streams and folders by name, without those in folders. Empty if the directory can't be read."""
    try:
        with path.open("rb") as content:
            return dict(_Directory(content).named())
    except (struct.error, IndexError, ValueError, OSError):
        return {}


class _Directory:
    def __init__(self, content: IO[bytes]) -> None:
        self._content = content
        header = content.read(512)
        self._shift = struct.unpack_from("<H", header, 30)[0]
        if self._shift not in {9, 12}:
            raise ValueError("sectors of a size that there is not")
        self._tables = [sector for sector in struct.unpack_from("<109I", header, 76) if sector < NONE]
        (first,) = struct.unpack_from("<I", header, 48)
        self._entries = b"".join(map(self._sector, self._chain(first)))

    def _sector(self, number: int) -> bytes:
        self._content.seek((number + 1) << self._shift)
        return self._content.read(1 << self._shift)

    def _chain(self, number: int) -> Iterator[int]:
        seen: set[int] = set()
        per_table = (1 << self._shift) // 4
        while number < NONE and number not in seen and len(seen) < MOST_SECTORS:
            seen.add(number)
            yield number
            table = number // per_table
            if table >= len(self._tables):
                return
            (number,) = struct.unpack_from("<I", self._sector(self._tables[table]), number % per_table * 4)

    def named(self) -> Iterator[tuple[str, Stream]]:
        """Beside each other lie the entries of a folder, as a tree; below the root, those of the file."""
        waiting = [self._numbers(0)[2]]
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number >= NONE or number in seen or (number + 1) * ENTRY_BYTES > len(self._entries):
                continue
            seen.add(number)
            left, right, _ = self._numbers(number)
            waiting += [left, right]
            entry = self._entries[number * ENTRY_BYTES : (number + 1) * ENTRY_BYTES]
            length, kind = struct.unpack_from("<HB", entry, 64)
            sector, size = struct.unpack_from("<IQ", entry, 116)
            is_large = kind == STREAM and size & NO_UPPER_HALF >= SMALLEST_LARGE and sector < NONE
            yield (
                entry[: max(length - 2, 0)].decode("utf-16-le", "replace"),
                Stream(self._sector(sector) if is_large else b""),
            )

    def _numbers(self, number: int) -> tuple[int, int, int]:
        left, right, child = struct.unpack_from("<3I", self._entries, number * ENTRY_BYTES + 68)
        return left, right, child


def is_encrypted_workbook(start: bytes) -> bool:
    """Whether one of the first records is FILEPASS; ``start`` is that of the stream of a workbook."""
    at = 0
    for _ in range(8):
        if at + 4 > len(start):
            return False
        kind, size = struct.unpack_from("<HH", start, at)
        if kind == 0x2F:
            return True
        at += 4 + size
    return False

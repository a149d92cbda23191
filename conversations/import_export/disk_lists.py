"""Lists that are too long for the memory: their elements lie in a file that goes when the import ends."""

import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

FEW = 2_000
"""Elements of a list that stay in memory; or fewer, if they are large."""


class Scratch:
    """The file of one import. Made when it is first needed."""

    def __init__(self) -> None:
        self._made: IO[bytes] | None = None

    @property
    def _file(self) -> IO[bytes]:
        if self._made is None:
            self._made = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        return self._made

    def write(self, value: Any) -> int:
        offset = self._file.seek(0, 2)
        _Pickler(self._file, protocol=5).dump(value)
        return offset

    def read(self, offset: int) -> Any:
        self._file.seek(offset)
        return _Unpickler(self._file, self).load()

    def keep(self, pieces: Iterable[bytes]) -> tuple[int, int]:
        """Bytes as they are. Returns where they begin and how many they are."""
        start = self._file.seek(0, 2)
        return start, sum(map(self._file.write, pieces))

    def pieces(self, start: int, length: int, *, size: int) -> Iterator[bytes]:
        """These bytes, so many at a time."""
        for offset in range(start, start + length, size):
            self._file.seek(offset)
            yield self._file.read(min(size, start + length - offset))

    def close(self) -> None:
        if self._made:
            self._made.close()


class _Pickler(pickle.Pickler):
    """A list may hold others that lie in the same file."""

    def persistent_id(self, value: Any) -> str | None:
        return "scratch" if isinstance(value, Scratch) else None


class _Unpickler(pickle.Unpickler):
    """Of nothing but what was written here just now."""

    def __init__(self, file: Any, scratch: Scratch) -> None:
        super().__init__(file)
        self._scratch = scratch

    def persistent_load(self, name: str) -> Scratch:
        return self._scratch


class Spool[T](Sequence[T]):
    """A list in a file. It only grows."""

    def __init__(self, scratch: Scratch, values: Iterable[T] = ()) -> None:
        self._scratch, self._offsets = scratch, array("Q")
        for value in values:
            self.append(value)

    def append(self, value: T) -> None:
        self._offsets.append(self._scratch.write(value))

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[T]:
        return map(self._scratch.read, self._offsets)

    def __getitem__(self, place: int) -> T:  # type: ignore[override]  # nobody asks for a part
        return self._scratch.read(self._offsets[place])  # type: ignore[no-any-return]


def gathered[T](values: Iterator[T], scratch: Scratch, *, few: bool) -> Sequence[T]:
    """The values as a list, or in the scratch where they are not few."""
    return list(values) if few else Spool(scratch, values)

"""Files of a backup, written and read as streams: compressed, encrypted where there is a key, and digested on the way."""

import hashlib
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conversations.keep import sealing
from conversations.keep.manifest import BackupError, StoredFile

PIECE = 2**18
GZIP = 31
"""For zlib: gzip's own frame, so that `zcat` reads what is not encrypted."""
LEVEL = 1
WRITTEN_AT_ONCE = 2**24
"""Bytes after which the disk takes what was written: a flood at the end would keep those waiting who commit meanwhile."""


class Pace:
    """Keeps to so many bytes a second, on the average of what was read since the beginning; 0: no limit."""

    def __init__(self, bytes_a_second: float) -> None:
        self._most = bytes_a_second
        self._began = time.monotonic()
        self.done = 0

    def add(self, count: int) -> None:
        self.done += count
        if self._most:
            ahead = self.done / self._most - (time.monotonic() - self._began)
            if ahead > 0.05:
                time.sleep(ahead)


class Target:
    """One file of a backup, open for writing. ``stored`` tells of it once it is complete."""

    def __init__(self, folder: Path, path: str, key: str, *, compressed: bool) -> None:
        self._folder, self._path = folder, path
        self._compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP) if compressed else None
        self._sealer = sealing.Sealer(key) if key else None
        self._digest = hashlib.sha256()
        self._bytes = self._unwritten = 0
        full = folder / path
        full.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.fdopen(os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        if self._sealer:
            self._store(self._sealer.begin())

    def write(self, content: bytes) -> None:
        self._seal(self._compressor.compress(content) if self._compressor else content)

    def finish(self) -> StoredFile:
        if self._compressor:
            self._seal(self._compressor.flush())
        if self._sealer:
            self._store(self._sealer.end())
        self._file.flush()
        os.fsync(self._file.fileno())
        return StoredFile(path=self._path, bytes=self._bytes, sha256=self._digest.hexdigest())

    def close(self) -> None:
        self._file.close()

    def _seal(self, content: bytes) -> None:
        if self._sealer is None:
            self._store(content)
        elif content:
            for piece in self._sealer.write(content):
                self._store(piece)

    def _store(self, content: bytes) -> None:
        self._file.write(content)
        self._digest.update(content)
        self._bytes += len(content)
        self._unwritten += len(content)
        if self._unwritten >= WRITTEN_AT_ONCE:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._unwritten = 0


@contextmanager
def target(folder: Path, path: str, key: str, *, compressed: bool) -> Iterator[Target]:
    opened = Target(folder, path + (".sealed" if key else ""), key, compressed=compressed)
    try:
        yield opened
    finally:
        opened.close()


def content_of(folder: Path, stored: StoredFile, key: str, *, compressed: bool) -> Iterator[bytes]:
    """What was written to it. Raises ``BackupError`` where the key is another or the file is damaged."""
    decompressor = zlib.decompressobj(GZIP) if compressed else None
    try:
        with (folder / stored.path).open("rb") as file:
            pieces = sealing.unsealed(file, key) if key else iter(lambda: file.read(PIECE), b"")
            for piece in pieces:
                yield from _decompressed(decompressor, piece) if decompressor else [piece]
            if decompressor and not decompressor.eof:
                raise BackupError(f"{folder / stored.path} ends too early: take another copy of the backup.")
    except (sealing.NotReadable, zlib.error) as error:
        raise BackupError(f"{folder / stored.path} is damaged, or OPENBOOK_BACKUP_KEY is another key.") from error


def _decompressed(decompressor: "zlib._Decompress", piece: bytes) -> Iterator[bytes]:
    """However well it was compressed, no more than a piece at a time."""
    while piece:
        if content := decompressor.decompress(piece, PIECE):
            yield content
        piece = decompressor.unconsumed_tail


def check(folder: Path, stored: StoredFile, done: Callable[[int], None]) -> None:
    """Raises ``BackupError`` where the file is not, byte for byte, what was stored."""
    digest = hashlib.sha256()
    try:
        with (folder / stored.path).open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
                done(len(piece))
    except FileNotFoundError:
        raise BackupError(f"{folder / stored.path} is missing: take another copy of the backup.") from None
    if digest.hexdigest() != stored.sha256:
        raise BackupError(
            f"{folder / stored.path} is damaged: its SHA-256 is another. Take another copy of the backup."
        )

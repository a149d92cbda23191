"""Files of a backup, written and read as streams: compressed, encrypted where there is a key, and digested on the way."""

import hashlib
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from config.backups import sealing
from config.backups.manifest import BackupError, StoredFile

PIECE = 2**18
GZIP = 31
"""For zlib: gzip's own frame, so that `zcat` reads what is not encrypted."""
LEVEL = 1
MADE_UP_SECONDS = 0.1
WRITTEN_AT_ONCE = 2**20
"""Bytes after which the disk takes what was written: a flood at the end would keep those waiting who commit meanwhile."""


class Pace:
    """Keeps to so many bytes a second, piece by piece; 0: no limit. Who was held up, as by many small rows or a slow disk,
    makes up for a tenth of a second of it, not for all: that would be a flood afterwards."""

    def __init__(
        self,
        bytes_a_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._most = bytes_a_second
        self._clock, self._sleep = clock, sleep
        self._due = clock()

    def add(self, count: int) -> None:
        if self._most:
            now = self._clock()
            self._due = max(self._due, now - MADE_UP_SECONDS) + count / self._most
            if self._due > now:
                self._sleep(self._due - now)


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
            _begin_writing(self._file.fileno())
            self._unwritten = 0


def _begin_writing(descriptor: int) -> None:
    """Without waiting for it, nor a commit of the file system, which others' commits would wait for; what is on the disk
    goes from memory. Where the system has no such call, the next ``fsync`` writes it all."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def target(folder: Path, path: str, key: str, *, compressed: bool) -> Iterator[Target]:
    opened = Target(folder, path + (".sealed" if key else ""), key, compressed=compressed)
    try:
        yield opened
    finally:
        opened.close()


def content_of(folder: Path, stored: StoredFile, key: str, *, compressed: bool) -> Iterator[bytes]:
    """What was written to it. Raises ``BackupError``, at the end at the latest, where the key is another or the file is not
    the one that was stored."""
    decompressor = zlib.decompressobj(GZIP) if compressed else None
    try:
        with _opened(folder, stored) as file:
            pieces = sealing.unsealed(file, key) if key else iter(lambda: file.read(PIECE), b"")
            for piece in pieces:
                yield from _decompressed(decompressor, piece) if decompressor else [piece]
            if decompressor and not decompressor.eof:
                raise BackupError(f"{folder / stored.path} ends too early: take another copy of the backup.")
            file.check()
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
    with _opened(folder, stored) as file:
        while piece := file.read(PIECE):
            done(len(piece))
        file.check()


class _Digested:
    """A file that is digested as it is read."""

    def __init__(self, file: IO[bytes], path: Path, stored: StoredFile) -> None:
        self._file, self._path, self._stored = file, path, stored
        self._digest = hashlib.sha256()

    def read(self, most: int) -> bytes:
        piece = self._file.read(most)
        self._digest.update(piece)
        return piece

    def check(self) -> None:
        """Raises ``BackupError`` where something else was read than what was stored."""
        if self._file.read(1) or self._digest.hexdigest() != self._stored.sha256:
            raise BackupError(f"{self._path} is damaged: its SHA-256 is another. Take another copy of the backup.")


@contextmanager
def _opened(folder: Path, stored: StoredFile) -> Iterator[_Digested]:
    """No link is followed, and nothing else than a file is waited for."""
    path = folder / stored.path
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BackupError(f"{path} is missing: take another copy of the backup.") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != stored.bytes:
            raise BackupError(f"{path} is damaged: it has another size. Take another copy of the backup.")
        yield _Digested(file, path, stored)

"""ZIP archives from strangers: each reading says how much it may unpack."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from artifacts.reading.problems import FileProblem

DIRECTORY_BYTES = 4 * 2**20
"""Of the table of contents, which is held in memory as a whole."""
MEMBER_BYTES = 256 * 2**20
UNPACKED_BYTES = 512 * 2**20
"""Of all members together."""
CHUNK_BYTES = 64 * 2**10

DAMAGED = FileProblem("damaged", "The file is damaged or was cut off. Open it where it was made and save it again.")
ENCRYPTED = FileProblem("encrypted", "The file is protected by a password. Remove the password and try again.")
BOMB = FileProblem("too_large", "The file unpacks to far more than it can hold sensibly, so it was not read.")


class Archive:
    """The members of an open archive, by name."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = archive.namelist()

    def read(self, name: str, *, at_most: int = MEMBER_BYTES) -> bytes:
        """A member as a whole. Raises ``FileProblem`` if it is larger, encrypted, damaged or missing."""
        content = bytearray()
        with self.open(name) as member, readable():
            while chunk := member.read(CHUNK_BYTES):
                content += chunk
                if len(content) > at_most:
                    raise BOMB
        return bytes(content)

    def open(self, name: str) -> IO[bytes]:
        """To be read piece by piece, within ``readable()``."""
        with readable():
            return self._archive.open(name)


@contextmanager
def open_archive(path: Path | bytes) -> Iterator[Archive]:
    """Of a file, or of the bytes of one that lies in another. Raises ``FileProblem``."""
    with io.BytesIO(path) if isinstance(path, bytes) else _Bounded(path) as file:
        with readable():
            archive = zipfile.ZipFile(file)
        with archive:
            members = archive.infolist()
            if any(member.flag_bits & 1 for member in members):
                raise ENCRYPTED
            if any(member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for member in members):
                raise DAMAGED  # documents know no other, and Python unpacks these without bound
            if (
                sum(member.file_size for member in members) > UNPACKED_BYTES
            ):  # of each, no more is unpacked than it says
                raise BOMB
            yield Archive(archive)


@contextmanager
def readable() -> Iterator[None]:
    """What goes wrong within comes out as a ``FileProblem``."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, ValueError, OSError) as error:
        raise DAMAGED from error


class _Bounded(io.FileIO):
    """``zipfile`` reads the table of contents at once, however long the file says it is."""

    def read(self, size: int | None = -1, /) -> bytes:
        content = super().read(DIRECTORY_BYTES + 1 if size is None or size < 0 else min(size, DIRECTORY_BYTES + 1))
        if len(content) > DIRECTORY_BYTES:
            raise FileProblem("too_many_parts", "The file is an archive of too many files to be a document.")
        return content

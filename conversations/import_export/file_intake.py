"""The files that an import brings: each is checked as an upload is, and kept in the storage before any row is stored.

What can't be taken costs itself only, and is told in the answer. What was kept and no row came to name goes again.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from django.conf import settings
from django.contrib.auth.models import User

from artifacts.reading.kinds import Kind, detect
from artifacts.reading.problems import FileProblem
from conversations.files import storage, store
from conversations.files.uploads import MIB, clean_name, too_large
from conversations.import_export.uploads import Opened
from conversations.runtime import long_work

PIECE = 2**18
RENEW_SECONDS = 600
"""How often what was kept is said to be wanted still."""
TOLD = 200
"""Refused files that the answer names; of more it tells the number."""
MISSING = FileProblem("missing", "The import does not hold its bytes.")


class RefusedFile(NamedTuple):
    name: str
    place: str
    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class KeptFile:
    """Its bytes lie in the storage, under ``place``."""

    name: str
    kind: str
    media_type: str
    size: int
    sha256: bytes
    place: str


class Taking(Protocol):
    """Take a file; ``None`` where it can't be taken. ``opened`` is ``None`` where its bytes are missing, ``place`` is where it
    stands in the document, ``sha256`` what its bytes must have, in hexadecimal digits."""

    def __call__(self, opened: Opened | None, *, name: str, place: str, sha256: str = "") -> KeptFile | None: ...


class FileIntake:
    """The files of one import, to be closed at its end: then what was kept goes, unless it ``is_stored``."""

    def __init__(self, user: User, *, report: Callable[[int], None] = lambda count: None) -> None:
        self._report = report
        room = store.room_of(user)
        self._most, self._used = room.most, room.used
        self._unpacked, self._most_unpacked = 0, settings.OPENBOOK_MAX_IMPORT_ZIP_MB * MIB
        self._places: list[str] = []
        self._renewed_at = time.monotonic()
        self.refused: list[RefusedFile] = []
        self.refused_count = 0
        self.is_stored = False

    def take(self, opened: Opened | None, *, name: str, place: str, sha256: str = "") -> KeptFile | None:
        path = self._scratch()
        try:
            if opened is None:
                raise MISSING
            with opened() as source:
                size, digest = self._write(source, path)
            if sha256 and digest.hex() != sha256.lower():
                raise FileProblem("damaged", "Its bytes are not those that the document tells of.")
            type = detect(path, name)
            kept_at = storage.keep(path)
        except FileProblem as problem:
            self._refuse(RefusedFile(clean_name(name), place, problem.code, problem.message))
            return None
        finally:
            path.unlink(missing_ok=True)
        self._used += size
        self._places.append(kept_at)
        self._report(len(self._places))
        if time.monotonic() - self._renewed_at > RENEW_SECONDS:
            self.renew()
        return KeptFile(
            name=clean_name(name or f"{'picture' if type.kind is Kind.IMAGE else 'file'}.{type.extension}"),
            kind=type.kind.value,
            media_type=type.media_type,
            size=size,
            sha256=digest,
            place=kept_at,
        )

    def renew(self) -> None:
        """What was kept is wanted for some time more."""
        storage.postpone(self._places)
        self._renewed_at = time.monotonic()

    def close(self) -> None:
        if not self.is_stored and self._places:
            storage.discard(self._places)

    def _scratch(self) -> Path:
        with storage.reaching():
            descriptor, path = tempfile.mkstemp(prefix="upload-", dir=storage.scratch_root())
            os.close(descriptor)
        return Path(path)

    def _write(self, source: IO[bytes], path: Path) -> tuple[int, bytes]:
        """Its size and digest. However small it was packed, no more is unpacked than it may have."""
        size, digest = 0, hashlib.sha256()
        with path.open("wb") as target:
            while piece := source.read(PIECE):
                long_work.check()
                size += len(piece)
                self._unpacked += len(piece)
                self._check_size(size)
                with storage.reaching():
                    target.write(piece)
                digest.update(piece)
        return size, digest.digest()

    def _check_size(self, size: int) -> None:
        if size > settings.OPENBOOK_MAX_FILE_MB * MIB:
            raise FileProblem("file_too_large", too_large().message)
        if self._most and self._used + size > self._most:
            raise FileProblem(
                "files_full", "There is no room for it: your files together may take no more. Delete some of them."
            )
        if self._unpacked > self._most_unpacked:
            raise FileProblem("import_too_large", "The files of this import together unpack to too much.")

    def _refuse(self, refused: RefusedFile) -> None:
        self.refused_count += 1
        if len(self.refused) < TOLD:
            self.refused.append(refused)

"""What was uploaded, as the JSON documents that it holds: itself, or those of a ZIP file."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TextIO

from conversations.errors import ImportTooLarge, InvalidImport

DOCUMENT = re.compile(r"(?:^|/)conversations?(?:[-_]\d+)?\.json$", re.IGNORECASE)
"""``conversations.json``, the parts of a large export, and what Openbook itself gives for a thread."""
ZIP = b"PK\x03\x04"
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What ``zipfile`` raises for a file that is cut off, damaged, encrypted or packed in a way that it doesn't know."""


@dataclass(frozen=True, slots=True)
class Document:
    """``name`` is empty where there is only one."""

    name: str
    upload: IO[bytes]
    member: zipfile.ZipInfo | None = None

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        self.upload.seek(0)
        if self.member is None:
            yield io.TextIOWrapper(_Kept(self.upload), encoding="utf-8-sig")  # type: ignore[type-var]
            return
        try:
            with zipfile.ZipFile(self.upload) as archive, archive.open(self.member) as file:
                yield io.TextIOWrapper(file, encoding="utf-8-sig")
        except BROKEN as error:
            raise _broken() from error


class _Kept(io.BufferedIOBase):
    """A file that stays open when the text above it is gone."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    read1 = read


def documents(upload: IO[bytes], *, most: int) -> Sequence[Document]:
    """Raises ``ImportTooLarge`` where they have more than ``most`` bytes together, ``InvalidImport`` where there are none."""
    upload.seek(0)
    if upload.read(len(ZIP)) != ZIP:
        return [Document("", upload)]
    try:
        with zipfile.ZipFile(upload) as archive:
            members = [member for member in archive.infolist() if DOCUMENT.search(member.filename)]
    except BROKEN as error:
        raise _broken() from error
    if not members:
        raise InvalidImport(
            "The ZIP file holds no `conversations.json`. Send the whole export, as it was given.", place=""
        )
    if sum(member.file_size for member in members) > most:  # no more than that is ever unpacked
        raise too_large(most)
    members.sort(key=lambda member: member.filename)
    return [Document(member.filename if len(members) > 1 else "", upload, member) for member in members]


def too_large(most: int) -> ImportTooLarge:
    return ImportTooLarge(
        f"The document is too large; the limit is {most // 2**20} MiB. Nothing was imported: send it as several documents, "
        "each with some of its threads.",
        limit=most,
    )


def _broken() -> InvalidImport:
    return InvalidImport(
        "The ZIP file is damaged or encrypted. Get it anew, or send the `conversations.json` in it.", place=""
    )

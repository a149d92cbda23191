"""What was uploaded, as the JSON documents that it holds: itself, or those of a ZIP file with the files beside them."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import IO

from artifacts.reading.archives import DAMAGED, ENCRYPTED
from conversations.errors import ImportTooLarge, InvalidImport
from conversations.runtime.wording import worded

DOCUMENT = re.compile(r"(?:^|/)conversations?(?:[-_]\d+)?\.json$", re.IGNORECASE)
"""``conversations.json``, the parts of a large export, and what Openbook itself gives for a thread."""
MOST_DOCUMENTS = 200
"""In a ZIP file. Large exports come in some dozens of parts."""
LONGEST_LIST = 2 * 2**20
"""Bytes of a ZIP file's list of all its files: some twenty thousand, pictures and all."""
UNPACKED_IN_STEPS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Of the others ``zipfile`` unpacks a piece whole, however large it becomes."""
ZIP = b"PK\x03\x04"
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)
"""What ``zipfile`` raises for a file that is cut off, damaged, encrypted or packed in a way that it doesn't know, and for
names that are not the UTF-8 that they say."""
FARTHEST = 2**40
"""Bytes that no upload has."""


ASSET = re.compile(
    r"file[-_][A-Za-z0-9]+(?![A-Za-z0-9])|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])", re.IGNORECASE
)
"""What the names of files begin with in the exports of elsewhere: their ids."""

type Opened = Callable[[], AbstractContextManager[IO[bytes]]]


class MemberFiles:
    """The files of a ZIP file, by the path that they have in it, or by the id that their name begins with."""

    def __init__(self, archive: zipfile.ZipFile | None = None, members: Iterable[zipfile.ZipInfo] = ()) -> None:
        self._archive = archive
        self._by_path = {member.filename: member for member in members if not member.is_dir()}
        self._by_asset: dict[str, zipfile.ZipInfo] = {}
        for path in sorted(self._by_path):
            if asset := ASSET.match(path.rpartition("/")[2]):
                self._by_asset.setdefault(asset[0].lower(), self._by_path[path])

    def at(self, path: str) -> Opened | None:
        return self._opened(self._by_path.get(path))

    def asset(self, id: str) -> Opened | None:
        return self._opened(self._by_asset.get(id.lower()))

    def _opened(self, member: zipfile.ZipInfo | None) -> Opened | None:
        return partial(_asset, self._archive, member) if self._archive and member else None


@dataclass(frozen=True, slots=True)
class Document:
    """``name`` is empty where there is only one; ``folder`` ends with a slash, unless it is none."""

    name: str
    opened: Opened
    folder: str = ""
    files: MemberFiles = field(default_factory=MemberFiles)


@contextmanager
def _plain(upload: IO[bytes]) -> Iterator[IO[bytes]]:
    upload.seek(0)
    yield upload


@contextmanager
def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Of an archive that was opened once: to open it reads the list of all its files."""
    try:
        with archive.open(info) as file:
            yield file
    except BROKEN as error:
        raise _broken() from error


@contextmanager
def _asset(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Raises ``FileProblem``: what is wrong with a file costs this file only."""
    if member.flag_bits & 1:
        raise ENCRYPTED
    if member.compress_type not in UNPACKED_IN_STEPS:
        raise DAMAGED
    try:
        with archive.open(member) as file:
            yield file
    except BROKEN as error:
        raise DAMAGED from error


class _ArchivedFile(io.RawIOBase):
    """A file of which ``zipfile`` reads no more at once than it may – it takes in the whole list of an archive's files –
    and no place that can't be in it: it believes what the list says."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if whence == io.SEEK_SET and not 0 <= offset < FARTHEST:
            raise zipfile.BadZipFile("a place outside of the file")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1, /) -> bytes:
        if size > LONGEST_LIST:
            raise ImportTooLarge(
                worded(
                    "The ZIP file holds too many files: their list takes more than {most} MiB. Nothing was imported: send the "
                    "`conversations.json` in it alone.",
                    most=LONGEST_LIST // 2**20,
                )
            )
        return self._file.read(size)


@contextmanager
def documents(upload: IO[bytes], *, most: int) -> Iterator[Sequence[Document]]:
    """Raises ``ImportTooLarge`` where they are more than ``MOST_DOCUMENTS``, or have more than ``most`` bytes together,
    ``InvalidImport`` where there are none. Files beside them are not counted here."""
    upload.seek(0)
    if upload.read(len(ZIP)) != ZIP:
        if upload.seek(0, io.SEEK_END) > most:
            raise too_large(most)
        yield [Document("", partial(_plain, upload))]
        return
    try:
        archive = zipfile.ZipFile(_ArchivedFile(upload))
    except BROKEN as error:
        raise _broken() from error
    with archive:
        members = [member for member in archive.infolist() if DOCUMENT.search(member.filename)]
        _check(members, most)
        members.sort(key=lambda member: member.filename)
        is_one, files = len(members) == 1, MemberFiles(archive, archive.infolist())
        yield [
            Document(
                name="" if is_one else member.filename,
                opened=partial(_member, archive, member),
                folder=member.filename[: member.filename.rfind("/") + 1],
                files=files,
            )
            for member in members
        ]


def _check(members: Sequence[zipfile.ZipInfo], most: int) -> None:
    if not members:
        raise InvalidImport(
            "The ZIP file holds no `conversations.json`. Send the whole export, as it was given.", place=""
        )
    if len(members) > MOST_DOCUMENTS:
        raise ImportTooLarge(
            worded(
                "The ZIP file holds {documents} documents; the limit is {most}. Nothing was imported: send them as several "
                "ZIP files.",
                documents=len(members),
                most=MOST_DOCUMENTS,
            ),
            limit=MOST_DOCUMENTS,
        )
    if sum(member.file_size for member in members) > most:  # no more than that is ever unpacked
        raise too_large(most)
    if any(member.compress_type not in UNPACKED_IN_STEPS for member in members):
        raise _broken()


def too_large(most: int) -> ImportTooLarge:
    return ImportTooLarge(
        worded(
            "The document is too large; the limit is {most} MiB. Nothing was imported: send it as several documents, each "
            "with some of its threads.",
            most=most // 2**20,
        ),
        limit=most,
    )


def _broken() -> InvalidImport:
    return InvalidImport(
        "The ZIP file is damaged or encrypted, or packed in an unusual way. Get it anew, or send the `conversations.json` "
        "in it.",
        place="",
    )

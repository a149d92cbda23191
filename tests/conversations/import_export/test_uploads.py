"""ZIP files that are made to be dear: none is opened twice, unpacked further than it says, or listed without end."""

import io
import json
import struct
import zipfile
from contextlib import closing
from typing import Any

import pytest

from conversations.errors import ImportTooLarge, InvalidImport
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader
from conversations.import_export.import_sections import outline, records
from conversations.import_export.uploads import LONGEST_LIST, MOST_DOCUMENTS, documents
from tests.conversations.import_export.books import NothingHere, take_nothing
from tests.conversations.import_export.test_document_reader import NOW

MOST = 2**20
EMPTY = b'{"format": "openbook/1"}'
BOOK = json.dumps({"format": "openbook/1", "threads": [{"messages": [{"role": "user", "content": "Hi"}]}]}).encode()


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def read_upload(upload: bytes) -> list[Any]:
    with documents(io.BytesIO(upload), most=MOST) as found, closing(Scratch()) as scratch:
        reader = DocumentReader(
            user_id=7, now=NOW, new_ids=False, scratch=scratch, take=take_nothing, here=NothingHere(7)
        )
        return list(records([outline(each, scratch) for each in found], reader))


def test_an_archive_of_many_documents_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[zipfile.ZipFile] = []
    list_files = zipfile.ZipFile._RealGetContents  # type: ignore[attr-defined]

    def listed(archive: zipfile.ZipFile) -> None:
        opened.append(archive)
        list_files(archive)

    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", listed)
    members = {f"d{number}/conversations.json": BOOK for number in range(MOST_DOCUMENTS)}
    assert len(read_upload(packed(members | {"media/1.png": b""}))) == MOST_DOCUMENTS
    assert len(opened) == 1


def test_an_archive_of_too_many_documents_is_refused_with_their_number() -> None:
    upload = packed({f"d{number}/conversations.json": EMPTY for number in range(2_000)})
    with pytest.raises(ImportTooLarge, match="holds 2,000 documents; the limit is 200") as refused:
        read_upload(upload)
    assert (refused.value.status, refused.value.details) == (413, {"limit": MOST_DOCUMENTS})


def test_an_archive_of_any_number_of_other_files_is_not_listed() -> None:
    files = LONGEST_LIST // (46 + 60) + 1
    upload = packed(
        {"conversations.json": BOOK} | {f"{number:060}": b"" for number in range(files)}, zipfile.ZIP_STORED
    )
    with pytest.raises(ImportTooLarge, match="holds too many files: their list takes more than 2 MiB"):
        read_upload(upload)


def test_a_picture_beside_each_message_is_no_hindrance() -> None:
    pictures = {f"user-abc/file-{number:036}.png": b"" for number in range(10_000)}
    assert len(read_upload(packed({"conversations.json": BOOK} | pictures))) == 1


def lying(upload: bytes, size: int) -> bytes:
    """The same, where the list of its files says of the first one that it is as large as that when unpacked."""
    entry = upload.index(b"PK\x01\x02")
    changed = bytearray(upload)
    changed[entry + 24 : entry + 28] = struct.pack("<L", size)
    return bytes(changed)


def test_an_archive_that_unpacks_to_more_than_it_says_is_refused() -> None:
    bomb = packed({"conversations.json": b'{"format": "openbook/1", "x": "' + b" " * 50 * MOST + b'"}'})
    with pytest.raises(ImportTooLarge, match="the limit is 1 MiB"):
        read_upload(bomb)
    with pytest.raises(InvalidImport, match=r"damaged|no valid JSON"):
        read_upload(lying(bomb, 1_000))


@pytest.mark.long
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_can_only_be_unpacked_whole_is_refused(method: int) -> None:
    bomb = packed({"conversations.json": b'{"format": "openbook/1", "x": "' + b" " * 50 * MOST + b'"}'}, method)
    with pytest.raises(InvalidImport, match="packed in an unusual way"):
        read_upload(lying(bomb, 1_000))


@pytest.mark.parametrize("cut", [4, 22, 46, 100])
def test_an_archive_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(InvalidImport, match="damaged"):
        read_upload(packed({"conversations.json": BOOK})[:-cut])

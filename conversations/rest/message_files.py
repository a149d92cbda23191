"""Files that stand in the messages of a program: pictures and documents in base64, texts, and files that it uploaded before."""

import binascii
import hashlib
import json
import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings

from artifacts.reading.kinds import detect
from artifacts.reading.problems import FileProblem
from conversations.errors import FileRefused, FileTooLarge, InvalidMessage, MessageTooLong
from conversations.files import storage, uploads
from conversations.files.uploads import Upload
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Text

PIECE = 2**18
"""Signs of base64 that are decoded at once: a multiple of four."""
MOST_TEXT = 8 * 2**20
"""Bytes of a text that stands in a document."""
NOT_TAKEN = (FileRefused, FileTooLarge, InvalidMessage)
"""What is wrong with a file itself, whoever sends it."""
ESCAPE = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|/)")


def read_raw_text(text: Text, scratch: Scratch) -> Any:
    """The value that comes next: a text as a ``RawText`` on the disk, any other as it is."""
    if text.next() != b'"':
        return text.value()
    start, length = scratch.keep(ESCAPE.sub(_plain, piece) for piece in text.pieces())
    return RawText(scratch=scratch, start=start, length=length)


def _plain(escape: re.Match[bytes]) -> bytes:
    """What some programs write as an escape though it needs none; in base64 that is all there are."""
    sign = bytes.fromhex(escape[1].decode()) if escape[1] else b"/"
    return escape[0] if sign in b'"\\\x7f' else sign


@dataclass(frozen=True, kw_only=True)
class RawText:
    """A text that may be long, as it stands between its quotes in JSON."""

    scratch: Scratch
    start: int
    length: int

    def pieces(self) -> Iterator[bytes]:
        return self.scratch.pieces(self.start, self.length, size=PIECE)

    def beginning(self, most: int) -> bytes:
        """So many bytes at most."""
        return b"".join(self.scratch.pieces(self.start, min(self.length, most), size=most))

    def without(self, bytes: int) -> "RawText":
        """What comes after its first bytes."""
        return replace(self, start=self.start + bytes, length=self.length - bytes)

    def text(self) -> str:
        """Raises ``ValueError``."""
        found = json.loads(b'"' + b"".join(self.pieces()) + b'"')
        assert isinstance(found, str)
        return found


@dataclass(frozen=True, kw_only=True)
class SentFile:
    """``content`` is base64, a text, or the id of a file of the person. ``media_type`` is what base64 is said to be, and
    ``place`` where it stands, as errors name it. ``at`` is where under that both of them stand, if not in a ``source``."""

    name: str
    place: str
    content: RawText | str | uuid.UUID
    media_type: str = ""
    at: str = ""

    @property
    def id(self) -> uuid.UUID | None:
        return self.content if isinstance(self.content, uuid.UUID) else None

    @cached_property
    def sha256(self) -> bytes:
        """Of its bytes, unless it is a file of the person. Raises ``InvalidMessage``."""
        digest = hashlib.sha256()
        for piece in self._bytes():
            digest.update(piece)
        return digest.digest()

    def written(self) -> Upload:
        """As a file of ours, which whoever has it removes. Raises ``InvalidMessage``, ``FileRefused``, ``FileTooLarge``."""
        with storage.reaching():
            descriptor, name = tempfile.mkstemp(prefix="upload-", dir=storage.scratch_root())
        path = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                size = sum(map(file.write, self._bytes()))
            if size > settings.OPENBOOK_MAX_FILE_MB * uploads.MIB:
                raise uploads.too_large()
            self._check_kind(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Upload(path=path, name=uploads.clean_name(self.name), size=size, sha256=self.sha256)

    def _bytes(self) -> Iterator[bytes]:
        match self.content:
            case RawText() as raw:
                yield from self._decoded(raw)
            case str() as text:
                yield text.encode()
            case id:
                raise TypeError(f"{id} is there already")

    def _decoded(self, raw: RawText) -> Iterator[bytes]:
        left = raw.length
        for piece in raw.pieces():
            left -= len(piece)
            try:
                decoded = binascii.a2b_base64(piece, strict_mode=True)
            except binascii.Error as error:
                raise self.invalid("data", f"is no base64: {error}") from None
            if left and piece.endswith(b"="):
                raise self.invalid("data", "is no base64: something follows after its end")
            yield decoded

    def _check_kind(self, path: Path) -> None:
        """It is what the program says, as far as it says anything."""
        try:
            found = detect(path, self.name).media_type
        except FileProblem as problem:
            raise FileRefused(problem.code, f"`{self.place}`: {problem.message}") from None
        if self.media_type and found != self.media_type:
            raise self.invalid("media_type", f"is {self.media_type}, but this is {found}. Say what it is")

    def invalid(self, field: str, problem: str) -> InvalidMessage:
        return InvalidMessage(f"`{self.place}.{self.at or f'source.{field}'}` {problem}.", field="messages")


def text_of_source(raw: Any, place: str) -> str:
    """The text of a document. Raises ``InvalidMessage`` and ``MessageTooLong``."""
    if not isinstance(raw, RawText):
        raise InvalidMessage(f"`{place}.source.data` must be a text.", field="messages")
    if raw.length > MOST_TEXT:
        raise MessageTooLong(
            f"`{place}.source.data` is longer than {MOST_TEXT // 2**20} MiB. Upload it with POST /api/v1/files/ and name its "
            "id.",
            limit=MOST_TEXT,
        )
    try:
        return raw.text()
    except ValueError:
        raise InvalidMessage(f"`{place}.source.data` is no text in JSON.", field="messages") from None

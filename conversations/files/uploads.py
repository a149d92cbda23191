"""What is uploaded, from a form to a row. It is written to a file of its own as it comes, and never whole in memory."""

import hashlib
import os
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadhandler import FileUploadHandler
from django.db import connection, transaction
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from artifacts.reading.kinds import detect
from artifacts.reading.problems import FileProblem
from conversations.accounts import switches
from conversations.errors import (
    FileRefused,
    FilesFull,
    FileTooLarge,
    InvalidUpload,
    OpenbookError,
    RateLimited,
    SignInNeeded,
)
from conversations.files import of_projects, storage, store
from conversations.models import File, Project
from conversations.runtime import clock
from conversations.runtime.text import clean, one_line, shortened
from conversations.runtime.wording import worded

FIELD = "file"
LOCK = 0x66696C65  # "file": PostgreSQL's advisory locks are known by number
MOST_READING = 100
"""Files of one person that may wait for being read."""
LONGEST_NAME = 200
SOON_SECONDS = 5
MIB = 2**20


@dataclass(frozen=True, kw_only=True)
class Upload:
    """``path`` is a file of ours, which whoever has it removes."""

    path: Path
    name: str
    size: int
    sha256: bytes


def too_large() -> FileTooLarge:
    most = settings.OPENBOOK_MAX_FILE_MB
    return FileTooLarge(
        worded(
            "The file is too large; the limit is {most} MiB. Nothing was stored: send a part of it, or a smaller version.",
            most=most,
        ),
        limit=most * MIB,
    )


def no_file() -> InvalidUpload:
    return InvalidUpload(f"The form holds no file. Send one in the field `{FIELD}`, with a file name.", field=FIELD)


def read_form(stream: IO[bytes], meta: Mapping[str, Any]) -> Upload:
    """The one file of a form (``multipart/form-data``). Raises ``InvalidUpload`` and ``FileTooLarge``; then nothing is left.

    ``meta`` holds the headers as Django has them. Other fields of the form are passed over.
    """
    receiver = _Receiver()
    # Of a body that comes in chunks the length is not known, and Django takes none for an empty one.
    headers = {**meta, "CONTENT_LENGTH": meta.get("CONTENT_LENGTH") or "1"}
    try:
        MultiPartParser(headers, stream, [receiver]).parse()  # type: ignore[arg-type]  # it reads like any file
        if receiver.upload is None:
            raise no_file()
    except BaseException as error:
        receiver.remove()
        if isinstance(error, MultiPartParserError):
            raise InvalidUpload(f"The form can't be read: {error}. Send `multipart/form-data`.", field=FIELD) from None
        raise
    return receiver.upload


class _Receiver(FileUploadHandler):
    upload: Upload | None = None

    def __init__(self) -> None:
        super().__init__()
        self._path: Path | None = None

    def new_file(self, field_name: str, file_name: str, *args: Any, **options: Any) -> None:
        super().new_file(field_name, file_name, *args, **options)
        if field_name != FIELD:
            raise InvalidUpload(f"The file stands in the field `{field_name}`. Send it as `{FIELD}`.", field=FIELD)
        if self._path:
            raise InvalidUpload("The form holds more than one file. Send each by a call of its own.", field=FIELD)
        with storage.reaching():
            descriptor, path = tempfile.mkstemp(prefix="upload-", dir=storage.scratch_root())
        self._path, self._file, self._digest = Path(path), os.fdopen(descriptor, "wb"), hashlib.sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > settings.OPENBOOK_MAX_FILE_MB * MIB:
            raise too_large()
        with storage.reaching():
            self._file.write(raw_data)
        self._digest.update(raw_data)

    def file_complete(self, file_size: int) -> None:
        assert self._path
        with storage.reaching():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self.upload = Upload(
            path=self._path, name=clean_name(self.file_name or ""), size=file_size, sha256=self._digest.digest()
        )

    def remove(self) -> None:
        if self._path:
            self._file.close()
            self._path.unlink(missing_ok=True)


def clean_name(name: str) -> str:
    """In one line, without folders and without what can't be seen; its ending survives where it has to be shortened."""
    last = name.replace("\\", "/").rpartition("/")[2]
    seen = "".join(sign for sign in clean(last) if unicodedata.category(sign) not in {"Cf", "Co", "Cn"})
    plain = unicodedata.normalize("NFC", one_line(seen)).strip(". ") or "file"
    stem, dot, ending = plain.rpartition(".")
    if not dot or len(ending) > 20:
        return shortened(plain, LONGEST_NAME)
    return f"{shortened(stem, LONGEST_NAME - len(ending) - 1)}.{ending}"


def receive(user: User, upload: Upload, *, enqueue: Callable[[File], object], project: Project | None = None) -> File:
    """Keep what was uploaded, as a file that is to be read, of a project where one is named; ``upload.path`` is gone then.
    ``enqueue`` sees to its reading, in the transaction that stores it. Not to be called in another one: what is noted of the
    bytes has to outlive a failure.

    Raises ``FileRefused`` for what can't be read, ``FilesFull``, ``TooManyFiles``, ``RateLimited``, ``StorageAway`` and
    ``UploadsOff``; then nothing was stored.
    """
    switches.demand(user.pk, "uploads")
    try:
        type = detect(upload.path, upload.name)
    except FileProblem as problem:
        raise FileRefused(problem.code, problem.message) from None
    place = storage.keep(upload.path)
    try:
        with transaction.atomic(durable=True):
            _refuse_unless_room(user, upload.size)
            if project:
                of_projects.refuse_unless_place(project)
            file = File.objects.create(
                user=user,
                project=project,
                name=upload.name,
                kind=type.kind.value,
                media_type=type.media_type,
                size=upload.size,
                sha256=upload.sha256,
                place=place,
                created_at=clock.now(),
            )
            storage.claim([place])
            enqueue(file)
    except OpenbookError:
        storage.discard([place])
        raise
    return file


def _refuse_unless_room(user: User, size: int) -> None:
    if not User.objects.filter(pk=user.pk, is_active=True).exists():
        raise SignInNeeded  # the account was shut while the upload came
    _wait_for_others(user)
    if store.of(user).filter(state=File.State.READING).count() >= MOST_READING:
        raise RateLimited(
            worded(
                "{most} of your files wait for being read. Nothing was stored: send it again when some are ready.",
                most=MOST_READING,
            ),
            limit="files_reading",
            whose="user",
            most=MOST_READING,
            retry_after=SOON_SECONDS,
        )
    room = store.room_of(user)
    if room.most and room.used + size > room.most:
        raise FilesFull(
            worded(
                "Your files take {used} of {most} MiB, and this one has {size}. Nothing was stored: delete files or "
                "conversations that you don't need any more, or ask the people who run this server for more.",
                used=_mib(room.used),
                most=_mib(room.most),
                size=_mib(size),
            ),
            limit=room.most,
            used=room.used,
        )


def refuse_what_is_stored_unless_room(user: User) -> None:
    """At the end of a transaction that has stored files of a person: others may have come meanwhile. Raises ``FilesFull``."""
    _wait_for_others(user)
    room = store.room_of(user)
    if room.most and room.used > room.most:
        raise FilesFull(
            worded(
                "Your files would take {used} of {most} MiB. Nothing was stored: others were uploaded meanwhile.",
                used=_mib(room.used),
                most=_mib(room.most),
            ),
            limit=room.most,
            used=room.used,
        )


def _wait_for_others(user: User) -> None:
    """Who adds to the files of a person is alone with it, until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, user.pk])


def _mib(size: int) -> str:
    return f"{size / MIB:,.1f}"

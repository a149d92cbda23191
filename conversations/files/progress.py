"""The reading of a file, stored part by part as it goes on.

A reading that was begun anew counts as another attempt: whoever still reads for an earlier one finds that out with the next
part that it stores, and stops.
"""

import time
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from artifacts.reading.kinds import detect
from artifacts.reading.left_out import MOST_PLACES, LeftOutObject
from artifacts.reading.problems import TOO_LONG, FileProblem
from artifacts.reading.process import Found, LeftOutEntry, Limits, Outline, Part, read
from conversations.context.files.ranking import part_terms
from conversations.context.tokens.estimate import estimate_tokens
from conversations.errors import FileNotFound, error_object
from conversations.files import storage, thumbnails
from conversations.models import File, FilePart, WebhookEvent
from conversations.runtime import interruption
from conversations.runtime.db import is_away
from conversations.runtime.text import clean, one_line, shortened
from conversations.webhooks.outbox import tell

LIMITS = Limits()
SHORT_LIMITS = Limits(seconds=20.0, cpu_seconds=15, ocr_seconds=0.0)
"""For a file that others' wait behind; what takes longer is read anew among those that take long."""
SHORT_BYTES = 2**20
STORE_SECONDS = 0.5
"""How long parts gather before they are stored."""
MOST_AT_ONCE = 50
NOTHING_READ: dict[str, Any] = {"parts_read": 0, "token_count": 0, "picture_bytes": 0, "left_out": []}
FAILED = "Something went wrong on the server while the file was read. Upload it again; the log tells more."


class Superseded(Exception):
    """The file is gone, or another worker reads it by now."""


def takes_long(file: File) -> bool:
    """It is large, or was begun before and did not come to an end."""
    return file.size > SHORT_BYTES or file.attempt > 0


def read_file(file_id: uuid.UUID) -> File | None:
    """Read a file that waits for it, from the beginning. What goes wrong is told by its row. Does nothing where it is gone.
    Returns it where it takes longer than those may that others wait behind: it is to be read again."""
    storage.remove_scratch(f"{file_id}.*", seconds=0)  # of a worker that was killed
    file = _begin(file_id)
    if file is None:
        return None
    is_long = file.size > SHORT_BYTES or file.attempt > 1
    try:
        with storage.scratch(f"{file_id}.{file.attempt}") as folder:
            return None if _read(file, folder, LIMITS if is_long else SHORT_LIMITS) else file
    except (Superseded, FileNotFound):
        return None
    except storage.StorageAway:
        raise  # it waits for another task
    except Exception as error:  # whatever it is, it costs this file alone, and whoever waits for it is told
        if is_away(error):
            raise  # as well
        give_up(file_id, attempt=file.attempt)
        raise


def give_up(file_id: uuid.UUID, *, attempt: int | None = None) -> None:
    """The server itself could not read it. ``attempt`` None: whichever it is."""
    with transaction.atomic():
        file = _waiting(file_id)
        if file is None or attempt not in (None, file.attempt):
            return
        mine = File.objects.filter(user=file.user_id, id=file_id)
        mine.update(state=File.State.FAILED, error=_error("failed", FAILED), **NOTHING_READ)
        FilePart.objects.filter(user=file.user_id, file=file_id).delete()
        _tell(file, File.State.FAILED)


def _tell(file: File, state: File.State) -> None:
    tell(WebhookEvent.FILE_READ, about=file.user_id, data={"file": str(file.id), "status": state.value})


def _waiting(file_id: uuid.UUID) -> File | None:
    """The file, held until the end of the transaction, if it is still to be read."""
    return File.objects.select_for_update().filter(id=file_id, state=File.State.READING).first()


def _begin(file_id: uuid.UUID) -> File | None:
    with transaction.atomic():
        file = _waiting(file_id)
        if file is None:
            return None
        FilePart.objects.filter(user=file.user_id, file=file).delete()
        file.attempt += 1
        mine = File.objects.filter(user=file.user_id, id=file_id)
        mine.update(attempt=file.attempt, pages_read=0, **NOTHING_READ)
    return file


def _read(file: File, folder: Path, limits: Limits) -> bool:
    """Whether it is done; else it takes longer than it may."""
    state, error = File.State.READY, None
    left_out: list[LeftOutObject] = []
    with storage.local(file.place, folder) as path:
        try:
            with closing(_found(path, file.name, folder, limits)) as found:
                for parts in _gathered(found, file, left_out):
                    if interruption.is_requested():
                        return True  # it is begun anew
                    _store(file, parts)
        except FileProblem as problem:
            if problem.code == TOO_LONG and limits is SHORT_LIMITS:
                return False
            error = _error(problem.code, problem.message)
    if error and not FilePart.objects.filter(user=file.user_id, file=file).exists():
        state = File.State.FAILED
    with transaction.atomic():
        _update(file, state=state, error=error, left_out=left_out)
        _tell(file, state)
    return True


def _found(path: Path, name: str, folder: Path, limits: Limits) -> Generator[Found]:
    return read(path, detect(path, name), folder=folder, limits=limits, languages=settings.OPENBOOK_OCR)


def _gathered(found: Iterator[Found], file: File, left_out: list[LeftOutObject]) -> Iterator[Sequence[Part]]:
    """The parts, so many at once as come in a moment. Those that came before a problem are given before it. What was left out
    is added to the list."""
    parts: list[Part] = []
    stored_at = 0.0
    try:
        for each in found:
            if isinstance(each, Outline):
                _update(file, title=shortened(one_line(clean(each.title)), 200), pages_total=each.total)
                if each.thumbnail:
                    thumbnails.store(file, each.thumbnail)
                continue
            if isinstance(each, LeftOutEntry):
                left_out.append(_clean_entry(each.entry))
                continue
            parts.append(each)
            if len(parts) >= MOST_AT_ONCE or time.monotonic() - stored_at >= STORE_SECONDS:
                yield parts
                parts, stored_at = [], time.monotonic()
    except FileProblem:
        if parts:
            yield parts
        raise
    if parts:
        yield parts


def _store(file: File, parts: Sequence[Part]) -> None:
    size = sum(part.picture.stat().st_size for part in parts if part.picture)
    pictures = {part.number: storage.keep(part.picture) for part in parts if part.picture}
    rows = [_row(file, part, pictures.get(part.number, "")) for part in parts]
    try:
        with transaction.atomic():
            _update(
                file,
                pages_read=parts[-1].page or 0,
                parts_read=F("parts_read") + len(rows),
                token_count=F("token_count") + sum(row.token_count for row in rows),
                picture_bytes=F("picture_bytes") + size,
            )
            FilePart.objects.bulk_create(rows)
            storage.claim(pictures.values())
    except Superseded:
        storage.discard(pictures.values())
        raise


def _row(file: File, part: Part, picture: str) -> FilePart:
    text = clean(part.text)
    return FilePart(
        file=file,
        user_id=file.user_id,
        number=part.number,
        label=shortened(one_line(clean(part.label)), 200),
        heading=shortened(one_line(clean(part.heading)), 200),
        page=part.page,
        text=text,
        token_count=estimate_tokens(text),
        terms=part_terms(file.user_id, part.label, part.heading, text),
        picture=picture,
        width=part.width,
        height=part.height,
    )


def _clean_entry(entry: LeftOutObject) -> LeftOutObject:
    places = [shortened(one_line(clean(place)), 200) for place in entry["places"][:MOST_PLACES]]
    return {**entry, "what": shortened(one_line(clean(entry["what"])), 80), "places": places}


def _update(file: File, **values: object) -> None:
    """Raises ``Superseded``."""
    rows = File.objects.filter(user=file.user_id, id=file.id, state=File.State.READING, attempt=file.attempt)
    if not rows.update(**values):
        raise Superseded


def _error(code: str, message: str) -> object:
    return error_object(type="file", code=code, message=message)

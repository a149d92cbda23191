"""Documents read and stored the way that an upload is."""

import io
import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from conversations.import_export import store
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader
from conversations.import_export.import_sections import outline, records
from conversations.import_export.known_ids import IdChoice, KnownIds
from conversations.import_export.records import MemoryRecord, PreferencesRecord, Record, ThreadRecord, TopicRecord
from conversations.import_export.uploads import Document, Opened, documents
from conversations.models import Thread


def take_nothing(opened: Opened | None, *, name: str, place: str, sha256: str = "") -> None:
    """Of files."""


class NothingHere(KnownIds):
    """As in an empty installation, without asking it."""

    def choices(
        self, model: type[Model], ids: Iterable[uuid.UUID], *, foreign: bool = False
    ) -> dict[uuid.UUID, IdChoice]:
        return dict.fromkeys(ids, IdChoice(derives=foreign))

    def are_taken(self, kind: str, ids: Iterable[uuid.UUID]) -> bool:
        return not all(ids)


ALONE = Document("", lambda: nullcontext(io.BytesIO()))
"""A document without files beside it."""


@dataclass
class ReadBook:
    """What a document holds."""

    threads: list[ThreadRecord] = field(default_factory=list)
    memories: list[MemoryRecord] = field(default_factory=list)
    topics: list[TopicRecord] = field(default_factory=list)
    preferences: list[PreferencesRecord] = field(default_factory=list)


def read_records(upload: bytes, *, user_id: int, now: datetime, new_ids: bool = False) -> Iterator[Record]:
    scratch = Scratch()
    with documents(io.BytesIO(upload), most=2**30) as found:
        outlines = [outline(each, scratch) for each in found]
        reader = DocumentReader(
            user_id=user_id, now=now, new_ids=new_ids, scratch=scratch, take=take_nothing, here=NothingHere(user_id)
        )
        yield from records(outlines, reader)


def read_book(document: Any, *, user_id: int, now: datetime, new_ids: bool = False) -> ReadBook:
    """``document`` is a value to be sent as JSON, or the bytes that are sent."""
    book = ReadBook()
    upload = document if isinstance(document, bytes) else json.dumps(document).replace("Infinity", "1e999").encode()
    for record in read_records(upload, user_id=user_id, now=now, new_ids=new_ids):
        match record:
            case ThreadRecord():
                book.threads.append(record)
            case MemoryRecord():
                book.memories.append(record)
            case TopicRecord():
                book.topics.append(record)
            case PreferencesRecord():
                book.preferences.append(record)
    return book


def store_thread(user: User, document: dict[str, Any], now: datetime) -> Thread:
    """The only thread of a document, with all that the document holds."""
    read = read_records(json.dumps(document).encode(), user_id=user.pk, now=now)
    stored = store.store(user=user, records=read, read_later=lambda file: None)
    ((id, _),) = stored.threads
    return Thread.objects.select_related("assistant").get(id=id)

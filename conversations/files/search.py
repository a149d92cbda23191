"""A person's files by the words of their parts, and by their names. What isn't the person's is not found."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from conversations.models import File, FilePart, Message, TurnFile
from memory.language.plain_text import plain_text
from memory.language.words import Sought, excerpt, term


@dataclass(frozen=True, kw_only=True)
class FileMatch:
    """A file of a thread, and the first part of it that holds all of the words; none where its name does. ``excerpt`` is of the
    part, else of the name, with the ``words`` as they stand there. ``turn`` brought it; none where that is gone."""

    file: File
    part: FilePart | None
    turn: Message | None
    excerpt: str
    words: Sequence[str]


def parts_with(user: User, wanted: Sequence[Sought]) -> QuerySet[FilePart]:
    """Parts that hold all of the words, of files that are in a thread."""
    parts = FilePart.objects.filter(user=user, file__user=user, file__thread__isnull=False)
    for word in wanted:
        parts = parts.filter(terms__overlap=[term(user.pk, stem) for stem in word])
    return parts if wanted else parts.none()


def files_named(user: User, text: str) -> QuerySet[File]:
    """Files that are in a thread and have all words of the text in their names, as parts of words too."""
    words = text.split()
    if not words:
        return File.objects.none()
    named = reduce(and_, (Q(name__icontains=word) for word in words))
    return File.objects.filter(named, user=user, thread__isnull=False)


def matches(
    user: User, text: str, wanted: Sequence[Sought], threads: Collection[uuid.UUID]
) -> Mapping[uuid.UUID, FileMatch]:
    """By thread: of the newest file of which a part holds the words, else of the newest whose name does."""
    newest = ("file__thread_id", "-file_id", "number")
    parts = parts_with(user, wanted).filter(file__thread__in=threads).order_by(*newest).distinct("file__thread_id")
    by_thread = {part.file.thread_id: (part.file, part) for part in parts.select_related("file").defer("terms")}
    named = files_named(user, text).filter(thread__in=set(threads) - by_thread.keys())
    files = named.order_by("thread_id", "-id").distinct("thread_id")
    found: dict[uuid.UUID, tuple[File, FilePart | None]] = {
        **{file.thread_id: (file, None) for file in files if file.thread_id},
        **{thread: pair for thread, pair in by_thread.items() if thread},
    }
    turns = turns_of(user, [file.id for file, _ in found.values()])
    return {thread: _match(file, part, turns.get(file.id), wanted) for thread, (file, part) in found.items()}


def _match(file: File, part: FilePart | None, turn: Message | None, wanted: Sequence[Sought]) -> FileMatch:
    text, words = excerpt(_told_by(part, wanted) if part else file.name, wanted)
    return FileMatch(file=file, part=part, turn=turn, excerpt=text, words=words)


def _told_by(part: FilePart, wanted: Sequence[Sought]) -> str:
    """The text of a part as people read it, below its heading or label where that alone holds one of the words."""
    text = plain_text(part.text)
    for title in (part.heading, part.label):
        if excerpt(title, wanted)[1] and not excerpt(text, wanted)[1]:
            return f"{title}: {text}"
    return text


def turns_of(user: User, files: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Message]:
    """The first turn that each of the files stands in, of those that can be read."""
    readable = Message.objects.filter(user=user, is_active=True, forgotten_at=None)
    here = readable.filter(thread=OuterRef("thread"), position=OuterRef("position"))
    given = TurnFile.objects.filter(Exists(here), user=user, file__in=files)
    given = given.order_by("file_id", "position").distinct("file_id")
    places = {file: (thread, at) for file, thread, at in given.values_list("file_id", "thread_id", "position")}
    at_any = reduce(lambda one, place: one | Q(thread=place[0], position=place[1]), places.values(), Q(pk__in=[]))
    turns = {(turn.thread_id, turn.position): turn for turn in readable.filter(at_any)}
    return {file: turns[place] for file, place in places.items() if place in turns}

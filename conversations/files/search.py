"""A person's files by the words of their parts, and by their names. What isn't the person's is not found."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from conversations.models import File, FilePart, Message, TurnFile
from memory.language.plain_text import plain_text
from memory.language.words import Sought, excerpt, term

type Excerpt = Callable[[str], tuple[str, list[str]]]
"""A piece of a text around the words, and the words as they stand there."""


@dataclass(frozen=True, kw_only=True)
class FileMatch:
    """A file of a thread, and the first part of it that holds all of the words; none where its name does. ``excerpt`` is of the
    part, else of the name, with the ``words`` as they stand there. ``turn`` brought it; none where that is gone."""

    file: File
    part: FilePart | None
    turn: Message | None
    excerpt: str
    words: Sequence[str]


def parts_with(user: User, wanted: Sequence[Sought], also: Sequence[int] = ()) -> QuerySet[FilePart]:
    """Parts that hold all of the words, of files that are in a thread, and also those with these ids."""
    either = Q(id__in=also)
    if wanted:
        either |= reduce(and_, (Q(terms__overlap=[term(user.pk, stem) for stem in word]) for word in wanted))
    return FilePart.objects.filter(either, user=user, file__user=user, file__thread__isnull=False)


def files_named(user: User, text: str) -> QuerySet[File]:
    """Files that are in a thread and have all words of the text in their names, as parts of words too."""
    words = text.split()
    if not words:
        return File.objects.none()
    named = reduce(and_, (Q(name__icontains=word) for word in words))
    return File.objects.filter(named, user=user, thread__isnull=False)


def matches(
    user: User,
    text: str,
    parts: QuerySet[FilePart],
    threads: Collection[uuid.UUID],
    *,
    wanted: Sequence[Sought],
    beginning: str = "",
) -> Mapping[uuid.UUID, FileMatch]:
    """By thread: of the newest file that one of the parts is of, else of the newest whose name holds the text."""
    newest = ("file__thread_id", "-file_id", "number")
    parts = parts.filter(file__thread__in=threads).order_by(*newest).distinct("file__thread_id")
    by_thread = {part.file.thread_id: (part.file, part) for part in parts.select_related("file").defer("terms")}
    named = files_named(user, text).filter(thread__in=set(threads) - by_thread.keys())
    files = named.order_by("thread_id", "-id").distinct("thread_id")
    found: dict[uuid.UUID, tuple[File, FilePart | None]] = {
        **{file.thread_id: (file, None) for file in files if file.thread_id},
        **{thread: pair for thread, pair in by_thread.items() if thread},
    }
    turns = turns_of(user, [file.id for file, _ in found.values()])
    part_excerpt = partial(excerpt, wanted=wanted, beginning=beginning)
    return {thread: _match(file, part, turns.get(file.id), part_excerpt) for thread, (file, part) in found.items()}


def _match(file: File, part: FilePart | None, turn: Message | None, part_excerpt: Excerpt) -> FileMatch:
    text, words = part_excerpt(_text_of(part, part_excerpt) if part else file.name)
    return FileMatch(file=file, part=part, turn=turn, excerpt=text, words=words)


def _text_of(part: FilePart, part_excerpt: Excerpt) -> str:
    """The text of a part as people read it, below its heading or label where that alone holds one of the words."""
    text = plain_text(part.text)
    for title in (part.heading, part.label):
        if part_excerpt(title)[1] and not part_excerpt(text)[1]:
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

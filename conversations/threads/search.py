"""A user's threads by the words of their titles, turns and files. What isn't the user's is not found.

The last word may be the beginning of one, as it is while somebody types. The index holds numbers of whole words, so a beginning
is looked for in the texts of the newest turns and files.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from conversations import threads
from conversations.files import search as files_search
from conversations.files.search import FileMatch
from conversations.models import FilePart, Message, Thread
from conversations.runtime.sql_files import read_statements
from memory.index.index_turns import newest_unindexed
from memory.index.phrases import parts_beginning, threads_beginning
from memory.index.word_index import SaidTurn
from memory.language.plain_text import plain_text
from memory.language.words import (
    ALIKE,
    LONGEST_TEXT,
    UNSEEN_SIGNS,
    Sought,
    bare_letters,
    begins,
    excerpt,
    holds,
    sought,
    term,
)
from memory.models import IndexedPassage

MOST_UNINDEXED = 60
SIGNS = "\"'“”‘’«»()[]{}.,;:!?@#"
SHORTEST = 3
"""Letters of a beginning, but for scripts in which fewer tell something."""

TITLED = read_statements(__file__)["titled"]
SINGLE = {letter: other for letter, other in ALIKE.items() if len(other) == 1}


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is looked for among whose threads, and the places that hold it without being indexed yet.

    ``beginning`` is what a text has to hold from the start of a word on, beside the words before it: the last word, or all of
    them where they are small ones, which are not indexed. Empty: nothing. ``begun`` are the threads with it, each with the
    position of the newest turn that holds it, ``begun_parts`` the ids of the parts of files.
    """

    user: User
    text: str
    sought: Sequence[Sought]
    fresh: Sequence[SaidTurn]
    beginning: str = ""
    begun: Mapping[uuid.UUID, int] = field(default_factory=dict)
    begun_parts: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True)
class SearchMatch:
    """The newest turn of a thread that holds all of the words: a part of it, and the words as they stand there."""

    turn: Message
    excerpt: str
    words: Sequence[str]


def search_of(user: User, text: str) -> Search:
    wanted = sought(text)
    *others, last = text.split() or [""]
    before = sought(" ".join(others)) if wanted else []
    beginning = _long_enough(last.strip(SIGNS) if wanted else " ".join(text.split()))
    fresh = newest_unindexed(user.pk, MOST_UNINDEXED) if wanted else []
    held = [
        turn
        for turn in fresh
        if holds(turn.text, wanted) or (beginning and holds(turn.text, before) and begins(turn.text, beginning))
    ]
    return Search(
        user=user,
        text=text,
        sought=wanted,
        fresh=held,
        beginning=beginning,
        begun=threads_beginning(user.pk, beginning, before) if beginning else {},
        begun_parts=parts_beginning(user.pk, beginning, before) if beginning else (),
    )


def _long_enough(beginning: str) -> str:
    shortest = SHORTEST if beginning.isascii() else SHORTEST - 1
    return beginning if len(beginning) >= shortest and beginning[0].isalnum() else ""


def threads_with(search: Search) -> QuerySet[Thread]:
    """Those with all of the words in the title, in one turn, in one part of a file or in a file's name."""
    words = [bare_letters(word) for word in search.text.split()]
    titled = Q(id__in=RawSQL(TITLED, _title_values(search.user, words))) if words else Q(pk__in=[])  # noqa: S611
    text_matches = Q(id__in=_indexed(search).values("thread_id")) if search.sought else Q(pk__in=[])
    said = _readable(search.user).filter(_at((turn.thread, turn.position) for turn in search.fresh))
    fresh = Q(id__in=said.values("thread"))
    begun = Q(id__in=list(search.begun))
    parts = Q(id__in=_parts(search).values("file__thread"))
    named = Q(id__in=files_search.files_named(search.user, search.text).values("thread"))
    return threads.listed(search.user).filter(titled | text_matches | fresh | begun | parts | named)


def places(search: Search, threads: Iterable[Thread]) -> dict[uuid.UUID, SearchMatch]:
    """Where the words stand in these threads; one whose title alone holds them has no place."""
    ids = {thread.id for thread in threads}
    found = [(turn.thread, turn.position) for turn in search.fresh if turn.thread in ids]
    found += [(thread, position) for thread, position in search.begun.items() if thread in ids]
    if search.sought:
        newest_first = _indexed(search).filter(thread__in=ids).order_by("thread_id", "-position").distinct("thread_id")
        found += newest_first.values_list("thread_id", "position")
    newest: dict[uuid.UUID, int] = {}
    for thread, position in found:
        newest[thread] = max(position, newest.get(thread, 0))
    turns = _readable(search.user).filter(_at(newest.items()))
    return {turn.thread_id: _place(turn, search) for turn in turns}


def file_places(search: Search, threads: Iterable[Thread]) -> Mapping[uuid.UUID, FileMatch]:
    """Where the words stand in files of these threads."""
    return files_search.matches(
        search.user,
        search.text,
        _parts(search),
        {thread.id for thread in threads},
        wanted=search.sought,
        beginning=search.beginning,
    )


def _parts(search: Search) -> QuerySet[FilePart]:
    return files_search.parts_with(search.user, search.sought, search.begun_parts)


def _title_values(user: User, words: Sequence[str]) -> tuple[Any, ...]:
    return ("".join(SINGLE) + UNSEEN_SIGNS, "".join(SINGLE.values()), user.pk, list(words))


def _place(turn: Message, search: Search) -> SearchMatch:
    part, words = excerpt(plain_text(turn.text[:LONGEST_TEXT]), search.sought, beginning=search.beginning)
    return SearchMatch(turn=turn, excerpt=part, words=words)


def _indexed(search: Search) -> QuerySet[IndexedPassage]:
    here = _readable(search.user).filter(thread=OuterRef("thread"), position=OuterRef("position"))
    first, *others = [_terms(search, word) for word in search.sought]
    passages = IndexedPassage.objects.filter(Exists(here), user=search.user, terms__overlap=first)
    same_turn = IndexedPassage.objects.filter(user=search.user, thread=OuterRef("thread"), depth=OuterRef("depth"))
    for word in others:
        passages = passages.filter(Exists(same_turn.filter(terms__overlap=word)))
    return passages


def _terms(search: Search, word: Sought) -> list[int]:
    return [term(search.user.pk, stem) for stem in word]


def _readable(user: User) -> QuerySet[Message]:
    return Message.objects.filter(user=user, is_active=True, forgotten_at=None)


def _at(places: Iterable[tuple[uuid.UUID, int]]) -> Q:
    either = Q(pk__in=[])
    for thread, position in places:
        either |= Q(thread=thread, position=position)
    return either

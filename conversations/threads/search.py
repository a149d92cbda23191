"""A user's threads by the words of their titles, turns and files. What isn't the user's is not found."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from conversations import threads
from conversations.files import search as files_search
from conversations.files.search import FileMatch
from conversations.models import Message, Thread
from memory.index.index_turns import newest_unindexed
from memory.index.word_index import SaidTurn
from memory.language.words import Sought, excerpt, holds, sought, term
from memory.models import IndexedPassage

MOST_UNINDEXED = 60
READ = 20_000
"""Characters of a turn that an excerpt is looked for in."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is looked for among whose threads, and the places that hold it without being indexed yet."""

    user: User
    text: str
    sought: Sequence[Sought]
    fresh: Sequence[SaidTurn]


@dataclass(frozen=True, kw_only=True)
class SearchMatch:
    """The newest turn of a thread that holds all of the words: a part of it, and the words as they stand there."""

    turn: Message
    excerpt: str
    words: Sequence[str]


def search_of(user: User, text: str) -> Search:
    wanted = sought(text)
    fresh = newest_unindexed(user.pk, MOST_UNINDEXED) if wanted else []
    return Search(user=user, text=text, sought=wanted, fresh=[turn for turn in fresh if holds(turn.text, wanted)])


def threads_with(search: Search) -> QuerySet[Thread]:
    """Those with all of the words in the title, in one turn, in one part of a file or in a file's name."""
    titled = Q()
    for word in search.text.split():
        titled &= Q(title__icontains=word)
    text_matches = Q(id__in=_indexed(search).values("thread_id")) if search.sought else Q(pk__in=[])
    said = _readable(search.user).filter(_at((turn.thread, turn.position) for turn in search.fresh))
    fresh = Q(id__in=said.values("thread"))
    parts = Q(id__in=files_search.parts_with(search.user, search.sought).values("file__thread"))
    named = Q(id__in=files_search.files_named(search.user, search.text).values("thread"))
    return threads.of(search.user).filter(titled | text_matches | fresh | parts | named)


def places(search: Search, threads: Iterable[Thread]) -> dict[uuid.UUID, SearchMatch]:
    """Where the words stand in these threads; one whose title alone holds them has no place."""
    if not search.sought:
        return {}
    ids = {thread.id for thread in threads}
    indexed = _indexed(search).filter(thread__in=ids).order_by("thread_id", "-position").distinct("thread_id")
    newest = dict(indexed.values_list("thread_id", "position"))
    for turn in search.fresh:
        if turn.thread in ids:
            newest[turn.thread] = max(turn.position, newest.get(turn.thread, 0))
    turns = _readable(search.user).filter(_at(newest.items()))
    return {turn.thread_id: _place(turn, search.sought) for turn in turns}


def file_places(search: Search, threads: Iterable[Thread]) -> Mapping[uuid.UUID, FileMatch]:
    """Where the words stand in files of these threads."""
    return files_search.matches(search.user, search.text, search.sought, {thread.id for thread in threads})


def _place(turn: Message, wanted: Sequence[Sought]) -> SearchMatch:
    part, words = excerpt(turn.text[:READ], wanted)
    return SearchMatch(turn=turn, excerpt=part, words=words)


def _indexed(search: Search) -> QuerySet[IndexedPassage]:
    here = _readable(search.user).filter(thread=OuterRef("thread"), position=OuterRef("position"))
    first, *others = [[term(search.user.pk, stem) for stem in word] for word in search.sought]
    passages = IndexedPassage.objects.filter(Exists(here), user=search.user, terms__overlap=first)
    same_turn = IndexedPassage.objects.filter(user=search.user, thread=OuterRef("thread"), depth=OuterRef("depth"))
    for word in others:
        passages = passages.filter(Exists(same_turn.filter(terms__overlap=word)))
    return passages


def _readable(user: User) -> QuerySet[Message]:
    return Message.objects.filter(user=user, is_active=True, forgotten_at=None)


def _at(places: Iterable[tuple[uuid.UUID, int]]) -> Q:
    either = Q(pk__in=[])
    for thread, position in places:
        either |= Q(thread=thread, position=position)
    return either

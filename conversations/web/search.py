"""What the search in the chat's sidebar finds, for pages without a script; with one, the REST API is asked."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils.formats import date_format

from conversations.files.search import FileMatch
from conversations.models import Message, Thread
from conversations.threads import search as threads_search
from memory import services
from memory.language.words import marked

MOST = 20
LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A thread and where in it the words stand, if not in its title alone: ``parts`` of the turn or of a file, each with
    whether it is one of the words."""

    thread: uuid.UUID
    title: str
    address: str
    place: str = ""
    parts: Sequence[tuple[str, bool]] = ()


def hits(user: User, text: str) -> list[Hit]:
    """In the newest threads with all of the words in the title, in one turn, in one part of a file or in a file's name."""
    search = threads_search.search_of(user, text)
    threads = list(threads_search.threads_with(search).order_by("-updated_at", "-id")[:MOST])
    places, files = threads_search.places(search, threads), threads_search.file_places(search, threads)
    zone = services.zone_of(services.preferences_of(user))
    return [hit for thread in threads for hit in _hits(thread, places.get(thread.id), files.get(thread.id), zone)]


def _hits(
    thread: Thread, said: threads_search.SearchMatch | None, file: FileMatch | None, zone: ZoneInfo
) -> Iterator[Hit]:
    address = f"/threads/{thread.id}/"
    if said:
        yield Hit(
            thread=thread.id,
            title=thread.title,
            address=f"{address}#turn-{said.turn.position}",
            place=place_of(said.turn, zone),
            parts=marked(said.excerpt, said.words),
        )
    if file:
        yield Hit(
            thread=thread.id,
            title=thread.title,
            address=f"{address}#turn-{file.turn.position}" if file.turn else address,
            place=place_in_file(file, zone),
            parts=marked(file.excerpt, file.words),
        )
    if not (said or file):
        yield Hit(thread=thread.id, title=thread.title, address=address)


def place_of(turn: Message, zone: ZoneInfo) -> str:
    """Who said it, on which day in this zone, and its number in the thread."""
    who = "You" if turn.role == Message.Role.USER else "Reply"
    return f"{who}, {date_format(turn.created_at.astimezone(zone).date(), 'j F Y')}, turn {turn.position}"


def place_in_file(match: FileMatch, zone: ZoneInfo) -> str:
    """The file and its part, on which day in this zone it came, and the turn that brought it."""
    where = [match.file.name, *([match.part.label] if match.part else [])]
    when = date_format(match.file.created_at.astimezone(zone).date(), "j F Y")
    return ", ".join([*where, when, *([f"turn {match.turn.position}"] if match.turn else [])])

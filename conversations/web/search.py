"""What the search in the chat's sidebar finds, for pages without a script; with one, the REST API is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils.formats import date_format
from django.utils.translation import gettext

from conversations.files.search import FileMatch
from conversations.models import Message, Thread
from conversations.threads import search as threads_search
from memory import services
from memory.language.words import marked

MOST = 20
LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Place:
    """A turn or a file that the words stand in: ``parts`` of its text, each with whether it is one of the words."""

    address: str
    name: str
    parts: Sequence[tuple[str, bool]]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A thread and where in it the words stand, if not in its title alone. ``address`` is that of the first place."""

    title: str
    address: str
    places: Sequence[Place] = ()


def hits(user: User, text: str) -> list[Hit]:
    """In the newest threads with all of the words in the title, in one turn, in one part of a file or in a file's name."""
    search = threads_search.search_of(user, text)
    threads = list(threads_search.threads_with(search).order_by("-updated_at", "-id")[:MOST])
    places, files = threads_search.places(search, threads), threads_search.file_places(search, threads)
    zone = services.zone_of(services.preferences_of(user))
    return [_hit(thread, places.get(thread.id), files.get(thread.id), zone) for thread in threads]


def _hit(thread: Thread, said: threads_search.SearchMatch | None, file: FileMatch | None, zone: ZoneInfo) -> Hit:
    address = f"/threads/{thread.id}/"
    places = []
    if said:
        parts = marked(said.excerpt, said.words)
        places.append(
            Place(address=f"{address}#turn-{said.turn.position}", name=place_of(said.turn, zone), parts=parts)
        )
    if file:
        of_turn = f"{address}#turn-{file.turn.position}" if file.turn else address
        places.append(Place(address=of_turn, name=place_in_file(file, zone), parts=marked(file.excerpt, file.words)))
    return Hit(title=thread.title, address=places[0].address if places else address, places=places)


def place_of(turn: Message, zone: ZoneInfo) -> str:
    """Who said it, on which day in this zone, and its number in the thread."""
    who = gettext("You") if turn.role == Message.Role.USER else gettext("Reply")
    day = date_format(turn.created_at.astimezone(zone).date(), gettext("j F Y"))
    return f"{who}, {day}, {number_of(turn)}"


def place_in_file(match: FileMatch, zone: ZoneInfo) -> str:
    """The file and its part, on which day in this zone it came, and the turn that brought it."""
    where = [match.file.name, *([match.part.label] if match.part else [])]
    when = date_format(match.file.created_at.astimezone(zone).date(), gettext("j F Y"))
    return ", ".join([*where, when, *([number_of(match.turn)] if match.turn else [])])


def number_of(turn: Message) -> str:
    return gettext("turn %(position)d") % {"position": turn.position}

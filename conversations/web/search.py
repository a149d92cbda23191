"""What the search in the chat's sidebar finds, for pages without a script; with one, the REST API is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils.formats import date_format

from conversations.models import Message, Thread
from conversations.threads import search as threads_search
from memory import services
from memory.language.words import marked

MOST = 20
LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A thread and where in it the words stand, if not in its title alone: ``parts`` of the turn, each with whether it is one
    of the words."""

    title: str
    address: str
    place: str = ""
    parts: Sequence[tuple[str, bool]] = ()


def hits(user: User, text: str) -> list[Hit]:
    """The newest threads with all of the words in the title, or all in one turn."""
    search = threads_search.search_of(user, text)
    threads = list(threads_search.threads_with(search).order_by("-updated_at", "-id")[:MOST])
    places = threads_search.places(search, threads)
    zone = services.zone_of(services.preferences_of(user))
    return [_hit(thread, places.get(thread.id), zone) for thread in threads]


def _hit(thread: Thread, hit: threads_search.SearchMatch | None, zone: ZoneInfo) -> Hit:
    address = f"/threads/{thread.id}/"
    if hit is None:
        return Hit(title=thread.title, address=address)
    return Hit(
        title=thread.title,
        address=f"{address}#turn-{hit.turn.position}",
        place=place_of(hit.turn, zone),
        parts=marked(hit.excerpt, hit.words),
    )


def place_of(turn: Message, zone: ZoneInfo) -> str:
    """Who said it, on which day in this zone, and its number in the thread."""
    who = "You" if turn.role == Message.Role.USER else "Reply"
    return f"{who}, {date_format(turn.created_at.astimezone(zone).date(), 'j F Y')}, turn {turn.position}"

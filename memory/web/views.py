"""The page on which people read and change what is remembered of them. It can be read without a script."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import chain, groupby
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from conversations.accounts import accesses
from conversations.context.explain.uses import NONE, Uses, uses_of
from conversations.models import ContentAccess, Message, Project, Thread
from conversations.runtime.text import clean
from conversations.threads import projects
from conversations.web.views import SignedInRequest
from memory import services
from memory.models import DailySummary, Memory, Topic

PAGE = 50
WEEKS = 5
VISITS_OPEN = 3
"""So many stand open; older ones are folded."""
LOOKED = {
    "thread": "a conversation",
    "message": "a message",
    "model request": "what the model was given",
    "exact request": "what the model was given",
    "memory": "a note",
    "artifact": "an artifact",
    "thread summary": "the summary of a conversation",
    "daily summary": "the summary of a day",
    "topic": "an open topic",
    "why of a turn": "a message, and why it was forgotten",
    "comparison": "what the model was given, and what changed in it",
    "proof": "the digest of what the model was given",
    "what if": "what the model would have been given",
    "reply as it is written": "a reply as it was written",
    "account": "your account",
}
DID: dict[str, str] = {
    ContentAccess.Action.READ: "read",
    ContentAccess.Action.EXPORT: "downloaded",
    ContentAccess.Action.WATCH: "watched live",
    ContentAccess.Action.SIGN_IN: "could sign in to",
}


@dataclass(frozen=True, kw_only=True)
class NoteRow:
    """A memory or a topic as the page shows it, with where it came from in words and the address of that turn."""

    id: uuid.UUID
    text: str
    origin: str
    address: str = ""
    confined: str = ""
    project: Project | None = None
    until: str = ""
    uses: str = ""
    ended: str = ""
    """Until when it held, in words; empty: it holds."""
    history: Sequence["NoteRow"] = ()
    """What it took the place of, newest first."""


@dataclass(frozen=True, kw_only=True)
class Day:
    """A square of the calendar, and what was talked about on it if that is known."""

    date: date
    is_today: bool
    is_to_come: bool
    summary: DailySummary | None = None
    threads: Sequence[Thread] = ()


@dataclass(frozen=True, kw_only=True)
class Look:
    """What somebody of the staff was shown, with the address of it if it is still there."""

    at: datetime
    did: str
    what: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one of the staff looked at on one day for one reason, newest first."""

    day: date
    staff: str
    reason: str
    looks: Sequence[Look]


@never_cache
@ensure_csrf_cookie  # no form of it brings one
@login_required
def page(request: SignedInRequest) -> HttpResponse:
    """What is remembered: notes, each with what held before it (`?q=` those with these words, also of what ended; `?project=`
    those of one, or `none`), topics, and the days (`?day=`) of five weeks."""
    preferences = services.preferences_of(request.user)
    zone = services.zone_of(preferences)
    now = timezone.now().astimezone(zone)
    words = clean(request.GET.get("q", ""))[:200]
    own_projects = list(projects.of(request.user))
    asked = request.GET.get("project", "")
    chosen = next((each for each in own_projects if str(each.id) == asked), None)
    outside = asked == projects.NONE
    found = services.memories_of(request.user, held=not words, words=words, project=chosen, outside=outside)
    memories = list(found[: PAGE + 1])
    ended = [] if words else list(services.ended_of(request.user, project=chosen, outside=outside)[:PAGE])
    calendar = _calendar(request.user, now.date())
    visits = _visits(request.user, zone)
    context = {
        "page": {
            "user": {"id": request.user.pk},
            "remembers": preferences is None or preferences.remembers,
            "zone": preferences.time_zone if preferences else None,
        },
        "zone": zone.key,
        "words": words,
        "projects": own_projects,
        "project": chosen,
        "outside": outside,
        "notes": _notes(request.user, memories[:PAGE], zone, now),
        "has_more": len(memories) > PAGE,
        "ended": _notes(request.user, ended, zone, now),
        "topics": _topics(request.user, zone, now, resolved=False),
        "resolved": _topics(request.user, zone, now, resolved=True),
        "weeks": [calendar[start : start + 7] for start in range(0, len(calendar), 7)],
        "chosen": _chosen(calendar, request.GET.get("day", "")),
        "visits": visits[:VISITS_OPEN],
        "older_visits": visits[VISITS_OPEN:],
        "told": [day for day in reversed(calendar) if day.summary],
    }
    with timezone.override(zone):
        return render(request, "memory/page.html", context)


def said_on(at: datetime, now: datetime) -> str:
    """The day of a time, with its year unless that is this one. Both in one zone. Pure."""
    return date_format(at.date(), gettext("j F") if at.year == now.year else gettext("j F Y"))


def origin_of(memory: Memory, source: Message | None, zone: ZoneInfo, now: datetime) -> str:
    """Where a memory came from, in words. Pure."""
    day = said_on((source or memory).created_at.astimezone(zone), now)
    match memory.origin:
        case Memory.Origin.CONVERSATION:
            words = gettext("You said so on %s") if source else gettext("From a conversation of %s that is gone")
        case _ if source:
            words = gettext("From a conversation on %s")
        case Memory.Origin.HAND:
            words = gettext("You wrote it down on %s")
        case _:
            words = gettext("A program added it on %s")
    return words % day


def end_of(memory: Memory, zone: ZoneInfo, now: datetime) -> str:
    """Until when a note held, in words; empty where it holds. Pure."""
    if memory.ended_at is None:
        return ""
    if memory.ended_at <= memory.began_at:
        return gettext("Not so")
    return gettext("Until %s") % said_on(memory.ended_at.astimezone(zone), now)


def uses_in_words(uses: Uses, zone: ZoneInfo, now: datetime) -> str:
    """How often a note was given, in words; empty where it never was. Pure."""
    if not uses.last or not uses.replies:
        return ""
    words = ngettext(
        "Given to %(count)d reply, on %(day)s", "Given to %(count)d replies, last on %(day)s", uses.replies
    )
    return words % {"count": uses.replies, "day": said_on(uses.last.astimezone(zone), now)}


def _notes(user: User, memories: Sequence[Memory], zone: ZoneInfo, now: datetime) -> list[NoteRow]:
    histories = services.histories_of(user, memories)
    every = [*memories, *chain.from_iterable(histories.values())]
    sources, known = services.sources_of(user, every), services.projects_of(user, every)
    uses = uses_of(user.pk, [memory.id for memory in memories])

    def row(memory: Memory) -> NoteRow:
        note = _note(memory, _first(memory, sources), zone, now)
        return replace(note, project=known.get(memory.confined_to))

    return [
        replace(
            row(memory),
            uses=uses_in_words(uses.get(memory.id, NONE), zone, now),
            history=[row(older) for older in histories.get(memory.id, ())],
        )
        for memory in memories
    ]


def _note(memory: Memory, source: Message | None, zone: ZoneInfo, now: datetime) -> NoteRow:
    thread = memory.confined_to.removeprefix("thread:")
    return NoteRow(
        id=memory.id,
        text=memory.content,
        origin=origin_of(memory, source, zone, now),
        address=_address(source),
        confined=f"/threads/{thread}/" if _is_thread(thread) else "",
        until=said_on(memory.valid_until.astimezone(zone), now) if memory.valid_until and not memory.ended_at else "",
        ended=end_of(memory, zone, now),
    )


def _topics(user: User, zone: ZoneInfo, now: datetime, *, resolved: bool) -> list[NoteRow]:
    topics = list(services.topics_of(user, resolved=resolved)[:PAGE])
    sources = services.sources_of(user, topics)
    return [
        NoteRow(
            id=topic.id,
            text=topic.title,
            origin=gettext("Since %s") % said_on(topic.opened_at.astimezone(zone), now),
            address=_address(_first(topic, sources)) or (f"/threads/{topic.thread_id}/" if topic.thread_id else ""),
        )
        for topic in topics
    ]


def _visits(user: User, zone: ZoneInfo) -> list[Visit]:
    """The newest looks, those of one visit together."""
    accesss = list(accesses.accesses_to(user)[:PAGE])
    addresses = accesses.addresses_of(user, accesss)
    visits = groupby(accesss, key=lambda access: (access.at.astimezone(zone).date(), access.staff_name, access.reason))
    return [
        Visit(
            day=day,
            staff=staff,
            reason=reason,
            looks=[
                Look(
                    at=access.at,
                    did=gettext(DID[access.action]),
                    what=gettext(LOOKED.get(access.what, access.what)),
                    address=addresses.get(access.id, ""),
                )
                for access in looks
            ],
        )
        for (day, staff, reason), looks in visits
    ]


def _calendar(user: User, today: date) -> list[Day]:
    """Five whole weeks, the last of them this one."""
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    summaries = {each.day: each for each in services.days_of(user).filter(day__gte=first) if each.text}
    threads = services.threads_of_days(user, list(summaries.values()))
    return [
        Day(
            date=day,
            is_today=day == today,
            is_to_come=day > today,
            summary=summaries.get(day),
            threads=services.told_of(summaries[day], threads) if day in summaries else (),
        )
        for day in (first + timedelta(days=number) for number in range(7 * WEEKS))
    ]


def _chosen(calendar: Sequence[Day], day_name: str) -> Day | None:
    """The day that is asked for, else the newest of which something is told."""
    days = [day for day in calendar if day.summary]
    return next((day for day in days if day.date.isoformat() == day_name), days[-1] if days else None)


def _first(row: Memory | Topic, sources: Mapping[uuid.UUID, Message]) -> Message | None:
    return next((sources[id] for id in row.sources if id in sources), None)


def _address(source: Message | None) -> str:
    return f"/threads/{source.thread_id}/#turn-{source.position}" if source else ""


def _is_thread(text: str) -> bool:
    try:
        return bool(uuid.UUID(text))
    except ValueError:
        return False

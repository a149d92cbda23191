"""The one way to ask for what is remembered of a user, and to change it by hand. What isn't the user's is not found."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet
from django.db.models.functions import Coalesce

from conversations.errors import MemoryNotFound, TopicNotFound
from conversations.holds import custody
from conversations.models import Message, Project, Thread, WebhookEvent
from conversations.threads import row_with_id
from conversations.webhooks.outbox import tell
from memory.consolidation import consolidation_state, fact_rows
from memory.models import DailySummary, Memory, Preferences, ThreadSummary, Topic
from memory.sources.passages import Candidate
from memory.tags import PROJECT, project_in, project_tag, thread_tag, user_tag

MOST_WORDS = 20


def memories_of(
    user: User,
    *,
    held: datetime | bool = True,
    words: str = "",
    thread: Thread | None = None,
    project: Project | None = None,
    outside: bool = False,
) -> QuerySet[Memory]:
    """What holds, or what ``held`` at a time, or with ``False`` also what ended: with all of these words, and of one thread
    where that is asked for, or of one ``project``, or ``outside`` of all of them."""
    memories = Memory.objects.filter(user=user)
    if project:
        memories = memories.filter(confined_to=project_tag(project.id))
    if outside:
        memories = memories.exclude(confined_to__startswith=f"{PROJECT}:")
    if isinstance(held, datetime):
        memories = memories.alias(began=Coalesce("valid_from", "created_at")).filter(
            Q(ended_at=None) | Q(ended_at__gt=held), Q(valid_until=None) | Q(valid_until__gt=held), began__lte=held
        )
    elif held:
        memories = memories.filter(ended_at=None)
    if thread:
        turns = Message.objects.filter(user=user, thread=thread).values("id")
        memories = memories.filter(Q(tags__contains=[thread_tag(thread.id)]) | Q(sources__overlap=turns))
    for word in words.split()[:MOST_WORDS]:
        memories = memories.filter(content__icontains=word)
    return memories.order_by("-created_at", "-id")


def projects_of(user: User, memories: Iterable[Memory]) -> Mapping[str, Project]:
    """The projects that notes belong to, by the place of the note."""
    ids = {id: place for place in {memory.confined_to for memory in memories} if (id := project_in(place))}
    return {ids[each.id]: each for each in Project.objects.filter(user=user, id__in=ids)} if ids else {}


def projects_of_found(user: User, found: Iterable[Candidate]) -> Mapping[uuid.UUID, Project]:
    """The projects of what was found, by the id of a turn's thread or of a note."""
    found = list(found)
    threads = Thread.objects.filter(user=user, id__in={each.thread for each in found if each.thread})
    in_projects = threads.filter(project__user=user).select_related("project")
    notes = Memory.objects.filter(user=user, id__in={each.id for each in found if not each.thread})
    places = projects_of(user, notes)
    return {
        **{thread.id: thread.project for thread in in_projects if thread.project},
        **{note.id: places[note.confined_to] for note in notes if note.confined_to in places},
    }


def memory_of(user: User, memory_id: str | uuid.UUID) -> Memory:
    return row_with_id(Memory.objects.filter(user=user), memory_id, MemoryNotFound)


def ended_of(user: User, *, project: Project | None = None, outside: bool = False) -> QuerySet[Memory]:
    """What ended and nothing took the place of, what ended last first."""
    memories = memories_of(user, held=False, project=project, outside=outside)
    return memories.filter(ended_at__isnull=False, superseded_by=None).order_by("-ended_at", "-id")


def superseded_by(user: User, memories: Iterable[Memory]) -> Mapping[uuid.UUID, list[Memory]]:
    """What each of these notes took the place of, what began last first."""
    mine = Memory.objects.filter(user=user, superseded_by__in=[memory.id for memory in memories])
    by_newer: dict[uuid.UUID, list[Memory]] = {}
    for memory in sorted(mine, key=lambda memory: memory.began_at, reverse=True):
        if memory.superseded_by_id:
            by_newer.setdefault(memory.superseded_by_id, []).append(memory)
    return by_newer


def histories_of(user: User, memories: Iterable[Memory]) -> Mapping[uuid.UUID, list[Memory]]:
    """What each of these notes took the place of, what those had, and so on; what began last first."""
    newest = {memory.id for memory in memories}
    mine = Memory.objects.filter(user=user, superseded_by__isnull=False)
    successors = dict(mine.values_list("id", "superseded_by")) if newest else {}
    heads = {id: head for id in successors if (head := _successor_among(newest, id, successors))}
    histories: dict[uuid.UUID, list[Memory]] = {}
    for memory in sorted(mine.filter(id__in=heads), key=lambda memory: memory.began_at, reverse=True) if heads else ():
        histories.setdefault(heads[memory.id], []).append(memory)
    return histories


def _successor_among(
    wanted: Collection[uuid.UUID], id: uuid.UUID, successors: Mapping[uuid.UUID, uuid.UUID | None]
) -> uuid.UUID | None:
    """The first of these that took the place of a note, at once or by others between. Pure."""
    passed = {id}
    while (after := successors.get(id)) and after not in passed:
        if after in wanted:
            return after
        passed.add(after)
        id = after
    return None


def topics_of(user: User, *, resolved: bool = False) -> QuerySet[Topic]:
    """The open ones, or those that are resolved instead, newest first."""
    return _topics(user).filter(resolved_at__isnull=not resolved).order_by("-opened_at", "-id")


def topic_of(user: User, topic_id: str | uuid.UUID) -> Topic:
    return row_with_id(_topics(user), topic_id, TopicNotFound)


def _topics(user: User) -> QuerySet[Topic]:
    """With their threads, of which there may be none."""
    return Topic.objects.filter(user=user).prefetch_related(Prefetch("thread", Thread.objects.filter(user=user)))


def resolve(topic: Topic, *, at: datetime | None) -> Topic:
    """Since when it is done; ``None``: it is open again."""
    topic.resolved_at = at
    Topic.objects.filter(user=topic.user_id, id=topic.id).update(resolved_at=at)
    return topic


def days_of(user: User) -> QuerySet[DailySummary]:
    return DailySummary.objects.filter(user=user).order_by("-day", "id")


def preferences_of(user: User) -> Preferences | None:
    """``None`` where the user never chose."""
    return Preferences.objects.filter(user=user).first()


def language_of(user: User) -> str:
    """The language that they chose for the pages; empty without one. Reads nothing where the row came along with the user."""
    preferences: Preferences | None = getattr(user, "preferences", None)
    return preferences.language if preferences else ""


def zone_of(preferences: Preferences | None) -> ZoneInfo:
    """The user's time zone; UTC without one, or where the name is none."""
    name = preferences.time_zone if preferences else "UTC"
    return ZoneInfo(name if name in zone_names() else "UTC")


@cache
def zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def sources_of(user: User, rows: Iterable[Memory | Topic]) -> dict[uuid.UUID, Message]:
    """Those turns that rows name as their sources which are still there to be read, without their texts."""
    ids = {source for row in rows for source in row.sources}
    mine = Message.objects.filter(user=user, thread__user=user)
    messages = mine.filter(is_active=True).exclude(status=Message.Status.FORGOTTEN)
    messages = messages.filter(id__in=ids).select_related("thread")
    wanted = ("id", "thread_id", "position", "role", "created_at", "thread__title")
    return {turn.id: turn for turn in messages.only(*wanted)}


def threads_of_days(user: User, days: Sequence[DailySummary]) -> dict[uuid.UUID, Thread]:
    """The threads that the summaries of days tell of, by the ids of their parts."""
    told = {part for day in days for part in day.parts}
    parts = ThreadSummary.objects.filter(user=user, thread__user=user, id__in=told)
    return {part.id: part.thread for part in parts.select_related("thread")}


def told_of(day: DailySummary, threads: Mapping[uuid.UUID, Thread]) -> list[Thread]:
    """Those of ``threads_of_days`` that the summary of a day tells of, each once, in its order."""
    return list({threads[part].id: threads[part] for part in day.parts if part in threads}.values())


def remember(
    *, user: User, content: str, tags: Sequence[str], origin: Memory.Origin, at: datetime, valid_until: datetime | None
) -> Memory:
    with transaction.atomic():
        memory = Memory.objects.create(
            user=user,
            content=content,
            tags=list(tags) or [user_tag(user.pk)],
            origin=origin,
            created_at=at,
            said_at=at,
            valid_until=valid_until,
        )
        fact_rows.place(user.pk, [memory.id])
        tell(WebhookEvent.MEMORY_CHANGED, about=user.pk, data={"change": "added", "memory": str(memory.id)})
    return memory


def change(memory: Memory, *, at: datetime, **changes: Any) -> Memory:
    """The memory as it is then. The words of before stay, as replaced: what was said before the person corrected them neither
    brings them back nor takes the place of the new ones."""
    with transaction.atomic():
        mine = Memory.objects.filter(user=memory.user_id, id=memory.id)
        held = mine.select_for_update().first()
        if held is None:
            raise MemoryNotFound
        is_corrected = changes.get("content", held.content) != held.content
        if is_corrected:
            _keep_words(held, at)
            changes |= {"said_at": at, "settled_at": at} | ({} if held.ended_at else {"valid_from": at})
        for name, value in changes.items():
            setattr(held, name, value)
        if changes:
            custody.keep(memory.user_id, mine)
            mine.update(**changes)
            told = {"change": "changed", "memory": str(memory.id)}
            tell(WebhookEvent.MEMORY_CHANGED, about=memory.user_id, data=told)
        if is_corrected:
            fact_rows.place(memory.user_id, [memory.id])
    return held


def _keep_words(memory: Memory, at: datetime) -> None:
    """As a note of their own that the corrected one replaces."""
    Memory.objects.create(
        user_id=memory.user_id,
        content=memory.content,
        tags=memory.tags,
        origin=memory.origin,
        sources=memory.sources,
        created_at=memory.created_at,
        said_at=memory.said_at,
        valid_from=memory.valid_from,
        ended_at=memory.began_at if memory.ended_at else at,
        superseded_by=memory,
        settled_at=at,
    )


def restore(memory: Memory, *, at: datetime) -> Memory:
    """The memory with its end undone, and without change where it has none. What had ended it counts as never said."""
    with transaction.atomic():
        mine = Memory.objects.filter(user=memory.user_id, id=memory.id)
        ended = mine.select_for_update().first()
        if ended is None:
            raise MemoryNotFound
        if ended.ended_at:
            custody.keep(
                memory.user_id, Memory.objects.filter(user=memory.user_id, id__in=[ended.id, ended.superseded_by_id])
            )
            fact_rows.restore(ended, at)
            told = {"change": "changed", "memory": str(memory.id)}
            tell(WebhookEvent.MEMORY_CHANGED, about=memory.user_id, data=told)
        return mine.get()


def prefer(user: User, **choices: Any) -> Preferences:
    """What was said while memory was off, and days of another time zone, are looked at again."""
    consolidation_state.request(user.pk)
    return Preferences.objects.update_or_create(user=user, defaults=choices)[0]

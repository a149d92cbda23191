"""What was found in a part, stored. Whoever calls holds a transaction and the thread's lock: all of it is kept, or nothing."""

import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from conversations.accounts import allowances
from conversations.models import Thread, WebhookEvent
from conversations.webhooks.outbox import tell
from memory.consolidation.comparison import key_of, retold
from memory.consolidation.fact_rows import (
    drop_ends,
    keep_facts,
    keep_said_again,
    leave_to,
    told_elsewhere,
)
from memory.consolidation.findings import LONGEST_SUMMARY, EarlierTopic, Findings
from memory.consolidation.pending_parts import PartContent, PendingPart
from memory.consolidation.supersession import End, Facts, facts_alone, new_facts, said_again, taken_back
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.sources.rows import Summary, without_repeats
from memory.tags import project_tag, thread_tag, user_tag

MOST_MOMENTS_A_DAY = 12
MOST_PARTS_TOLD = 8
MOST_OPEN_TOPICS = 200
LONGEST_PART = timedelta(days=2)


def topics_of_project(user_id: int, project: uuid.UUID | None) -> QuerySet[Topic]:
    """Of its threads; for none, of the threads that are in no project."""
    projects = Thread.objects.filter(user=user_id, id=OuterRef("thread_id")).values("project")
    return Topic.objects.alias(project=Subquery(projects)).filter(user=user_id, project=project)


def open_topics_of(pending: PendingPart, until: datetime) -> list[EarlierTopic]:
    """Of the part's project, newest first."""
    mine = topics_of_project(pending.user, pending.project)
    rows = mine.filter(resolved_at=None, opened_at__lte=until).order_by("-opened_at", "-id")
    return [
        EarlierTopic(id=row.id, title=row.title, opened_at=row.opened_at.astimezone(until.tzinfo))
        for row in rows[:MOST_OPEN_TOPICS]
    ]


def keep(
    pending: PendingPart, content: PartContent, findings: Findings, facts: Facts, *, zone: tzinfo, at: datetime
) -> None:
    """Store the findings of a part. To do so again with the same changes nothing but the time."""
    user, thread, part = pending.user, pending.thread, pending.part
    ids = [id for id in content.excluded_ids if id not in content.confined_ids]
    _leave_to_others(user, thread, [*ids, *content.confined_ids])
    facts.remove(_drop(user, ids, confined=content.confined_ids))
    for id in _drop_unfounded(user, _removed_turns(pending, content), at):
        facts.change(id, end=End(at=at))
    _keep_summary(pending, content, findings, at)
    whose = project_tag(pending.project) if pending.project else user_tag(user)
    keep_said_again(user, thread, said_again(findings.facts, facts))
    keep_facts(user, new_facts(findings.facts, facts), [whose, thread_tag(thread)])
    for fact, ended_at in taken_back(findings.retracted, facts):
        Memory.objects.filter(user=user, id=fact.id, ended_at=None).update(ended_at=ended_at)
    keep_facts(user, facts_alone(findings.confined, facts), [thread_tag(thread)])
    for topic in findings.resolved:
        Topic.objects.filter(id=topic.topic, user=user, resolved_at=None).update(resolved_at=topic.at)
    Topic.objects.bulk_create(_unknown_topics(pending, content, findings))
    remake_days(user, [part.started_at.astimezone(zone).date()], zone, at)
    tell(WebhookEvent.MEMORY_CHANGED, about=user, data={"change": "consolidated", "thread": str(thread)})


def _keep_summary(pending: PendingPart, content: PartContent, findings: Findings, at: datetime) -> None:
    part, whose = pending.part, {"user_id": pending.user, "thread_id": pending.thread}
    told: dict[str, Any] = {
        "last_position": part.last,
        "text": findings.summary[:LONGEST_SUMMARY],
        "key_moments": list(findings.moments),
        "sources": content.turn_ids,
        "started_at": part.started_at,
        "ended_at": part.ended_at,
        "made_by": findings.made_by[:80],
        "made_at": at,
        "stale_since": None,
    }
    if not ThreadSummary.objects.filter(**whose, first_position=part.first).update(**told):
        ThreadSummary.objects.create(**whose, first_position=part.first, **told)


def _removed_turns(pending: PendingPart, content: PartContent) -> list[uuid.UUID]:
    """Turns that the part was made of before and is no longer: replaced, or forgotten."""
    before = ThreadSummary.objects.filter(user=pending.user, thread=pending.thread, first_position=pending.part.first)
    sources = before.values_list("sources", flat=True).first() or []
    return sorted({*sources} - {*content.turn_ids, *content.excluded_ids})


def _drop_unfounded(user_id: int, ids: Sequence[uuid.UUID], at: datetime) -> list[uuid.UUID]:
    """End what rests on nothing but turns that are gone: as the person sees it, that was never said. Tells which facts."""
    if not ids:
        return []
    unfounded = Q(user=user_id, sources__overlap=ids, sources__contained_by=ids)
    Topic.objects.filter(unfounded).delete()
    facts = Memory.objects.filter(unfounded, origin=Memory.Origin.CONVERSATION, ended_at=None)
    ended = list(facts.values_list("id", flat=True))
    Memory.objects.filter(user=user_id, id__in=ended).update(ended_at=at)
    return ended


def unsettle(
    user_id: int,
    thread_id: uuid.UUID,
    *,
    positions: Sequence[int],
    turns: Sequence[uuid.UUID],
    zone: tzinfo,
    at: datetime,
) -> None:
    """The parts of these places tell nothing until they are made anew, and nothing is known by these turns."""
    parts = parts_at(user_id, thread_id, positions)
    days = days_of(parts, zone)
    parts.update(text="", key_moments=[], stale_since=at)
    _leave_to_others(user_id, thread_id, turns)
    drop_ends(user_id, turns)
    _drop(user_id, turns)
    remake_days(user_id, days, zone, at)


def remove_parts_from(user_id: int, thread_id: uuid.UUID, position: int, *, zone: tzinfo, at: datetime) -> None:
    """Parts that begin there or later are no parts any more: their turns count as not read yet."""
    parts = _readable(user_id, thread_id).filter(first_position__gte=position)
    if days := days_of(parts, zone):
        parts.delete()
        remake_days(user_id, days, zone, at)


def parts_at(user_id: int, thread_id: uuid.UUID, positions: Sequence[int]) -> QuerySet[ThreadSummary]:
    of_thread = _readable(user_id, thread_id)
    places = sorted(positions)
    if not places:
        return of_thread.none()
    near = of_thread.filter(last_position__gte=places[0], first_position__lte=places[-1])
    rows = near.values_list("id", "first_position", "last_position")
    return of_thread.filter(
        id__in=[id for id, first, last in rows if bisect_left(places, first) < bisect_right(places, last)]
    )


def _readable(user_id: int, thread_id: uuid.UUID) -> QuerySet[ThreadSummary]:
    """What copies cover stays as it is."""
    return ThreadSummary.objects.filter(user=user_id, thread=thread_id).exclude(made_by=ThreadSummary.COPIED)


def _leave_to_others(user_id: int, thread_id: uuid.UUID, turns: Sequence[uuid.UUID]) -> None:
    """What rests on these turns of the thread and was told in others rests on those alone."""
    if turns:
        resting = list(Memory.objects.filter(user=user_id, sources__overlap=list(turns)))
        others = told_elsewhere(user_id, resting, thread_id)
        for memory in resting:
            if memory.id in others:
                leave_to(memory, others[memory.id], without=thread_id)


def _drop(user_id: int, ids: Sequence[uuid.UUID], *, confined: Sequence[uuid.UUID] = ()) -> list[uuid.UUID]:
    """What was found in any of these turns; in those that are ``confined``, only what is known beyond their thread.

    Not ended, so that what comes to count again is found again. Tells which facts.
    """
    if not (ids or confined):
        return []
    Topic.objects.filter(user=user_id, resolved_at=None, sources__overlap=[*ids, *confined]).delete()
    beyond = Q(sources__overlap=list(confined)) & ~Q(confined_to__startswith="thread:")
    resting = Q(sources__overlap=list(ids)) | beyond
    facts = Memory.objects.filter(resting, user=user_id, origin=Memory.Origin.CONVERSATION, ended_at=None)
    dropped = list(facts.values_list("id", flat=True))
    Memory.objects.filter(user=user_id, id__in=dropped).delete()
    return dropped


def _unknown_topics(pending: PendingPart, content: PartContent, findings: Findings) -> Iterator[Topic]:
    """Those that are not open already, and were not opened by the same turn before, be it in other words and resolved since."""
    of_turns = Q(resolved_at=None) | Q(sources__overlap=content.turn_ids)
    mine = topics_of_project(pending.user, pending.project)
    rows = mine.filter(of_turns).order_by("-opened_at").values_list("title", "sources")
    known = [(key_of(title), frozenset(sources)) for title, sources in rows[: 2 * MOST_OPEN_TOPICS]]
    for topic in findings.opened:
        key = key_of(topic.title)
        if any(key == other or (sources & {*topic.sources} and retold(key, other)) for other, sources in known):
            continue
        known.append((key, frozenset(topic.sources)))
        yield Topic(
            user_id=pending.user,
            thread_id=pending.thread,
            title=topic.title,
            sources=list(topic.sources),
            opened_at=topic.at,
        )


def days_of(parts: QuerySet[ThreadSummary], zone: tzinfo) -> set[date]:
    """On which they began in this zone."""
    return {started_at.astimezone(zone).date() for started_at in parts.values_list("started_at", flat=True)}


def remake_days(user_id: int, days: Iterable[date], zone: tzinfo, at: datetime) -> None:
    """Make days anew from the parts that began on them in this zone, and take those from the days where they stood before.
    Whoever forgets meanwhile waits, and finds the days."""
    allowances.hold_forgettings(user_id)
    for day in sorted(days):
        parts = _parts_of_day(user_id, day, zone)
        before = DailySummary.objects.filter(user=user_id, day=day).values_list("project", flat=True)
        for project in {*before, *(part.thread.project_id for part in parts)}:
            _remake(user_id, day, project, [part for part in parts if part.thread.project_id == project], at)
        moved = [part.id for part in parts]
        for other in DailySummary.objects.filter(user=user_id, parts__overlap=moved).exclude(day=day):
            left = ThreadSummary.objects.filter(user=user_id, id__in={*other.parts} - {*moved})
            _remake(user_id, other.day, other.project_id, list(left.order_by("started_at", "id")), at)


def _parts_of_day(user_id: int, day: date, zone: tzinfo) -> list[ThreadSummary]:
    start = datetime.combine(day, time.min, zone)
    end = datetime.combine(day + timedelta(days=1), time.min, zone)
    began = ThreadSummary.objects.filter(
        user=user_id, started_at__gte=start, started_at__lt=end, ended_at__gte=start, ended_at__lt=end + LONGEST_PART
    )
    began = began.filter(thread__user=user_id)
    return list(began.select_related("thread").order_by("started_at", "id"))


def _remake(user_id: int, day: date, project: uuid.UUID | None, parts: Sequence[ThreadSummary], at: datetime) -> None:
    summaries = [part for part in parts if part.text]
    if not summaries:
        DailySummary.objects.filter(user=user_id, day=day, project=project).delete()
        return
    text, moments = day_of([(part.text, part.key_moments) for part in summaries])
    ids = [part.id for part in summaries]
    made = DailySummary(
        user_id=user_id, project_id=project, day=day, text=text, key_moments=moments, parts=ids, updated_at=at
    )
    DailySummary.objects.bulk_create(
        [made],
        update_conflicts=True,
        unique_fields=["user", "day", "project"],
        update_fields=["text", "key_moments", "parts", "updated_at"],
    )


def day_of(parts: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, list[str]]:
    """The text and the key moments of a day from those of its parts. The newest count most where there are many. Pure."""
    newest_parts = parts[-MOST_PARTS_TOLD:]
    share = LONGEST_SUMMARY // len(newest_parts)
    text = "\n".join(_beginning(summary, share) for summary, _ in newest_parts)
    moments = tuple(moment for _, some in parts for moment in some)
    day = without_repeats(Summary(id="", text=text, moments=moments))
    return day.text, list(day.moments[-MOST_MOMENTS_A_DAY:])


def _beginning(text: str, longest: int) -> str:
    """As many whole lines as fit, at least a piece of the first."""
    lines: list[str] = []
    left = longest
    for line in text.splitlines():
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines) or f"{text[: longest - 1]}…"

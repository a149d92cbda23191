"""Everything of a user as a document, in pieces: it is never in memory as a whole, and no connection is held between them."""

import json
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, Func, IntegerField, Model, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast, Coalesce

from artifacts.models import Artifact, ArtifactVersion
from conversations.import_export import FORMAT
from conversations.models import Message, Thread
from conversations.runtime.long_work import step
from conversations.threads import messages_of
from conversations.wire import moment, version_rows
from memory.models import Memory, ThreadSummary, Topic
from memory.services import preferences_of

PAGE = 200
"""Threads, turns or memories that are read at once."""

AT_ONCE, STEP = 1_000_000, 5
"""So many bytes of turns or characters of artifacts are read at once, or one turn, or so many versions of one artifact."""


class OctetLength(Func):
    function = "octet_length"
    output_field = IntegerField()


# PostgreSQL knows how long a text is without reading it.
SIZE = OctetLength("text") + Coalesce(OctetLength(Cast("content", TextField())), 0)
"""Bytes of a turn."""

ARTIFACTS, CLOSING = '], "artifacts": [', "}"
TURN_FIELDS = ("id", "thread_id", "position", "role", "content", "text", "created_at", "status", "offline")


async def export(user: User) -> AsyncIterator[bytes]:
    """The document in UTF-8: threads oldest first with the turns of their active path, artifacts, and what is remembered."""
    yield f'{{"format": "{FORMAT}", {await step(_preferences)(user)}"threads": ['.encode()
    between, after = "", None
    while threads := await step(_threads)(user, after):
        for group in grouped(threads):
            async for piece in _group(group):
                yield (between + piece).encode()
                between = ""
            between = ",\n"
        after = threads[-1]
    yield b'], "memories": ['
    between, memory = "", None
    while memories := await step(_memories)(user, memory):
        text, memory = memories
        yield (between + text).encode()
        between = ",\n"
    yield b'], "topics": ['
    between, topic = "", None
    while topics := await step(_topics)(user, topic):
        text, topic = topics
        yield (between + text).encode()
        between = ",\n"
    yield b"]}\n"


async def export_thread(thread: Thread) -> AsyncIterator[bytes]:
    """A document with this thread alone."""
    yield f'{{"format": "{FORMAT}", "threads": ['.encode()
    for row in await step(_with_chars)(thread):
        async for piece in _group([row]):
            yield piece.encode()
    yield b'], "memories": []}\n'


def grouped(threads: Iterable[Any]) -> Iterator[list[Any]]:
    """Neighbouring threads that are read together: a page of turns and ``AT_ONCE`` of artifacts at most, or one long thread."""
    group: list[Any] = []
    for thread in threads:
        together = [*group, thread]
        turns, chars = sum(each.message_count for each in together), sum(each.chars for each in together)
        if group and (turns > PAGE or chars > AT_ONCE):
            yield group
            group = []
        group.append(thread)
    if group:
        yield group


async def _group(threads: list[Any]) -> AsyncIterator[str]:
    turns = await step(_turns)(threads) if len(threads) > 1 else None
    if turns is None and len(threads) > 1:  # few turns, and long ones
        between = ""
        for thread in threads:
            async for piece in _group([thread]):
                yield between + piece
                between = ""
            between = ",\n"
        return
    is_small = sum(thread.chars for thread in threads) <= AT_ONCE
    artifacts = await step(_whole_artifacts)(threads) if is_small else {}
    summaries = await step(_summaries)(threads)
    if turns is not None:
        yield ",\n".join(
            _opening(thread)
            + turns.get(thread.id, "")
            + ARTIFACTS
            + artifacts.get(thread.id, "")
            + _summed_up(summaries.get(thread.id))
            + CLOSING
            for thread in threads
        )
        return
    (thread,) = threads
    yield _opening(thread)
    between, position = "", 0
    while position < thread.last_position and (page := await step(_page)(thread, position)):
        text, position = page
        yield between + text
        between = ",\n"
    yield ARTIFACTS + artifacts.get(thread.id, "")
    if not is_small:
        async for piece in _long_artifacts(thread):
            yield piece
    yield _summed_up(summaries.get(thread.id)) + CLOSING


def _summed_up(summaries: list[dict[str, Any]] | None) -> str:
    """The end of the list of artifacts, and the summaries of the thread where there are any."""
    return "]" + (f', "summaries": [{_json_lines(summaries)}]' if summaries else "")


async def _long_artifacts(thread: Thread) -> AsyncIterator[str]:
    """The artifacts of a thread that are too long to be in memory all at once."""
    between = ""
    for artifact in await step(_artifacts)([thread]):
        newest = None
        for first in range(1, artifact.version + 1, STEP):
            if versions := await step(_some_versions)(artifact, first):
                opening = between + _json(_labels(artifact))[:-1] + ', "versions": [' if newest is None else ",\n"
                yield opening + _json_lines(map(_version_object, versions))
                newest, between = versions[-1], ",\n"
        if newest:
            yield "], " + _json(_of_newest(newest))[1:]


def _threads(user: User, after: Thread | None) -> list[Thread]:
    return list(_next(_measured(Thread.objects.filter(user=user)), after))


def _with_chars(thread: Thread) -> list[Thread]:
    """None where it was deleted just now."""
    return list(_measured(Thread.objects.filter(id=thread.id)))


def _measured(threads: QuerySet[Thread]) -> QuerySet[Any]:
    """With the characters of their artifacts."""
    versions = ArtifactVersion.objects.filter(thread=OuterRef("id")).order_by().values("thread")
    chars = Coalesce(Subquery(versions.values(chars=Sum("size"))), 0)
    return threads.select_related("assistant").annotate(chars=chars)


def _memories(user: User, after: Any) -> tuple[str, Any] | None:
    """A page, and the last one of it."""
    rows = _with_sources(list(_next(Memory.objects.filter(user=user), after)), user)
    return (_json_lines(map(_memory_object, rows)), rows[-1]) if rows else None


def _topics(user: User, after: Any) -> tuple[str, Any] | None:
    """As memories are."""
    rows = _with_sources(list(_next(Topic.objects.filter(user=user), after, time="opened_at")), user)
    return (_json_lines(map(_topic_object, rows)), rows[-1]) if rows else None


def _with_sources(rows: list[Any], user: User) -> list[Any]:
    """With ``exported_sources``: those that the document holds."""
    named = {source for row in rows for source in row.sources}
    active_ids = set(
        Message.objects.filter(id__in=named, is_active=True, thread__user=user).values_list("id", flat=True)
    )
    for row in rows:
        row.exported_sources = [str(source) for source in row.sources if source in active_ids]
    return rows


def _preferences(user: User) -> str:
    """With their name and a comma; empty where the user never chose."""
    chosen = preferences_of(user)
    values = chosen and {"time_zone": chosen.time_zone, "remembers": chosen.remembers}
    return f'"preferences": {_json(values)}, ' if values else ""


def _summaries(threads: list[Thread]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """Those of these threads, each from and to a place in the document. One whose turns all left the path is made anew."""
    path = Message.objects.filter(thread=OuterRef("thread"), is_active=True)
    first = path.filter(position__gte=OuterRef("first_position")).order_by("position").values("depth")[:1]
    last = path.filter(position__lte=OuterRef("last_position")).order_by("-position").values("depth")[:1]
    by_thread: dict[uuid.UUID, list[dict[str, Any]]] = {}
    parts = ThreadSummary.objects.filter(thread__in=threads).order_by("thread_id", "first_position")
    for part in parts.annotate(first=Subquery(first), last=Subquery(last)).filter(first__lte=F("last")):
        by_thread.setdefault(part.thread_id, []).append(_summary_object(part))
    return by_thread


def _next[M: Model](rows: QuerySet[M], after: Any, time: str = "created_at") -> QuerySet[M]:
    if after:
        at = getattr(after, time)
        rows = rows.filter(Q(**{f"{time}__gt": at}) | Q(**{time: at}, id__gt=after.id))
    return rows.order_by(time, "id")[:PAGE]


def _turns(threads: list[Thread]) -> dict[uuid.UUID, str] | None:
    """Those of each thread; ``None`` where they are too long to be in memory all at once."""
    turns = Message.objects.filter(thread__in=threads, is_active=True).order_by("thread_id", "position")
    if (turns.aggregate(size=Sum(SIZE))["size"] or 0) > AT_ONCE:
        return None
    rows = groupby(turns.only(*TURN_FIELDS), key=lambda turn: turn.thread_id)
    return {thread: _json_lines(map(_turn_object, some)) for thread, some in rows}


def turns_behind(thread: Thread, position: int) -> list[Message]:
    """The turns that follow, as many as may be in memory at once."""
    turns = messages_of(thread).filter(position__gt=position)
    sizes = list(turns.values_list("position", SIZE)[:PAGE])
    if not sizes:
        return []
    together = accumulate(size for _, size in sizes)
    through = [position for (position, _), total in zip(sizes, together, strict=True) if total <= AT_ONCE]
    last = through[-1] if through else sizes[0][0]  # one that is longer is read alone
    return list(turns.filter(position__lte=last).only(*TURN_FIELDS))


def _page(thread: Thread, position: int) -> tuple[str, int] | None:
    """The turns that follow, and the position of the last."""
    turns = turns_behind(thread, position)
    return (_json_lines(map(_turn_object, turns)), turns[-1].position) if turns else None


def _artifacts(threads: list[Thread]) -> list[Any]:
    """Those of these threads, each with the place in the document of the turn that it stands below."""
    above = Message.objects.filter(
        thread=OuterRef("thread"), is_active=True, position__lte=OuterRef("after_position")
    ).order_by("-position")
    artifacts = Artifact.objects.filter(thread__in=threads, deleted_at=None).order_by("created_at", "id")
    return list(artifacts.annotate(place=Coalesce(Subquery(above.values("depth")[:1]), 0)))


def _whole_artifacts(threads: list[Thread]) -> dict[uuid.UUID, str]:
    artifacts = _artifacts(threads)
    found = ArtifactVersion.objects.filter(artifact__in=artifacts)
    versions: dict[uuid.UUID, list[Any]] = {}
    for version in version_rows(found, whole=True).order_by("artifact_id", "number") if artifacts else ():
        versions.setdefault(version.artifact_id, []).append(version)
    objects: dict[uuid.UUID, list[dict[str, Any]]] = {}
    for artifact in artifacts:
        if artifact.id in versions:  # or else it was deleted just now
            objects.setdefault(artifact.thread_id, []).append(_artifact_object(artifact, versions[artifact.id]))
    return {thread: _json_lines(some) for thread, some in objects.items()}


def _some_versions(artifact: Artifact, first: int) -> list[Any]:
    versions = artifact.versions.filter(number__gte=first, number__lt=first + STEP)
    return list(version_rows(versions, whole=True).order_by("number"))


def _opening(thread: Thread) -> str:
    values = {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "created_at": moment(thread.created_at),
    } | ({} if thread.remembers else {"remembers": False})
    return _json(values)[:-1] + ', "messages": ['


def _turn_object(turn: Message) -> dict[str, Any]:
    status = {} if turn.status == Message.Status.COMPLETE else {"status": turn.status}
    kept = {"id": str(turn.id), "role": turn.role, "content": turn.blocks}
    offline = {"offline": True} if turn.offline else {}
    return kept | {"created_at": moment(turn.created_at)} | status | offline


def _artifact_object(artifact: Any, versions: Sequence[Any]) -> dict[str, Any]:
    """Its versions stand under it one by one where there is more to tell than the content of the only one."""
    only, *more = versions
    is_plain = not more and only.created_at == artifact.created_at
    listed = {} if is_plain else {"versions": list(map(_version_object, versions))}
    return _labels(artifact) | listed | _of_newest(versions[-1])


def _of_newest(version: Any) -> dict[str, Any]:
    """What an artifact says of itself, for readers that know of no versions."""
    version_object = _version_object(version)
    return {name: version_object[name] for name in ("content", "origin", "message")}


def _labels(artifact: Any) -> dict[str, Any]:
    return {
        "id": str(artifact.id),
        "title": artifact.title,
        "kind": artifact.kind,
        "language": artifact.language,
        "preset": artifact.preset,
        "after_position": artifact.place,
        "created_at": moment(artifact.created_at),
    }


def _version_object(version: Any) -> dict[str, Any]:
    return {
        "content": version.content,
        "created_at": moment(version.created_at),
        "origin": version.origin,
        "message": str(version.maker) if version.maker else None,
    }


def _memory_object(memory: Any) -> dict[str, Any]:
    return {
        "id": str(memory.id),
        "content": memory.content,
        "tags": memory.tags,
        "origin": memory.origin,
        "source": next(iter(memory.exported_sources), None),
        "sources": memory.exported_sources,
        "created_at": moment(memory.created_at),
        "valid_from": moment(memory.valid_from),
        "valid_until": moment(memory.valid_until),
        "ended_at": moment(memory.ended_at),
    }


def _topic_object(topic: Any) -> dict[str, Any]:
    return {
        "id": str(topic.id),
        "title": topic.title,
        "thread": str(topic.thread_id) if topic.thread_id else None,
        "sources": topic.exported_sources,
        "opened_at": moment(topic.opened_at),
        "resolved_at": moment(topic.resolved_at),
    }


def _summary_object(part: Any) -> dict[str, Any]:
    stale = {"stale_since": moment(part.stale_since)} if part.stale_since else {}
    return {
        "id": str(part.id),
        "first": part.first,
        "last": part.last,
        "text": part.text,
        "key_moments": part.key_moments,
        "sources": [str(source) for source in part.sources],
        "started_at": moment(part.started_at),
        "ended_at": moment(part.ended_at),
        "made_by": part.made_by,
        "made_at": moment(part.made_at),
    } | stale


def _json_lines(values: Iterable[dict[str, Any]]) -> str:
    return ",\n".join(map(_json, values))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

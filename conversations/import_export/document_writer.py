"""Everything of a user as a document, in pieces: it is never in memory as a whole, and no connection is held between them."""

import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, Exists, F, Model, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce

from artifacts.models import Artifact, ArtifactVersion
from conversations.import_export import FORMAT, export_pages
from conversations.import_export.document_files import files_of
from conversations.import_export.export_pages import json_lines, json_text, separators, step
from conversations.import_export.project_fields import written_instructions, written_projects
from conversations.import_export.turn_writer import count_turns, long_thread, turns_of
from conversations.models import Message, NoticeAcceptance, Prompt, Schedule, Thread
from conversations.schedules.times import rule_of
from conversations.wire.artifacts import version_rows
from memory.models import Memory, ThreadSummary, Topic
from memory.services import preferences_of

ARTIFACTS = '], "artifacts": ['
NAMES: dict[type[Model], Sequence[str]] = {
    Artifact: ("id", "title", "kind", "language", "preset", "after_position", "created_at"),
    ArtifactVersion: ("content", "created_at", "origin", "message"),
    Memory: (
        *("id", "content", "tags", "origin", "source", "sources"),
        *("created_at", "said_at", "valid_from", "valid_until", "ended_at", "superseded_by", "settled_at"),
    ),
    ThreadSummary: (
        *("id", "first", "last", "text", "key_moments", "sources"),
        *("started_at", "ended_at", "made_by", "made_at"),
    ),
    Prompt: ("id", "name", "text", "created_at"),
    Topic: ("id", "title", "thread", "sources", "opened_at", "resolved_at"),
}
"""What the document says of a row."""
ATTRIBUTES = {"after_position": "place", "message": "maker", "superseded_by": "superseded_by_id", "thread": "thread_id"}
"""Where a row has it under another name."""


async def export(user: User, *, with_bytes: bool = False) -> AsyncIterator[bytes]:
    """The document in UTF-8: threads oldest first with the turns of all branches, artifacts, what there is of files, and what
    is remembered. ``with_bytes``: those of the files lie beside it."""
    yield f'{{"format": "{FORMAT}", {await step(_own)(user, with_bytes)}"threads": ['.encode()
    between, after = separators(), None
    while threads := await step(_threads)(user, after):
        for group in grouped(threads):
            async for piece in _group(group, between, with_bytes):
                yield piece.encode()
        after = threads[-1]
    for model, name, time in ((Memory, "memories", "created_at"), (Topic, "topics", "opened_at")):
        yield f'], "{name}": ['.encode()
        between, last = separators(), None
        while rows := await step(_remembered)(user, model, time, last):
            yield (next(between) + json_lines(map(_object, rows))).encode()
            last = rows[-1]
    yield b'], "prompts": ['
    between, after_prompt = separators(), None
    while prompts := await step(_prompts)(user, after_prompt):
        yield (next(between) + json_lines(map(_object, prompts))).encode()
        after_prompt = prompts[-1]
    schedules = await step(_schedules)(user)
    yield f'], "schedules": [{json_lines(schedules)}]}}\n'.encode() if schedules else b"]}\n"


async def export_thread(thread: Thread) -> AsyncIterator[bytes]:
    """A document with this thread alone, beside which the bytes of its files lie."""
    yield f'{{"format": "{FORMAT}", "threads": ['.encode()
    for row in await step(_with_chars)(thread):
        async for piece in _thread(row, separators(), with_bytes=True):
            yield piece.encode()
    yield b'], "memories": []}\n'


def grouped(threads: Iterable[Any]) -> Iterator[list[Any]]:
    """Neighbouring threads that are read together: a page of turns and ``AT_ONCE`` of artifacts at most, or one long thread."""
    group: list[Any] = []
    for thread in threads:
        together = [*group, thread]
        turns, chars = sum(map(count_turns, together)), sum(each.chars for each in together)
        if group and (turns > export_pages.PAGE or chars > export_pages.AT_ONCE):
            yield group
            group = []
        group.append(thread)
    if group:
        yield group


async def _group(threads: list[Thread], between: Iterator[str], with_bytes: bool) -> AsyncIterator[str]:
    turns = await step(turns_of)(threads) if len(threads) > 1 else None
    if turns is None:  # a long thread, or few turns, and long ones
        for thread in threads:
            async for piece in _thread(thread, between, with_bytes):
                yield piece
        return
    artifacts, endings = await step(_whole_artifacts)(threads), await step(_endings)(threads, with_bytes)
    for thread in threads:
        yield next(between) + _opening(thread) + str(turns.get(thread.id, ""))
        yield ARTIFACTS + artifacts.get(thread.id, "") + endings[thread.id]


async def _thread(thread: Any, between_threads: Iterator[str], with_bytes: bool) -> AsyncIterator[str]:
    """No piece is empty: it would end a chunked response."""
    yield next(between_threads) + _opening(thread)
    async for lines in long_thread(thread):
        yield lines
    is_small = thread.chars <= export_pages.AT_ONCE
    artifacts = await step(_whole_artifacts)([thread]) if is_small else {}
    yield ARTIFACTS + artifacts.get(thread.id, "")
    if not is_small:
        async for piece in _long_artifacts(thread):
            yield piece
    yield (await step(_endings)([thread], with_bytes))[thread.id]


def _endings(threads: Sequence[Thread], with_bytes: bool) -> dict[uuid.UUID, str]:
    """The end of the list of artifacts, the summaries and files of each thread where there are any, and the end of it."""
    lists = {"summaries": _summaries(threads), "files": files_of(threads, with_bytes=with_bytes)}

    def ending(thread: Thread) -> str:
        there = {name: of[thread.id] for name, of in lists.items() if thread.id in of}
        return "".join(["]", *(f', "{name}": [{json_lines(rows)}]' for name, rows in there.items()), "}"])

    return {thread.id: ending(thread) for thread in threads}


async def _long_artifacts(thread: Thread) -> AsyncIterator[str]:
    """The artifacts of a thread that are too long to be in memory all at once."""
    between = separators()
    for artifact in await step(_artifacts)([thread]):
        newest, within = None, separators()
        for first in range(1, artifact.version + 1, export_pages.STEP):
            if versions := await step(_some_versions)(artifact, first):
                opening = "" if newest else next(between) + json_text(_own_fields(artifact))[:-1] + ', "versions": ['
                yield opening + next(within) + json_lines(map(_object, versions))
                newest = versions[-1]
        if newest:
            yield "], " + json_text(_of_newest(newest))[1:]


def _threads(user: User, after: Thread | None) -> list[Thread]:
    return list(_next(_measured(user.pk, Thread.objects.filter(temporary=False)), after, "created_at"))


def _with_chars(thread: Thread) -> list[Thread]:
    """None where it was deleted just now."""
    return list(_measured(thread.user_id, Thread.objects.filter(id=thread.id)))


def _measured(user_id: int, threads: QuerySet[Thread]) -> QuerySet[Any]:
    """Those of a person, with the characters of their artifacts, and whether that which they were forked from is there."""
    versions = ArtifactVersion.objects.filter(user=user_id, thread=OuterRef("id")).order_by().values("thread")
    chars = Coalesce(Subquery(versions.values(chars=Sum("size"))), 0)
    source = Exists(Thread.objects.filter(user=user_id, id=OuterRef("forked_from")))
    return threads.filter(user=user_id).select_related("assistant").annotate(chars=chars, has_source=source)


def _remembered(user: User, model: type[Memory | Topic], time: str, after: Any) -> list[Any]:
    """A page of what is remembered of them, each with those sources alone that the document holds."""
    rows: list[Any] = list(_next(model._default_manager.filter(user=user), after, time))
    named = {source for row in rows for source in row.sources}
    known = set(Message.objects.filter(id__in=named, user=user).values_list("id", flat=True))
    for row in rows:
        row.sources = [source for source in row.sources if source in known]
        row.source = next(iter(row.sources), None)
    return rows


def _prompts(user: User, after: Prompt | None) -> list[Prompt]:
    return list(_next(Prompt.objects.filter(user=user), after, "created_at"))


def _schedules(user: User) -> list[dict[str, Any]]:
    """All of them: there are few."""
    names = ("id", "assistant", "content", "at", "time_zone", "paused", "created_at")
    return [
        {name: getattr(row, name) for name in names} | {"thread": row.thread_id, "rule": rule_of(row.days, row.time)}
        for row in Schedule.objects.filter(user=user).order_by("created_at", "id")
    ]


def _own(user: User, with_bytes: bool) -> str:
    """What threads refer to or stands for itself, each with its name and a comma; nothing where there is none."""
    own = {
        "preferences": _preferences(user),
        "instructions": written_instructions(user),
        "projects": written_projects(user, with_bytes=with_bytes),
        "accepted_notices": _accepted_notices(user),
    }
    return "".join(f'"{name}": {json_text(value)}, ' for name, value in own.items() if value)


def _accepted_notices(user: User) -> list[dict[str, Any]]:
    """For the person to know. An import passes them over: they are this installation's."""
    rows = NoticeAcceptance.objects.filter(user=user).order_by("version")
    return [{"version": row.version, "accepted_at": row.at} for row in rows]


def _preferences(user: User) -> dict[str, Any] | None:
    """``None`` where the user never chose."""
    chosen = preferences_of(user)
    names = ("time_zone", "remembers", "language")
    return {name: getattr(chosen, name) for name in names} if chosen else None


def _summaries(threads: Sequence[Thread]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """Those of these threads, each from and to a place in the document. One whose turns all left the path is made anew."""
    user = threads[0].user_id
    path = Message.objects.filter(user=user, thread=OuterRef("thread"), is_active=True)
    first = path.filter(position__gte=OuterRef("first_position")).order_by("position").values("depth")[:1]
    last = path.filter(position__lte=OuterRef("last_position")).order_by("-position").values("depth")[:1]
    by_thread: dict[uuid.UUID, list[dict[str, Any]]] = {}
    parts = ThreadSummary.objects.filter(user=user, thread__in=threads).order_by("thread_id", "first_position")
    for part in parts.annotate(first=Subquery(first), last=Subquery(last)).filter(first__lte=F("last")):
        stale = {"stale_since": part.stale_since} if part.stale_since else {}
        by_thread.setdefault(part.thread_id, []).append(_object(part) | stale)
    return by_thread


def _next(rows: QuerySet[Any], after: Any, time: str) -> QuerySet[Any]:
    if after:
        at = getattr(after, time)
        rows = rows.filter(Q(**{f"{time}__gt": at}) | Q(**{time: at}, id__gt=after.id))
    return rows.order_by(time, "id")[: export_pages.PAGE]


def _artifacts(threads: list[Thread]) -> list[Any]:
    """Those of these threads, each with the place on the path of the turn that it stands below, and with that turn where it
    is beside the path."""
    user = threads[0].user_id
    above = Message.objects.filter(user=user, thread=OuterRef("thread"), position__lte=OuterRef("after_position"))
    above = above.order_by("-position")
    artifacts = Artifact.objects.filter(user=user, thread__in=threads, deleted_at=None).order_by("created_at", "id")
    return list(
        artifacts.annotate(
            place=Coalesce(Subquery(above.filter(is_active=True).values("depth")[:1]), 0),
            after=Subquery(above.values_list(Case(When(is_active=False, then=F("id"))))[:1]),
        )
    )


def _whole_artifacts(threads: list[Thread]) -> dict[uuid.UUID, str]:
    artifacts = _artifacts(threads)
    found = ArtifactVersion.objects.filter(artifact__in=artifacts)
    versions: dict[uuid.UUID, list[Any]] = {}
    rows = version_rows(threads[0].user_id, found, whole=True, any_path=True).order_by("artifact_id", "number")
    for version in rows if artifacts else ():
        versions.setdefault(version.artifact_id, []).append(version)
    objects: dict[uuid.UUID, list[dict[str, Any]]] = {}
    for artifact in artifacts:
        if artifact.id in versions:  # or else it was deleted just now
            objects.setdefault(artifact.thread_id, []).append(_artifact_object(artifact, versions[artifact.id]))
    return {thread: json_lines(some) for thread, some in objects.items()}


def _some_versions(artifact: Artifact, first: int) -> list[Any]:
    versions = artifact.versions.filter(number__gte=first, number__lt=first + export_pages.STEP)
    return list(version_rows(artifact.user_id, versions, whole=True, any_path=True).order_by("number"))


def _opening(thread: Any) -> str:
    values = {
        "id": thread.id,
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "created_at": thread.created_at,
    }
    chosen = {"model": thread.model, "pinned": thread.pinned, "archived": thread.archived, "tags": thread.tags}
    chosen |= {"project": thread.project_id, "instructions": thread.instructions}
    chosen |= {"forked_from": _source(thread)}
    chosen |= {"title_through": thread.title_through - thread.cleared_through} if thread.title_through else {}
    values |= {name: value for name, value in chosen.items() if value}
    values |= {} if thread.uses_account_instructions else {"uses_account_instructions": False}
    return json_text(values | ({} if thread.remembers else {"remembers": False}))[:-1] + ', "messages": ['


def _source(thread: Any) -> dict[str, Any] | None:
    return {"thread": thread.forked_from_id, "message": thread.forked_at} if thread.has_source else None


def _artifact_object(artifact: Any, versions: Sequence[Any]) -> dict[str, Any]:
    """Its versions stand under it one by one where there is more to tell than the content of the only one."""
    only, *more = versions
    is_plain = not more and only.created_at == artifact.created_at
    listed = {} if is_plain else {"versions": list(map(_object, versions))}
    return _own_fields(artifact) | listed | _of_newest(versions[-1])


def _own_fields(artifact: Any) -> dict[str, Any]:
    return _object(artifact) | ({"after": artifact.after} if artifact.after else {})


def _of_newest(version: Any) -> dict[str, Any]:
    """What an artifact says of itself, for readers that know of no versions."""
    return {"content": version.content, "origin": version.origin, "message": version.maker}


def _object(row: Any) -> dict[str, Any]:
    return {name: getattr(row, ATTRIBUTES.get(name, name)) for name in NAMES[type(row)]}

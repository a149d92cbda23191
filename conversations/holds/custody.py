"""Copies of rows that a person's wish is about to take away, where a legal hold covers them.

Whoever deletes or blanks a person's rows calls this before, in the same transaction. Without a hold it is two short
statements, and no message or request waits for them. Summaries, days, places in the index and counts are not copied: they are
made of what is.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Case, F, Model, OuterRef, QuerySet, Subquery, UUIDField, Value, When
from django.db.models.functions import Cast, Coalesce, Substr

from conversations.holds import coverage
from conversations.models import File, FilePart, HeldRow, Project, Thread, data_map
from conversations.runtime import clock
from memory.models import Memory
from memory.tags import project_tag, thread_tag

COPY = """
INSERT INTO conversations_heldrow (user_id, project_id, thread_id, kind, row_id, data, digest, place, held_at)
SELECT %s, of_project, of_thread, %s, pk, data, sha256(convert_to(data::text, 'UTF8')), place, %s
FROM (
    SELECT chosen.pk::text, chosen.of_project, chosen.of_thread, to_jsonb(whole) - %s AS data, {place} AS place
    FROM ({chosen}) AS chosen JOIN "{table}" AS whole ON whole."{key}" = chosen.pk
) AS copied
ON CONFLICT (kind, row_id, digest) DO NOTHING
"""
PLACES: dict[type[Model], str] = {File: "whole.place", FilePart: "whole.picture"}
"""Whose bytes stay in the storage too."""
NOWHERE = Cast(Value(None), UUIDField())
SECRET = "password"  # noqa: S105  # the name of a column

_asked_at: ContextVar[datetime | None] = ContextVar("openbook_asked_at", default=None)


@dataclass(frozen=True, kw_only=True)
class Custody:
    """What the holds on a person cover: all that they have, or what is in these projects."""

    user_id: int
    everything: bool
    projects: frozenset[uuid.UUID]

    def keep(self, rows: QuerySet[Any]) -> None:
        """Copy those of these rows that are covered."""
        located = _located(rows.order_by())
        if not self.everything:
            located = located.filter(of_project__in=self.projects)
        try:
            statement, values = located.values("pk", "of_project", "of_thread").query.sql_with_params()
        except EmptyResultSet:  # of no ids
            return
        meta = rows.model._meta
        assert meta.pk
        place = PLACES.get(rows.model, "''")
        statement = COPY.format(chosen=_named(statement), table=meta.db_table, key=meta.pk.column, place=place)
        with connection.cursor() as cursor:
            cursor.execute(statement, [self.user_id, meta.label, clock.now(), SECRET, *values])


def of(user_id: int) -> Custody | None:
    """``None``: no hold covers anything of the person's, and none begins until the transaction ends."""
    coverage.lock(user_id, shared=True)
    lasting = coverage.current(user_id)
    if asked_at := _asked_at.get():
        lasting = lasting.filter(began_at__lte=asked_at)
    projects = set(lasting.values_list("project_id", flat=True))
    if not projects:
        return None
    return Custody(user_id=user_id, everything=None in projects, projects=frozenset(id for id in projects if id))


@contextmanager
def asked_at(time: datetime) -> Iterator[None]:
    """What is deleted here was asked for then: a hold that began later does not keep it."""
    token = _asked_at.set(time)
    try:
        yield
    finally:
        _asked_at.reset(token)


def keep(user_id: int, *rows: QuerySet[Any]) -> None:
    """These rows of the person's."""
    if custody := of(user_id):
        for each in rows:
            custody.keep(each)


def keep_thread(thread: Thread) -> None:
    """With all that lies in it."""
    if custody := of(thread.user_id):
        for rows in _in_threads([thread.id], thread.user_id):
            custody.keep(rows)


def keep_files(user_id: int, files: QuerySet[File]) -> None:
    """With their parts, and with the bytes of both."""
    files = files.order_by()
    keep(user_id, files, FilePart.objects.filter(user=user_id, file__in=files.values("id")))


def keep_project(project: Project) -> None:
    """With its threads, files and notes."""
    if (custody := of(project.user_id)) is None:
        return
    mine = {"user": project.user_id}
    threads = list(Thread.objects.filter(project=project, **mine).values_list("id", flat=True))
    files = list(File.objects.filter(project=project, **mine).values_list("id", flat=True))
    for rows in [
        Project.objects.filter(id=project.id),
        *_in_threads(threads, project.user_id),
        File.objects.filter(id__in=files),
        FilePart.objects.filter(file__in=files),
        Memory.objects.filter(confined_to=project_tag(project.id), **mine),
    ]:
        custody.keep(rows)


def keep_account(user: User) -> None:
    """Everything of the person's, and who they were."""
    if custody := of(user.pk):
        for model in held_models():
            custody.keep(model._default_manager.filter(**{"pk" if model is User else "user": user.pk}))


def held_models() -> list[type[Model]]:
    """Of the data map: whose rows are copied."""
    return [apps.get_model(label) for label, table in data_map.TABLES.items() if table.held]


def count_in(user_id: int, thread_id: uuid.UUID) -> int:
    """How many rows of the thread are kept by holds alone."""
    return HeldRow.objects.filter(user=user_id, thread_id=thread_id).count()


def _in_threads(ids: Collection[uuid.UUID], user_id: int) -> Iterable[QuerySet[Any]]:
    yield Thread.objects.filter(user=user_id, id__in=ids)
    yield FilePart.objects.filter(user=user_id, file__thread__in=ids)
    yield Memory.objects.filter(user=user_id, confined_to__in=[thread_tag(id) for id in ids])
    for model in held_models():
        if _has_thread(model):
            yield model._default_manager.filter(user=user_id, thread__in=ids)


def _located(rows: QuerySet[Any]) -> Any:
    """With ``of_thread`` and ``of_project``: where each row lies."""
    return rows.annotate(**_place_of(rows.model))


def _place_of(model: type[Model]) -> dict[str, Any]:
    if model is Project:
        return {"of_thread": NOWHERE, "of_project": F("id")}
    if model is Thread:
        return {"of_thread": F("id"), "of_project": F("project_id")}
    if model is File:
        return {
            "of_thread": F("thread_id"),
            "of_project": Coalesce("project_id", "thread__project_id", output_field=UUIDField()),
        }
    if model is FilePart:
        project = Coalesce("file__project_id", "file__thread__project_id", output_field=UUIDField())
        return {"of_thread": F("file__thread_id"), "of_project": project}
    if model is Memory:
        of_thread = Subquery(Thread.objects.filter(id=OuterRef("of_thread")).values("project")[:1])
        return {
            "of_thread": _tagged("thread:"),
            "of_project": Coalesce(_tagged("project:"), of_thread, output_field=UUIDField()),
        }
    if _has_thread(model):
        return {"of_thread": F("thread_id"), "of_project": F("thread__project_id")}
    return {"of_thread": NOWHERE, "of_project": NOWHERE}


def _has_thread(model: type[Model]) -> bool:
    return any(field.name == "thread" for field in model._meta.concrete_fields)


def _tagged(kind: str) -> Case:
    """The id in the tag of a place of notes, where it is of this kind."""
    id = Cast(Substr("confined_to", len(kind) + 1), UUIDField())
    return Case(When(confined_to__startswith=kind, then=id), default=NOWHERE, output_field=UUIDField())


def _named(statement: str) -> str:
    """The three columns under the names that the copy reads, whatever Django called the first."""
    return f"SELECT * FROM ({statement}) AS columns (pk, of_project, of_thread)"  # noqa: S608

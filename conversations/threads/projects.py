"""A person's projects: asked for, made, changed. What isn't the person's is not found."""

import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from artifacts.models import Preset
from conversations import threads
from conversations.accounts.group_access import ALL, Access, access_of
from conversations.errors import InvalidMessage, ModelNotOffered, ProjectNotFound, ThreadNotFound, TooManyProjects
from conversations.holds import custody
from conversations.models import Assistant, File, Project, Thread
from conversations.runtime import clock
from conversations.runtime.wording import worded
from conversations.threads import model_choices
from memory.consolidation import moving

MOST_PROJECTS = 500
NONE = "none"
"""In a filter: threads of no project."""


def of(user: User) -> QuerySet[Project]:
    """By name."""
    return Project.objects.filter(user=user).order_by("name", "id")


def get(user: User, project_id: str | uuid.UUID) -> Project:
    """Raises ``ProjectNotFound`` where the id is malformed, unknown or another user's."""
    return threads.row_with_id(of(user), project_id, ProjectNotFound)


def counted(projects: QuerySet[Project]) -> QuerySet[Project]:
    """Each with ``thread_count`` and ``file_count``."""
    return projects.select_related("assistant").annotate(thread_count=_count(Thread), file_count=_count(File))


def _count(model: type[Thread] | type[File]) -> Coalesce:
    rows = model._default_manager.filter(user=OuterRef("user"), project=OuterRef("pk")).order_by()
    number = rows.values("project").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(number), 0, output_field=IntegerField())


def create(user: User, **values: Any) -> Project:
    """Raises ``TooManyProjects``, and what ``checked`` does."""
    if of(user).count() >= MOST_PROJECTS:
        raise TooManyProjects
    now = clock.now()
    return Project.objects.create(
        user=user, created_at=now, updated_at=now, **checked(values, None, access_of(user.pk))
    )


@transaction.atomic
def change(project: Project, **values: Any) -> None:
    changes = checked(values, project.assistant, access_of(project.user_id))
    if changes:
        custody.keep(project.user_id, Project.objects.filter(id=project.id))
        Project.objects.filter(user=project.user_id, id=project.id).update(updated_at=clock.now(), **changes)


def checked(values: dict[str, Any], assistant: Assistant | None, access: Access = ALL) -> dict[str, Any]:
    """The columns that such values stand for. Raises ``InvalidMessage`` and ``ModelNotOffered``."""
    changes = dict(values)
    if "assistant" in values:
        slug = values["assistant"]
        assistant = changes["assistant"] = threads.assistant_named(slug, access) if slug else None
    if "model" in values:
        changes["model"] = model_choices.model_for_thread(
            assistant or threads.assistant_named(None, access), values["model"], access
        )
    if "presets" in values:
        changes["presets"] = _known_presets(values["presets"])
    return changes


def _known_presets(slugs: list[str]) -> list[str]:
    known = set(Preset.objects.filter(is_active=True).values_list("slug", flat=True))
    if unknown := [slug for slug in slugs if slug not in known]:
        sentences = ("There is no preset {name}.", "There are: {names}." if known else "There are none.")
        words = worded(*sentences, name=unknown[0], names=", ".join(sorted(known)))
        raise InvalidMessage(words, field="presets")
    return list(dict.fromkeys(slugs))


def opened_in(
    project: Project | None, thread: Thread, *, assistant: str | None, model: str, access: Access = ALL
) -> None:
    """A thread that is not stored yet, as one of the project: with its assistant and model, unless others are asked for.
    Raises ``ModelNotOffered`` for a model that is asked for."""
    thread.project = project
    own = project and project.assistant
    if own and own.is_active and access.allows_assistant(own.slug) and not assistant:
        thread.assistant = own
    if model:
        thread.model = model_choices.model_for_thread(thread.assistant, model, access)
    elif project and project.model:
        try:
            thread.model = model_choices.model_for_thread(thread.assistant, project.model, access)
        except ModelNotOffered:  # staff took it away, or another assistant was asked for
            thread.model = ""


@transaction.atomic
def move(thread: Thread, project: Project | None) -> None:
    """Into a project, or out of all of them, with what was remembered of it."""
    locked = threads.of(thread.user).select_for_update(no_key=True).filter(id=thread.id).first()
    if locked is None:
        raise ThreadNotFound
    before, now = locked.project_id, project.id if project else None
    thread.project = project
    if before != now:
        if before:  # a hold on that project would not know it any more
            custody.keep_thread(locked)
        threads.of(thread.user).filter(id=thread.id).update(project=project)
        moving.move_memory(thread, before=before, now=now)


def project_of(user: User, project_id: str | uuid.UUID | None) -> Project | None:
    """The one that is named, if one is. Raises ``ProjectNotFound``."""
    return get(user, project_id) if project_id else None

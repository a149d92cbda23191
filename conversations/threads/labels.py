"""How a person orders their threads: pinned, archived, tagged. Several at once, too."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from conversations import threads
from conversations.errors import InvalidMessage, ThreadNotFound
from conversations.models import Thread
from conversations.models.threads import MOST_TAGS
from conversations.runtime.text import clean, one_line
from conversations.runtime.wording import worded
from conversations.threads import projects


def distinct(values: Iterable[str]) -> list[str]:
    """Each in one line and once, whatever its case, in the order given."""
    tags: dict[str, str] = {}
    for tag in (clean(one_line(value)) for value in values):
        if tag:
            tags.setdefault(tag.casefold(), tag)
    return list(tags.values())


def tags_from(values: Iterable[str]) -> list[str]:
    """The same. Raises ``InvalidMessage`` where they are too many."""
    tags = distinct(values)
    if len(tags) > MOST_TAGS:
        words = worded("A thread has at most {most} tags. Leave some out.", most=MOST_TAGS)
        raise InvalidMessage(words, field="tags")
    return tags


def with_tag(rows: QuerySet[Thread], tag: str) -> QuerySet[Thread]:
    return rows.filter(tags__contains=[clean(one_line(tag))])


def tags_of(user: User) -> list[tuple[str, int]]:
    """The tags of a person's threads, each with how many have it, by name."""
    tagged = threads.listed(user).exclude(tags=[]).values_list("tags", flat=True)
    return sorted(Counter(tag for tags in tagged for tag in tags).items(), key=lambda each: each[0].casefold())


@dataclass(frozen=True, kw_only=True)
class Change:
    """Of several threads at once. ``values`` are those of columns, ``project`` is the id of the one that they are moved into,
    ``None`` out of all; tags are added to each or taken away."""

    values: Mapping[str, Any]
    is_moved: bool = False
    project: str | uuid.UUID | None = None
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()


@transaction.atomic
def change(user: User, thread_ids: Iterable[str | uuid.UUID], wanted: Change) -> list[Thread]:
    """All of these threads, or none. Raises ``ThreadNotFound``, ``ProjectNotFound``, and ``InvalidMessage`` where one
    gets too many tags."""
    ids = {threads.identifier(id, ThreadNotFound) for id in thread_ids}
    rows = threads.of(user).filter(id__in=ids)
    before = {thread.id: thread for thread in rows.order_by("id").select_for_update(no_key=True)}
    if before.keys() != ids:
        raise ThreadNotFound
    if wanted.is_moved:
        project = projects.project_of(user, wanted.project)
        for thread in before.values():
            projects.move(thread, project)
    if wanted.values:
        rows.update(**wanted.values)
    if wanted.add_tags or wanted.remove_tags:
        _change_tags(user, before.values(), wanted)
    return list(rows.select_related("assistant").order_by("-updated_at", "-id"))


def _change_tags(user: User, rows: Iterable[Thread], wanted: Change) -> None:
    gone = {tag.casefold() for tag in distinct(wanted.remove_tags)}
    by_tags: dict[tuple[str, ...], list[uuid.UUID]] = defaultdict(list)
    for thread in rows:
        tags = tags_from([*(tag for tag in thread.tags if tag.casefold() not in gone), *wanted.add_tags])
        if tags != thread.tags:
            by_tags[tuple(tags)].append(thread.id)
    for same, ids in by_tags.items():
        threads.of(user).filter(id__in=ids).update(tags=list(same))


def shown(rows: QuerySet[Thread], *, archived: bool | None, pinned: bool | None) -> QuerySet[Thread]:
    """Those that are archived or not, pinned or not; ``None``: all."""
    wanted = {"archived": archived, "pinned": pinned}
    return rows.filter(Q(**{name: value for name, value in wanted.items() if value is not None}))

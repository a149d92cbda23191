"""An assistant as it was at a version, or as a draft of it would be: a copy that is never stored."""

import copy
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any

from django.db.models import Field

from conversations.models import Assistant, AssistantVersion, ContextSnapshot
from conversations.models.assistants import UNVERSIONED
from conversations.runtime.db import run

NUMBER = "SELECT number FROM conversations_assistantversion WHERE id = %(version)s"


@cache
def shaping_fields() -> Mapping[str, "Field[Any, Any]"]:
    """Those of an assistant that shape its requests, by the column."""
    return {str(field.column): field for field in Assistant._meta.concrete_fields if field.name not in UNVERSIONED}


def content_of(assistant: Assistant) -> dict[str, Any]:
    """As a version holds it."""
    return {column: getattr(assistant, field.attname) for column, field in shaping_fields().items()}


def at_version(assistant: Assistant, version: AssistantVersion) -> Assistant:
    """A column that came after the version has its default."""
    copied = copy.copy(assistant)
    for column, field in shaping_fields().items():
        setattr(copied, field.attname, version.content.get(column, field.get_default()))
    copied.version_id = version.pk
    return copied


def version_of(snapshot: ContextSnapshot) -> AssistantVersion | None:
    """``None`` of one that was recorded before there were versions, or whose assistant was deleted."""
    try:
        return snapshot.version if snapshot.version_id else None
    except AssistantVersion.DoesNotExist:
        return None


def number_of_version(snapshot: ContextSnapshot) -> int | None:
    """That of its version, of which nothing else is read; ``None`` as ``version_of``."""
    rows = run(NUMBER, version=snapshot.version_id) if snapshot.version_id else ()
    return rows[0][0] if rows else None


def assistant_then(snapshot: ContextSnapshot, today: Assistant) -> Assistant:
    """Of the version that the request names; as it is today where it names none."""
    version = version_of(snapshot)
    return at_version(version.assistant if version.assistant_id != today.pk else today, version) if version else today


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What is another in the second content, by the column. Pure."""
    return {name: (before.get(name), after[name]) for name in after if before.get(name) != after[name]}


def setting_changed_at(assistant_id: int, column: str) -> datetime | None:
    """When the assistant last came by the value that a column has; ``None``: as far as versions tell, it always had it."""
    made = AssistantVersion.objects.filter(assistant=assistant_id, published_at__isnull=False).order_by("-published_at")
    values = list(made.values_list("published_at", f"content__{column}"))
    return next((at for (at, value), (_, before) in pairwise(values) if value != before), None)

"""Versions of assistants: drafts are written, published, and left for an earlier one again.

That a change of an assistant's row makes a version is the database's own doing, by a trigger.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, QuerySet

from conversations import audit
from conversations.audit import AuditKind
from conversations.context.record.assistant_versions import at_version, content_of, shaping_fields
from conversations.models import Assistant, AssistantVersion
from conversations.runtime.wording import filled


def versions_of(assistant: Assistant) -> QuerySet[AssistantVersion]:
    """Newest first."""
    return AssistantVersion.objects.filter(assistant=assistant).select_related("author").order_by("-number")


@transaction.atomic
def make_draft(
    assistant: Assistant, changes: Mapping[str, Any], *, author: User | None, note: str = ""
) -> AssistantVersion:
    """The assistant as it is with some columns changed. Raises ``ValidationError`` by the name of the column, also for one that
    there is not, and for presets, which are no assistant's own."""
    unknown = set(changes) - set(shaping_fields())
    if unknown:
        raise ValidationError(dict.fromkeys(unknown, "An assistant has no such setting."))
    locked = Assistant.objects.select_for_update().get(pk=assistant.pk)
    if changes.get("presets", locked.preset_values) != locked.preset_values:
        raise ValidationError({"presets": "Assistants share presets: change the preset itself."})
    content = {**content_of(locked), **changes}
    draft = AssistantVersion(assistant=locked, content=content, note=note, author=author)
    wanted = at_version(locked, draft)
    wanted.clean_fields()
    wanted.validate_constraints()
    newest = versions_of(locked).aggregate(newest=Max("number"))["newest"] or 0
    draft.number, draft.content = newest + 1, content_of(wanted)
    draft.save(force_insert=True)
    draft.refresh_from_db()
    return draft


@transaction.atomic
def publish(version: AssistantVersion, *, author: User | None) -> Assistant:
    """Make the assistant what it is at this version: a draft, or an earlier one again. Replies that have begun keep theirs.

    Presets stay as they are now: where the version has others, the assistant is at a new one then, signed by the author."""
    assistant = Assistant.objects.select_for_update().get(pk=version.assistant_id)
    wanted = at_version(assistant, version)
    wanted.save(update_fields=[*(field.name for field in shaping_fields().values()), "version"])
    wanted.refresh_from_db()
    current = wanted.version
    assert current
    audit.record(AuditKind.ROW_CHANGED, target=assistant, details={"act": "published", "version": current.number})
    if author:
        sign(wanted, author=author, note=current.note or _note(version, current))
    return wanted


def _note(version: AssistantVersion, current: AssistantVersion) -> str:
    if version.pk == current.pk:
        return ""
    return filled("Version {number} with the presets of today", number=version.number)


def sign(assistant: Assistant, *, author: User, note: str = "") -> None:
    """Say who made the version that a change of the row has just made."""
    current = Assistant.objects.values_list("version_id", flat=True).get(pk=assistant.pk)
    AssistantVersion.objects.filter(pk=current, author=None).update(author=author, note=note)


@contextmanager
def signed(author: User) -> Iterator[None]:
    """Say who makes the versions that come within it, whatever row is changed."""
    newest = AssistantVersion.objects.aggregate(newest=Max("pk"))["newest"] or 0
    yield
    AssistantVersion.objects.filter(pk__gt=newest, author=None).update(author=author)

"""Making, changing and deleting artifacts. Whose they are is the caller's to know: it hands over the rows.

Texts come in clean: as PostgreSQL can hold them, a title in one line.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from artifacts.models import Artifact, ArtifactVersion, Kind
from conversations.errors import OpenbookError
from conversations.models import Message, Reply, WebhookEvent
from conversations.runtime.wording import worded
from conversations.webhooks.outbox import tell

MAX_TITLE_CHARS = 200
MAX_VERSIONS = 1_000
STATUSES = {
    "version_conflict": 409,
    "artifact_deleted": 409,
    "too_many_versions": 409,
    "artifact_too_long": 413,
    "export_failed": 422,
    "export_no_table": 422,
    "export_too_large": 413,
    "export_too_long": 413,
}
"""Of errors, by code; the others' is 400."""


class ArtifactError(OpenbookError):
    """What can't be stored or exported, told so that the one who asked knows what to do."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.code, self.status = code, STATUSES.get(code, 400)
        self.type = "conflict" if self.status == 409 else "invalid_request"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """By whom and when a version is made: its provenance (F4)."""

    origin: ArtifactVersion.Origin
    at: datetime
    reply_id: uuid.UUID | None = None


@dataclass(frozen=True, kw_only=True)
class ArtifactDraft:
    """An artifact that is to be made, with the content of its version 1. ``preset`` made it, if one did, and it is shown after
    the turn at ``after_position``."""

    title: str
    kind: str
    content: str
    language: str = ""
    preset: str = ""
    after_position: int = 0


@dataclass(frozen=True, kw_only=True)
class SavedVersion:
    """``changed`` is false where the newest version says the same already: then nothing was stored."""

    artifact: Artifact
    version: ArtifactVersion
    created: bool = False
    changed: bool = True


@transaction.atomic
def create(draft: ArtifactDraft, *, thread_id: uuid.UUID, user_id: int, made: Provenance) -> SavedVersion:
    """A new artifact with its version 1. Raises ``ArtifactError``."""
    check_title(draft.title)
    check_kind(draft.kind)
    check_content(draft.content)
    artifact = Artifact.objects.create(
        thread_id=thread_id,
        user_id=user_id,
        title=draft.title,
        kind=draft.kind,
        language=draft.language,
        preset=draft.preset,
        after_position=draft.after_position,
        created_at=made.at,
        updated_at=made.at,
    )
    told = {"artifact": str(artifact.id), "thread": str(thread_id), "kind": draft.kind}
    tell(WebhookEvent.ARTIFACT_CREATED, about=user_id, data=told)
    return SavedVersion(artifact=artifact, version=_version(artifact, draft.content, made), created=True)


@transaction.atomic
def add_version(artifact: Artifact, *, content: str, made: Provenance) -> SavedVersion:
    """The next version of an artifact, which must not be deleted. Raises ``ArtifactError``."""
    check_content(content)
    artifact = _locked(artifact)
    newest = ArtifactVersion.objects.get(user=artifact.user_id, artifact=artifact, number=artifact.version)
    if newest.content == content:
        return SavedVersion(artifact=artifact, version=newest, changed=False)
    if artifact.version >= MAX_VERSIONS:
        raise ArtifactError(
            "too_many_versions",
            worded("An artifact has at most {most} versions. Make a new one.", most=MAX_VERSIONS),
            limit=MAX_VERSIONS,
        )
    artifact.version += 1
    artifact.updated_at = made.at
    Artifact.objects.filter(user=artifact.user_id, id=artifact.id).update(
        version=artifact.version, updated_at=artifact.updated_at
    )
    return SavedVersion(artifact=artifact, version=_version(artifact, content, made))


@transaction.atomic
def change(
    artifact: Artifact, *, made: Provenance, content: str | None = None, based_on: int | None = None, **labels: str
) -> None:
    """Other labels – ``title``, ``kind``, ``language`` –, another content, or both: all of it, or nothing.

    ``based_on`` is the version that the writer had in front of it; raises ``ArtifactError`` where there is a newer one,
    whatever is changed.
    """
    if "title" in labels:
        check_title(labels["title"])
    if "kind" in labels:
        check_kind(labels["kind"])
    artifact = _locked(artifact, based_on)
    if labels:
        Artifact.objects.filter(user=artifact.user_id, id=artifact.id).update(**labels)
    if content is not None:
        add_version(artifact, content=content, made=made)


def delete(artifact: Artifact, *, at: datetime) -> None:
    """It is out of sight and can be restored. The request that made it is open again (F5)."""
    Artifact.objects.filter(user=artifact.user_id, id=artifact.id, deleted_at=None).update(deleted_at=at)


def restore(artifact: Artifact) -> None:
    Artifact.objects.filter(user=artifact.user_id, id=artifact.id).update(deleted_at=None)


def standing_versions(user_id: int, artifact: OuterRef | uuid.UUID) -> QuerySet[ArtifactVersion]:
    """Those that no turn made which was left with its branch."""
    left = Message.objects.filter(
        Q(id=OuterRef("message_id")) | Q(reply=OuterRef("reply_id")),
        user=user_id,
        thread=OuterRef("thread_id"),
        is_active=False,
    )
    return ArtifactVersion.objects.filter(~Exists(left), user=user_id, artifact=artifact)


def on_path(user_id: int, artifacts: QuerySet[Artifact]) -> QuerySet[Artifact]:
    """Those of the user's that the active path of their thread made, or nobody in it."""
    return artifacts.filter(Exists(standing_versions(user_id, OuterRef("id"))))


def find_by_title(artifacts: QuerySet[Artifact], title: str) -> Artifact | None:
    """The newest of these with this title, whatever its case, that is not deleted."""
    return artifacts.filter(deleted_at=None, title__iexact=title).order_by("-updated_at").first()


def made_by(reply: Reply) -> Sequence[ArtifactVersion]:
    """The versions that a reply has made so far, oldest first."""
    versions = ArtifactVersion.objects.filter(user=reply.user_id, thread=reply.thread_id, reply=reply.id)
    versions = versions.filter(artifact__user=reply.user_id)
    return list(versions.select_related("artifact").order_by("id"))


def check_title(title: str) -> None:
    if not title:
        raise ArtifactError("title_missing", "Give the artifact a title.")
    if len(title) > MAX_TITLE_CHARS:
        words = worded("A title has at most {most} characters.", most=MAX_TITLE_CHARS)
        raise ArtifactError("title_too_long", words, limit=MAX_TITLE_CHARS)


def check_kind(kind: str) -> None:
    if kind not in Kind.values:
        raise ArtifactError("kind_unknown", worded("`kind` is one of {names}.", names=", ".join(Kind.values)))


def check_content(content: str) -> None:
    if not content.strip():
        raise ArtifactError("content_missing", "The artifact has no content.")
    if len(content) > settings.OPENBOOK_MAX_ARTIFACT_CHARS:
        raise ArtifactError(
            "artifact_too_long",
            worded(
                "The content has {length} characters; the limit is {most}. Shorten it or make several artifacts.",
                length=len(content),
                most=settings.OPENBOOK_MAX_ARTIFACT_CHARS,
            ),
            limit=settings.OPENBOOK_MAX_ARTIFACT_CHARS,
            length=len(content),
        )


def _locked(artifact: Artifact, based_on: int | None = None) -> Artifact:
    """As it is stored, kept from other writers until the end of the transaction."""
    stored = Artifact.objects.select_for_update(no_key=True).filter(user=artifact.user_id, id=artifact.id).first()
    if stored is None:  # its thread was deleted meanwhile
        raise ArtifactError("artifact_deleted", "The artifact has been deleted with its thread.")
    artifact = stored
    if artifact.deleted_at:
        raise ArtifactError("artifact_deleted", "The artifact has been deleted. Restore it first.")
    if based_on is not None and based_on != artifact.version:
        raise ArtifactError(
            "version_conflict",
            worded(
                "Version {version} was saved meanwhile. Look at it, then save again based on it; nothing was stored.",
                version=artifact.version,
            ),
            version=artifact.version,
        )
    return artifact


def _version(artifact: Artifact, content: str, made: Provenance) -> ArtifactVersion:
    return ArtifactVersion.objects.create(
        artifact=artifact,
        thread_id=artifact.thread_id,
        user_id=artifact.user_id,
        number=artifact.version,
        content=content,
        origin=made.origin,
        reply_id=made.reply_id,
        created_at=made.at,
    )

"""Artifacts and their versions as REST and events show them."""

from typing import Annotated, Any, NotRequired, TypedDict

from django.db.models import F, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from artifacts.models import Artifact, ArtifactVersion, Kind
from conversations.models import Message
from conversations.runtime.shapes import Id, Time, fill


class ArtifactNote(TypedDict):
    """An artifact as events tell of it."""

    id: Id
    title: str
    kind: str
    language: str
    version: int


class ArtifactAnswer(TypedDict):
    """An artifact as its newest version has it."""

    id: Annotated[Id, "Id of the artifact."]
    thread: Annotated[Id, "Id of the thread that it belongs to."]
    title: Annotated[str, "In one line."]
    kind: Annotated[str, Kind, "What it is."]
    language: Annotated[str, "Of code; else empty."]
    content: NotRequired[Annotated[str, "Left out of lists with `?content=false`."]]
    version: Annotated[int, "Number of the newest version: so many there are."]
    size: Annotated[int, "Characters of the content."]
    created_at: Annotated[Time, "Time of its first version."]
    updated_at: Annotated[Time, "Of the newest version."]
    deleted_at: Annotated[Time | None, "When it was deleted; null: it is not."]
    message: Annotated[Id | None, "The assistant turn that made this version, if one did."]
    reply: Annotated[Id | None, "The reply that made this version, if one did."]
    preset: Annotated[str, "The preset that made it; else empty."]
    after_position: Annotated[int, "Position of the newest turn when it was made."]
    origin: Annotated[str, ArtifactVersion.Origin, "Who made this version: the model, a person by hand, or a program."]


class VersionAnswer(TypedDict):
    """One version of an artifact; title and kind are those that the artifact has by now."""

    title: Annotated[str, "In one line."]
    kind: Annotated[str, Kind, "What it is."]
    content: NotRequired[Annotated[str, "Left out of lists with `?content=false`."]]
    version: Annotated[int, "Its number, from 1."]
    size: Annotated[int, "Characters of the content."]
    origin: Annotated[str, ArtifactVersion.Origin, "Who made it: the model, a person by hand, or a program."]
    created_at: Annotated[Time, "When it was made."]
    message: Annotated[Id | None, "The assistant turn that made it, if one did."]
    reply: Annotated[Id | None, "The reply that made it, if one did."]


def artifact_note(artifact: Artifact) -> ArtifactNote:
    return fill(ArtifactNote, artifact)


def artifact_rows(user_id: int, artifacts: QuerySet[Artifact], *, whole: bool = False) -> QuerySet[Any]:
    """Artifacts of a person with what their newest version says of itself, as ``artifact_object`` reads it."""
    newest = FilteredRelation("versions", condition=Q(versions__number=F("version"), versions__user=user_id))
    content = {"content": F("newest__content")} if whole else {}
    return (
        artifacts.filter(user=user_id)
        .annotate(newest=newest)
        .annotate(
            **content,
            size=F("newest__size"),
            origin=F("newest__origin"),
            reply=F("newest__reply"),
            message=_maker(user_id, "newest__message", "newest__reply"),
        )
    )


def artifact_object(row: Any, *, whole: bool = False) -> ArtifactAnswer:
    """Of a row of ``artifact_rows``, ``whole`` with its content."""
    content = {"content": row.content} if whole else {}
    return fill(ArtifactAnswer, row, thread=row.thread_id, **content)


def version_rows(
    user_id: int, versions: QuerySet[ArtifactVersion], *, whole: bool = False, any_path: bool = False
) -> QuerySet[Any]:
    """Versions of a person's artifacts with the turn that made them, as ``version_object`` reads them. ``any_path``: also where
    that is not on the active path."""
    mine = versions.filter(user=user_id, artifact__user=user_id).select_related("artifact")
    rows = mine.defer(*([] if whole else ["content"]))
    return rows.annotate(maker=_maker(user_id, "message_id", "reply_id", any_path=any_path))


def version_object(row: Any, *, whole: bool = False) -> VersionAnswer:
    """Of a row of ``version_rows``, ``whole`` with its content."""
    content = {"content": row.content} if whole else {}
    return fill(
        VersionAnswer,
        row,
        title=row.artifact.title,
        kind=row.artifact.kind,
        version=row.number,
        message=row.maker,
        reply=row.reply_id,
        **content,
    )


def _maker(user_id: int, message: str, reply: str, *, any_path: bool = False) -> Subquery:
    """The turn that made a version. One that was saved in the middle of a reply names only the reply, which names the turn."""
    turns = Message.objects.filter(
        Q(id=OuterRef(message)) | Q(reply=OuterRef(reply)),
        user=user_id,
        thread=OuterRef("thread"),
    )
    return Subquery((turns if any_path else turns.filter(is_active=True)).values("id")[:1])

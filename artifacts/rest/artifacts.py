"""Artifacts over REST: made by programs, changed by hand, deleted and restored."""

from typing import Annotated, Any, NotRequired, TypedDict

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from artifacts import services
from artifacts.models import Artifact, ArtifactVersion, Kind
from conversations import threads
from conversations.errors import ArtifactNotFound, VersionNotFound
from conversations.rest import conditional
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice, Switch
from conversations.rest.serializers import described, valid
from conversations.runtime import clock
from conversations.runtime.shapes import Clean, Line
from conversations.wire.artifacts import (
    ArtifactAnswer,
    VersionAnswer,
    artifact_object,
    artifact_rows,
    version_object,
    version_rows,
)
from memory.consolidation import invalidation

Language = Annotated[Line, {"max_length": 40}, "Of code: python, sql …"]
Content = Annotated[Clean, "1 to 500,000 characters, unless the operator set another limit."]
CONTENT = Switch("content", "`false`: without their contents.")
DELETED = Switch("deleted", "`true`: also one that is deleted.")


class NewArtifact(TypedDict):
    title: Annotated[Line, "At most 200 characters, in one line."]
    kind: Annotated[str, Kind, {"default": Kind.DOCUMENT}, "What it is; `document` unless it is said."]
    language: NotRequired[Language]
    content: Content


class ArtifactChange(TypedDict, total=False):
    title: Annotated[Line, "At most 200 characters, in one line."]
    kind: Annotated[str, Kind, "What it is."]
    language: Language
    content: Content
    version: Annotated[
        int,
        {"min_value": 1},
        "What the change is based on: where there is a newer one by now, it is refused with 409 `version_conflict`.",
    ]


class ArtifactList(APIView):
    pagination_class = ordered_by("-updated_at", "-id")
    deleted = Switch("deleted", "`true`: those that are deleted instead.")
    kind = Choice("kind", Kind.values, "Only those of this kind.")

    @describe(responses=described(ArtifactAnswer, many=True), parameters=[CONTENT, deleted, kind])
    def get(self, request: Request, thread_id: str) -> Response:
        """The artifacts of a thread, the one that was changed last first."""
        thread = threads.get(caller(request), thread_id)
        whole = CONTENT.read(request, default=True)
        mine = Artifact.objects.filter(
            user=thread.user_id, thread=thread, deleted_at__isnull=not self.deleted.read(request)
        )
        artifacts = services.on_path(thread.user_id, mine)
        if kind := self.kind.read(request):
            artifacts = artifacts.filter(kind=kind)
        rows = artifact_rows(thread.user_id, artifacts, whole=whole)
        return self.page(request, rows, lambda page: [artifact_object(row, whole=whole) for row in page])

    @describe(request=described(NewArtifact), responses={201: described(ArtifactAnswer)})
    def post(self, request: Request, thread_id: str) -> Response:
        """Add an artifact to a thread. An assistant turn not more than 5 seconds older counts as what made it."""
        thread = threads.get(caller(request), thread_id)
        values = valid(NewArtifact, request)
        with transaction.atomic():
            invalidation.lock(thread.user_id, thread.id)
            saved = services.create(
                services.ArtifactDraft(**values, after_position=thread.last_position),
                thread_id=thread.id,
                user_id=thread.user_id,
                made=_provenance(ArtifactVersion.Origin.PROGRAM),
            )
            invalidation.artifact_changed(saved.artifact)
        return Response(_whole(saved.artifact), status=201)


class ArtifactDetail(APIView):
    @describe(responses=described(ArtifactAnswer), parameters=[DELETED])
    def get(self, request: Request, artifact_id: str) -> Response:
        """One artifact as its newest version has it."""
        artifact = _artifact(request, artifact_id)
        return conditional.unless_known(request, conditional.of_artifact(artifact), lambda: _whole(artifact))

    @describe(request=described(ArtifactChange), responses=described(ArtifactAnswer))
    def patch(self, request: Request, artifact_id: str) -> Response:
        """Change an artifact. Another content makes the next version; the same one again makes none."""
        artifact = threads.artifact_of(caller(request), artifact_id, deleted=True)
        changes: dict[str, Any] = {**valid(ArtifactChange, request)}
        with transaction.atomic():
            conditional.demand_match(request, conditional.of_artifact(artifact, locked=True))
            services.change(
                artifact,
                made=_provenance(ArtifactVersion.Origin.HAND),
                based_on=changes.pop("version", None),
                **changes,
            )
        return conditional.tagged(Response(_whole(artifact)), conditional.of_artifact(artifact))

    @describe(responses={204: None})
    def delete(self, request: Request, artifact_id: str) -> Response:
        """Delete an artifact; it can be restored. One that is deleted already stays so."""
        artifact = threads.artifact_of(caller(request), artifact_id, deleted=True)
        with transaction.atomic():
            invalidation.lock(artifact.user_id, artifact.thread_id)
            conditional.demand_match(request, conditional.of_artifact(artifact, locked=True))
            services.delete(artifact, at=clock.now())
            invalidation.artifact_changed(artifact)
        return Response(status=204)


class ArtifactRestore(APIView):
    @describe(request=None, responses=described(ArtifactAnswer))
    def post(self, request: Request, artifact_id: str) -> Response:
        """Bring a deleted artifact back. One that is not deleted stays as it is."""
        artifact = threads.artifact_of(caller(request), artifact_id, deleted=True)
        with transaction.atomic():
            invalidation.lock(artifact.user_id, artifact.thread_id)
            services.restore(artifact)
            invalidation.artifact_changed(artifact)
        return Response(_whole(artifact))


class VersionList(APIView):
    pagination_class = ordered_by("-number")

    @describe(responses=described(VersionAnswer, many=True), parameters=[CONTENT, DELETED])
    def get(self, request: Request, artifact_id: str) -> Response:
        """The versions of an artifact, newest first."""
        whole = CONTENT.read(request, default=True)
        rows = version_rows(caller(request).pk, _artifact(request, artifact_id).versions.all(), whole=whole)
        return self.page(request, rows, lambda page: [version_object(row, whole=whole) for row in page])


class VersionDetail(APIView):
    @describe(responses=described(VersionAnswer), parameters=[DELETED])
    def get(self, request: Request, artifact_id: str, number: str) -> Response:
        """One version of an artifact, with its content."""
        versions = _artifact(request, artifact_id).versions.filter(number=version_number(number))
        version = version_rows(caller(request).pk, versions, whole=True).first()
        if version is None:
            raise VersionNotFound
        return Response(version_object(version, whole=True))


def _artifact(request: Request, artifact_id: str) -> Artifact:
    return threads.artifact_of(caller(request), artifact_id, deleted=DELETED.read(request))


def _whole(artifact: Artifact) -> ArtifactAnswer:
    """As it is stored by now."""
    row = artifact_rows(artifact.user_id, Artifact.objects.filter(id=artifact.id), whole=True).first()
    if row is None:
        raise ArtifactNotFound
    return artifact_object(row, whole=True)


def _provenance(origin: ArtifactVersion.Origin) -> services.Provenance:
    return services.Provenance(origin=origin, at=clock.now())


def version_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise VersionNotFound
    return int(text)

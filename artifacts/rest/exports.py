"""Artifacts and whole threads as files to keep."""

import asyncio
from functools import partial

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from artifacts.exporting import FORMATS
from artifacts.exporting.convert import export, is_quick
from artifacts.models import ArtifactVersion
from artifacts.rest.artifacts import version_number
from conversations import threads
from conversations.errors import VersionNotFound
from conversations.import_export.thread_folder import folder_name, zipped
from conversations.models import Scope
from conversations.rest import conditional
from conversations.rest.attachments import attached
from conversations.rest.base import AsyncAPIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.query_params import Choice, Parameter
from conversations.rest.streams import StreamedAnswer
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind


class ArtifactExport(AsyncAPIView):
    scopes = {"GET": Scope.EXPORT}

    form = Choice(
        "as",
        list(FORMATS),
        "`source` (default): the content as it is. `md`, `html`, `docx`, `pdf`: laid out as that. `xlsx`, `csv`: the tables of "
        "a table or document, in Excel a sheet each.",
    )
    version = Parameter("version", "Number of the version; else the newest.", type=OpenApiTypes.INT)

    @describe(responses={(200, "*/*"): OpenApiResponse(OpenApiTypes.BINARY, "The file.")}, parameters=[form, version])
    async def get(self, request: Request, artifact_id: str) -> HttpResponseBase:
        """An artifact as a file."""
        version = await in_database(self._version)(request, artifact_id)
        artifact = version.artifact
        tag = await in_database(conditional.of_artifact)(
            artifact, version.number, shown_as=request.get_full_path().partition("?")[2]
        )
        if conditional.is_known(request, tag):
            return conditional.not_modified(tag)
        as_ = request.query_params.get("as", "source")
        making = partial(
            export,
            title=artifact.title,
            kind=artifact.kind,
            language=artifact.language,
            content=version.content,
            as_=as_,
            ended_by=long_work.ended_by,
        )
        if is_quick(artifact.kind, as_):
            made = await asyncio.to_thread(making)
        else:
            made = await long_work.run(caller(request).pk, WorkKind.CONVERSION, making)
        return conditional.tagged(attached(HttpResponse(made.body, content_type=made.media_type), made.filename), tag)

    def _version(self, request: Request, artifact_id: str) -> ArtifactVersion:
        artifact = threads.artifact_of(caller(request), artifact_id)
        number = self.version.text(request)
        wanted = version_number(number) if number else artifact.version
        mine = artifact.versions.filter(user=artifact.user_id, artifact__user=artifact.user_id, number=wanted)
        version = mine.select_related("artifact").first()
        if version is None:
            raise VersionNotFound
        return version


class ThreadExport(AsyncAPIView):
    scopes = {"GET": Scope.EXPORT}

    @describe(responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The ZIP file.")})
    async def get(self, request: Request, thread_id: str) -> HttpResponseBase:
        """A thread as a ZIP file: the conversation as Markdown and as a document that `POST import/` takes, its artifacts."""
        thread = await in_database(threads.get)(caller(request), thread_id)
        work = await long_work.acquire(caller(request).pk, WorkKind.DOWNLOAD)
        response = StreamedAnswer(long_work.download(work, zipped(thread)), content_type="application/zip")
        return attached(response, f"{folder_name(thread)}.zip")

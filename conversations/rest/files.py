"""What people upload: taken in, looked at, taken along, deleted."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import PurePath
from typing import IO, Any

from django.contrib.auth.models import User
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import tasks
from conversations.files import drawing, given, of_projects, storage, store, thumbnails, uploads
from conversations.files.uploads import Upload
from conversations.holds import coverage
from conversations.models import File, Scope
from conversations.rest import conditional
from conversations.rest.attachments import asked_range, attached, streamed
from conversations.rest.base import APIView, AsyncAPIView, caller
from conversations.rest.deleted import RESPONSES, deleted
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Parameter
from conversations.rest.serializers import described, valid
from conversations.runtime.db import in_database
from conversations.threads import deletion, projects
from conversations.wire.files import (
    FileAnswer,
    FileChange,
    GivenAnswer,
    PartAnswer,
    PartTextAnswer,
    file_object,
    given_object,
    part_object,
    part_text_object,
)

EXECUTOR = ThreadPoolExecutor(max_workers=4, thread_name_prefix="files")
"""Apart from the database's: to copy a large file takes seconds."""

FORM = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary", "description": "The file, with its name."}},
        "required": ["file"],
    }
}


class FormParser(BaseParser):
    """A form with one file, as an ``Upload``."""

    media_type = "multipart/form-data"

    def parse(  # type: ignore[override]  # there are no other fields in it
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Upload:
        assert parser_context
        return uploads.read_form(stream, parser_context["request"].META)


class FileList(AsyncAPIView):
    part = Scope.FILES
    parser_classes = [FormParser]
    pagination_class = ordered_by("-id")
    of_project = Parameter("project", "Only those that were uploaded to this project: its id.")
    into_project = Parameter(
        "project", "Id of a project: all threads of it read the file, and it can be sent with none."
    )

    @describe(responses=described(FileAnswer, many=True), parameters=[of_project])
    def get(self, request: Request) -> Response:
        """The files of the caller, newest first."""
        files = store.listed(caller(request))
        if project := self.of_project.text(request):
            files = files.filter(project=projects.get(caller(request), project))
        return self.page(request, files, lambda page: [file_object(each) for each in page])

    @describe(request=FORM, responses={201: described(FileAnswer)}, parameters=[into_project])
    async def post(self, request: Request) -> Response:
        """Upload a file: a form with one file, in the field `file`. Several go up by as many calls, at the same time.

        It is read part by part from now on: ask for it again to see how far that is. One that is sent with no message goes
        after a day.
        """
        received = in_database(_received, executor=EXECUTOR)
        return Response(await received(request, caller(request), self.into_project.text(request)), status=201)


def _received(request: Request, user: User, project_id: str | None) -> FileAnswer:
    """In one thread, which has nothing left whoever stops waiting for it."""
    project = projects.project_of(user, project_id)  # before anything of the body is kept
    upload: Any = request.data
    if not isinstance(upload, Upload):
        raise uploads.no_file()  # DRF parses no body that is empty
    try:
        return file_object(uploads.receive(user, upload, project=project, enqueue=tasks.enqueue_reading))
    finally:
        upload.path.unlink(missing_ok=True)


class FileDetail(APIView):
    part = Scope.FILES

    @describe(responses=described(FileAnswer))
    def get(self, request: Request, file_id: str) -> Response:
        """One file, and how far its reading is."""
        return Response(file_object(store.get(caller(request), file_id)))

    @describe(request=described(FileChange), responses=described(FileAnswer))
    def patch(self, request: Request, file_id: str) -> Response:
        """Move a file into a project, whose threads read it from their next message on; those of another one no longer do.

        One that a message was sent with stays in its thread: 409 `file_elsewhere`.
        """
        file = store.get(caller(request), file_id)
        of_projects.move(file, projects.get(caller(request), valid(FileChange, request)["project"]))
        return Response(file_object(file))

    @describe(responses=RESPONSES)
    def delete(self, request: Request, file_id: str) -> Response:
        """Delete a file with its parts, for good, and the replies that quote it because their model searched for it.

        While a reply of yours is running, it is refused with 409 `reply_in_progress`, unless the file is in no message and no
        project yet. 200 in place of 204 tells what a legal hold keeps of it.
        """
        file = store.get(caller(request), file_id)
        threads = [file.thread_id] if file.thread_id else []
        held = coverage.notice(file.user_id, threads=threads, project=file.project_id)
        deletion.delete_file(file)
        return deleted(held)


class FileContent(AsyncAPIView):
    part = Scope.FILES
    scopes = {"GET": Scope.EXPORT}

    @describe(
        responses={
            (200, "*/*"): OpenApiResponse(OpenApiTypes.BINARY, "The file as it was uploaded."),
            (206, "*/*"): OpenApiResponse(OpenApiTypes.BINARY, "One range of it, with `Range: bytes=…`."),
        }
    )
    async def get(self, request: Request, file_id: str) -> HttpResponseBase:
        """The bytes of a file, as they were uploaded."""
        file, source = await in_database(_opened)(caller(request), file_id)
        asked = asked_range(request, file.size)
        return attached(stream_file(source, asked, size=file.size, media_type=file.media_type), file.name)


class PartList(APIView):
    part = Scope.FILES
    pagination_class = ordered_by("number")

    @describe(responses=described(PartAnswer, many=True))
    def get(self, request: Request, file_id: str) -> Response:
        """The parts of a file without their texts, in its order; while it is read, those that there are by now."""
        parts = store.parts_of(store.get(caller(request), file_id)).defer("text")
        return self.page(request, parts, lambda page: [part_object(each) for each in page])


class PartDetail(APIView):
    part = Scope.FILES

    @describe(responses=described(PartTextAnswer))
    def get(self, request: Request, file_id: str, number: str) -> Response:
        """One part of a file with its text."""
        return Response(part_text_object(store.part_of(store.get(caller(request), file_id), number)))


class Given(APIView):
    part = Scope.FILES

    @describe(responses=described(GivenAnswer))
    def get(self, request: Request, file_id: str) -> Response:
        """Which parts of a file each reply was given, and why not the others, as it was recorded."""
        return Response(given_object(given.in_replies(store.get(caller(request), file_id))))


class PartPicture(AsyncAPIView):
    part = Scope.FILES

    @describe(
        responses={
            (200, "image/png"): OpenApiResponse(OpenApiTypes.BINARY, "The picture."),
            (200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, "The picture."),
        }
    )
    async def get(self, request: Request, file_id: str, number: str) -> HttpResponseBase:
        """The picture of a part: the image without what it told of place and camera, or a page that has no text."""
        place = await in_database(_place_of_part)(caller(request), file_id, number)
        return await _picture_at(request, place, number)


class Thumbnail(AsyncAPIView):
    part = Scope.FILES

    @describe(responses={(200, "image/webp"): OpenApiResponse(OpenApiTypes.BINARY, "The picture.")})
    async def get(self, request: Request, file_id: str) -> HttpResponseBase:
        """A small picture of an image, or of the first page of a PDF: its longest side has 400 pixels."""
        file = await in_database(store.get)(caller(request), file_id)
        async with drawing.turn_of(file.user_id):
            place = await in_database(thumbnails.place_of, executor=drawing.EXECUTOR)(file)
        return await _picture_at(request, place, "thumbnail")


class PagePicture(AsyncAPIView):
    part = Scope.FILES

    @describe(responses={(200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, "The picture.")})
    async def get(self, request: Request, file_id: str, number: str) -> HttpResponseBase:
        """A page of a PDF as a picture: its longest side has 1,568 pixels. It is drawn when it is asked for."""
        file = await in_database(store.get)(caller(request), file_id)
        page = drawing.check_page(file, number)
        tag = _tag(bytes(file.sha256), page)
        if conditional.is_known(request, tag):
            return conditional.not_modified(tag)
        picture = await drawing.page_picture(file, page)
        answer = HttpResponse(picture, content_type=_media_type(picture))
        return conditional.tagged(attached(answer, f"page-{page}.jpg", inline=True), tag)


def _opened(user: User, file_id: str) -> tuple[File, IO[bytes]]:
    file = store.get(user, file_id)
    return file, storage.open_bytes(file.place)


def _place_of_part(user: User, file_id: str, number: str) -> str:
    return store.picture_of(store.part_of(store.get(user, file_id), number))


async def _picture_at(request: Request, place: str, name: str) -> HttpResponseBase:
    """What lies at a place never changes."""
    tag = _tag(place)
    if conditional.is_known(request, tag):
        return conditional.not_modified(tag)
    source, size, media_type = await in_database(opened_picture)(place)
    answer = stream_file(source, None, size=size, media_type=media_type)
    named = f"{PurePath(name).name}.{media_type.rpartition('/')[2]}"
    return conditional.tagged(attached(answer, named, inline=True), tag)


def opened_picture(place: str) -> tuple[IO[bytes], int, str]:
    """The file, its size and its media type."""
    source = storage.open_bytes(place)
    media_type = _media_type(source.read(4))
    return source, source.seek(0, 2), media_type


def _media_type(start: bytes) -> str:
    """Of a picture that we made, by its first four bytes."""
    return {b"\x89PNG": "image/png", b"RIFF": "image/webp"}.get(start[:4], "image/jpeg")


def _tag(*content: object) -> str:
    return f'"{hashlib.sha256(repr(content).encode()).hexdigest()[:32]}"'


stream_file = partial(streamed, run=lambda step: in_database(step, executor=EXECUTOR)())

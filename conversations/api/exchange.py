"""Threads, artifacts and memories in and out as one document."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api import serializers
from conversations.api.base import AsyncAPIView, caller
from conversations.db import in_database
from conversations.errors import ImportTooLarge, InvalidImport
from conversations.exchange.reading import read_book
from conversations.exchange.storing import store
from conversations.exchange.writing import export
from conversations.models import Scope

IDS = {"keep": False, "new": True}


class BookParser(BaseParser):
    """JSON that may be far larger than a message. No ``JSONParser``: those are given no more than Django's own limit."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        most: int = settings.OPENBOOK_MAX_IMPORT_MB * 2**20
        body = stream.read(most + 1)
        if len(body) > most:
            raise ImportTooLarge(
                f"The document is too large; the limit is {settings.OPENBOOK_MAX_IMPORT_MB} MiB. Nothing was imported: send "
                "it as several documents, each with some of its threads.",
                limit=most,
            )
        return JSONParser().parse(io.BytesIO(body), media_type, parser_context)


class Import(AsyncAPIView):
    parser_classes = [BookParser]

    @extend_schema(
        request=serializers.Book,
        responses={201: serializers.ImportAnswer},
        parameters=[
            OpenApiParameter(
                "ids",
                OpenApiTypes.STR,
                enum=list(IDS),
                description="`keep` (default): ids that are given are kept, and one that exists already is refused with "
                "409 `already_exists`. `new`: everything gets a new id, so that copies can be made.",
            )
        ],
    )
    async def post(self, request: Request) -> Response:
        """Import threads, artifacts, memories, all or nothing. Errors name their place, `threads[3].messages[17].content`."""
        return Response(await in_database(self._store)(request), status=201)

    def _store(self, request: Request) -> dict[str, object]:
        user = caller(request)
        ids = request.query_params.get("ids", "keep")
        if ids not in IDS:
            raise InvalidImport(f"`ids` must be one of: {', '.join(IDS)}.", place="ids")
        book = read_book(request.data, user_id=user.id, now=timezone.now(), new_ids=IDS[ids])
        threads = [{"id": thread.id, "message_count": thread.message_count} for thread in store(user=user, book=book)]
        return {"threads": threads, "memories": len(book.memories)}


class Export(AsyncAPIView):
    scopes = {"GET": Scope.EXPORT}

    @extend_schema(responses=serializers.Book)
    async def get(self, request: Request) -> HttpResponseBase:
        """Everything of the caller in the format that `POST import/` takes: threads oldest first, artifacts, memories."""
        response = StreamingHttpResponse(export(caller(request)), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="openbook-{timezone.now():%Y-%m-%d}.json"'
        response["Cache-Control"] = "no-store"
        response["X-Accel-Buffering"] = "no"
        return response

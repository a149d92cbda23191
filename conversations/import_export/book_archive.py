"""Everything of a user as a ZIP file: the document, and the bytes of the files that it tells of."""

from collections.abc import AsyncIterator

from django.contrib.auth.models import User
from django.db.models import Q

from conversations.import_export.document_files import add_files
from conversations.import_export.document_writer import export
from conversations.import_export.zip_stream import Zip
from conversations.models import File
from conversations.runtime import clock

DOCUMENT = "conversations.json"


async def archived(user: User) -> AsyncIterator[bytes]:
    """``conversations.json`` and ``files/``, of any length."""
    archive = Zip()
    async for piece in archive.file(DOCUMENT, clock.now(), export(user, with_bytes=True), may_be_huge=True):
        yield piece
    async for piece in add_files(
        archive, "", File.objects.filter(Q(thread__isnull=False) | Q(project__isnull=False), user=user)
    ):
        yield piece
    yield archive.end()

"""What can't be stored in an import over REST: it ends with 201 or a refusal that names the place, and never in halves."""

import os
from itertools import islice

import pytest
from django.contrib.auth.models import User

from conversations.models import Message, Thread
from memory.models import Memory, ThreadSummary, Topic
from tests.conversations.import_export.test_unstorable import BOOKS, renamed, uploads
from tests.conversations.import_export.test_uploads import packed
from tests.conversations.rest.client import Api, ApiResponse

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


EACH = 3 if "OPENBOOK_TEST_EXAMPLES" in os.environ else 11
"""Every so-many-th upload is sent; the reader is given all of them without a database."""


async def counts() -> list[int]:
    return [await table._default_manager.acount() for table in (Thread, Message, Memory, Topic, ThreadSummary)]


async def ends_well(answer: ApiResponse, before: list[int]) -> bool:
    """Whether it was imported. What was refused left nothing."""
    if answer.status == 201:
        return True
    assert answer.code == (400, "invalid_request", "invalid_import"), answer.body
    assert answer.refusal[1]["details"]["place"]
    assert await counts() == before
    return False


@pytest.mark.wide
@pytest.mark.parametrize("product", BOOKS)
async def test_an_upload_with_what_cannot_be_stored_is_imported_clean_or_refused_whole(
    user: User, api: Api, product: str
) -> None:
    ended = []
    for upload in islice(uploads(BOOKS[product]), 0, None, EACH):
        before = await counts()
        ended.append(await ends_well(await api.send("POST", "import/?ids=new", upload), before))
    assert sum(ended) > 60 / EACH


async def test_an_archive_whose_names_are_no_text_is_refused(user: User, api: Api) -> None:
    answer = await api.send("POST", "import/", renamed(b"\xed\xa0\x80"), "application/zip")
    assert answer.code == (400, "invalid_request", "invalid_import")


async def test_an_archive_names_the_place_in_a_member_of_any_name(user: User, api: Api) -> None:
    wrong = b'{"format": "openbook/1", "threads": [{"messages": "\\ud800"}]}'
    upload = packed({"\x01\u202eé/conversations.json": wrong, "b/conversations.json": b'{"format": "openbook/1"}'})
    answer = await api.send("POST", "import/", upload, "application/zip")
    assert (answer.status, answer.refusal[1]["details"]) == (
        400,
        {"place": "\x01\u202eé/conversations.json: threads[0].messages"},
    )

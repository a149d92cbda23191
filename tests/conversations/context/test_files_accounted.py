"""Whatever files come, in whichever turns and rooms: each part of each file stands in the record once, and in the API's."""

import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings as DjangoSettings

from conversations.context.files.excerpts import read_ranges
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.snapshot_shapes import FileInRequestAnswer
from conversations.models import Assistant, ContextSnapshot, File, FilePart, Reply, text_blocks
from conversations.replies import opening
from conversations.replies.user_content import NewMessage
from tests.conversations.factories import make_file, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.wide]

WORDS = ["orchid", "ferry", "lease", "harbour", "bicycle"]
STORIES = settings(suppress_health_check=[*HealthCheck])
STORIES = settings(STORIES, max_examples=max(STORIES.max_examples // 2, 10))

type Part = tuple[str, int]
"""A file's id, and the number of a part of it."""


@dataclass(frozen=True)
class Message:
    """A message, the parts of the files that it brings, the room for files then, and which earlier file is gone by then."""

    text: str
    files: Sequence[Sequence[str]]
    room: int
    deleted: int | None


PART = st.builds(
    lambda words, length: " ".join([*words, "Nothing else of any interest happened that quarter."] * length),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.integers(0, 120),
)
MESSAGES = st.lists(
    st.builds(
        Message,
        text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
        files=st.lists(st.lists(PART, max_size=12), max_size=3),
        room=st.sampled_from([0, 300, 2_000, 9_000, 24_000]),
        deleted=st.none() | st.integers(0, 5),
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(autouse=True)
def _folder(settings: DjangoSettings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


@given(MESSAGES)
@STORIES
def test_each_part_of_each_file_is_accounted_for_once(messages: Sequence[Message]) -> None:
    with transaction.atomic():
        user = make_user(f"reader-{uuid.uuid4().hex[:12]}")
        thread: uuid.UUID | None = None
        seen: list[File] = []
        for message in messages:
            if message.deleted is not None and message.deleted < len(seen):
                seen.pop(message.deleted).delete()
            Assistant.objects.filter(slug="companion").update(file_tokens=message.room)
            files = [make_file(user, parts=parts, state=File.State.READY) for parts in message.files]
            seen += files
            opened = opening.open_turn(
                NewMessage(
                    user=user, thread_id=thread, blocks=text_blocks(message.text), files=[file.id for file in files]
                )
            )
            thread = opened.thread.id
            Reply.objects.filter(id=opened.reply.id).update(status=Reply.Status.COMPLETED, ended_at=timezone.now())
            snapshot = ContextSnapshot.objects.get(reply=opened.reply)
            parts = FilePart.objects.filter(file__in=seen).values_list("file_id", "number")
            wanted = {(str(file), number) for file, number in parts}
            assert snapshots.proof(snapshot)
            assert Counter(told(snapshot_api.body(snapshot)["files"])) == Counter(dict.fromkeys(wanted, 1))
        transaction.set_rollback(True)


def told(files: Sequence[FileInRequestAnswer]) -> Iterator[Part]:
    for file in files:
        rows = [*file["given"], *file["left_out"]]
        numbers = [number for row in rows for number in read_ranges(row["parts"])]
        assert file["parts"] == len(numbers)
        yield from ((file["id"], number) for number in numbers)

"""Which parts of a file each reply was given, as it was recorded before the model was called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from conversations.context.files.account import answer, given_parts
from conversations.context.files.excerpts import write_ranges
from conversations.context.files.part_words import PartName, part_words
from conversations.context.files.unread import ALL, unread
from conversations.context.record.snapshot_shapes import FileLeftOutAnswer
from conversations.files import store
from conversations.models import ContextSnapshot, File, Message, TurnFile
from conversations.runtime.text import one_line, shortened

MOST = 200
"""Of the newest replies."""
QUESTION_CHARACTERS = 100


@dataclass(frozen=True, kw_only=True)
class FileInReply:
    """``question`` is the beginning of the message that was answered, ``given`` the numbers of the parts as ranges, and
    ``words`` what they are called."""

    turn: Message
    question: str
    request: ContextSnapshot
    given: str
    words: str
    left_out: Sequence[FileLeftOutAnswer]


def in_replies(file: File) -> list[FileInReply]:
    """The replies of the file's thread, or of those that it stands in, that the chat shows, newest first, by the last request
    of each."""
    said, here = Message.objects.filter(user=file.user_id), [file.thread_id]
    if file.project_id:
        here = list(TurnFile.objects.filter(user=file.user_id, file=file).values_list("thread", flat=True).distinct())
    turns = list(
        said.filter(thread__in=here, role=Message.Role.ASSISTANT, is_active=True, reply__isnull=False)
        .only("id", "position", "created_at", "reply_id", "parent_id")
        .prefetch_related(Prefetch("parent", said.only("id", "text", "role")))
        .order_by("-created_at", "-position")[:MOST]
    )
    recorded = ContextSnapshot.objects.filter(
        user=file.user_id,
        reply__in=[turn.reply_id for turn in turns],
        purpose=ContextSnapshot.Purpose.REPLY,
        files__isnull=False,
    )
    requests = {request.reply_id: request for request in recorded.only("id", "reply_id", "files").order_by("round")}
    parts = store.parts_of(file).values_list("number", "page", "label") if requests else ()
    names = {number: PartName(page, label) for number, page, label in parts}
    return [
        each
        for turn in turns
        if (request := requests.get(turn.reply_id)) and (each := _in_reply(file, turn, request, names))
    ]


def _in_reply(file: File, turn: Message, request: ContextSnapshot, names: Mapping[int, PartName]) -> FileInReply | None:
    """``None`` where the file was no part of the thread yet."""
    fate = next((each for each in answer(request.files, {}) if each["id"] == str(file.id)), None)
    if fate is None:
        return None
    missing = unread(file.left_out, file.error)
    numbers = sorted(number for id, number in given_parts(request.files) if id == str(file.id))
    return FileInReply(
        turn=turn,
        question=_question(turn),
        request=request,
        given=write_ranges(numbers),
        words=(part_words(file.kind, numbers, names, parts=len(names), unread=missing) or ALL) if numbers else "",
        left_out=fate["left_out"],
    )


def _question(turn: Message) -> str:
    asked = turn.parent.text if turn.parent and turn.parent.role == Message.Role.USER else ""
    return shortened(one_line(asked), QUESTION_CHARACTERS)

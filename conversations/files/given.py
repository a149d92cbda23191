"""Which parts of a file each reply was given, as it was recorded before the model was called."""

from dataclasses import dataclass

from conversations.context.file_account import answer
from conversations.context.snapshot_shapes import FileInRequestAnswer
from conversations.models import ContextSnapshot, File, Message
from conversations.runtime.text import one_line, shortened

MOST = 200
"""Of the newest replies."""
QUESTION_CHARACTERS = 100


@dataclass(frozen=True, kw_only=True)
class FileInReply:
    """``fate`` tells of each part of the file once. ``question`` is the beginning of the message that was answered."""

    turn: Message
    question: str
    request: ContextSnapshot
    fate: FileInRequestAnswer


def in_replies(file: File) -> list[FileInReply]:
    """The replies of the file's thread that the chat shows, newest first, by the last request of each."""
    turns = list(
        Message.objects.filter(thread=file.thread_id, role=Message.Role.ASSISTANT, is_active=True, reply__isnull=False)
        .select_related("parent")
        .only("id", "position", "created_at", "reply_id", "parent__text", "parent__role")
        .order_by("-position")[:MOST]
    )
    recorded = ContextSnapshot.objects.filter(
        reply__in=[turn.reply_id for turn in turns], purpose=ContextSnapshot.Purpose.REPLY, files__isnull=False
    )
    requests = {request.reply_id: request for request in recorded.only("id", "reply_id", "files").order_by("round")}
    return [
        FileInReply(turn=turn, question=_question(turn), request=request, fate=fate)
        for turn in turns
        if (request := requests.get(turn.reply_id))
        for fate in answer(request.files, {})
        if fate["id"] == str(file.id)
    ]


def _question(turn: Message) -> str:
    asked = turn.parent.text if turn.parent and turn.parent.role == Message.Role.USER else ""
    return shortened(one_line(asked), QUESTION_CHARACTERS)

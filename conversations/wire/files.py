"""Files and their parts as REST shows them."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from conversations.context.files.unread import unread
from conversations.context.record.snapshot_shapes import FileLeftOutAnswer, UnreadAnswer
from conversations.errors import ErrorObject
from conversations.files.given import FileInReply
from conversations.models import File, FilePart
from conversations.runtime.shapes import Id, Time, fill


class FileAnswer(TypedDict):
    id: Annotated[Id, "Id of the file."]
    name: Annotated[str, "As you called it, in one line, without folders."]
    kind: Annotated[
        str,
        "What it is by its content: `image`, `pdf`, `document`, `sheet`, `slides`, `book`, `page` (HTML), `mail` or `text`.",
    ]
    media_type: Annotated[str, "What it is by its content, such as `application/pdf`."]
    bytes: Annotated[int, "Its size."]
    picture_bytes: Annotated[
        int, "What the pictures of its parts take beside it; both count for `files_used` of `limits/`."
    ]
    status: Annotated[
        str,
        File.State,
        "`reading` comes first and needs nobody to wait; `failed`: nothing of it could be read, and `error` says why.",
    ]
    error: Annotated[
        ErrorObject | None, "Why it could not be read or, where it is `ready`, what of it is missing; else null."
    ]
    left_out: Annotated[
        list[UnreadAnswer],
        "What it holds and none of its parts does, whether it was hidden, damaged or of a kind not read.",
    ]
    title: Annotated[str, "As the file itself has it; may be empty."]
    pages: Annotated[int | None, "Pages, slides or sheets that it has; null: not known (yet)."]
    pages_read: Annotated[int, "So many of them are read."]
    parts: Annotated[int, "Parts that are read; `GET files/{id}/parts/` lists them."]
    tokens: Annotated[int, "Estimated tokens of their texts."]
    thread: Annotated[
        Id | None,
        "The thread that it belongs to; null: it was in no message yet, and goes after a day, "
        "unless it is of a project.",
    ]
    project: Annotated[Id | None, "The project that it was uploaded to, for all threads of it; null: to none."]
    created_at: Annotated[Time, "When it was uploaded."]


class FileChange(TypedDict):
    project: Annotated[Id, "The project that it is moved into."]


class PartAnswer(TypedDict):
    """A page, a slide, some rows of a sheet or a section."""

    number: Annotated[int, "Its place in the file, from 1."]
    label: Annotated[str, 'Such as `page 3`, `sheet "Q2", rows 2–60` or `section "Costs"`; no two parts share one.']
    heading: Annotated[str, "That it stands under; may be empty."]
    page: Annotated[int | None, "The page, slide or sheet that it is of, from 1."]
    tokens: Annotated[int, "Estimated tokens of its text."]
    picture: Annotated[bool, "Whether it has a picture: the image itself, or a page without text."]
    width: Annotated[int | None, "Of the picture, in pixels."]
    height: Annotated[int | None, "Of the picture, in pixels."]


class PartTextAnswer(PartAnswer):
    text: Annotated[str, "Markdown; empty where there is only a picture."]


class FileInReplyAnswer(TypedDict):
    """Every part of the file once: given to the model for the reply, or left out."""

    reply: Annotated[Id, "Id of the reply."]
    request: Annotated[Id, "Its last model request; read it at `GET requests/{id}/`."]
    position: Annotated[int, "The place of its turn in the thread, from 1."]
    created_at: Annotated[Time, "When its turn was stored."]
    question: Annotated[str, "The beginning of the message that it answers; may be empty."]
    given: Annotated[str, "Numbers of the parts that it was given, such as `1-3, 7`; empty: none."]
    words: Annotated[
        str,
        "What these are called, such as `pages 3, 7–9` or `all of it`; `all that could be read`: all parts, but the file "
        "holds more; empty: none.",
    ]
    left_out: Annotated[list[FileLeftOutAnswer], "The others, by reason."]


class GivenAnswer(TypedDict):
    replies: Annotated[list[FileInReplyAnswer], "The newest 200 that the chat shows, newest first."]


def file_object(file: File) -> FileAnswer:
    return fill(
        FileAnswer,
        file,
        bytes=file.size,
        status=file.state,
        left_out=unread(file.left_out),
        pages=file.pages_total,
        parts=file.parts_read,
        tokens=file.token_count,
        thread=file.thread_id,
        project=file.project_id,
    )


def part_object(part: FilePart) -> PartAnswer:
    return fill(PartAnswer, part, tokens=part.token_count, picture=bool(part.picture))


def part_text_object(part: FilePart) -> PartTextAnswer:
    return fill(PartTextAnswer, part, tokens=part.token_count, picture=bool(part.picture))


def given_object(replies: Sequence[FileInReply]) -> GivenAnswer:
    return {
        "replies": [
            fill(
                FileInReplyAnswer,
                each.turn,
                reply=each.turn.reply_id,
                request=each.request.id,
                question=each.question,
                given=each.given,
                words=each.words,
                left_out=list(each.left_out),
            )
            for each in replies
        ]
    }

"""What files would take of a request that are not stored: they are read, counted and gone again."""

import secrets
from collections.abc import Sequence
from contextlib import closing, suppress

from artifacts.reading.kinds import detect
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Limits, Part, read
from conversations.context.built_context import Context
from conversations.context.choose.files import picture_counter
from conversations.context.choose.thread import form_for, room_for_files
from conversations.context.files.excerpts import FileOutline, PartOutline, choose
from conversations.context.files.thread_files import PictureCounter
from conversations.context.tokens.budget import in_tokens
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.turns.groups import FILE
from conversations.files import storage
from conversations.models import Assistant
from conversations.rest.message_files import NOT_TAKEN, SentFile
from conversations.runtime.ids import uuid7
from conversations.runtime.text import clean

LIMITS = Limits(seconds=20, cpu_seconds=20)
"""Whoever asks for a number waits for it; of a file that takes longer, what was read by then counts."""


def tokens_of_unstored(
    files: Sequence[SentFile], context: Context, assistant: Assistant, *, leaves_out: bool = False
) -> int:
    """Of the model. As much of the files counts as would be given of them; of a large one, its beginning. Raises as
    ``SentFile.written`` does, unless it ``leaves_out`` what can't be taken."""
    unstored = [file for file in files if not file.id]
    if not unstored:
        return 0
    assert context.material
    factor, form = context.factor, form_for(context.material, is_readable=False)
    pictures = picture_counter(context.material.facts, form)
    room = room_for_files(in_tokens(assistant, context.origin.window), context.origin) // 2
    outlines: list[FileOutline] = []
    for file in unstored:
        with suppress(*(NOT_TAKEN if leaves_out else ())):
            outlines.append(_outline(str(len(outlines)), file, pictures))
    excerpts = choose(outlines, [], {}, factor.to_estimate(room))
    return factor.of_estimate(sum(excerpt.tokens for excerpt in excerpts))


def named_blocks(files: Sequence[SentFile]) -> list[dict[str, str]]:
    """As a turn would name them if they were stored: what a thread with files is given beside them counts, too."""
    return [{"type": FILE, "file": str(uuid7()), "name": file.name} for file in files if not file.id]


def _outline(id: str, file: SentFile, pictures: PictureCounter) -> FileOutline:
    upload = file.written()
    parts: list[PartOutline] = []
    try:
        with storage.scratch(f"count-{secrets.token_hex(8)}") as folder, suppress(FileProblem):
            found = read(upload.path, detect(upload.path, upload.name), folder=folder, limits=LIMITS)
            with closing(found):
                parts.extend(_part(each, pictures) for each in found if isinstance(each, Part))
    finally:
        upload.path.unlink(missing_ok=True)
    return FileOutline(id=id, name=upload.name, kind="", parts=parts)


def _part(part: Part, pictures: PictureCounter) -> PartOutline:
    tokens = estimate_tokens(clean(part.text)) + pictures.tokens(part.width or 0, part.height or 0)
    return PartOutline(number=part.number, label=part.label, heading=part.heading, tokens=tokens)

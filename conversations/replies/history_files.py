"""Files of turns that came about elsewhere, placed as if they had been sent here."""

import uuid
from collections.abc import Sequence

from django.contrib.auth.models import User

from conversations.context.files.excerpts import choose
from conversations.context.files.thread_files import PictureCounter, named_files
from conversations.context.gather.files import read_outlines
from conversations.context.tokens.factor import PLAIN
from conversations.models import Assistant, File, Message, TurnFile

PICTURES = PictureCounter(are_seen=True, factor=PLAIN)


def claim(user: User, ids: Sequence[uuid.UUID], thread_id: uuid.UUID) -> None:
    """From now on they belong to the thread."""
    File.objects.filter(user=user, id__in=ids, thread=None).update(thread=thread_id)


def place(user_id: int, thread_id: uuid.UUID, assistant: Assistant) -> None:
    """What stands in each turn of the thread of the files that it brings, where nothing does yet: small ones whole, of larger
    ones the beginning; later messages bring what bears on them."""
    known = set(TurnFile.objects.filter(user=user_id, thread=thread_id).values_list("position", flat=True))
    turns = Message.objects.filter(user=user_id, thread=thread_id, role=Message.Role.USER).exclude(position__in=known)
    named = {turn.position: ids for turn in turns if (ids := named_files(turn.blocks))}
    outlines = read_outlines(user_id, {id for ids in named.values() for id in ids}, PICTURES)
    TurnFile.objects.bulk_create(
        TurnFile(
            thread_id=thread_id,
            user_id=user_id,
            position=position,
            place=number,
            file_id=excerpt.file.id,
            numbers=list(excerpt.numbers),
            outlined=excerpt.outlined,
        )
        for position, ids in named.items()
        for number, excerpt in enumerate(
            choose([outlines[id] for id in ids if id in outlines], [], {}, assistant.file_tokens // 2)
        )
    )

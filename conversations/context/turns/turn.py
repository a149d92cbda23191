"""A turn of a thread, as all that builds and tells of a context needs it."""

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from conversations.context.files.excerpts import FileExcerpt
from conversations.context.files.results import NO_RESULTS, Results
from conversations.context.turns.groups import Block
from conversations.models import Message, text_blocks
from conversations.runtime.values import dataclass

IN_BLOCKS = "[blocks] "
"""Stands before the JSON of what stands in for a turn that calls tools, or holds what they gave."""


def stand_in(blocks: Sequence[Block]) -> str:
    return IN_BLOCKS + json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))


def standing_in(text: str) -> list[Block]:
    """The content that stands in for a turn which could not fit."""
    return json.loads(text.removeprefix(IN_BLOCKS)) if text.startswith(f"{IN_BLOCKS}[{{") else text_blocks(text)


@dataclass(kw_only=True, slots=True)  # not frozen: that would make 80 of them three times as dear
class Turn:
    """A stored turn as the context needs it. ``shortened`` is the text that stands in for it where it could not fit.

    ``token_count`` are estimated tokens. Where the provider has counted the turn they stand for what it ``counted``, in tokens
    of the model; else that is 0. ``files`` are what stands of files in it, beside ``token_count``, ``file_blocks`` what is
    sent of them before the person's own words, and ``results`` in the place of results that name parts.
    """

    position: int
    depth: int
    role: str
    content: list[dict[str, Any]]
    token_count: int
    id: uuid.UUID | None = None
    created_at: datetime | None = None
    reply: uuid.UUID | None = None
    status: str = Message.Status.COMPLETE.value
    offline: bool = False
    shortened: str = ""
    counted: int = 0
    files: Sequence[FileExcerpt] = ()
    file_blocks: Sequence[Block] = ()
    results: Results = NO_RESULTS

    @property
    def file_tokens(self) -> int:
        return sum(excerpt.tokens for excerpt in self.files) if self.files else 0

    @classmethod
    def of(cls, message: Message) -> "Turn":
        return cls(
            id=message.id,
            position=message.position,
            depth=message.depth,
            role=message.role,
            content=message.blocks,
            token_count=message.token_count,
            created_at=message.created_at,
            reply=message.reply_id,
            status=message.status,
            offline=message.offline,
        )

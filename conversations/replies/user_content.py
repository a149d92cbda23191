"""What a user may send."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from conversations.context.tokens.estimate import text_of
from conversations.errors import InvalidMessage, MessageTooLong
from conversations.models import text_blocks
from conversations.runtime.text import clean
from conversations.runtime.wording import worded

MAX_CLIENT_ID_CHARS = 100


MOST_FILES = 20
"""Of one message."""


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """What a user sends, checked.

    ``thread_id`` ``None`` opens a thread; no other id ever does (T5). ``model`` is one that can be chosen for the assistant,
    for this message alone, ``thread_model`` the one that answers in a thread that this opens, ``project`` the
    one that this thread is opened in, ``temporary`` whether it goes when it is closed. ``edits`` is the id of the message that
    this is another version of.
    """

    user: User
    thread_id: uuid.UUID | str | None
    blocks: list[dict[str, Any]]
    files: Sequence[uuid.UUID] = ()
    client_message_id: str | None = None
    assistant: str | None = None
    model: str = ""
    thread_model: str = ""
    project: uuid.UUID | str | None = None
    edits: Any = None
    temporary: bool = False


def user_blocks(content: Any, *, may_be_empty: bool = False) -> list[dict[str, Any]]:
    """The content of a user turn as clean text blocks. Raises ``InvalidMessage`` and ``MessageTooLong``."""
    if isinstance(content, str):
        blocks = text_blocks(content)
    elif isinstance(content, list) and all(_is_text_block(block) for block in content):
        blocks = content
    else:
        raise InvalidMessage("`content` must be a text or a list of text blocks: [{'type': 'text', 'text': '…'}].")
    blocks = [block for block in (_cleaned(block) for block in blocks) if block["text"].strip()]
    if not (blocks or may_be_empty):
        raise InvalidMessage("The message is empty. Write something first.")
    length = len(text_of(blocks))
    if length > settings.OPENBOOK_MAX_MESSAGE_CHARS:
        raise MessageTooLong(
            worded(
                "The message has {length} characters; the limit is {most}. Shorten it or send it in parts.",
                length=length,
                most=settings.OPENBOOK_MAX_MESSAGE_CHARS,
            ),
            limit=settings.OPENBOOK_MAX_MESSAGE_CHARS,
            length=length,
        )
    return blocks


def file_ids(value: Any) -> list[uuid.UUID]:
    """The files that a message brings, each once. Raises ``InvalidMessage``."""
    try:
        ids = list(dict.fromkeys(uuid.UUID(id) for id in value or ()))
    except (ValueError, TypeError, AttributeError):
        raise InvalidMessage("`files` must be a list of ids as `POST files/` answers with them.") from None
    if len(ids) > MOST_FILES:
        words = "A message may bring {most} files; this one has {files}. Send it in parts."
        raise InvalidMessage(worded(words, most=MOST_FILES, files=len(ids)))
    return ids


def client_id(value: Any) -> str | None:
    """A client's own id of a message, or ``None`` where it gives none."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > MAX_CLIENT_ID_CHARS or clean(value) != value:
        words = "`client_message_id` must be a text of at most {most} characters."
        raise InvalidMessage(worded(words, most=MAX_CLIENT_ID_CHARS))
    return value


def _is_text_block(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _cleaned(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": clean(block["text"])}

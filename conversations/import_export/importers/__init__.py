"""The data exports of other products, as threads of the format ``openbook/1``. Pure.

Only what was said is taken: all branches of each conversation, with the path that it was left on, without hidden messages and
thoughts. Files are named, for whoever has their bytes; a tool at work is told of in brackets.
"""

from typing import Any

from conversations.import_export.importers import chatgpt, claude
from conversations.import_export.values import refuse


def thread_of(conversation: Any, place: str) -> dict[str, Any] | None:
    """A conversation as a thread; ``None`` where nothing was said in it. Raises ``InvalidImport``."""
    match conversation:
        case {"mapping": dict()}:
            thread = chatgpt.thread_of(conversation)
        case {"chat_messages": list()}:
            thread = claude.thread_of(conversation)
        case _:
            refuse(place, "is no conversation of a ChatGPT export (`mapping`) or a Claude export (`chat_messages`).")
    return thread if thread["messages"] or thread["left_out"] else None

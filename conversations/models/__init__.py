from conversations.models.accesses import ContentAccess
from conversations.models.assistants import Assistant
from conversations.models.replies import Reply, ReplyEvent
from conversations.models.snapshots import ContextBlock, ContextSnapshot
from conversations.models.threads import Message, Thread, more_than_text, text_blocks
from conversations.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "Assistant",
    "ContentAccess",
    "ContextBlock",
    "ContextSnapshot",
    "Message",
    "Reply",
    "ReplyEvent",
    "Thread",
    "more_than_text",
    "text_blocks",
]

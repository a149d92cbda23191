from conversations.models.accesses import ContentAccess
from conversations.models.assistants import Assistant
from conversations.models.replies import Reply, ReplyEvent
from conversations.models.snapshots import FATES, ContextBlock, ContextSnapshot, RequestHour
from conversations.models.threads import Message, Thread, more_than_text, text_blocks
from conversations.models.tokens import ApiToken

__all__ = [
    "FATES",
    "ApiToken",
    "Assistant",
    "ContentAccess",
    "ContextBlock",
    "ContextSnapshot",
    "Message",
    "Reply",
    "ReplyEvent",
    "RequestHour",
    "Thread",
    "more_than_text",
    "text_blocks",
]

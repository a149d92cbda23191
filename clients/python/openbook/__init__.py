"""A client of Openbook: typed calls, replies as they are written, and on again after a cut."""

from openbook import calls, types
from openbook.call import Call, Page
from openbook.client import AsyncClient, AsyncReplyStream, Client, ReplyStream, Turn
from openbook.errors import ApiError, ConnectionFailed, OpenbookError, ReplyFailed
from openbook.progress import Event

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncReplyStream",
    "Call",
    "Client",
    "ConnectionFailed",
    "Event",
    "OpenbookError",
    "Page",
    "ReplyFailed",
    "ReplyStream",
    "Turn",
    "calls",
    "types",
]

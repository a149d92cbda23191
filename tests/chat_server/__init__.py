"""A local server that speaks Chat Completions over real HTTP on loopback, as any of the kinds of servers does that people run.

A script says what the model tells (``tests.chat_server.scripts``); the kind (``tests.chat_server.kinds``) says how it is told
and what the server refuses.
"""

from tests.chat_server.kinds import KINDS, ServerKind
from tests.chat_server.server import ChatServer, chat_server

__all__ = ["KINDS", "ChatServer", "ServerKind", "chat_server"]

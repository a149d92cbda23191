"""A local model server that speaks the Messages API over real HTTP on loopback, and behaves as the real one does.

It runs in a thread with an event loop of its own, so that tests of every kind and server processes can use it. A script says
what the model tells (``tests.model_scripts``); what the real model does of itself, ``Claude`` adds: it thinks, refuses, counts,
caches, and refuses what the API would refuse. ``python -m tests.model_server --port 8123`` serves the default reply.
"""

from tests.model_server.answers import Thinking
from tests.model_server.claude import FORBIDDEN, Claude
from tests.model_server.server import ModelServer, model_server
from tests.model_server.transport import LARGEST_BODY, ReceivedRequest, forward, read_request

__all__ = [
    "FORBIDDEN",
    "LARGEST_BODY",
    "Claude",
    "ModelServer",
    "ReceivedRequest",
    "Thinking",
    "forward",
    "model_server",
    "read_request",
]

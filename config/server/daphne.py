"""Daphne as Openbook runs it: large bodies stay in files, slow readers are waited for, odd sockets get a code."""

from typing import Any

import daphne.server

from config.server.bodies import BoundedFactory, BoundedServer
from config.server.pacing import PacedServer
from config.server.sockets import SocketFactory


class OpenbookServer(PacedServer, BoundedServer):
    pass


def make_server(**options: Any) -> OpenbookServer:
    daphne.server.HTTPFactory = BoundedFactory  # by these names its Server makes its factories
    daphne.server.WebSocketFactory = SocketFactory
    return OpenbookServer(**options)

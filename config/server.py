"""Daphne as Openbook runs it: large bodies stay in files, slow readers are waited for, odd sockets get a code."""

from typing import Any

import daphne.server

from config.bodies import BoundedFactory, BoundedServer
from config.pacing import PacedServer
from config.sockets import SocketFactory


class OpenbookServer(PacedServer, BoundedServer):
    pass


def make_server(**options: Any) -> OpenbookServer:
    daphne.server.HTTPFactory = BoundedFactory  # by these names its Server makes its factories
    daphne.server.WebSocketFactory = SocketFactory
    return OpenbookServer(**options)

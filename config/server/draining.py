"""How a server leaves others that go on: told by SIGUSR1, it takes nothing new, ends what it has begun, and then ends itself.

First its health says so, for proxies that ask. Then its port is closed, so that whoever comes next is sent elsewhere, and its
sockets are hung up: they are opened elsewhere, and go on with the replies that are still written here.
"""

import asyncio
import logging
import os
import signal
import time
from dataclasses import dataclass

from config.server.daphne import OpenbookServer
from config.server.lifespan import reactor
from conversations import replies
from conversations.runtime import long_work
from conversations.web import consumers

log = logging.getLogger("openbook.draining")

SIGNAL = signal.SIGUSR1
LEAVE_SECONDS = 3.0
"""In which proxies see that the health of this server has changed."""
LOOK_SECONDS = 0.1
LAST_SECONDS = 1.0
"""For what is written but not yet on its way."""


@dataclass
class State:
    leaving: bool = False


state = State()


def drain_on_signal(server: OpenbookServer) -> None:
    tasks: set[asyncio.Task[None]] = set()

    def begin() -> None:
        if not state.leaving:
            state.leaving = True
            tasks.add(asyncio.get_running_loop().create_task(_drain(server)))

    signal.signal(SIGNAL, lambda number, frame: reactor.callFromThread(begin))


async def _drain(server: OpenbookServer) -> None:
    log.info("draining: no more requests are taken")
    await asyncio.sleep(LEAVE_SECONDS)
    server.stop_listening()
    await consumers.hang_up()
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < LAST_SECONDS:
        await asyncio.sleep(LOOK_SECONDS)
        if server.is_serving() or replies.are_running() or long_work.is_running():
            quiet_since = time.monotonic()
    log.info("drained")
    os.kill(os.getpid(), signal.SIGTERM)

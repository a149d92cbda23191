"""What happens when a server process starts and before it ends, whichever server it is.

uvicorn and others speak ASGI's lifespan protocol. Daphne does not, so there the signals and Twisted's reactor are used.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import Any

# Before the reactor is imported: this installs the one that runs on asyncio.
import daphne.server  # noqa: F401  isort:skip
from twisted.internet import reactor as twisted_reactor

logger = logging.getLogger("openbook.lifespan")
reactor: Any = twisted_reactor  # chosen at run time, so its type is not known before

SHUTDOWN_SECONDS = 5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Step = Callable[[], Awaitable[None]]
Message = MutableMapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Lifespan:
    """`startup` is awaited once the event loop runs, `shutdown` while connections are still open."""

    startup: Step
    shutdown: Step

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """The ASGI application for the scope type "lifespan"."""
        await receive()
        await self.startup()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.end()
        await send({"type": "lifespan.shutdown.complete"})

    async def end(self) -> None:
        """A shutdown that fails or hangs must not keep the process from ending."""
        try:
            await asyncio.wait_for(self.shutdown(), SHUTDOWN_SECONDS)
        except Exception:
            logger.exception("shutdown_failed")

    def attach_to_reactor(self) -> None:
        """For daphne: has no effect where Twisted's reactor never runs."""
        reactor.callWhenRunning(self._run)

    def _run(self) -> None:
        tasks: dict[str, asyncio.Task[None]] = {}

        def once(name: str, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
            if name not in tasks:
                tasks[name] = asyncio.get_running_loop().create_task(step())

        reactor.callLater(0, once, "begin", self._begin)  # the reactor runs already, its event loop not yet
        # Daphne ends all connections as soon as the reactor stops, so `shutdown` comes before that. A signal may come
        # twice: once for the process group, and once from make, which passes it on.
        for name in SIGNALS:
            signal.signal(name, lambda number, frame: reactor.callFromThread(once, "finish", self._finish))

    async def _begin(self) -> None:
        try:
            await self.startup()
        except Exception:
            logger.exception("startup_failed")
            _stop_reactor()

    async def _finish(self) -> None:
        await self.end()
        _stop_reactor()


def stop_on_signals() -> None:
    """From here on a signal stops the reactor, also before it runs, where it would swallow a SystemExit."""
    for name in SIGNALS:
        signal.signal(name, lambda number, frame: reactor.callFromThread(_stop_reactor))


def _stop_reactor() -> None:
    if reactor.running:
        reactor.stop()

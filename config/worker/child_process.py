"""A child process that is started again when it ends, and that ends with its parent, however that one ends."""

import logging
import subprocess
import threading
import time
from collections.abc import Sequence

log = logging.getLogger("openbook.worker")

SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
LONG_LIFE_SECONDS = 60.0
END_SECONDS = 8.0


class Child:
    """Its standard input is a pipe that nobody writes to: it is told to end by that pipe's end.

    ``apart`` is in a session of its own, out of reach of the terminal's Ctrl-C: told twice, it could not end in good order.
    """

    def __init__(self, command: Sequence[str], *, apart: bool = True) -> None:
        self._command, self._apart = command, apart
        self._process: subprocess.Popen[bytes] | None = None
        self._told = threading.Event()
        self._starting = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Tell it to end, and wait for it; kill it when that takes too long. Does nothing where it was never started."""
        with self._starting:
            self._told.set()
        if self._thread.ident is None:
            return
        if self._process:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.terminate()  # heard at once, also while it is starting
        self._thread.join(END_SECONDS)
        if self._thread.is_alive() and self._process:
            self._process.kill()
            self._thread.join()

    def _keep(self) -> None:
        pause = SHORTEST_PAUSE
        while process := self._begin():
            began_at = time.monotonic()
            code = process.wait()
            if self._told.is_set():
                return
            if time.monotonic() - began_at > LONG_LIFE_SECONDS:
                pause = SHORTEST_PAUSE
            log.error("the worker ended; starting another", extra={"exit_code": code, "pause_seconds": pause})
            self._told.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._told.is_set():
                return None
            command, apart = self._command, self._apart
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=apart)  # noqa: S603
            return self._process

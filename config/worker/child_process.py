"""A child process that is started again when it ends, and that ends with its parent, however that one ends."""

import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

log = logging.getLogger("openbook.children")

SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
LONG_LIFE_SECONDS = 60.0
END_SECONDS = 8.0


class Child:
    """Its standard input is a pipe that nobody writes to after ``order``: it is told to end by that pipe's end.

    ``apart`` is in a session of its own, out of reach of the terminal's Ctrl-C: told twice, it could not end in good order.
    ``niceness`` holds from its first moment on, as loading is most of its work. ``environment`` is all that it is given of
    ours, where that is not everything. ``hears`` is given each line of its standard error.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        apart: bool = True,
        niceness: int = 0,
        order: bytes = b"",
        environment: Mapping[str, str] | None = None,
        hears: Callable[[str], None] | None = None,
    ) -> None:
        self._name, self._command, self._apart, self._niceness = name, command, apart, niceness
        self._order, self._environment, self._hears = order, environment, hears
        self._process: subprocess.Popen[bytes] | None = None
        self._told = threading.Event()
        self._starting = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name=name, daemon=True)

    @property
    def pid(self) -> int | None:
        """Of the process that runs now, or ran last."""
        return self._process.pid if self._process else None

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
            assert process.stdin
            process.stdin.close()
            if self._told.is_set():
                return
            if time.monotonic() - began_at > LONG_LIFE_SECONDS:
                pause = SHORTEST_PAUSE
            log.error(f"{self._name} ended; starting another", extra={"exit_code": code, "pause_seconds": pause})
            self._told.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._told.is_set():
                return None
            self._process = process = subprocess.Popen(  # noqa: S603
                self._command,
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE if self._hears else None,
                start_new_session=self._apart,
                env=self._environment,
            )
            if self._niceness:
                with suppress(ProcessLookupError):  # it has ended already
                    os.setpriority(os.PRIO_PROCESS, process.pid, self._niceness)
            if self._hears:
                threading.Thread(target=self._listen, args=(process, self._hears), daemon=True).start()
            if self._order:
                self._give_order(process)
            return process

    def _give_order(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        with suppress(BrokenPipeError):  # it has ended already
            process.stdin.write(self._order)
            process.stdin.flush()

    @staticmethod
    def _listen(process: subprocess.Popen[bytes], hears: Callable[[str], None]) -> None:
        assert process.stderr
        with process.stderr as lines:
            for line in lines:
                hears(line.decode(errors="replace").rstrip())


def stop_all(children: Sequence[Child]) -> None:
    """All at once: none waits for the end of another."""
    stopping = [threading.Thread(target=child.stop) for child in children]
    for each in stopping:
        each.start()
    for each in stopping:
        each.join()

"""How a command ends when it is asked to: as Python ends, so that what was begun is put in order and the database stopped."""

import os
import signal
import sys
import threading
from contextlib import suppress

AGAIN_SECONDS = 0.01
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def end_on_signals() -> None:
    """SIGTERM and SIGHUP raise ``SystemExit``, as Ctrl-C raises ``KeyboardInterrupt``, with the code that shells give them.

    Python drops what is raised in a destructor or in the callback of a weak reference, wherever a signal happens to come:
    the exception would be printed, and the process go on. Such a one is raised again a moment later.
    """
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    sys.unraisablehook = _raise_again


def _raise_again(dropped: "sys.UnraisableHookArgs") -> None:
    match dropped.exc_value:
        case SystemExit(code=int(code)) if code - 128 in SIGNALS:
            _send(code - 128)
        case KeyboardInterrupt():
            _send(signal.SIGINT)
        case _:
            sys.__unraisablehook__(dropped)


def _send(number: int) -> None:
    """To this process, once the place is left that drops exceptions."""
    with suppress(RuntimeError):  # the interpreter ends already
        timer = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()

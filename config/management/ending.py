"""How a command ends when it is asked to: as Python ends, so that what was begun is put in order and the database stopped."""

import os
import signal
import sys
import threading

AGAIN_SECONDS = 0.01
LONGER_SECONDS = 0.1
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
            _send(code - 128, AGAIN_SECONDS)
        case KeyboardInterrupt():
            _send(signal.SIGINT, AGAIN_SECONDS)
        case _:
            sys.__unraisablehook__(dropped)


def _send(number: int, seconds: float) -> None:
    """To this process, once the place is left that drops exceptions. On a busy machine it comes sooner: then it goes again."""
    try:
        timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
    except RuntimeError:
        pass  # the interpreter ends already
    except (SystemExit, KeyboardInterrupt):
        _send(number, seconds + LONGER_SECONDS)

"""The process that becomes a program of the operator's: it gives up all that files' readers do, but for starting this program.

It knows nothing of Django, and no secrets. Where the system can't shut it in, the program is not run.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from conversations.runtime import confinement

OPEN_FILES, FILE_BYTES = 256, 64 * 2**20
ENDS_WITH_PARENT = 1
"""Of ``prctl``: which signal comes when the parent ends."""
NOT_SHUT_IN = 97


def main(memory_mb: str, seconds: str, folder: str, count: str, *rest: str) -> None:
    """``count``: how many of the rest are what it may read; then come the program and its arguments."""
    readable, command = rest[: int(count)], rest[int(count) :]
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(ENDS_WITH_PARENT, signal.SIGKILL)
    confinement.limit(
        memory_bytes=int(memory_mb) * 2**20, cpu_seconds=int(seconds), file_bytes=FILE_BYTES, open_files=OPEN_FILES
    )
    os.chdir(folder)
    program = Path(command[0])
    kept = confinement.keep_to_files(
        readable=[Path(path) for path in readable], writable=Path(folder), executable=[program, program.resolve()]
    )
    if not (kept and confinement.cut_off(becomes_another=True)):
        os._exit(NOT_SHUT_IN)
    os.execv(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main(*sys.argv[1:])

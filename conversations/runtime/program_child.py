"""The process that runs one program that a model wrote. It knows nothing of Django, and no secrets.

A job comes in as JSON. Where this system can't confine the program, it is not run.
"""

import json
import os
import sys
import traceback
from pathlib import Path

from conversations.runtime import confinement

NOT_CONFINED = 77
"""The status where it was not run."""
NAME = "program.py"


def main() -> None:
    job = json.load(sys.stdin)
    folder = Path(job["folder"])
    confinement.limit(
        memory_bytes=job["memory_bytes"],
        cpu_seconds=job["cpu_seconds"],
        file_bytes=job["file_bytes"],
        open_files=job["open_files"],
    )
    os.nice(10)
    os.chdir(folder)
    is_confined = confinement.cut_off() and confinement.keep_to_files(readable=(), writable=folder)
    if not is_confined:
        sys.exit(NOT_CONFINED)
    sys.argv, sys.path[0] = [NAME], str(folder)
    try:
        exec(compile(job["program"], NAME, "exec"), {"__name__": "__main__"})  # noqa: S102  # what it is for
    except Exception as error:
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
        sys.exit(1)


if __name__ == "__main__":
    main()

"""One rewriting in a process of its own: a job comes in as JSON, the page goes out. What was made to be slow ends with it."""

import json
import sys
from contextlib import suppress

from artifacts.web import sanitizer

MEMORY_BYTES = 128 * 2**20
CPU_SECONDS = 2


def main() -> None:
    _limit()
    job = json.load(sys.stdin)
    rewrite = {"html": sanitizer.page, "svg": sanitizer.picture}[job["kind"]]
    try:
        sys.stdout.buffer.write(rewrite(job["content"]).encode())
    except sanitizer.UnstableMarkup:
        sys.exit(1)


def _limit() -> None:
    with suppress(ImportError, ValueError, OSError):  # not every system can
        import resource  # noqa: PLC0415  # not there on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()

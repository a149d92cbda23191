"""`python -m tests.postgres [FOLDER OF THE PROGRAMS]`: a PostgreSQL server that ends with its standard input.

It is a process of its own so that a killed test run leaves neither a server nor a folder behind.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from config import embedded_postgres

# Nothing here has to survive a power failure.
OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def main() -> None:
    binaries = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    folder = Path(tempfile.mkdtemp(prefix="openbook-test-"))
    try:
        with embedded_postgres.running(
            folder / "postgres", binaries=binaries, options=OPTIONS, initdb=["--no-sync"]
        ) as url:
            print(url, flush=True)  # noqa: T201
            sys.stdin.read()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
